package checksum

import (
	"fmt"

	"github.com/waybill-int/waybill/telemetry"
)

// A header whose checksum is wrong was damaged on the way, or a node does not keep the rule: some leave the checksum as
// it was when they insert INT, or copy packets into reports that they have half rewritten. Then it is wrong in all of
// their reports. So wrong ones are counted, some others are looked at, and only where wrong ones are rare they are an
// event.

const (
	// Sample leaves one of 64 reports to be looked at.
	Sample = 63
	// maxHeaderNodes bounds the nodes of which headers are counted; each counts up to six times.
	maxHeaderNodes = 4096
	// Headers of a node are right as a rule if leastHeaders were looked at, and at most one in headersPerWrong was
	// wrong.
	leastHeaders, headersPerWrong = 30, 100
)

// A Key is a node, what its reports are about, packets with INT in them or without, and which of their
// checksums it is.
type Key struct {
	Node uint32
	int  bool
	L4   uint8 // its protocol; 0: the checksum of IPv4
}

func keyOf(r *telemetry.Report) Key {
	return Key{Node: r.NodeID, int: r.Is(telemetry.Embedded | telemetry.Instructed)}
}

// A Count is how many headers were looked at, and how many were wrong, since the last scan.
type Count struct {
	looked, lookedWrong uint64 // one in 64
	Wrong               uint64 // of all
	First, Last         int64  // of these
	flow                telemetry.FlowKey
	hasFlow             bool
	datagram            []byte
}

// A Table counts headers by node until a Scanner takes them.
type Table struct {
	nodes    Sums
	Total    uint64 // wrong ones of IPv4
	L4       uint64 // wrong ones of TCP and UDP, of those that were looked at
	Overflow uint64 // wrong ones of nodes for which there was no room
}

func New() Table { return Table{nodes: Sums{}} }

func (t *Table) count(k Key) *Count {
	n := t.nodes[k]
	if n == nil && len(t.nodes) < maxHeaderNodes {
		n = &Count{}
		t.nodes[k] = n
	}
	return n
}

// Look counts the header in a report as one that was looked at.
func (t *Table) Look(r *telemetry.Report) {
	outer := &r.Flow
	if r.Is(telemetry.HasOuter) {
		outer = &r.Outer
	}
	if !r.HasNodeID || !r.Is(telemetry.HasFlow) || !outer.Src.IP().Is4() {
		return
	}
	if n := t.count(keyOf(r)); n != nil {
		n.looked++
		if r.Is(telemetry.WrongChecksum) {
			n.lookedWrong++
		}
	}
}

// Wrong counts the header in a report if it is wrong.
func (t *Table) Wrong(r *telemetry.Report, nowNs int64) {
	if !r.Is(telemetry.WrongChecksum) {
		return
	}
	t.Total++
	if !r.HasNodeID {
		return
	}
	n := t.count(keyOf(r))
	if n == nil {
		t.Overflow++
		return
	}
	n.note(r, nowNs)
}

// LookL4 counts the TCP or UDP checksum in a report, which has CheckedL4.
func (t *Table) LookL4(r *telemetry.Report, nowNs int64) {
	wrong := r.Is(telemetry.WrongL4Checksum)
	if wrong {
		t.L4++
	}
	if !r.HasNodeID {
		return
	}
	k := keyOf(r)
	k.L4 = r.Flow.Protocol
	if r.Is(telemetry.HasOuter) {
		k.L4 = r.Outer.Protocol
	}
	n := t.count(k)
	switch {
	case n == nil && wrong:
		t.Overflow++
	case n != nil:
		n.looked++
		if wrong {
			n.lookedWrong++
			n.note(r, nowNs)
		}
	}
}

// note counts a report with a wrong checksum.
func (n *Count) note(r *telemetry.Report, nowNs int64) {
	if n.Wrong == 0 {
		n.First = nowNs
	}
	n.Wrong++
	n.Last = nowNs
	if n.datagram == nil {
		n.flow, n.hasFlow = r.Flow, r.Is(telemetry.HasFlow)
		if len(r.Datagram) > 0 {
			n.datagram = telemetry.HexOf(r.Datagram)
		}
	}
}

// A history is how many headers of a node were looked at, and wrong, while they were right as a rule.
type history struct{ looked, wrong uint64 }

func (h *history) right() bool {
	return h.looked >= leastHeaders && h.wrong*headersPerWrong <= h.looked
}

// merge adds what another shard counted.
func (n *Count) merge(o *Count) {
	n.looked += o.looked
	n.lookedWrong += o.lookedWrong
	if o.Wrong == 0 {
		return
	}
	if n.Wrong == 0 || o.First < n.First {
		n.First, n.flow, n.hasFlow, n.datagram = o.First, o.flow, o.hasFlow, o.datagram
	}
	n.Wrong += o.Wrong
	n.Last = max(n.Last, o.Last)
}

// Sums are what the tables of several shards counted.
type Sums map[Key]*Count

// Take returns what the table counted, and counts anew.
func (t *Table) Take() Sums {
	counted := t.nodes
	t.nodes = Sums{}
	return counted
}

// Add adds what another table counted, whose memory it may keep.
func (s Sums) Add(o Sums) {
	for k, n := range o {
		if sum := s[k]; sum != nil {
			sum.merge(n)
		} else {
			s[k] = n
		}
	}
}

// Histories are those of nodes, at most maxHeaderNodes: what is the rule there.
type Histories map[Key]*history

// Judge returns what was wrong of nodes whose packets were right as a rule, and remembers the rest.
func (t Histories) Judge(now Sums) Sums {
	wrong := Sums{}
	for k, n := range now {
		h := t[k]
		if h == nil {
			if len(t) >= maxHeaderNodes {
				continue
			}
			h = &history{}
			t[k] = h
		}
		if n.Wrong > 0 && h.right() {
			wrong[k] = n
			continue // what is an event is not the rule
		}
		h.looked += n.looked
		h.wrong += n.lookedWrong
		if h.looked > 1<<16 { // what was long ago counts less
			h.looked, h.wrong = h.looked/2, h.wrong/2
		}
	}
	return wrong
}

// Describe says in an event what is wrong, with the name of the node.
func (n *Count) Describe(e *telemetry.Event, k Key, name string) {
	e.Severity, e.ReasonName, e.Bytes = telemetry.Warning, "wrong_ipv4_checksum", n.datagram
	what := "an IPv4 header whose checksum"
	if k.L4 != 0 {
		e.ReasonName, what = "wrong_l4_checksum", "a "+telemetry.ProtocolName(k.L4)+" checksum that"
	}
	e.Text = fmt.Sprintf("packets that %s reports have %s is wrong; they had right ones before", name, what)
	if n.hasFlow {
		flow := telemetry.EndpointsOf(&n.flow)
		e.Flow = &flow
	}
}
