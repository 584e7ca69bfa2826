package analyze

import (
	"fmt"

	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// A header whose checksum is wrong was damaged on the way, or a node does not keep the rule: some leave the checksum as
// it was when they insert INT, or copy packets into reports that they have half rewritten. Then it is wrong in all of
// their reports. So wrong ones are counted, some others are looked at, and only where wrong ones are rare they are an
// event.

const (
	// checksumSample leaves one of 64 reports to be looked at.
	checksumSample = 63
	// maxHeaderNodes bounds the nodes of which headers are counted; each counts up to six times.
	maxHeaderNodes = 4096
	// Headers of a node are right as a rule if leastHeaders were looked at, and at most one in headersPerWrong was
	// wrong.
	leastHeaders, headersPerWrong = 30, 100
)

// A checksumKey is a node, what its reports are about, packets with INT in them or without, and which of their
// checksums it is.
type checksumKey struct {
	node uint32
	int  bool
	l4   uint8 // its protocol; 0: the checksum of IPv4
}

func checksumKeyOf(r *telemetry.Report) checksumKey {
	return checksumKey{node: r.NodeID, int: r.Is(telemetry.Embedded | telemetry.Instructed)}
}

// A headerCount is how many headers were looked at, and how many were wrong, since the last scan.
type headerCount struct {
	looked, lookedWrong uint64 // one in 64
	wrong               uint64 // of all
	first, last         int64  // of these
	flow                telemetry.FlowKey
	hasFlow             bool
	datagram            []byte
}

// A checksumTable counts headers by node until a Scanner takes them.
type checksumTable struct {
	nodes    map[checksumKey]*headerCount
	total    uint64 // wrong ones of IPv4
	l4       uint64 // wrong ones of TCP and UDP, of those that were looked at
	overflow uint64 // wrong ones of nodes for which there was no room
}

func newChecksumTable() checksumTable { return checksumTable{nodes: map[checksumKey]*headerCount{}} }

func (t *checksumTable) count(k checksumKey) *headerCount {
	n := t.nodes[k]
	if n == nil && len(t.nodes) < maxHeaderNodes {
		n = &headerCount{}
		t.nodes[k] = n
	}
	return n
}

// look counts the header in a report as one that was looked at.
func (t *checksumTable) look(r *telemetry.Report) {
	outer := &r.Flow
	if r.Is(telemetry.HasOuter) {
		outer = &r.Outer
	}
	if !r.HasNodeID || !r.Is(telemetry.HasFlow) || !outer.Src.IP().Is4() {
		return
	}
	if n := t.count(checksumKeyOf(r)); n != nil {
		n.looked++
		if r.Is(telemetry.WrongChecksum) {
			n.lookedWrong++
		}
	}
}

// wrong counts the header in a report if it is wrong.
func (t *checksumTable) wrong(r *telemetry.Report, nowNs int64) {
	if !r.Is(telemetry.WrongChecksum) {
		return
	}
	t.total++
	if !r.HasNodeID {
		return
	}
	n := t.count(checksumKeyOf(r))
	if n == nil {
		t.overflow++
		return
	}
	n.note(r, nowNs)
}

// lookL4 counts the TCP or UDP checksum in a report, which has CheckedL4.
func (t *checksumTable) lookL4(r *telemetry.Report, nowNs int64) {
	wrong := r.Is(telemetry.WrongL4Checksum)
	if wrong {
		t.l4++
	}
	if !r.HasNodeID {
		return
	}
	k := checksumKeyOf(r)
	k.l4 = r.Flow.Protocol
	if r.Is(telemetry.HasOuter) {
		k.l4 = r.Outer.Protocol
	}
	n := t.count(k)
	switch {
	case n == nil && wrong:
		t.overflow++
	case n != nil:
		n.looked++
		if wrong {
			n.lookedWrong++
			n.note(r, nowNs)
		}
	}
}

// note counts a report with a wrong checksum.
func (n *headerCount) note(r *telemetry.Report, nowNs int64) {
	if n.wrong == 0 {
		n.first = nowNs
	}
	n.wrong++
	n.last = nowNs
	if n.datagram == nil {
		n.flow, n.hasFlow = r.Flow, r.Is(telemetry.HasFlow)
		if len(r.Datagram) > 0 {
			n.datagram = telemetry.HexOf(r.Datagram)
		}
	}
}

// A headerHistory is how many headers of a node were looked at, and wrong, while they were right as a rule.
type headerHistory struct{ looked, wrong uint64 }

func (h *headerHistory) right() bool {
	return h.looked >= leastHeaders && h.wrong*headersPerWrong <= h.looked
}

// A checksumDetector finds nodes whose packets have wrong headers, and had right ones before.
type checksumDetector struct {
	*scan
	headers map[checksumKey]*headerHistory
	now     map[checksumKey]*headerCount // since the last scan
}

func (d *checksumDetector) begin() { d.now = map[checksumKey]*headerCount{} }

func (d *checksumDetector) observe(o *observation) {
	for k, n := range o.checksums.nodes {
		if sum := d.now[k]; sum != nil {
			sum.merge(n)
		} else {
			d.now[k] = n
		}
	}
	o.checksums.nodes = map[checksumKey]*headerCount{}
}

func (d *checksumDetector) finish() {
	for k, n := range d.now {
		h := d.headers[k]
		if h == nil {
			if len(d.headers) >= maxHeaderNodes {
				continue
			}
			h = &headerHistory{}
			d.headers[k] = h
		}
		key := eventlog.Key{Kind: telemetry.EventMalformed, Node: k.node, Reason: wrongChecksumReason}
		if k.l4 != 0 {
			key.Reason = wrongL4ChecksumReason
		}
		if n.wrong > 0 && h.right() {
			d.log.Note(key, n.first, n.last, n.wrong, func(e *telemetry.Event) { d.tellHeaders(e, k, n) })
			continue // what is an event is not the rule
		}
		h.looked += n.looked
		h.wrong += n.lookedWrong
		if h.looked > 1<<16 { // what was long ago counts less
			h.looked, h.wrong = h.looked/2, h.wrong/2
		}
	}
}

// These reasons are no numbers of errors of wire.
const wrongChecksumReason, wrongL4ChecksumReason = 255, 254

func (d *checksumDetector) tellHeaders(e *telemetry.Event, k checksumKey, n *headerCount) {
	e.Severity, e.ReasonName, e.Bytes = telemetry.Warning, "wrong_ipv4_checksum", n.datagram
	d.at(e, &topology.HopKey{Node: k.node, Has: telemetry.HasNode})
	what := "an IPv4 header whose checksum"
	if k.l4 != 0 {
		e.ReasonName, what = "wrong_l4_checksum", "a "+telemetry.ProtocolName(k.l4)+" checksum that"
	}
	e.Text = fmt.Sprintf("packets that %s reports have %s is wrong; they had right ones before", d.name(k.node), what)
	if n.hasFlow {
		flow := telemetry.EndpointsOf(&n.flow)
		e.Flow = &flow
	}
}

// merge adds what another shard counted.
func (n *headerCount) merge(o *headerCount) {
	n.looked += o.looked
	n.lookedWrong += o.lookedWrong
	if o.wrong == 0 {
		return
	}
	if n.wrong == 0 || o.first < n.first {
		n.first, n.flow, n.hasFlow, n.datagram = o.first, o.flow, o.hasFlow, o.datagram
	}
	n.wrong += o.wrong
	n.last = max(n.last, o.last)
}
