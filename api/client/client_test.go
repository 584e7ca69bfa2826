package client

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

func TestNew(t *testing.T) {
	for given, want := range map[string]string{
		"http://127.0.0.1:8080": "http://127.0.0.1:8080", "127.0.0.1:8080": "http://127.0.0.1:8080",
		"localhost": "http://localhost",
		"https://user:secret@noc.example/waybill": "https://user:xxxxx@noc.example/waybill",
		"": "", "ftp://x": "", "http://": "", "http://x?y": "", "http://a b": "", "http://x:y": "", "://": "",
	} {
		c, err := New(given)
		if (err == nil) != (want != "") || err == nil && c.URL() != want {
			t.Errorf("%q: got %v, %v", given, c, err)
		}
	}
}

// A server that says nothing for three heartbeats is gone.
func TestStreamClientSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := New("http://127.0.0.1:1")
		if err != nil {
			t.Fatal(err)
		}
		c.http.Transport = silent{}
		ctx, cancel := context.WithCancel(t.Context())
		began, away := time.Now(), time.Duration(0)
		err = c.StreamEvents(ctx, Query{}, Stream[telemetry.Event]{
			Item: func(*telemetry.Event) error { return nil },
			Away: func(error) { away = time.Since(began); cancel() },
		})
		if !errors.Is(err, context.Canceled) || away != streamSilence {
			t.Errorf("%v: away after %v", err, away)
		}
	})
}

// silent answers nothing until nobody waits any more.
type silent struct{}

func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}
