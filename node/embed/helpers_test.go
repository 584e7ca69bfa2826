package embed

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/waybill-int/waybill/internal/test/packets"
	"github.com/waybill-int/waybill/wire/inband"
)

func parse(t testing.TB, d *Domain, frame []byte) *Packet {
	t.Helper()
	p := new(Packet)
	if err := d.Parse(frame, p); err != nil {
		t.Fatalf("Parse: %v\n%x", err, frame)
	}
	return p
}

// build returns a packet of that shape, always the same.
func build(s packets.Shape) []byte { return s.Frame(rand.New(rand.NewPCG(7, 7))) }

// node returns metadata of which every value is known.
func node(id uint32) *inband.Metadata {
	return &inband.Metadata{
		Has: 1<<14 - 1, NodeID: id, L1Ingress: 10 + id, L1Egress: 20 + id, HopLatency: 300 + id, QueueID: 4,
		QueueOccupancy:  500 + id,
		QueueCongestion: 6, IngressTS: 7000, EgressTS: 8000, L2Ingress: 90, L2Egress: 91, EgressTxUtil: 92,
		BufferID: 93, BufferOccupancy: 94,
	}
}

// insert starts INT in frame.
func insert(t testing.TB, d *Domain, frame []byte, ins Instruction, own *inband.Metadata) []byte {
	t.Helper()
	out, r := d.Insert(nil, parse(t, d, frame), ins, own, 0)
	if r.Action != Inserted {
		t.Fatalf("Insert: %+v, %v", r, d.CheckInstruction(&ins))
	}
	return out
}

// push adds a record.
func push(t testing.TB, d *Domain, frame []byte, own *inband.Metadata) []byte {
	t.Helper()
	out, r := d.Push(nil, parse(t, d, frame), own, 0)
	if r.Action != Pushed {
		t.Fatalf("Push: %+v\n%x", r, frame)
	}
	return out
}

// strip takes INT out, which must not fail.
func strip(t testing.TB, d *Domain, frame []byte) ([]byte, Stripped) {
	t.Helper()
	out, s, err := d.Strip(nil, parse(t, d, frame))
	if err != nil {
		t.Fatalf("Strip: %v\n%x", err, frame)
	}
	return out, s
}

// nodes returns the node ids in the stack, newest first.
func nodes(s *Stripped) (ids []uint32) {
	for i := range s.Hops {
		var m inband.Metadata
		s.Layout.Decode(s.Stack.Record(i), &m)
		ids = append(ids, m.NodeID)
	}
	return ids
}

func wantNodes(t testing.TB, s *Stripped, want ...uint32) {
	t.Helper()
	if got := nodes(s); !slices.Equal(got, want) {
		t.Fatalf("nodes: got %v, want %v", got, want)
	}
}

func wantSame(t testing.TB, what string, got, want []byte) {
	t.Helper()
	if !bytes.Equal(got, want) {
		t.Fatalf("%s:\ngot  %x\nwant %x", what, got, want)
	}
}

// A variant is a domain and a packet that it can carry INT in.
type variant struct {
	name string
	d    *Domain
	s    packets.Shape
}

// variants returns one of every version and carrier, with packets that have no checksum over INT, so that tests may
// change single bytes.
func variants(versions ...inband.Version) (list []variant) {
	names := map[inband.Version]string{
		inband.Version2016: "2016", inband.Version05: "0.5", inband.Version10: "1.0",
		inband.Version20: "2.1",
	}
	if versions == nil {
		versions = []inband.Version{inband.Version2016, inband.Version05, inband.Version10, inband.Version20}
	}
	for _, v := range versions {
		for _, c := range carriers[v] {
			s := packets.Shape{Kind: packets.UDPNoChecksum, Payload: 100}
			switch c {
			case VXLANGPE:
				s.Kind = packets.GPE
			case Geneve:
				s.Kind = packets.Geneve
			}
			list = append(list, variant{fmt.Sprintf("%s/carrier%d", names[v], c), newDomain(v, c), s})
		}
	}
	return list
}

// each runs f for every variant as a subtest, with a packet without UDP checksum.
func each(t *testing.T, list []variant, f func(t *testing.T, d *Domain, frame []byte)) {
	t.Helper()
	for _, v := range list {
		t.Run(v.name, func(t *testing.T) {
			frame := build(v.s)
			if p := parse(t, v.d, frame); p.sum.of == sumUDP {
				frame[p.sum.at], frame[p.sum.at+1] = 0, 0
			}
			f(t, v.d, frame)
		})
	}
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }
