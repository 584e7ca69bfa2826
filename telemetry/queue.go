package telemetry

import "time"

// A QueueDepth is how long a queue was when packets came to it, in the unit of the device: bytes, cells or packets.
type QueueDepth struct {
	Node       uint32        `json:"node" kind:"node" doc:"the node"`
	Name       string        `json:"name,omitempty" doc:"its name, if it has one"`
	Port       *uint32       `json:"port" filter:"egress_port" doc:"level 1 interface by which packets left"` // egress
	Queue      uint8         `json:"queue" doc:"the queue"`
	Depth      *Distribution `json:"depth,omitempty" filter:"-"`
	LastDepth  *uint32       `json:"last_depth,omitempty" filter:"occupancy.last" unit:"of the device" doc:"occupancy that the latest of them met"`
	Congestion *Congestion   `json:"congestion,omitempty" filter:",only=max"`
	First      time.Time     `json:"first" doc:"when the first report about it was received"`
	Last       time.Time     `json:"last" doc:"when the latest report about it was received"`
}

// A Congestion sums up the congestion status of a queue, which INT 2016 and 0.5 have; what its values mean the device says.
type Congestion struct {
	Count uint64  `json:"count"`
	Mean  float64 `json:"mean"`
	Max   uint32  `json:"max" filter:",main" unit:"of the device" doc:"highest congestion status"`
	Last  uint32  `json:"last"`
}
