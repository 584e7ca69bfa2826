package telemetry

import (
	"encoding/binary"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/inband"
)

// fill says the same as the general way over inband.Layout, for every instruction bitmap and for values that are not
// available.
func TestFill(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	d := &Decoder{dialect: &codepoint.Dialect{TimeUnit: 1000, LatencyUnit: 7}}
	filled := map[inband.Format]int{}
	for format := inband.Format2016; format <= inband.Format20; format++ {
		for bitmap := range 1 << 10 {
			layout := inband.NewLayout(format, uint16(bitmap>>1)<<7|uint16(bitmap&1))
			if layout.Len() == 0 || !d.onePass(&layout) {
				continue
			}
			filled[format]++
			for range 20 {
				const n = 4
				stack := make([]byte, n*layout.Len())
				for i := 0; i < len(stack); i += 4 {
					word := r.Uint32() >> r.UintN(32)
					if r.IntN(4) == 0 {
						word = ones32
					}
					binary.BigEndian.PutUint32(stack[i:], word)
				}
				fast, general := make([]Hop, n), make([]Hop, n)
				d.fill(fast, stack, &layout)
				for i := range n {
					layout.Decode(stack[i*layout.Len():][:layout.Len()], &d.metadata)
					d.hop(&general[n-1-i], &layout)
				}
				for i := range n {
					if got, want := known(fast[i]), known(general[i]); !reflect.DeepEqual(got, want) {
						t.Fatalf("format %d, bitmap %04x, record % x, hop %d:\nfast    %+v\ngeneral %+v", format,
							layout.Bitmap(), stack, i, got, want)
					}
				}
			}
		}
	}
	want := map[inband.Format]int{inband.Format05: 511, inband.Format10: 1023, inband.Format20: 1023}
	if !reflect.DeepEqual(filled, want) {
		t.Errorf("filled %v, want %v", filled, want)
	}
}

// known clears what h does not have.
func known(h Hop) Hop {
	k := Hop{Has: h.Has}
	set := func(f Fields, copy func()) {
		if h.Has&f != 0 {
			copy()
		}
	}
	set(HasNode, func() { k.NodeID = h.NodeID })
	set(HasIngressPort, func() { k.IngressPort = h.IngressPort })
	set(HasEgressPort, func() { k.EgressPort = h.EgressPort })
	set(HasLatency, func() { k.LatencyNs = h.LatencyNs })
	set(HasQueue, func() { k.QueueID, k.QueueOccupancy = h.QueueID, h.QueueOccupancy })
	set(HasIngressTime, func() { k.IngressNs = h.IngressNs })
	set(HasEgressTime, func() { k.EgressNs = h.EgressNs })
	set(HasL2Ports, func() { k.L2Ingress, k.L2Egress = h.L2Ingress, h.L2Egress })
	set(HasTxUtil, func() { k.TxUtil = h.TxUtil })
	set(HasBuffer, func() { k.BufferID, k.BufferOccupancy = h.BufferID, h.BufferOccupancy })
	return k
}
