//go:build linux

package kernel

import (
	"testing"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// TestQueueThresholds fills a queue of s2 with packets that nobody watches, twice: in each congestion there are reports
// of as many packets as the quota says, and of as many that were dropped.
func TestQueueThresholds(t *testing.T) {
	const quota, packets, size = 10, 250, 1000
	for _, row := range []struct {
		name, threshold string
		timed           bool // packets are stamped as they come
	}{
		{"bytes", "trigger: 20kB, reset: 5kB", false},
		{"latency", "trigger_latency: 30ms, reset_latency: 5ms", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			n := newNetwork(t)
			n.addQueue(5e6, 5000, 60_000)
			text := "  watch: []\n  drops: []\n" +
				"  queues: [{port: 2, " + row.threshold + ", quota: 10, tail_drop: true}]\n"
			c := newCollector(t, text)
			nodes, stop := n.start(text, c.conn.LocalAddr().String())
			n.udp(host4, 6001, 1) // neighbours know each other now
			lost := 0
			for range 2 {
				from, to := n.dial(host4, 6002)
				for range packets {
					if _, err := from.Write(make([]byte, size)); err != nil {
						t.Fatal(err)
					}
				}
				lost += packets
				for {
					_ = to.SetReadDeadline(time.Now().Add(time.Second))
					if _, err := to.Read(make([]byte, size)); err != nil {
						break
					}
					lost--
				}
				_, _ = from.Close(), to.Close()
				n.udp(host4, 6001, 1) // it finds an empty queue
			}
			stop()
			counts := counters(t, nodes[1])
			t.Logf("%d lost, %v", lost, counts)
			began := counts["congestion_began"]
			if began < 2 || counts["congestion_ended"] != began {
				t.Errorf("congestion began %d times and ended %d times, want twice", began, counts["congestion_ended"])
			}
			met, dropped := uint64(0), uint64(0)
			for _, r := range c.reports(nodes) {
				if r.NodeID != 2 || r.Flags&telemetry.Congested == 0 || r.Flow.DstPort != 6002 ||
					r.Local.IngressPort != 1 || r.Local.EgressPort != 2 {
					t.Errorf("a report of node %d about %v, flags %b, ports %d and %d", r.NodeID, r.Flow, r.Flags,
						r.Local.IngressPort, r.Local.EgressPort)
				}
				if r.Flags&telemetry.Dropped != 0 {
					dropped++
					continue
				}
				met++
				if got := r.Local.Has&telemetry.HasLatency != 0; got != row.timed {
					t.Errorf("a latency: %v, want %v", got, row.timed)
				}
				if r.Local.QueueOccupancy < 4000 && !row.timed {
					t.Errorf("%d bytes in the queue", r.Local.QueueOccupancy)
				}
			}
			if lost < 2*quota {
				t.Fatalf("only %d packets were lost", lost)
			}
			// One more congestion if the sender paused: it may have been too short for the quota.
			if met < 2*quota || met > began*quota || dropped < 2*quota || dropped > began*quota {
				t.Errorf("%d reports, and %d of drops, in %d congestions with %d each", met, dropped, began, quota)
			}
			if counts["queue_reports"] != met || counts["drop_reports"] != dropped {
				t.Errorf("counted %d and %d, got %d and %d", counts["queue_reports"], counts["drop_reports"],
					met, dropped)
			}
		})
	}
}
