package telemetry

import "time"

// A Burst is a time during which a queue was long, with who made it long and who had to wait. Times are of the clock of
// the node, unless that is off by more than a minute: then the burst ends when it was found.
type Burst struct {
	ID   string `json:"id" table:"ID" doc:"id of the burst and of its event" store:"id"` // that of its event
	Node uint32 `json:"node" kind:"node" table:"NODE,named=name" doc:"the node" store:"node"`
	Name string `json:"name,omitempty" filter:",nameof=node" doc:"name of the node, if it has one"`
	// egress
	Port     uint32 `json:"port" filter:"egress_port,alias=port" table:"PORT,named=port_name" doc:"level 1 interface behind the queue" store:"egress_port"`
	PortName string `json:"port_name,omitempty" filter:"-" port:"Node,Port" doc:"its name, if the inventory has one"`
	Queue    uint8  `json:"queue" filter:"queue_id,alias=queue" table:"QUEUE" doc:"the queue" store:"queue_id"`

	Start      time.Time `json:"start" table:"STARTED" doc:"when it began"`
	Peak       time.Time `json:"peak" doc:"when the queue was longest" store:"peak"`
	End        time.Time `json:"end" doc:"when it ended" store:"end"`
	DurationNs uint64    `json:"duration_ns" table:"LASTED" doc:"end minus start" store:"duration"`
	// StartSlackNs is how much earlier it may have begun, EndSlackNs how much later it may have ended: 0 where every
	// packet was seen, unless the node became slower or quicker meanwhile.
	StartSlackNs uint64 `json:"start_slack_ns,omitempty" filter:"-" store:"start_slack" doc:"how much earlier it may have begun"`
	EndSlackNs   uint64 `json:"end_slack_ns,omitempty" filter:"-" store:"end_slack" doc:"how much later it may have ended"`
	Open         bool   `json:"open,omitempty" doc:"it is not known when it ended" store:"open"`

	PeakBytes   *uint64 `json:"peak_bytes,omitempty" kind:"size" table:"PEAK" doc:"bytes in the queue at the peak, where the unit tells" store:"peak_bytes"`
	PeakDelayNs uint64  `json:"peak_delay_ns" table:"DELAY" doc:"the longest wait beyond what the empty queue costs" store:"peak_delay"`
	AboveBytes  *uint64 `json:"above_bytes,omitempty" filter:"-" store:"above_bytes" doc:"it begins above this"`
	BelowBytes  *uint64 `json:"below_bytes,omitempty" filter:"-" store:"below_bytes" doc:"it ends below this"`

	// that were in the queue at some time of the burst
	Packets uint64 `json:"packets" table:"PACKETS" doc:"packets that were in the queue" store:"packets"`
	Bytes   uint64 `json:"bytes" kind:"size" table:"BYTES" doc:"bytes that were in the queue" store:"bytes"`
	Drops   uint64 `json:"drops" table:"DROPS,bad" doc:"packets that the queue dropped" store:"drops"`
	// Complete is the share of its bytes that telemetry saw, 0 to 1.
	Complete float64 `json:"complete" kind:"ratio" table:"COMPLETE,wide" doc:"share of its bytes that telemetry saw" store:"complete"`

	Sources     int  `json:"sources" table:"SENDERS" doc:"senders in the build-up" store:"sources"`
	MainSources int  `json:"main_sources" doc:"the fewest of them that brought 80 % of its bytes" store:"main_sources"`
	Incast      bool `json:"incast" table:"INCAST" doc:"many senders came together" store:"incast"`
	MainFlows   int  `json:"-"` // the fewest flows that brought 80 % of these bytes; not in a store

	Culprits   []Culprit `json:"culprits" table:"CULPRITS" doc:"flows that made it, most bytes in the build-up first"`
	Victims    []Victim  `json:"victims" table:"VICTIMS" doc:"flows that waited in it, the longest extra delay first"`
	OtherFlows int       `json:"other_flows,omitempty" filter:"-" store:"other_flows" doc:"flows that are not listed"`
	OtherBytes uint64    `json:"other_bytes,omitempty" filter:"-" store:"other_bytes" doc:"their bytes"`

	// What follows came to the store later.

	// UncertaintyNs is how far Start, Peak and End may be off, of a node whose stamps wrap after seconds: they are told
	// by the arrival of its reports.
	UncertaintyNs uint64 `json:"uncertainty_ns,omitempty" filter:"-" store:"uncertainty" doc:"how far its times may be off, where stamps wrap and the arrival of reports tells the time"`

	// Unit is what the device counts the queue in: of PeakDepth, AboveDepth and BelowDepth. The same in bytes is nil
	// where the conversion is not exact.
	Unit       string `json:"unit" store:"unit" doc:"what the depth of the queue is counted in: bytes, packets, cells:N of N bytes each, cells or unknown"`
	PeakDepth  uint64 `json:"peak_depth" kind:"number" unit:"of the queue" store:"peak_depth" doc:"depth of the queue at the peak, in its unit"`
	AboveDepth uint64 `json:"above_depth" filter:"-" store:"above_depth" doc:"it begins above this, in the unit of the queue"`
	BelowDepth uint64 `json:"below_depth" filter:"-" store:"below_depth" doc:"it ends at this or below, in the unit of the queue"`
}

// A Culprit is a flow that made a burst. Flow is nil where the flow table had no room for it.
type Culprit struct {
	Flow         *Endpoints `json:"flow"`
	Packets      uint64     `json:"packets"`
	Bytes        uint64     `json:"bytes"`
	Drops        uint64     `json:"drops"`
	BuildUpBytes uint64     `json:"build_up_bytes"` // up to the peak
	Share        float64    `json:"share"`          // of the build-up's bytes, 0 to 1
	MaxExtraNs   uint64     `json:"-"`              // as of a Victim; not in a store
}

// A Victim is a flow that waited in a burst that others made. Flow is nil where the flow table had no room for it.
type Victim struct {
	Flow    *Endpoints `json:"flow"`
	Packets uint64     `json:"packets"`
	Bytes   uint64     `json:"bytes"`
	Drops   uint64     `json:"drops"`
	// beyond what the empty queue costs, over all its packets that were seen
	ExtraNs    uint64 `json:"extra_ns"`
	MaxExtraNs uint64 `json:"max_extra_ns"` // of one packet
}

// A BurstDetail is a Burst, packet by packet.
type BurstDetail struct {
	Burst
	Flows    []*Endpoints `json:"flows"`    // that Timeline and Stack have; null is one that is not known
	Samples  int          `json:"samples"`  // packets that were seen
	Timeline []BurstPoint `json:"timeline"` // if it is shorter than Samples, the highest points are left
	Stack    BurstStack   `json:"stack"`
}

// A BurstPoint is a packet that came to the queue.
type BurstPoint struct {
	AtNs    int64  `json:"at_ns"` // since the start of the burst; below 0: it was in the queue already
	Depth   uint32 `json:"depth"` // bytes in the queue when it came
	Bytes   uint32 `json:"bytes"`
	Flow    int    `json:"flow"` // place in Flows; -1: one of too many
	ExtraNs uint32 `json:"extra_ns"`
	Dropped bool   `json:"dropped,omitempty"`
}

// A BurstStack is who was in the queue over time: bytes of a flow in the queue, on average over each step.
type BurstStack struct {
	StepNs uint64     `json:"step_ns"`
	Flows  []int      `json:"flows"` // places in Flows, most bytes first
	Bytes  [][]uint64 `json:"bytes"` // a row for each of these, and one more for all others
}
