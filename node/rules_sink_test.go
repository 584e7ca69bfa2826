package node

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/test/packets"
	"github.com/waybill-int/waybill/node/embed"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/inband"
)

// through sends a packet that a change was made to behind the source through the sink.
func through(t *testing.T, text string, change func(b []byte, t *embed.INT)) (*chain, []byte) {
	t.Helper()
	c := newChain(t, 2, text)
	c.send(tcp())
	b := c.links[0]
	change(b, intOf(t, c.nodes[0], b))
	c.reports, c.raw = nil, nil
	return c, c.hop(1, append([]byte(nil), b...))
}

// A packet with D is reported and not delivered (INT 2.1 §5.8).
func TestR057DIsDiscarded(t *testing.T) {
	c, out := through(t, "watch: [{report_all: true}]\n", func(b []byte, t *embed.INT) { b[t.Header] |= 0x08 })
	if out != nil || len(c.reports) != 1 || !c.reports[0].Is(telemetry.Discard) ||
		c.nodes[1].stats.Count[Discarded] != 1 {
		t.Errorf("got %x, %+v", out, c.reports)
	}
}

// The metadata of the sink are in the report, in the stack, or in a report of their own with the same ingress timestamp
// (INT 2.1 §5.8, TR 2.0 §3.4).
func TestR059R078WhereTheSinkSpeaks(t *testing.T) {
	for _, test := range []struct {
		form           string
		reports, stack int
		local          telemetry.Fields // of the report with the stack
	}{
		{"in_report", 1, 2, telemetry.HasLatency},
		{"in_stack", 1, 3, 0},
		{"separate", 2, 2, 0},
	} {
		c := newChain(t, 3, "sink: "+test.form+"\nwatch: [{report_all: true}]\n")
		c.send(tcp())
		if len(c.reports) != test.reports {
			t.Fatalf("%s: %d reports", test.form, len(c.reports))
		}
		r := &c.reports[0]
		if len(r.Hops) != test.stack || r.Local.Has&telemetry.HasLatency != test.local {
			t.Errorf("%s: %+v", test.form, r)
		}
		if test.reports == 2 {
			own := &c.reports[1]
			if own.ReportNs != r.ReportNs || own.ReportNs == 0 || own.Local.LatencyNs != 1020 ||
				own.Is(telemetry.Embedded) || !own.Is(telemetry.Tracked) {
				t.Errorf("%+v\n%+v", r, own)
			}
		}
	}
}

// RepMdBits are those of the Instruction Bitmap: bit 0 is clear, and bit 15 too if nothing was dropped (INT 2.1 §5.8).
func TestR060R076RepMdBits(t *testing.T) {
	const text = "checksum_complement: true\nwatch: [{report_all: true, instructions: [node_id, hop_latency, egress_ts, buffer, checksum_complement]}]\n"
	bits := func(c *chain) [2]byte { return [2]byte(c.raw[0][14+20+8+8+4:]) }
	c := newChain(t, 2, text)
	c.send(tcp())
	if got := bits(c); got != [2]byte{0x24, 0x80} {
		t.Errorf("got %x", got)
	}
	c, _ = through(t, text, func(b []byte, t *embed.INT) { b[t.Header+6], b[t.Header+7] = 0x12, 0x34 })
	if got := [8]byte(c.raw[0][14+20+8+8+4:]); got != [8]byte{0x24, 0x80, 0x12, 0x34, 0, 0, 0, 0} {
		t.Errorf("unknown domain: got %x", got)
	}
	if c.nodes[1].stats.Count[UnknownDomain] != 1 {
		t.Errorf("got %v", c.nodes[1].stats.Count)
	}
}

// Of a packet with malformed INT, what the shim covers is removed; if that cannot be, the packet is dropped. It is
// counted, and INT never leaves the domain (INT 2.1 §2).
func TestR061MalformedINT(t *testing.T) {
	c, out := through(t, "", func(b []byte, t *embed.INT) { b[t.Header+2] = 3 }) // Hop ML
	want := routed(tcp())
	out = routed(out)
	for _, b := range [][]byte{out, want} { // what was damaged on the way is still recognised as that
		b[14+20+16], b[14+20+17] = 0, 0
	}
	if !bytes.Equal(out, want) || c.nodes[1].stats.Count[StrippedBad] != 1 || len(c.reports) != 0 {
		t.Errorf("removable: got %x", out)
	}
	c, out = through(t, "", func(b []byte, t *embed.INT) { b[t.Shim+1] = 200 }) // Length
	if n := c.nodes[1].stats.Count; out != nil || n[StrippedBad] != 1 || n[Discarded] != 1 {
		t.Errorf("not removable: got %x", out)
	}
}

// A sink that knows the TTL of hosts finds packets that passed nodes without INT (INT 2.1 §5.1).
func TestR062HopsWithoutINT(t *testing.T) {
	for _, test := range []struct {
		text    string
		without bool
		want    uint64
	}{
		{"initial_ttl: 64\n", false, 0},
		{"initial_ttl: 64\n", true, 1},
		{"", true, 0},
		{"version: 0.5\ninitial_ttl: 64\n", false, 0},
		{"version: 0.5\ninitial_ttl: 64\n", true, 1},
	} {
		c := newChain(t, 4, test.text)
		if test.without {
			c.nodes[2] = nil
		}
		frame := tcp()
		at, _ := ttlAt(frame)
		frame[at] = 64
		c.send(frame)
		if got := c.nodes[3].stats.Count[HiddenHops]; got != test.want || c.nodes[3].stats.Count[Stripped] != 1 {
			t.Errorf("%q, a node without INT %v: got %d, want %d", test.text, test.without, got, test.want)
		}
	}
}

// Between two hosts of one switch there is no INT, and the report has the node's own metadata alone.
func TestSourceAndSinkInOne(t *testing.T) {
	for _, mode := range []string{"md", "mx", "xd"} {
		c := newChain(t, 1, "mode: "+mode+"\n")
		frame := tcp()
		out := c.send(frame)
		if !bytes.Equal(routed(out), routed(frame)) || len(c.reports) != 1 {
			t.Fatalf("%s: got %x, %+v", mode, out, c.reports)
		}
		r := &c.reports[0]
		if !r.Is(telemetry.Tracked) || r.Is(telemetry.Embedded|telemetry.Instructed) || r.Local.LatencyNs != 1000 ||
			!r.Is(telemetry.HasFlow) {
			t.Errorf("%s: %+v", mode, r)
		}
	}
}

// No outcome of any role lets INT out: every version, carrier and mode, with a packet that fits it.
func TestR002NothingLeaves(t *testing.T) {
	for version, carriers := range versionCarriers {
		for _, carrier := range carriers {
			for _, mode := range []string{"md", "mx", "xd"} {
				if mode == "mx" && version < "2.0" || version == "2016" && mode == "mx" {
					continue
				}
				text := "version: " + version + "\ncarrier: " + carrier + "\nmode: " + mode + "\n"
				if carrier == "marker" {
					text += "points: {probe_marker: 0xAABBCCDDEEFF0011}\n"
				}
				s := packets.Shape{Kind: packets.UDP, Payload: 50}
				switch carrier {
				case "geneve":
					s.Kind = packets.Geneve
					text += "instructions: [node_id, hop_latency]\n"
				case "vxlan-gpe":
					s.Kind = packets.GPE
				}
				c := newChain(t, 4, text+"watch: [{report_all: true}]\n")
				frame := s.Frame(rand.New(rand.NewPCG(5, 5)))
				out := c.send(frame)
				if !bytes.Equal(routed(out), routed(frame)) {
					t.Errorf("%s: got %x, want %x", text, out, frame)
				}
				hasINT := intOf(t, c.nodes[1], c.links[1]).Present
				if md := mode == "md"; hasINT != (mode != "xd") || md &&
					(len(c.reports) != 1 || len(c.reports[0].Hops) != 3) || !md && len(c.reports) != 4 {
					t.Errorf("%s: INT %v, reports %+v", text, hasINT, c.reports)
				}
			}
		}
	}
}

// What the source tells in a destination header the sink reads, reports and takes out: the numbers of packets that are
// lost, and nodes that added no record, whatever TTL hosts begin with (INT 2016 §4.1, INT 2.1 §5.1).
func TestR062DestinationHeader(t *testing.T) {
	for _, version := range []string{"2016", "0.5", "1.0", "2.1", "2.1\"\nmode: \"mx"} {
		for carrier, kind := range map[string]packets.Kind{"geneve": packets.Geneve, "vxlan-gpe": packets.GPE} {
			text := "version: \"" + version + "\"\ncarrier: " + carrier +
				"\ninstructions: [node_id]\ndestination: [sequence, ttl]\nwatch: [{report_all: true}]\n"
			c := newChain(t, 4, text)
			frame := packets.Shape{Kind: kind, Payload: 50}.Frame(newRand())
			at, _ := ttlAt(frame)
			for i := range uint32(6) {
				if i == 2 || i == 3 { // lost behind the source
					c.hop(0, bytes.Clone(frame))
					continue
				}
				if i == 5 {
					c.nodes[1] = nil // a node without INT
				}
				if out := c.send(frame); !bytes.Equal(routed(out), routed(frame)) {
					t.Errorf("%s: got %x, want %x", text, out, frame)
				}
				r := &c.reports[len(c.reports)-1]
				if !r.Is(telemetry.HasFlowSequence) || r.FlowSequence != i+1 || !r.Is(telemetry.HasFirstTTL) ||
					r.FirstTTL != frame[at] {
					t.Errorf("%s: packet %d: %+v", text, i+1, r)
				}
			}
			hidden := uint64(1)
			if strings.HasSuffix(version, "mx") {
				hidden = 0
			}
			if n := c.nodes[3].stats.Count; n[SequenceGaps] != 2 || n[HiddenHops] != hidden {
				t.Errorf("%s: %d packets missing, %d passed nodes without INT", text, n[SequenceGaps], n[HiddenHops])
			}
		}
	}
}

// A host behind an edge that may send INT tells its sink something: the source puts its header in front of that (INT
// 2.1 §5.1).
func TestR007MessageOfTheHost(t *testing.T) {
	const text = "version: 2016\nedge_int: accept\ndestination: [ttl]\n"
	c := newChain(t, 3, text)
	frame := packets.Shape{Kind: packets.Geneve, Payload: 50}.Frame(newRand())
	c.send(frame)
	with := bytes.Clone(c.links[0]) // with the headers of a source: that for all hops is taken out
	p := intOf(t, c.nodes[0], with)
	with = append(with[:p.Start], with[p.StackEnd:]...)
	at := p.Start - 8 // of the Geneve header
	with[at] -= uint8((p.StackEnd - p.Start) / 4)
	shorter := uint16(p.StackEnd - p.Start)
	for _, length := range []int{14 + 2, 14 + 20 + 4} { // of IP and UDP
		binary.BigEndian.PutUint16(with[length:], binary.BigEndian.Uint16(with[length:])-shorter)
	}
	told := with[p.Start+4 : p.Start+12]
	c = newChain(t, 3, text)
	out := c.send(with)
	t1 := intOf(t, c.nodes[0], c.links[0])
	if t1.Type != inband.TypeHopByHop || t1.Hops != 1 || t1.Destination < t1.StackEnd ||
		!bytes.Equal(c.links[0][t1.Destination:t1.DestinationEnd], told) {
		t.Errorf("behind the source: %+v", t1)
	}
	if len(c.reports) != 1 || len(c.reports[0].Hops) != 2 || intOf(t, c.nodes[0], out).Present ||
		len(out) != len(frame) {
		t.Errorf("behind the sink: %x, %+v", out, c.reports)
	}
	// From edge to edge it is taken out too.
	one := newChain(t, 1, text)
	if out := one.send(with); intOf(t, one.nodes[0], out).Present || len(out) != len(frame) {
		t.Errorf("from edge to edge: %x", out)
	}
}
