package watch

// A Rule is an Entry, or a part of one, in the form that packets are compared with: what Key.Words says of a packet is
// Value in the bits of Mask, and its ports are in their ranges.
type Rule struct {
	Mask, Value      [6]uint64
	SrcPort, DstPort PortRange
	Rank             uint32 // the lowest of the rules that match a packet counts, see List.Action
}

// A Table has rules that all look at the bits of Mask, and more.
type Table struct {
	Mask  [6]uint64
	Best  uint32 // the lowest rank of its rules
	Rules []Rule
}

// Tables returns the tables of l for IPv4 or IPv6, for who looks packets up in another memory than this one. They are
// in the order of their best rules, and so are the rules of one Mask and Value.
func (l *List) Tables(ipv6 bool) []Table {
	from := l.ipv4
	if ipv6 {
		from = l.ipv6
	}
	list := make([]Table, len(from))
	for i := range from {
		t := &from[i]
		list[i] = Table{Mask: t.mask, Best: t.best, Rules: make([]Rule, len(t.rules))}
		for k := range t.rules {
			r := &t.rules[k]
			list[i].Rules[k] = Rule{Mask: r.mask, Value: r.value, SrcPort: r.srcPort, DstPort: r.dstPort, Rank: r.rank}
		}
	}
	return list
}

// Action returns the action of a rank, nil for an entry that says to ignore the packet.
func (l *List) Action(rank int) *Action { return l.actions[rank] }
