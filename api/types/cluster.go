package types

import "time"

// A Cluster answers GET /api/v1/cluster: who receives reports, and how they come to the server that analyzes them.
type Cluster struct {
	GeneratedAt time.Time `json:"generated_at"`
	Role        string    `json:"role"`         // of this server: all, or analyze
	Term        uint64    `json:"elected_term"` // in which it was elected; 0: there is no other one
	Standing    []Standby `json:"standing_by"`  // by name; empty where it is the only one
	// Bus is what carries reports here; null where one server does everything.
	Bus        *Bus           `json:"bus"`
	Collectors []BusCollector `json:"collectors"` // by name
	Tables     []TableServer  `json:"tables"`     // empty where the tables of flows are in this server
}

// A Standby is a server that analyzes when the one that was elected is gone.
type Standby struct {
	Name string    `json:"name"`
	Seen time.Time `json:"seen"` // when it last said that it stands by
}

// A TableServer has tables of flows for the server that analyzes.
type TableServer struct {
	Address      string `json:"address"`
	Shards       int    `json:"shards"`
	Reports      uint64 `json:"reports"` // that its tables got
	Flows        int    `json:"flows"`
	FlowLimit    int    `json:"flow_limit"` // flows for which it has room
	RelayedBytes uint64 `json:"relayed_bytes"`
	Partitions   []int  `json:"partitions"` // of the bus that it takes; empty: datagrams are relayed to it
}

// A Bus carries datagrams from collectors to the server that analyzes them.
type Bus struct {
	Connected  bool      `json:"connected"`
	Servers    []string  `json:"servers"`            // of NATS, without what logs in
	Pending    uint64    `json:"pending_messages"`   // on the bus that did not arrive here yet
	Held       int       `json:"held_messages"`      // that wait here for others that are missing
	Duplicates uint64    `json:"duplicate_messages"` // that arrived again, and were not taken again
	Damaged    uint64    `json:"damaged_messages"`   // that could not be read
	Until      time.Time `json:"delivered_until"`    // up to when all that arrived at collectors arrived here
}

// A BusCollector receives datagrams beside the switches.
type BusCollector struct {
	Name  string     `json:"name"`
	State string     `json:"state"`           // alive; silent: nothing has come of it for seconds
	Seen  time.Time  `json:"seen"`            // when its latest message came
	Until *time.Time `json:"delivered_until"` // up to when all that arrived there arrived here; null: it has not told
	// Received, KernelDrops and Refused are datagrams since the collector started: taken from its sockets, without room
	// in them, and of sources that its allow-list does not have.
	Received    uint64 `json:"received"`
	KernelDrops uint64 `json:"kernel_drops"`
	Refused     uint64 `json:"refused"`
	Spooled     uint64 `json:"spool_bytes"` // that it keeps until they are confirmed
	// Delivered and Lost are datagrams of all its lives that are remembered: that arrived here, and that neither the
	// bus nor the collector had any more.
	Delivered  uint64         `json:"delivered"`
	Lost       uint64         `json:"lost"`
	Missing    int            `json:"missing_messages"` // that wait here for others
	Partitions []BusPartition `json:"partitions"`       // by number, those of which something came since it started
}

// A BusPartition is what came of a part of a collector's exporters since the collector started.
type BusPartition struct {
	Partition   uint16    `json:"partition"`
	Owner       string    `json:"owner"`                // who takes its messages
	Messages    uint64    `json:"messages"`             // that arrived, or were given up
	Unconfirmed uint64    `json:"unconfirmed_messages"` // of these, that would come again if the owner was killed now
	Delivered   uint64    `json:"delivered"`            // datagrams
	Lost        uint64    `json:"lost"`                 // datagrams
	Seen        time.Time `json:"seen"`
}
