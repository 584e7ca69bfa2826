package serve

import (
	"context"
	"io"
	"net/http"
	"sync"
	"testing"

	"github.com/waybill-int/waybill/collect"
	"github.com/waybill-int/waybill/internal/test"
)

// While reports come and answers are asked for, the configuration changes again and again; every report is still
// received, and either counted or refused.
func TestReloadUnderLoad(t *testing.T) {
	configuration := func(text string) *Config {
		c, err := read(t, []byte("listen: ['udp://127.0.0.1:0']\nhttp: 127.0.0.1:0\nworkers: 2\nmemory: 64MiB\n"+text))
		if err != nil {
			t.Fatal(err)
		}
		c.Points.Compile()
		if err := c.Check(); err != nil {
			t.Fatal(err)
		}
		return &c
	}
	turns := []*Config{
		configuration("names: {1: leaf1}\nint_udp_port: 17768\n"),
		configuration("names: {2: leaf2}\nexporters: [{source: 127.0.0.1, nodes: [1]}]\nqueue_unit: {1: packets}\n"),
		configuration("sampling: {1: 10}\ndialects: {any: spec}\nattacks: {floor: {rate: 5M}}\nlog: {level: error}\n"),
	}
	turn := 0
	next := func() (*Config, error) {
		turn++
		return turns[turn%len(turns)], nil
	}
	start := *turns[0]
	start.Again = next
	s, err := New(t.Context(), &start, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var running sync.WaitGroup
	running.Go(func() {
		if err := s.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	const count = 20_000
	sent := make(chan struct{})
	running.Go(func() {
		defer close(sent)
		payloads := make([][]byte, count)
		for i := range payloads {
			payloads[i] = test.Report(test.Form20MD, uint32(i%100), uint32(i), 1+i%2)
		}
		replay := collect.Replay{
			Address: s.Receivers[0].Stats().Address, Payloads: collect.Payloads(payloads), Rate: 20_000,
		}
		if _, err := replay.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	running.Go(func() {
		for ctx.Err() == nil {
			for _, list := range []string{"flows?filter=node+%3D+1", "exporters", "loss", "queues", "topology"} {
				response, err := http.Get(s.URL() + "/api/v1/" + list)
				if err != nil {
					return // it stops
				}
				io.Copy(io.Discard, response.Body)
				response.Body.Close()
			}
		}
	})
	reloads := 0
	for done := false; !done; reloads++ {
		if _, err := s.Reload(ctx, "a test"); err != nil {
			t.Fatal(err)
		}
		select {
		case <-sent:
			done = true
		default:
		}
	}
	stop()
	running.Wait()
	var n collect.Stats
	for _, r := range s.Receivers {
		a := r.Stats()
		n.Received, n.KernelDrops = n.Received+a.Received, n.KernelDrops+a.KernelDrops
		n.Decoded, n.Damaged = n.Decoded+a.Decoded, n.Damaged+a.Damaged
		n.Malformed, n.Refused = n.Malformed+a.Malformed, n.Refused+a.Refused
	}
	if n.Received+n.KernelDrops != count || n.Decoded+n.Damaged+n.Malformed+n.Refused != n.Received || reloads < 3 {
		t.Errorf("%d reloads, %+v", reloads, n)
	}
	if n.Decoded == 0 || n.Refused == 0 {
		t.Errorf("want some that are counted and some that are refused: %+v", n)
	}
}
