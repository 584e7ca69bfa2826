package dissect

import (
	"net/netip"

	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/ifa"
)

// maxLayers bounds the headers of one packet, so that a packet of nothing but tunnels cannot keep a reader busy. What
// is behind the last one is payload.
const maxLayers = 64

// A walk goes from header to header through one packet, or through one packet fragment inside a report.
type walk struct {
	packet  []byte // the whole packet; positions count from its start
	off     int    // of the next header
	end     int    // of the bytes that the headers so far have left
	cfg     *codepoint.Config
	profile *codepoint.Profile
	layers  []Layer

	inReport  bool // a packet fragment, which may be cut anywhere
	telemetry bool // INT, IOAM and IFA are read; false in fragments of reports without the F bit

	last       int // where the bytes end if the lengths in IP and UDP are not believed
	ipHeaders  int // IP headers so far
	ipEnd      int // where the last of them says that the packet ends; 0: it does not say
	source     netip.Addr
	sawPorts   bool   // of the outermost L4 header
	dscp       uint8  // of the last IP header
	isUDP      bool   // the last L4 header is UDP
	dstPort    uint16 // of the last L4 header
	tcpOptions int    // bytes of TCP options that stand behind INT
	ifaHeader  ifa.Header
	behindIFA  bool // IFA metadata follow the L4 header
	marks      marks
}

// Marks are what announced the INT shim that comes next.
type marks struct {
	port     bool // the UDP destination port
	dscp     bool // the DSCP
	unmarked bool // nothing: it was recognised by its look
}

// Packet reads the layers of b, whose first byte belongs to start. It returns what could be read of any bytes: a rule
// that is broken appears as an error field where it is broken, and bytes that nothing is known about as a layer
// "payload". The layers keep no reference to b.
//
// cfg, which must be compiled, decides what is telemetry and how it is read: by the profile of the source address and
// ports of the outermost IP packet, or that of an unknown source if b starts behind these headers.
func Packet(b []byte, start Start, cfg *codepoint.Config) []Layer {
	w := walk{
		packet: b, end: len(b), last: len(b),
		cfg: cfg, profile: cfg.For(netip.Addr{}, 0, 0), telemetry: true,
		layers: make([]Layer, 0, 12),
	}
	w.run(start)
	return w.layers
}

// run reads headers until nothing is left or known.
func (w *walk) run(next Start) {
	for next != nothing && next != Payload && len(w.layers) < maxLayers {
		next = w.step(next)
	}
	if next != nothing {
		w.payload()
	}
}

// step reads one header, or a few that belong together, and returns what follows.
func (w *walk) step(next Start) Start {
	switch next {
	case Ethernet:
		return w.ethernet()
	case LinuxCooked:
		return w.linuxCooked()
	case Loopback:
		return w.loopback()
	case LinuxCooked2:
		return w.linuxCooked2()
	case RawIP:
		return w.ipVersion()
	case IPv4:
		return w.ipv4()
	case IPv6:
		return w.ipv6()
	case MPLS:
		return w.mpls()
	case UDP:
		return w.udp()
	case TCP:
		return w.tcp()
	case SCTP:
		return w.sctp()
	case ICMP:
		return w.icmp("icmp")
	case ICMPv6:
		return w.icmp("icmpv6")
	case GRE:
		return w.gre()
	case VXLAN:
		return w.vxlan()
	case VXLANGPE:
		return w.vxlanGPE()
	case Geneve:
		return w.geneve()
	case NSH:
		return w.nsh()
	case TelemetryReport:
		return w.report()
	case INTShimL4v05, INTShimL4v1, INTShimL4v2:
		return w.shimL4(next)
	case INTShimGPE2016, INTShimGPEv05, INTShimGPEv1, INTShimGPEv2:
		return w.shimGPE(next)
	case INTShimGREv2:
		return w.shimGRE()
	case INT2016, INTHopByHopV05, INTHopByHopV1, INTMD, INTMX:
		return w.bareINT(next)
	case IOAMShim:
		return w.ioamShim(gpeNext)
	case IOAMTrace:
		return w.bareIOAM()
	case IFA:
		return w.ifa()
	}
	return Payload
}

// rest returns the bytes that no header has taken yet.
func (w *walk) rest() []byte { return w.packet[w.off:w.end:w.end] }

// begin returns a builder for the header at the current position.
func (w *walk) begin() builder {
	return builder{start: 8 * w.off, fields: make(Object, 0, 12)}
}

// add appends the layer that b has built and steps over its n bytes.
func (w *walk) add(name string, b *builder, n int) *Layer {
	w.layers = append(w.layers, Layer{Name: name, Bit: b.start, Width: 8 * n, Fields: b.fields})
	w.off += n
	return &w.layers[len(w.layers)-1]
}

// broken adds the layer of a header that breaks a rule behind its first n bytes, or only the error if nothing of it was
// read. What is behind them is payload.
func (w *walk) broken(name string, b *builder, n int, err error) Start {
	if len(b.fields) == 0 {
		name, n = "", 0
	}
	b.fail(err)
	w.add(name, b, min(n, len(w.rest())))
	return Payload
}

// fail adds an error where the next layer would stand.
func (w *walk) fail(err error) {
	w.layers = append(w.layers, Layer{Bit: 8 * w.off, Fields: []Field{errorAt(err, 8*w.off)}})
}

// payload adds what is left as a layer of bytes.
func (w *walk) payload() {
	if rest := w.rest(); len(rest) > 0 {
		b := w.begin()
		b.bytes("hex", rest, 0)
		w.add("payload", &b, len(rest))
	}
}

// limit ends the current header's payload n bytes behind position from, if the packet goes on for longer.
func (w *walk) limit(from, n int) { w.end = min(w.end, from+n) }

// choose takes the profile of the packet's source. Only the outermost address and ports count: whoever sent the packet
// wrote everything in it.
func (w *walk) choose(srcPort, dstPort uint16) {
	if w.ipHeaders == 1 && !w.sawPorts && !w.inReport {
		w.profile = w.cfg.For(w.source, srcPort, dstPort)
	}
}
