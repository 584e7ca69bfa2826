package store

import "github.com/waybill-int/waybill/telemetry"

// A Table is a kind of record.
type Table uint8

// Tables.
const (
	Flows      Table = iota // flows on their paths
	Paths                   // paths, over all flows
	Hops                    // nodes between two of their ports
	Queues                  // queues
	Links                   // links between nodes
	Drops                   // drops by place and reason
	Exporters               // what exporters sent, what was lost of it
	Events                  // events; the same event may be written again when it changed
	Routes                  // the ways that paths lead
	Hosts                   // hosts, where they are attached
	Bursts                  // bursts at queues
	BurstFlows              // who made them, and who had to wait
	NumTables
)

var tableNames = [NumTables]string{
	"flows", "paths", "hops", "queues", "links", "drops", "exporters", "events",
	"routes", "hosts", "bursts", "burst_flows",
}

// String returns the name of the table.
func (t Table) String() string { return tableNames[min(int(t), len(tableNames)-1)] }

// TableOf returns the table with that name.
func TableOf(name string) (Table, bool) {
	for i, n := range tableNames {
		if n == name {
			return Table(i), true
		}
	}
	return 0, false
}

// Counts are numbers of records by table.
type Counts [NumTables]uint64

// Total is the number of records of all tables.
func (c *Counts) Total() (n uint64) {
	for _, of := range c {
		n += of
	}
	return n
}

// add adds the records of v.
func (c *Counts) add(v *telemetry.Intervals) {
	for t, n := range [NumTables]int{
		Flows: len(v.Flows), Paths: len(v.Paths), Hops: len(v.Hops), Queues: len(v.Queues), Links: len(v.Links),
		Drops: len(v.Drops), Exporters: len(v.Exporters), Events: len(v.Events), Routes: len(v.Routes),
		Hosts: len(v.Hosts), Bursts: len(v.Bursts), BurstFlows: len(v.BurstFlows),
	} {
		c[t] += uint64(n)
	}
}
