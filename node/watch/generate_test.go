package watch

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"

	"github.com/waybill-int/waybill/telemetry"
)

// The mixes are what operators watch, and worse. With priorities, each entry has one of its own, in no order.
var mixes = []struct {
	name       string
	entry      func(r *rand.Rand) Entry
	priorities bool
}{
	{"tuples", tupleEntry, false},  // single flows
	{"subnets", subnetEntry, true}, // pairs of subnets, some with a service
	{"acl", aclEntry, false},       // as access lists are: wildcards, nested prefixes, ranges of ports
	{"tenants", tenantEntry, true}, // tunnels, VLANs, ingress ports, DSCP
	{"ranges", rangeEntry, false},  // overlapping ranges of ports and little else
	{"mixed", mixedEntry, true},    // all of them, IPv4 and IPv6
	{"random", randomEntry, false}, // a prefix and any other fields with any values: hardly two entries are alike
}

func mixedEntry(r *rand.Rand) Entry {
	kinds := [...]func(*rand.Rand) Entry{tupleEntry, subnetEntry, aclEntry, tenantEntry, rangeEntry}
	return kinds[r.IntN(len(kinds))](r)
}

func tupleEntry(r *rand.Rand) Entry {
	ip6 := r.IntN(4) == 0
	return Entry{
		Src: prefix(r, ip6, 128), Dst: prefix(r, ip6, 128), Protocol: new(Protocol(6)),
		SrcPort: &PortRange{Low: p(r), High: 0}, DstPort: &PortRange{Low: 443, High: 443},
	}.fix()
}

func subnetEntry(r *rand.Rand) Entry {
	ip6 := r.IntN(4) == 0
	e := Entry{Src: prefix(r, ip6, 16+r.IntN(13)), Dst: prefix(r, ip6, 16+r.IntN(13))}
	if r.IntN(2) == 0 {
		e.Protocol, e.DstPort = new(Protocol(17)), &PortRange{Low: 4791, High: 4791}
	}
	return e
}

func aclEntry(r *rand.Rand) Entry {
	ip6 := r.IntN(8) == 0
	e := Entry{}
	if r.IntN(5) > 0 {
		e.Src = prefix(r, ip6, []int{8, 16, 20, 24, 24, 24, 28, 32, 32, 32}[r.IntN(10)])
	}
	if r.IntN(10) > 0 || !e.Src.IsValid() {
		e.Dst = prefix(r, ip6, []int{12, 16, 22, 23, 24, 24, 27, 30, 32, 32}[r.IntN(10)])
	}
	if r.IntN(4) > 0 {
		e.Protocol = new(Protocol([]uint8{6, 6, 6, 17, 17, 1}[r.IntN(6)]))
		switch r.IntN(6) {
		case 0:
			e.DstPort = &PortRange{Low: 1024, High: 65535}
		case 1:
			e.DstPort = &PortRange{Low: 6000, High: 6063}
		case 2, 3:
			e.DstPort = &PortRange{Low: []uint16{22, 53, 80, 443, 1521, 8080}[r.IntN(6)], High: 0}
		}
		if r.IntN(10) == 0 {
			e.SrcPort = &PortRange{Low: 1024, High: 65535}
		}
	}
	return e.fix()
}

func tenantEntry(r *rand.Rand) Entry {
	e := Entry{}
	switch r.IntN(4) {
	case 0:
		e.VNI, e.DstPort = new(r.Uint32N(1<<14)), &PortRange{Low: p(r), High: 0}
	case 1:
		e.VNI = new(r.Uint32N(1 << 14))
		e.Dst = prefix(r, false, 24)
	case 2:
		e.IngressPort, e.VLAN = new(r.Uint32N(64)), new(uint16(r.IntN(4095)))
	case 3:
		e.VLAN, e.DSCP = new(uint16(r.IntN(4095))), new(uint8(r.IntN(64)))
	}
	return e.fix()
}

func rangeEntry(r *rand.Rand) Entry {
	e := Entry{Protocol: new(Protocol(6 + 11*uint8(r.IntN(2)))), DstPort: &PortRange{Low: p(r), High: p(r)}}
	if r.IntN(4) == 0 {
		e.Dst = prefix(r, false, 8)
	}
	return e.fix()
}

func randomEntry(r *rand.Rand) Entry {
	ip6 := r.IntN(2) == 0
	e := Entry{Src: prefix(r, ip6, 8+r.IntN(25))}
	if r.IntN(2) == 0 {
		e.Dst = prefix(r, ip6, 8+r.IntN(25))
	}
	if r.IntN(2) == 0 {
		e.Protocol = new(Protocol(r.IntN(256)))
	}
	if r.IntN(2) == 0 {
		e.SrcPort = &PortRange{Low: p(r), High: p(r)}
	}
	if r.IntN(2) == 0 {
		e.DstPort = &PortRange{Low: p(r), High: p(r)}
	}
	if r.IntN(2) == 0 {
		e.DSCP = new(uint8(r.IntN(64)))
	}
	if r.IntN(2) == 0 {
		e.VLAN = new(uint16(r.IntN(4095)))
	}
	if r.IntN(2) == 0 {
		e.VNI = new(r.Uint32N(1 << 14))
	}
	if r.IntN(2) == 0 {
		e.IngressPort = new(r.Uint32N(64))
	}
	return e.fix()
}

// fix makes ranges of "port, 0" that one port and puts others in order.
func (e Entry) fix() Entry {
	for _, r := range []*PortRange{e.SrcPort, e.DstPort} {
		if r != nil && r.High == 0 {
			r.High = r.Low
		}
		if r != nil && r.High < r.Low {
			r.Low, r.High = r.High, r.Low
		}
	}
	return e
}

func p(r *rand.Rand) uint16 { return uint16(1 + r.IntN(65535)) }

// prefix returns a prefix of at most length bits for IPv4, at most 4 times as many for IPv6.
func prefix(r *rand.Rand, ip6 bool, length int) Prefix {
	var b [16]byte
	if ip6 {
		b = [16]byte{0x20, 0x01, 0x0d, 0xb8, 0, byte(r.IntN(4))}
		binary.BigEndian.PutUint16(b[14:], uint16(r.IntN(4096)))
		binary.BigEndian.PutUint16(b[6:], uint16(r.IntN(256)))
		return Prefix{Prefix: netip.PrefixFrom(netip.AddrFrom16(b), min(32+2*length, 128)).Masked()}
	}
	binary.BigEndian.PutUint32(b[:], 10<<24|r.Uint32N(1<<21))
	return Prefix{Prefix: netip.PrefixFrom(netip.AddrFrom4([4]byte(b[:4])), min(length, 32)).Masked()}
}

// generate returns n entries of a mix.
func generate(mix, n int, seed uint64) []Entry {
	r := rand.New(rand.NewPCG(seed, uint64(mix)))
	entries := make([]Entry, n)
	for i := range entries {
		entries[i] = mixes[mix].entry(r)
	}
	if mixes[mix].priorities {
		for i, priority := range r.Perm(n) {
			entries[i].Priority = priority
		}
	}
	return entries
}

// keyFor returns a packet that matches e, as far as the others let it; its free fields are random.
func keyFor(r *rand.Rand, e *Entry) Key {
	ip6 := e.Src.Addr().Is6() || e.Dst.Addr().Is6() || !e.Src.IsValid() && !e.Dst.IsValid() && r.IntN(3) == 0
	k := Key{
		FlowKey: telemetry.FlowKey{
			Src: within(r, e.Src, ip6), Dst: within(r, e.Dst, ip6), Protocol: []uint8{1, 6, 17}[r.IntN(3)],
			SrcPort: p(r), DstPort: p(r),
		},
		DSCP: uint8(r.IntN(64)), VLAN: uint16(r.IntN(4095)), IngressPort: r.Uint32N(64),
	}
	if r.IntN(4) == 0 {
		k.Tunnel, k.TunnelID = telemetry.TunnelVXLAN, r.Uint32N(1<<14)
	}
	if e.Protocol != nil {
		k.Protocol = uint8(*e.Protocol)
	}
	if e.SrcPort != nil {
		k.SrcPort = e.SrcPort.Low + uint16(r.IntN(int(e.SrcPort.High-e.SrcPort.Low)+1))
	}
	if e.DstPort != nil {
		k.DstPort = e.DstPort.Low + uint16(r.IntN(int(e.DstPort.High-e.DstPort.Low)+1))
	}
	if e.DSCP != nil {
		k.DSCP = *e.DSCP
	}
	if e.VLAN != nil {
		k.VLAN = *e.VLAN
	}
	if e.VNI != nil {
		k.Tunnel, k.TunnelID = telemetry.TunnelGeneve, *e.VNI
	}
	if e.IngressPort != nil {
		k.IngressPort = *e.IngressPort
	}
	return k
}

// within returns an address of p, any of its family if p is not set.
func within(r *rand.Rand, p Prefix, ip6 bool) telemetry.Addr {
	if !p.IsValid() {
		p = prefix(r, ip6, 8)
	}
	b := p.Addr().As16()
	length := p.Bits()
	if p.Addr().Is4() {
		length += 96
	}
	for bit := length; bit < 128; bit++ {
		b[bit/8] |= byte(r.IntN(2)) << (7 - bit%8)
	}
	return telemetry.AddrFrom16(b)
}
