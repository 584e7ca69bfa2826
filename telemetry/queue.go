package telemetry

import "time"

// A QueueDepth is how long a queue was when packets came to it, in the unit of the device: bytes, cells or packets.
type QueueDepth struct {
	Node       uint32        `json:"node"`
	Name       string        `json:"name,omitempty"`
	Port       *uint32       `json:"port"` // egress
	Queue      uint8         `json:"queue"`
	Depth      *Distribution `json:"depth,omitempty"`
	LastDepth  *uint32       `json:"last_depth,omitempty"`
	Congestion *Congestion   `json:"congestion,omitempty"`
	First      time.Time     `json:"first"`
	Last       time.Time     `json:"last"`
}

// A Congestion sums up the congestion status of a queue, which INT 2016 and 0.5 have; what its values mean the device says.
type Congestion struct {
	Count uint64  `json:"count"`
	Mean  float64 `json:"mean"`
	Max   uint32  `json:"max"`
	Last  uint32  `json:"last"`
}
