package api

import (
	"bufio"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waybill-int/waybill/analyze/eventlog"
)

// While a client reads nothing, thirty others get everything, and the server holds nothing back for the one: the heap
// does not grow by what it is owed.
func TestSlowStreamMemory(t *testing.T) {
	const readers, exporters, kept, rounds = 30, 50, 2000, 80
	f := newFeed()
	log := eventlog.New(kept)
	lose := losing(t, f, log, exporters)
	round := 0
	for range 2 * kept / exporters { // until the log forgets: it does not grow any more
		lose(round)
		round++
	}
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig(f.Collector)
		cfg.Events = log
		connections := make(pipes)
		var all sync.WaitGroup
		defer all.Wait()
		defer connections.serve(cfg)()
		client := http.Client{Transport: &http.Transport{DialContext: connections.dial}}
		var over [readers]atomic.Int64 // events that a reader was told are over
		var owed atomic.Int64          // bytes that one of them got
		for i := range readers {
			response, err := client.Get("http://127.0.0.1/api/v1/events/stream")
			if err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(response.Body)
			all.Go(func() {
				for lines.Scan() {
					if strings.HasPrefix(lines.Text(), "data: ") && !strings.Contains(lines.Text(), `"end":null`) {
						over[i].Add(1)
					}
					if i == 0 {
						owed.Add(int64(len(lines.Bytes())))
					}
				}
			})
		}
		time.Sleep(1500 * time.Millisecond) // until all streams have looked
		slow, _ := connections.dial(t.Context(), "", "")
		defer slow.Close()
		fmt.Fprint(slow, "GET /api/v1/events/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n") // and it reads nothing
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		heap := func() int64 {
			var m runtime.MemStats
			runtime.GC()
			runtime.GC() // what pools held
			runtime.ReadMemStats(&m)
			return int64(m.HeapAlloc)
		}
		before := heap()
		for range rounds / 10 {
			for range 10 { // fewer than are remembered
				lose(round)
				round++
			}
			time.Sleep(time.Second) // the slow one is cut off after ten
		}
		synctest.Wait()
		grown := heap() - before
		for i := range readers {
			if n := over[i].Load(); n != rounds*exporters {
				t.Errorf("beside a slow client, reader %d got %d events of %d", i, n, rounds*exporters)
			}
		}
		if grown > owed.Load()/4 || owed.Load() < 1<<20 {
			t.Errorf("the heap grew by %d bytes while a client was owed %d", grown, owed.Load())
		}
	})
}
