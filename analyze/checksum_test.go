package analyze

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
)

// A damager damages the IPv4 headers in reports of a node on their way to a collector.
type damager struct {
	*virtualCollector
	node         uint32
	dscp         uint8 // of packets with INT in them, or without
	afterNs      int64 // since the start
	one          int   // of so many
	l4           bool  // a TCP header instead
	seen, broken int
	firstNs      int64
}

// Report implements fabric.Sink.
func (d *damager) Report(atNs uint64, frame []byte) error {
	frame = bytes.Clone(frame)
	datagram, _ := test.UDP(frame)
	header := bytes.Index(datagram.Payload, []byte{0x08, 0x00, 0x45}) + 2 // behind Ethernet
	node := datagram.Payload[7]                                           // the last byte of the node id (TR 2.0 §3.3)
	if header >= 2 && datagram.Payload[header+1]>>2 == d.dscp && uint32(node) == d.node &&
		int64(atNs) >= d.start+d.afterNs && (!d.l4 || datagram.Payload[header+9] == 6) {
		if d.seen++; d.seen%d.one == 0 {
			at := header + 4 // the identification
			if d.l4 {
				at = header + 20 + 8 // the acknowledgement number
			}
			datagram.Payload[at] ^= 0x10
			d.broken++
			if d.firstNs == 0 {
				d.firstNs = int64(atNs)
			}
		}
	}
	return d.virtualCollector.Report(atNs, frame)
}

// A node whose packets had right headers has some with wrong ones: an event, with all of them. One of which all are
// wrong, because it does not know better, is none.
func TestWrongChecksums(t *testing.T) {
	for _, c := range []struct {
		name    string
		mode    string
		node    uint32
		afterNs int64
		one     int
		event   bool
	}{
		{"some", "", 1, 1200 * millisecond, 50, true},
		{"all from then on", "", 2, 1500 * millisecond, 1, true},
		{"some postcards", "mode: xd\n", 3, 1200 * millisecond, 20, true},
		{"always", "", 1, 0, 1, false},
		{"always some postcards", "mode: xd\n", 2, 0, 10, false},
	} {
		if test.RaceDetector && c.name != "some" {
			continue // races do not depend on it
		}
		e := emulation{duration: 2e9, shards: 2, nodes: everyPacket + c.mode}
		s, err := scenario.Load(filepath.Join(test.Root(), "scenarios/steady.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		s.INT.Text = []byte(e.nodes)
		v := e.collector(t, s)
		d := &damager{
			virtualCollector: v, node: c.node, dscp: map[string]uint8{"": 0x17}[c.mode], afterNs: c.afterNs,
			one: c.one,
		}
		e.send(t, s, d, &v.truth)
		v.advance(v.start + 8*second)
		events := v.eventsOf(telemetry.EventMalformed)
		if n := v.Counters().WrongChecksums; n != uint64(d.broken) {
			t.Errorf("%s: %d headers are wrong, want %d", c.name, n, d.broken)
		}
		if !c.event {
			if len(events) > 0 {
				t.Errorf("%s: got %+v", c.name, events[0])
			}
			continue
		}
		if len(events) != 1 || *events[0].Node != c.node || events[0].Count != uint64(d.broken) ||
			events[0].Start.UnixNano() != d.firstNs ||
			events[0].ReasonName != "wrong_ipv4_checksum" || len(events[0].Bytes) == 0 || events[0].Flow == nil {
			t.Errorf("%s: got %+v, want %d from %d", c.name, events, d.broken, d.firstNs)
		}
	}
}

// The same for checksums of TCP, of those that are looked at.
func TestWrongL4Checksums(t *testing.T) {
	if test.RaceDetector {
		t.Skip("races do not depend on it")
	}
	for _, c := range []struct {
		name    string
		afterNs int64
		one     int
	}{
		{"some", 1200 * millisecond, 10},
		{"always some", 0, 10},
		{"none, of IPv4 and IPv6", 0, 1 << 30},
	} {
		s, err := scenario.Load(filepath.Join(test.Root(), "scenarios/steady.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		e := emulation{duration: 2e9, shards: 2, nodes: everyPacket}
		s.INT.Text = []byte(e.nodes)
		v := e.collector(t, s)
		d := &damager{virtualCollector: v, node: 1, dscp: 0x17, afterNs: c.afterNs, one: c.one, l4: true}
		e.send(t, s, d, &v.truth)
		v.advance(v.start + 8*second)
		wrong := v.Counters().WrongL4Checksums
		if wrong == 0 != (d.broken == 0) || wrong > uint64(d.broken)/4 {
			t.Errorf("%s: %d packets are wrong of %d that were broken, whole or not", c.name, wrong, d.broken)
		}
		events := v.eventsOf(telemetry.EventMalformed)
		if c.afterNs == 0 {
			if len(events) > 0 {
				t.Errorf("%s: got %+v", c.name, events[0])
			}
			continue
		}
		if len(events) != 1 || *events[0].Node != 1 || events[0].Count != wrong ||
			events[0].Start.UnixNano() < d.firstNs ||
			events[0].ReasonName != "wrong_l4_checksum" || len(events[0].Bytes) == 0 || events[0].Flow == nil {
			t.Errorf("%s: got %+v, want %d from %d", c.name, events, wrong, d.firstNs)
		}
	}
}

// Real switches leave checksums as they were, or wrong: none of what was captured is an event.
func TestCapturesHaveNoWrongChecksumEvents(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(test.Root(), "testdata/captures/*_reports.pcap"))
	if err != nil || len(files) == 0 {
		t.Fatal("no captures", err)
	}
	var wrong uint64
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), "_reports.pcap")
		dialect := "spec"
		for _, d := range [][2]string{ // the longest prefix last
			{"fabric_tna", "fabric-tna-bmv2"},
			{"geant_v04", "geant-int04"},
			{"geant_v10", "geant-int10"},
			{"geant_v10_2021", "geant-int10-2021"},
			{"montimage", "montimage-int10"},
			{"onos_fabric_v04", "onos-int04"},
			{"onos_v10", "onos-int10-ver0"},
			{"tps", "tps"},
		} {
			if strings.HasPrefix(name, d[0]) {
				dialect = d[1]
			}
		}
		c := collectorOf(t, test.Dialect(t, dialect), name)
		log := eventlog.New(100)
		scanner := NewScanner(c, log)
		t.Log(name, c.Counters().WrongChecksums, "of", c.Counters().Reports)
		for i := range int64(5) {
			scanner.Scan((i + 1) * second)
		}
		wrong += c.Counters().WrongChecksums
		list, _ := log.Events(func(e *telemetry.Event) bool { return strings.HasPrefix(e.ReasonName, "wrong_") }, 10)
		for i := range list {
			t.Errorf("%s: %+v", filepath.Base(file), list[i])
		}
	}
	t.Logf("%d headers are wrong", wrong)
}
