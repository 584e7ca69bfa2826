package analyze

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze/burst"
	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/scan"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// A timedFrame is a frame of a capture.
type timedFrame struct {
	ns    int64
	bytes []byte
}

// timedFrames reads a classic capture of little-endian microseconds.
func timedFrames(t *testing.T, name string) (list []timedFrame) {
	t.Helper()
	file, err := os.ReadFile(filepath.Join(test.Root(), "testdata/captures", name))
	if err != nil {
		t.Fatal(err)
	}
	word := func(b []byte) int64 { return int64(binary.LittleEndian.Uint32(b)) }
	for b := file[24:]; len(b) >= 16; {
		n := word(b[8:])
		list = append(list, timedFrame{word(b)*1e9 + word(b[4:])*1e3, b[16 : 16+n]})
		b = b[16+n:]
	}
	return list
}

// payloadOf is what stays the same of a packet while INT is pushed: the end of it.
func payloadOf(frame []byte) string { return string(frame[len(frame)-48:]) }

// TestQueueOfPackets: 500 packets come to a queue of bmv2 that has room for 64 and sends 300 a second. What the wires
// on both sides of the switch saw says how long the queue was. That is one burst, and the other switches have none.
func TestQueueOfPackets(t *testing.T) {
	left := map[string]int64{}
	for _, f := range timedFrames(t, "onos_v10_burst_s2s3.pcap") {
		left[payloadOf(f.bytes)] = f.ns
	}
	type change struct {
		ns int64
		by int
	}
	var changes []change
	for _, f := range timedFrames(t, "onos_v10_burst_s1s2.pcap") {
		if out, ok := left[payloadOf(f.bytes)]; ok {
			changes = append(changes, change{f.ns, 1}, change{out, -1})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return int(a.ns - b.ns) })
	const above, below = 20, 10 // as of a queue that is empty most of the time
	depth, peak := 0, 0
	var start, end int64
	for _, c := range changes {
		depth += c.by
		peak = max(peak, depth)
		switch {
		case depth > above && start == 0:
			start = c.ns
		case depth <= below && start != 0 && end == 0:
			end = c.ns
		}
	}
	if len(changes) != 2*201 || end == 0 {
		t.Fatalf("the wires saw %d changes, a peak of %d, from %d to %d", len(changes), peak, start, end)
	}

	for _, units := range []map[uint32]telemetry.QueueUnit{nil, {2: codepoint.UnitUnknown}} {
		c := &Collector{
			Owners: []Owner{NewShard(DefaultConfig()), NewShard(DefaultConfig())},
		}
		c.Configure(Configured{QueueUnits: units})
		log, kept := eventlog.New(100), burst.NewLog(1<<20)
		scanner := NewScanner(c, log)
		scanner.KeepBursts(burst.DefaultConfig(), kept)
		decoder := telemetry.NewDecoder(test.Dialect(t, "onos-int10-ver0"))
		frames := timedFrames(t, "onos_v10_burst_reports.pcap")
		next := frames[0].ns
		pass := func(until int64) {
			for ; next <= until; next += scan.TickNs {
				for _, s := range c.Owners {
					s.Tick(next)
				}
				scanner.Scan(next)
			}
		}
		for _, f := range frames {
			d, ok := test.UDP(f.bytes)
			if !ok {
				t.Fatal("no UDP datagram")
			}
			var batch telemetry.Batch
			decoder.Decode(d.Payload, d.Src, d.DstPort, &batch, &telemetry.Header{})
			for _, r := range batch.Reports {
				c.Owners[r.Flow.ShardOf(2)].(*Shard).Process(&telemetry.Batch{Reports: []telemetry.Report{r}}, f.ns)
			}
			pass(f.ns)
		}
		pass(next + int64(3*time.Second))
		list, _ := kept.Bursts(nil, burst.ByLast, 10)
		events, _ := log.Events(func(e *telemetry.Event) bool { return e.Kind == telemetry.EventMicroburst }, 10)
		if units != nil { // nothing says that 64 is long; one of two flows tells of no port
			queues := slices.DeleteFunc(c.Queues(), func(q telemetry.QueueDepth) bool { return q.Node != 2 })
			if len(list) != 0 || len(queues) != 2 || queues[0].Unit != "unknown" {
				t.Errorf("without a unit: got %+v, %+v", list, queues)
			}
			continue
		}
		if len(list) != 1 || len(events) != 1 {
			t.Fatalf("got %+v, want one burst; events %+v", list, events)
		}
		b := &list[0]
		if b.Node != 2 || b.Port != 4 || b.Unit != "packets" || b.PeakBytes != nil || b.PeakDepth > uint64(peak) ||
			b.PeakDepth < uint64(peak)-2 {
			t.Errorf("got %+v, want a peak of %d packets at node 2, port 4", b, peak)
		}
		if e := events[0]; e.ID != b.ID || !strings.Contains(e.Text, " packets for ") {
			t.Errorf("got %+v", e)
		}
		// the rate of the queue is a packet in 3.3 ms; hops of one of two flows have stamps
		near := func(what string, got time.Time, slack uint64, want int64) {
			off := got.UnixNano() - want
			if limit := int64(slack + b.UncertaintyNs + 10e6); off > limit || off < -limit {
				t.Errorf("it %s %v too late, with %v of slack and %v of uncertainty", what, time.Duration(off),
					time.Duration(slack), time.Duration(b.UncertaintyNs))
			}
		}
		near("begins", b.Start, b.StartSlackNs, start)
		near("ends", b.End, b.EndSlackNs, end)
		for _, q := range c.Queues() {
			if q.Unit != "packets" {
				t.Errorf("got %+v", q)
			}
		}
		for _, n := range c.Nodes() {
			if n.QueueUnit != "packets" {
				t.Errorf("got %+v", n)
			}
		}
	}
}
