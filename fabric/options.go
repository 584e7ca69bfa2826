package fabric

import (
	"context"
	"io"
	"time"
)

// Options say what a Fabric does beside emulating a scenario. The zero value is a network of switches without telemetry
// that runs as fast as it can and tells nobody.
type Options struct {
	Seed    uint64 // of everything random; 0: that of the scenario
	EpochNs uint64 // wall time at virtual time 0, ns since 1970; 0: that of the scenario

	// Device makes the telemetry device of a switch; nil for a switch without one. It is not called for switches that
	// the scenario wants without telemetry.
	Device func(NodeSpec) (Device, error)

	Truth   io.Writer // truth file (package truth); nil: none
	Reports Sink      // telemetry reports that reach the collector; nil: thrown away
	Tap     Tap       // sees every frame on every link; nil: none
	Pace    Pace      // nil: as fast as possible
}

// A Tap sees every frame when it begins to go into a link, whether it gets to the other end or not.
type Tap interface {
	// Frame must not keep frame. fromFirst says from which end it comes: the node whose name comes first in that of the
	// link. atNs is the right wall time, ns since 1970.
	Frame(link string, fromFirst bool, atNs uint64, frame []byte) error
}

// A Pace lets virtual time go by as fast as wall time.
type Pace interface {
	// Elapsed returns the wall time since the run began.
	Elapsed() time.Duration
	// Wait returns when some time has gone by, or with the error of ctx when that ends.
	Wait(ctx context.Context, d time.Duration) error
}

// RealTime returns a Pace that begins now.
func RealTime() Pace { return realTime{time.Now()} }

type realTime struct{ start time.Time }

func (r realTime) Elapsed() time.Duration { return time.Since(r.start) }

func (realTime) Wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
