package telemetry

import "time"

// A QueueDepth is how long a queue was when packets came to it, in Unit.
type QueueDepth struct {
	Node uint32 `json:"node" kind:"node" table:"NODE,named=name" doc:"the node"`
	Name string `json:"name,omitempty" doc:"its name, if it has one"`
	// egress
	Port       *uint32       `json:"port" filter:"egress_port" table:"PORT,named=port_name" doc:"level 1 interface by which packets left"`
	PortName   string        `json:"port_name,omitempty" filter:"-" port:"Node,Port" doc:"its name, if the inventory has one"`
	Queue      uint8         `json:"queue" filter:"queue_id,alias=queue" table:"QUEUE" doc:"the queue"`
	Unit       string        `json:"unit" table:"UNIT" doc:"what its depth is counted in: bytes, packets, cells:N of N bytes each, cells or unknown"`
	Depth      *Distribution `json:"depth,omitempty" filter:"-" table:"DEPTH,widely=min,of=count:PACKETS+mean:MEAN+p50+p99+max" doc:"queue occupancy"`
	Sample     *Sample       `json:"sample,omitempty" filter:",is=kind" table:"SAMPLE,of=kind" doc:"which packets the figures tell of"`
	LastDepth  *uint32       `json:"last_depth,omitempty" filter:"occupancy.last" unit:"of the device" table:"LAST" doc:"occupancy that the latest of them met"`
	Congestion *Congestion   `json:"congestion,omitempty" filter:",only=max" table:"CONGESTION,wide,of=last+max"`
	First      time.Time     `json:"first" table:"FIRST SEEN,wide,end" doc:"when the first report about it was received"`
	Last       time.Time     `json:"last" table:"LAST SEEN,end" doc:"when the latest report about it was received"`
}

// A Congestion sums up the congestion status of a queue, which INT 2016 and 0.5 have; what its values mean the device
// says.
type Congestion struct {
	Count uint64  `json:"count" doc:"packets that told of the congestion status"`
	Mean  float64 `json:"mean" doc:"mean congestion status"`
	Max   uint32  `json:"max" filter:",main" unit:"of the device" doc:"highest congestion status"`
	Last  uint32  `json:"last" doc:"congestion status that was told last"`
}
