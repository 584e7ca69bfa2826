package serve

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener to which tests connect without a network, so that time can be faked.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	conn, ok := <-p
	if !ok {
		return nil, errors.New("closed")
	}
	return conn, nil
}

func (p pipes) Close() error { return nil }

func (p pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

// A client that sends a header, or a body, byte by byte does not hold its connection for long.
func TestServeSlowClients(t *testing.T) {
	for what, c := range map[string]struct {
		begin string
		limit time.Duration
	}{
		"header": {"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ", 5 * time.Second},
		"body":   {"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n", 30 * time.Second},
		"idle":   {"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", 2 * time.Minute},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				here, there := net.Pipe()
				listener := make(pipes, 1)
				listener <- there
				echo := func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) }
				server := newHTTPServer(http.HandlerFunc(echo),
					nil, slog.New(slog.DiscardHandler))
				go server.Serve(listener)
				closed := make(chan time.Duration)
				begun := time.Now()
				go func() {
					io.Copy(io.Discard, here)
					closed <- time.Since(begun)
				}()
				var writing sync.WaitGroup
				writing.Go(func() {
					_, err := here.Write([]byte(c.begin))
					for what != "idle" && err == nil {
						time.Sleep(time.Second)
						_, err = here.Write([]byte("x"))
					}
				})
				if got := <-closed; got > c.limit+time.Second || got < c.limit-time.Second {
					t.Errorf("closed after %v, want %v", got, c.limit)
				}
				here.Close()
				writing.Wait()
				close(listener)
				server.Close()
			})
		})
	}
}
