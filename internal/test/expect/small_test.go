package expect

import (
	"bytes"
	"testing"

	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/telemetry"
)

const (
	all = telemetry.HasNode | telemetry.HasIngressPort | telemetry.HasEgressPort | telemetry.HasLatency |
		telemetry.HasQueue | telemetry.HasIngressTime | telemetry.HasEgressTime
	drop = telemetry.HasNode | telemetry.HasIngressPort | telemetry.HasEgressPort
)

// small is a network of three switches in a row, 1, 2 and 3, and one way around: 1, 3. Ports: 1 to the left, 2 to the
// right, 3 is the way around, and hosts are at port 4.
type small struct {
	records []truth.Record
	packets uint64
	reports map[uint32]uint64
}

func newSmall() *small {
	s := &small{reports: map[uint32]uint64{}}
	s.records = append(s.records, &truth.Run{Scenario: "small", EpochNs: 1e18, SamplePackets: 1})
	for node, name := range []string{"", "a", "b", "c"} {
		if node > 0 {
			s.records = append(s.records,
				&truth.Switch{Node: uint32(node), Name: name, Address: "10.255.0." + string(rune('0'+node)), INT: true})
		}
	}
	s.records = append(s.records, &truth.Host{Name: "h", Node: 1, Port: 4}, &truth.Host{Name: "g", Node: 3, Port: 4})
	return s
}

// hop is one switch of a packet: where it goes, and whether its report is sent, lost, or there is none.
type hop struct {
	node, in, out uint32
	report        string // "", "sent" or "lost"
	dropped       bool
}

func (s *small) packet(flow uint32, hops ...hop) {
	s.packets++
	for i, h := range hops {
		if h.report != "" {
			s.reports[h.node]++
			s.records = append(s.records,
				&truth.Report{
					Lost: h.report == "lost", Node: h.node, Number: s.reports[h.node], Packet: s.packets,
					Flow: flow,
				})
		}
		if h.dropped {
			s.records = append(s.records, &truth.Drop{
				Packet: s.packets, Flow: flow, Place: "queue", Node: h.node, In: h.in, Out: h.out, Depth: 5000,
				Reason: "traffic_manager", Code: 51, Seen: true, Length: 114,
			})
			return
		}
		at := 1000 * (s.packets*10 + uint64(i))
		s.records = append(s.records, &truth.Hop{
			Packet: s.packets, Flow: flow, Hop: uint8(i), Node: h.node, In: h.in, Out: h.out, InClock: at,
			OutClock: at + 100*uint64(h.node), Depth: s.packets, Length: 114,
		})
	}
}

func (s *small) flow(number uint32, src string, dscp uint8) {
	s.records = append(s.records,
		&truth.Flow{Flow: number, Src: src, Dst: "10.0.3.1", Protocol: 17, SrcPort: 4000, DstPort: 5000, DSCP: dscp})
}

func (s *small) read(t *testing.T) *Truth {
	t.Helper()
	var b bytes.Buffer
	w := truth.NewWriter(&b)
	for _, r := range append(s.records, &truth.End{TimeNs: 1}) {
		w.Write(r)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	read, err := Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func options(m Mode) Options {
	return Options{
		Mode: m, Hop: all, Drop: drop, Wide: true, Version: "2.0",
		Source: func(address string) string { return "127" + address[2:] },
	}
}
