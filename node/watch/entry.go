package watch

import (
	"fmt"

	"github.com/waybill-int/waybill/internal/conf/unit"
)

// The values of entries that all files have. The zero Prefix is every address, of either family; 0.0.0.0/0 is every
// IPv4 address and ::/0 every IPv6 address. Packets without ports have port 0.
type (
	Prefix    = unit.Prefix
	PortRange = unit.Range[uint16]
)

// An Entry is one line of a watchlist: the packets that match all of its fields, and what to do with them. A field that
// is not set matches every packet.
type Entry struct {
	Name string `yaml:"name,omitempty"` // for people

	// Of several entries that match a packet, the one with the highest Priority counts; of equals, the first in the
	// list.
	Priority int `yaml:"priority,omitempty"`

	// Prefixes of the innermost IP header, both IPv4 or both IPv6.
	Src Prefix `yaml:"src,omitempty"`
	Dst Prefix `yaml:"dst,omitempty"`

	SrcPort  *PortRange `yaml:"src_port,omitempty"`
	DstPort  *PortRange `yaml:"dst_port,omitempty"`
	Protocol *Protocol  `yaml:"protocol,omitempty"`
	DSCP     *uint8     `yaml:"dscp,omitempty"` // 6 bits
	VLAN     *uint16    `yaml:"vlan,omitempty"` // 12 bits; 0: packets without a VLAN
	// of VXLAN or Geneve, or GRE key: packets in such a tunnel only
	VNI         *uint32 `yaml:"vni,omitempty"`
	IngressPort *uint32 `yaml:"ingress_port,omitempty"` // level 1 interface of the node

	// Ignore takes packets out of the watchlist that an entry of lower priority would match: the reports themselves, or
	// traffic without congestion control (INT 2.1 §5.4). It excludes the fields below.
	Ignore bool `yaml:"ignore,omitempty"`

	// metadata to ask for; none: what the node is configured with
	Instructions Instructions `yaml:"instructions,omitempty"`
	Mode         Mode         `yaml:"mode,omitempty"`
	Sample       uint32       `yaml:"sample,omitempty"` // take 1 in this many of the packets; 0 and 1: all
	Sampling     Sampling     `yaml:"sampling,omitempty"`
	ReportAll    bool         `yaml:"report_all,omitempty"` // report every packet, not only events
}

// check returns the first rule that e breaks.
func (e *Entry) check() error {
	src, dst := e.Src.Prefix, e.Dst.Prefix
	switch {
	case src != src.Masked():
		return fmt.Errorf("src: got %s, which has bits behind the prefix; want %s", src, src.Masked())
	case dst != dst.Masked():
		return fmt.Errorf("dst: got %s, which has bits behind the prefix; want %s", dst, dst.Masked())
	case src.Addr().Is4In6(), dst.Addr().Is4In6():
		return fmt.Errorf("src, dst: got an IPv4 prefix in IPv6 notation; want it in IPv4 notation")
	case src.IsValid() && dst.IsValid() && src.Addr().Is4() != dst.Addr().Is4():
		return fmt.Errorf("src, dst: got %s and %s; want both IPv4 or both IPv6", src, dst)
	case e.SrcPort != nil && e.SrcPort.Low > e.SrcPort.High:
		return fmt.Errorf("src_port: got %s; want the lower port first", e.SrcPort)
	case e.DstPort != nil && e.DstPort.Low > e.DstPort.High:
		return fmt.Errorf("dst_port: got %s; want the lower port first", e.DstPort)
	case e.DSCP != nil && *e.DSCP > maxDSCP:
		return fmt.Errorf("dscp: got %d; want 0 to %d", *e.DSCP, maxDSCP)
	case e.VLAN != nil && *e.VLAN > maxVLAN:
		return fmt.Errorf("vlan: got %d; want 0 to %d", *e.VLAN, maxVLAN)
	case e.Instructions&^allInstructions != 0:
		return fmt.Errorf("instructions: got unknown bits %#x", uint16(e.Instructions&^allInstructions))
	case int(e.Mode) >= len(modeNames):
		return fmt.Errorf("mode: got unknown number %d", e.Mode)
	case int(e.Sampling) >= len(samplingNames):
		return fmt.Errorf("sampling: got unknown number %d", e.Sampling)
	case e.Ignore && (e.Instructions != 0 || e.Mode != 0 || e.Sample != 0 || e.Sampling != 0 || e.ReportAll):
		return fmt.Errorf("ignore: got what to do with the packets too; want one of both")
	}
	return nil
}

const (
	maxDSCP = 63
	maxVLAN = 4094
)

// An EntryError is a rule that an entry breaks.
type EntryError struct {
	Index int // of the entry
	Name  string
	Err   error
}

func (e *EntryError) Error() string {
	if e.Name != "" {
		return fmt.Sprintf("entry %d (%s): %s", e.Index+1, e.Name, e.Err)
	}
	return fmt.Sprintf("entry %d: %s", e.Index+1, e.Err)
}
