package types

import (
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// A LossList answers GET /api/v1/loss. Sockets, tables and gaps are about all exporters, whatever is listed.
type LossList struct {
	Head
	LossFrame
	Loss []telemetry.Loss `json:"loss"`
}

// A LossFrame is what a LossList says beside the exporters.
type LossFrame struct {
	Since          *time.Time `json:"since"` // of the first interval that was added up; nil: all time
	Until          time.Time  `json:"until"`
	IntervalsSince time.Time  `json:"intervals_since"` // since when all intervals are kept
	// intervals of an exporter that gave way before their hour was over
	IntervalsEarly uint64                 `json:"intervals_early"`
	Sockets        []telemetry.SocketLoss `json:"sockets"`
	Tables         telemetry.TableLoss    `json:"tables"` // since the process began
	Gaps           []telemetry.LossGap    `json:"gaps"`
}
