package types

import (
	"time"
)

// A Heatmap answers GET /api/v1/heatmap: how many packets took how long, in each piece of a time range. Counts[i][j]
// are those of the piece that begins at Times[i], from Bounds[j] up to Bounds[j+1] ns. Pieces without packets are left
// out.
type Heatmap struct {
	GeneratedAt time.Time `json:"generated_at"`
	Frame
	StepNs int64 `json:"step_ns"` // length of a piece
	// one more than there are buckets; empty if there are no packets
	Bounds []float64     `json:"bounds" nullable:"false"`
	Times  []time.Time   `json:"times" nullable:"false"`
	Counts [][]uint64    `json:"counts" nullable:"false"`
	Spread []HeatmapStep `json:"spread" nullable:"false"` // of each piece
}

// A HeatmapStep is the distribution of a piece, from its histogram before buckets were put together.
type HeatmapStep struct {
	Packets uint64 `json:"packets"` // that told how long they took
	Min     uint64 `json:"min_ns"`
	Mean    uint64 `json:"mean_ns"`
	P50     uint64 `json:"p50_ns"`
	P99     uint64 `json:"p99_ns"`
	Max     uint64 `json:"max_ns"`
}
