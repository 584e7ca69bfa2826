package truth

import "strconv"

// A Fault says that something was broken on purpose, or is right again.
type Fault struct {
	TimeNs int64    `json:"t_ns"`
	Fault  int      `json:"fault"` // its place in the list of the scenario, from 0
	Kind   string   `json:"kind"`  // its key there, for example gray_link
	Phase  string   `json:"phase"` // start, end; converged: routes take a link_down or its end into account
	Nodes  []uint32 `json:"nodes,omitempty"`
	Link   string   `json:"link,omitempty"`
	Prefix string   `json:"prefix,omitempty"`
	Hosts  []string `json:"hosts,omitempty"`
	Detail string   `json:"detail,omitempty"` // how much, for people
}

// Append implements Record.
func (r *Fault) Append(b []byte) []byte {
	o := open(b, "fault")
	o.int("t_ns", r.TimeNs)
	o.int("fault", int64(r.Fault))
	o.string("kind", r.Kind)
	o.string("phase", r.Phase)
	if len(r.Nodes) > 0 {
		o.each("nodes", len(r.Nodes),
			func(b []byte, i int) []byte { return strconv.AppendUint(b, uint64(r.Nodes[i]), 10) })
	}
	o.optional("link", r.Link)
	o.optional("prefix", r.Prefix)
	if len(r.Hosts) > 0 {
		o.each("hosts", len(r.Hosts), func(b []byte, i int) []byte { return appendString(b, r.Hosts[i]) })
	}
	o.optional("detail", r.Detail)
	return o.close()
}
