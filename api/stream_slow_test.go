package api

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
)

// pipes is a listener whose connections hold nothing: what one end writes waits until the other reads.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	c, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (p pipes) Close() error   { return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080} }

func (p pipes) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	p <- server
	return client, nil
}

// serve starts a server behind p, and returns what ends it.
func (p pipes) serve(cfg Config) (end func()) {
	server := http.Server{Handler: New(cfg)}
	go server.Serve(p)
	return func() {
		close(p)
		server.Close()
	}
}

// losing returns what makes an event of each of so many exporters: reports of it are lost, and that is over after a
// while.
func losing(t *testing.T, f *feed, log *eventlog.Log, exporters int) func(round int) {
	scanner := analyze.NewScanner(f.Collector, log)
	decoder := telemetry.NewDecoder(test.Dialect(t, "spec"))
	return func(round int) {
		for _, sequence := range []uint32{1, 2, 3, 9, 10} {
			for x := range exporters {
				source := netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(x)}), 1234)
				f.datagram(decoder, test.Report(test.Form20XD, 5, sequence+uint32(20*round), 1), source, 8555)
			}
		}
		for range 12 {
			f.now = f.now.Truncate(time.Second).Add(time.Second)
			scanner.Scan(f.now.UnixNano())
		}
	}
}

// A client that reads nothing is cut off, holds up nobody, and is told how much it lost when it comes back.
func TestSlowStreamClient(t *testing.T) {
	const rounds, exporters = 10, 50
	f := newFeed()
	log := eventlog.New(200) // fewer than happen
	lose := losing(t, f, log, exporters)
	lose(0) // the first gives each exporter its numbers
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig(f.Collector)
		cfg.Events = log
		connections := make(pipes)
		defer connections.serve(cfg)()
		c, err := client.New("http://127.0.0.1:8080")
		if err != nil {
			t.Fatal(err)
		}
		transport := &http.Transport{DialContext: connections.dial}
		c.UseTransport(transport)

		slow, _ := connections.dial(t.Context(), "", "")
		fmt.Fprint(slow, "GET /api/v1/events/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
		ctx, cancel := context.WithCancel(t.Context())
		over, lost := map[string]bool{}, uint64(0)
		done := make(chan error)
		go func() {
			done <- c.StreamEvents(ctx, client.Query{}, client.Stream[telemetry.Event]{
				Item: func(e *telemetry.Event) error {
					if e.End != nil {
						over[e.ID] = true
					}
					return nil
				},
				Lost: func(n uint64) { lost += n },
			})
		}()
		time.Sleep(1500 * time.Millisecond)
		lose(rounds + 1)
		lines, id := bufio.NewScanner(slow), ""
		lines.Buffer(nil, 1<<20)
		for id == "" && lines.Scan() { // the last that it reads
			id, _ = strings.CutPrefix(lines.Text(), "id: ")
			if id == lines.Text() {
				id = ""
			}
		}
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		_, _, before := log.Since(1<<64 - 1)
		clear(over)
		for round := range rounds {
			lose(rounds + 2 + round)
			time.Sleep(1500 * time.Millisecond) // until the streams have looked
		}
		_, _, after := log.Since(1<<64 - 1)
		if after-before < 2*200 {
			t.Fatalf("%d events ended, which is not more than are remembered", after-before)
		}
		synctest.Wait()
		cancel()
		<-done
		if uint64(len(over)) != after-before || lost != 0 {
			t.Errorf("beside a slow client, another one got %d events of %d and lost %d", len(over), after-before, lost)
		}

		// What was on its way, and then the end of the connection.
		slow.SetReadDeadline(time.Now().Add(10 * time.Minute))
		sent := 0
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), "data: ") {
				sent++
			}
		}
		if err := lines.Err(); err != nil {
			t.Errorf("the slow client is not cut off: %v", err)
		}
		if sent > exporters {
			t.Errorf("a client that reads nothing is sent %d events", sent)
		}

		// It comes back, with what it had read.
		request, _ := http.NewRequest("GET", "http://127.0.0.1:8080/api/v1/events/stream", nil)
		begun, _, _ := strings.Cut(id, "-")
		request.Header.Set("Last-Event-ID", fmt.Sprintf("%s-%d", begun, before))
		response, err := transport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		time.AfterFunc(20*time.Second, func() { response.Body.Close() })
		told := struct{ Events uint64 }{}
		kind, events := "", uint64(0)
		for lines := bufio.NewScanner(response.Body); told.Events+events < after-before && lines.Scan(); {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch {
			case name == "event":
				kind = value
			case name == "data" && kind == "lost":
				json.Unmarshal([]byte(value), &told)
			case name == "data":
				events++
			}
		}
		if told.Events == 0 || told.Events+events != after-before {
			t.Errorf("after it came back it got %d events and was told of %d lost, of %d", events, told.Events,
				after-before)
		}
	})
}
