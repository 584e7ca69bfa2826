package export

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// A Kind is a kind of records. Its name is what configurations, metrics, topics and subjects say.
type Kind uint8

// Kinds of records, with what Record.Of is.
const (
	Flows     Kind = iota // *telemetry.FlowInterval
	Paths                 // *telemetry.PathInterval
	Routes                // *telemetry.Route
	Events                // *telemetry.Event: a new one, or one that changed
	Incidents             // *telemetry.Incident, as it is now
	Metrics               // *Scrape
	Traces                // *telemetry.Flow: a flow as it is now, with its paths
	Reports               // *Datagram: with telemetry reports, as it came
	NumKinds
)

var kinds = [NumKinds]string{
	Flows: "flows", Paths: "paths", Routes: "routes", Events: "events", Incidents: "incidents", Metrics: "metrics",
	Traces: "traces", Reports: "reports",
}

// String returns the name of the kind.
func (k Kind) String() string {
	if k < NumKinds {
		return kinds[k]
	}
	return ""
}

// MarshalText returns the name.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads the name.
func (k *Kind) UnmarshalText(text []byte) error {
	i := slices.Index(kinds[:], string(text))
	if i < 0 {
		return fmt.Errorf("got %q, want one of %v", text, kinds)
	}
	*k = Kind(i)
	return nil
}

// A Record is one thing that is sent. Of points into what others read too: nobody changes it.
type Record struct {
	Kind Kind
	Of   any
}

// An Output sends records to one place. Its methods are called by one goroutine.
type Output interface {
	// Send returns nil once the other side has confirmed all records, but for those that it will never take, whose
	// places in the list are refused. After an error all are sent again, so that some arrive twice.
	Send(ctx context.Context, records []Record) (refused []int, err error)
	// Close gives back what the output holds.
	Close()
}

// An Opener is the configuration of an output.
type Opener interface {
	// Check refuses what cannot work.
	Check() error
	// Takes lists the kinds of records that the output can send, the usual ones first.
	Takes() (all []Kind, usual int)
	// Open returns the output. It does not wait for the other side, which may come later.
	Open(deps Deps) (Output, error)
}

// Deps are what outputs know beside records.
type Deps struct {
	Version string // of Waybill
	// Names are those of nodes.
	Names func() map[uint32]string
	// Links are the links as they are now.
	Links func() []telemetry.Link
	// Traced returns what chooses flows that have traces; nil: all have.
	Traced func() func(*telemetry.Flow) bool
}

// A Datagram came from an exporter. It is decoded when it is sent, so that who receives does not wait for that.
type Datagram struct {
	TimeNs    int64 // when it came, ns since 1970
	Source    netip.AddrPort
	Port      uint16 // that it came to
	Payload   []byte
	Truncated bool              // the payload is not whole
	Points    *codepoint.Config // that were in effect
}

// A Scrape has the metrics of /metrics/network at one time.
type Scrape struct {
	At       time.Time
	Since    time.Time // when the counters began
	Families []*dto.MetricFamily
}

// OfIntervals calls f with each record of v that is of one of the kinds.
func OfIntervals(v *telemetry.Intervals, wanted *[NumKinds]bool, f func(Record)) {
	each(Routes, v.Routes, wanted, f) // before what tells of their ids
	each(Flows, v.Flows, wanted, f)
	each(Paths, v.Paths, wanted, f)
	each(Events, v.Events, wanted, f)
}

func each[R any](kind Kind, list []R, wanted *[NumKinds]bool, f func(Record)) {
	if !wanted[kind] {
		return
	}
	for i := range list {
		f(Record{kind, &list[i]})
	}
}
