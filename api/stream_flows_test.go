package api

import (
	"context"
	"net"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/telemetry"
)

// A stream of flows tells of each flow once as long as no report comes about it, also of one whose report was counted
// after reports that came later. One that is opened again goes on where it was.
func TestFlowStreamGoesOn(t *testing.T) {
	f := newFeed()
	f.capture(t, "tps_v21_udp", "tps")
	f.now = f.now.Add(time.Minute)
	opens := f.now
	flows := func(after time.Time) (ids []string) {
		all, _ := f.Flows(analyze.FlowFilter{Limit: 1000, After: after.UnixNano()})
		for i := range all {
			ids = append(ids, all[i].ID)
		}
		slices.Sort(ids)
		return ids
	}
	synctest.Test(t, func(t *testing.T) {
		connections := make(pipes)
		cfg := testConfig(f.Collector)
		cfg.Now = func() time.Time { return opens }
		defer connections.serve(cfg)()
		c, err := client.New("http://127.0.0.1:8080")
		if err != nil {
			t.Fatal(err)
		}
		var wire net.Conn
		c.UseTransport(
			&http.Transport{DialContext: func(ctx context.Context, network, address string) (_ net.Conn, err error) {
				wire, err = connections.dial(ctx, network, address)
				return wire, err
			}})
		ctx, cancel := context.WithCancel(t.Context())
		var told []string
		opened := 0
		done := make(chan error, 1)
		go func() {
			done <- c.StreamFlows(ctx, client.Query{}, client.Stream[telemetry.Flow]{
				Item: func(f *telemetry.Flow) error { told = append(told, f.ID); return nil },
				Open: func() { opened++ },
			})
		}()
		look := func() []string {
			time.Sleep(2500 * time.Millisecond)
			synctest.Wait()
			slices.Sort(told)
			now := told
			told = nil
			return now
		}
		if got := look(); len(got) > 0 {
			t.Errorf("got %v, about which no report came", got)
		}
		f.capture(t, "geant_v10_head_udp", "geant-int10")
		f.now = f.now.Add(10 * time.Second)
		f.capture(t, "onos_v10_pathchange", "onos-int10-ver0")
		first := flows(begin)
		if got := look(); !slices.Equal(got, first) {
			t.Errorf("got %v, want each of %v once", got, first)
		}
		newest := f.now
		f.now = newest.Add(-500 * time.Millisecond)
		f.capture(t, "tps_v21_udp6", "tps")
		late := slices.DeleteFunc(flows(begin), func(id string) bool { return slices.Contains(first, id) })
		if !f.now.Before(newest) || len(late) == 0 {
			t.Fatalf("%d flows at %v: nothing is late", len(late), f.now)
		}
		if got := look(); !slices.Equal(got, late) {
			t.Errorf("got %v, want each of %v once", got, late)
		}
		// While the client is away reports come about some flows, long after those about others.
		f.now = newest.Add(time.Minute)
		wire.Close()
		f.capture(t, "onos_v10_tcp", "onos-int10-ver0")
		meanwhile := flows(newest.Add(-flowOverlap))
		if all := flows(begin); len(meanwhile) <= len(late) || len(meanwhile) == len(all) {
			t.Fatalf("%d of %d flows: this shows nothing", len(meanwhile), len(all))
		}
		time.Sleep(5 * time.Second) // until it comes back
		if got := look(); opened != 2 || !slices.Equal(got, meanwhile) {
			t.Errorf("opened %d times, got %v, want %v", opened, got, meanwhile)
		}
		cancel()
		<-done
	})
}
