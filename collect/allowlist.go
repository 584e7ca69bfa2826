package collect

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"github.com/waybill-int/waybill/telemetry"
)

// A Permit lets the addresses of a prefix send reports of nodes.
type Permit struct {
	Source netip.Prefix
	Nodes  []uint32 // ids that their reports may have; nil: any
	Name   string   // for people; may be empty
}

func (p *Permit) String() string {
	if p.Name == "" {
		return p.Source.String()
	}
	return p.Name + " (" + p.Source.String() + ")"
}

// allows reports whether a datagram with this header is of one of the nodes. One that names no node (TR 0.5 without a
// local header, or one that cannot be read) is allowed: its source is all that there is to go by.
func (p *Permit) allows(h *telemetry.Header) bool {
	if p.Nodes == nil || !h.HasNodeID {
		return true
	}
	_, found := slices.BinarySearch(p.Nodes, h.NodeID)
	return found
}

// AllowList say who may send reports. They do not change, so that receivers share them.
type AllowList struct {
	bySource map[netip.Prefix]*Permit
	bits4    []int // the lengths of IPv4 prefixes, the longest first
	bits6    []int
}

// NewAllowList returns the list of permits. Two of one prefix, and nodes that are an empty list, are errors.
func NewAllowList(list []Permit) (*AllowList, error) {
	p := &AllowList{bySource: make(map[netip.Prefix]*Permit, len(list))}
	for _, permit := range list {
		if !permit.Source.IsValid() || permit.Source.Addr().Is4In6() {
			return nil, fmt.Errorf("source %v: want a prefix such as 10.0.0.0/8 or 2001:db8::/32", permit.Source)
		}
		permit.Source = permit.Source.Masked()
		if permit.Nodes != nil {
			if len(permit.Nodes) == 0 {
				return nil,
					fmt.Errorf("source %v: nodes is empty, so that nobody could report; leave it out for any",
						permit.Source)
			}
			permit.Nodes = slices.Sorted(slices.Values(permit.Nodes))
		}
		if p.bySource[permit.Source] != nil {
			return nil, fmt.Errorf("source %v is there twice", permit.Source)
		}
		p.bySource[permit.Source] = &permit
		bits := &p.bits6
		if permit.Source.Addr().Is4() {
			bits = &p.bits4
		}
		if !slices.Contains(*bits, permit.Source.Bits()) {
			*bits = append(*bits, permit.Source.Bits())
		}
	}
	longestFirst := func(a, b int) int { return cmp.Compare(b, a) }
	slices.SortFunc(p.bits4, longestFirst)
	slices.SortFunc(p.bits6, longestFirst)
	return p, nil
}

// Find returns the permit of the longest prefix that holds source, or nil.
func (p *AllowList) Find(source netip.Addr) *Permit {
	bits := p.bits6
	if source.Is4() {
		bits = p.bits4
	}
	for _, n := range bits {
		prefix, err := source.Prefix(n)
		if err != nil {
			return nil
		}
		if permit := p.bySource[prefix]; permit != nil {
			return permit
		}
	}
	return nil
}

// A gate finds the permits of the datagrams of one receiver. It keeps those of the latest sources, each in the place
// that the last byte of the address says: switches are few, and a look into the map for each datagram is not needed.
type gate struct {
	permits *AllowList
	recent  [256]struct {
		source netip.Addr
		permit *Permit
	}
}

// find returns the permit of source, or nil.
func (g *gate) find(source netip.Addr) *Permit {
	var last byte
	if source.Is4() {
		last = source.As4()[3]
	} else {
		last = source.As16()[15]
	}
	r := &g.recent[last]
	if r.source != source {
		r.source, r.permit = source, g.permits.Find(source)
	}
	return r.permit
}
