package telemetry

import "time"

// A Verdict says where a flow lost its time: what is known of its slowest packet, and what made it wait.
type Verdict struct {
	Text      string `json:"text"` // one sentence for people
	LongestNs uint64 `json:"longest_ns"`
	// where packets of the flow stayed longest, of its latest paths
	Node *uint32 `json:"node,omitempty"`
	Name string  `json:"name,omitempty"`
	Port *uint32 `json:"port,omitempty"` // egress
	// AtLeast and AtMost are between which shares of LongestNs that is: 0 and 1 where the flow
	// took paths that are forgotten.
	AtLeast float64 `json:"at_least"`
	AtMost  float64 `json:"at_most"`
	// of the burst in whose queue it waited or was dropped; missing: none is known
	Burst   string     `json:"burst,omitempty"`
	BurstAt *time.Time `json:"burst_at,omitempty"`  // its peak so far
	Open    bool       `json:"open,omitempty"`      // the burst is not over: it has no id yet
	Filled  int        `json:"filled_by,omitempty"` // flows that brought 80 % of that queue
	Itself  bool       `json:"itself,omitempty"`    // it is the first of them
}
