package node

import (
	"math"
	"math/bits"

	"github.com/waybill-int/waybill/node/watch"
	"github.com/waybill-int/waybill/wire/inband"
	"github.com/waybill-int/waybill/wire/report"
)

// usually is what a node knows of a packet that leaves.
const usually = inband.NodeID | inband.L1Ingress | inband.L1Egress | inband.HopLatency | inband.QueueID |
	inband.QueueOccupancy |
	inband.IngressTS | inband.EgressTS | inband.BufferID | inband.BufferOccupancy

// measure fills in the node's own metadata of a packet that leaves. Units: ns of the node's clock; bytes; hundredths of
// a percent of the port's rate; congestion status in percent of the limit of the queue, if that is known (INT 2016
// §3.4). What does not fit its field is the largest value that does not mean "not available" (INT 2.1 §5.8).
func (n *Node) measure(v *visit) {
	s, e := v.state, &v.egress
	most32, most24 := n.most32(), uint64(1<<24-2)
	if n.inside.Version == inband.Version2016 {
		most24 = most32
	}
	m := &v.own
	m.Has, m.Invalid = usually&^n.omit, 0
	m.NodeID = n.spec.NodeID
	m.L1Ingress, m.L1Egress = s.inPort, e.Port
	m.QueueID, m.QueueOccupancy = e.Queue, uint32(min(e.QueueBytes, most24))
	m.BufferOccupancy = uint32(min(e.BufferBytes, most24))
	if e.QueueLimit > 0 {
		m.Has |= inband.QueueCongestion &^ n.omit
		m.QueueCongestion = uint32(min(100*float64(e.QueueBytes)/float64(e.QueueLimit), 100))
	}
	n.leaves(m, s.arrivedNs, e.DepartedNs)
	if s.is(untimed) {
		m.Has &^= inband.HopLatency | inband.IngressTS
	}
	m.EgressTxUtil = 0
	if e.Bps > 0 && n.omit&inband.EgressTxUtil == 0 {
		m.Has |= inband.EgressTxUtil
		hi, lo := bits.Mul64(e.TxBps, 10_000)
		if hi >= e.Bps {
			m.EgressTxUtil = uint32(most32)
		} else {
			q, _ := bits.Div64(hi, lo, e.Bps)
			m.EgressTxUtil = uint32(min(q, most32))
		}
	}
}

// most32 returns the largest value of four bytes that does not mean "not available".
func (n *Node) most32() uint64 {
	if n.inside.Version == inband.Version2016 { // beside the bottom of stack bit
		return math.MaxInt32 - 1
	}
	return math.MaxUint32 - 1
}

// leaves fills in when a packet comes and goes.
func (n *Node) leaves(m *inband.Metadata, arrivedNs, departedNs uint64) {
	m.IngressTS, m.EgressTS = arrivedNs, departedNs
	m.HopLatency = uint32(min(departedNs-min(arrivedNs, departedNs), n.most32()))
	switch {
	case departedNs == 0:
		m.Has &^= inband.HopLatency | inband.EgressTS
	case departedNs < arrivedNs: // the clock was set
		m.Has &^= inband.HopLatency
	}
}

// latency returns how long the packet was in the node, ns; 0 if the clock was set back meanwhile.
func (*Node) latency(v *visit) uint64 {
	return v.egress.DepartedNs - min(v.state.arrivedNs, v.egress.DepartedNs)
}

// fieldsOf returns the values that instructions ask for.
func fieldsOf(i watch.Instructions) (f inband.Fields) {
	for _, row := range [...]struct {
		one    watch.Instructions
		fields inband.Fields
	}{
		{watch.NodeID, inband.NodeID},
		{watch.L1Interfaces, inband.L1Ingress | inband.L1Egress},
		{watch.HopLatency, inband.HopLatency},
		{watch.Queue, inband.QueueID | inband.QueueOccupancy},
		{watch.IngressTS, inband.IngressTS},
		{watch.EgressTS, inband.EgressTS},
		{watch.L2Interfaces, inband.L2Ingress | inband.L2Egress},
		{watch.QueueCongestion, inband.QueueCongestion},
		{watch.EgressTxUtil, inband.EgressTxUtil},
		{watch.Buffer, inband.BufferID | inband.BufferOccupancy},
	} {
		if i&row.one != 0 {
			f |= row.fields
		}
	}
	return f
}

// usualMetadata returns the RepMdBits of what the node is configured to ask for.
func (p *plan) usualMetadata() uint16 {
	d, _ := p.demand(watch.ModeXD, p.instructions)
	return d.metadata &^ report.MDDrop
}
