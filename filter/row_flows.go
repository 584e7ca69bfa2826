package filter

import (
	"net/netip"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// FlowTable has the values of Flows.
var FlowTable = NewTable(Flows, joined(
	map[string]ValueOf[telemetry.Flow]{
		"id":        MaybeText(func(f *telemetry.Flow) string { return f.ID }),
		"outer.src": maybeAddress(func(f *telemetry.Flow) netip.Addr { return outerOf(f).Src }),
		"outer.dst": maybeAddress(func(f *telemetry.Flow) netip.Addr { return outerOf(f).Dst }),
		"dscp":      Number(func(f *telemetry.Flow) uint8 { return f.DSCP }),
		"reports":   Number(func(f *telemetry.Flow) uint64 { return f.Reports }),
		"packets":   Number(func(f *telemetry.Flow) uint64 { return f.Packets }),
		"bytes":     Number(func(f *telemetry.Flow) uint64 { return f.Bytes }),
		"drops":     Number(func(f *telemetry.Flow) uint64 { return f.Drops }),
		"device":    MaybeText(func(f *telemetry.Flow) string { return f.Device }),
		"path": func(f *telemetry.Flow, i int) (Value, bool) {
			if i >= len(f.Paths) {
				return Value{}, false
			}
			return FromText(f.Paths[i].ID), true
		},
		"path_changes": Number(func(f *telemetry.Flow) uint64 { return f.PathChanges }),
		"first":        At(func(f *telemetry.Flow) time.Time { return f.First }),
		"last":         At(func(f *telemetry.Flow) time.Time { return f.Last }),
	},
	endpointValues(func(f *telemetry.Flow) *telemetry.Endpoints { return &f.Endpoints }),
	stationValues(func(f *telemetry.Flow) []telemetry.PathHop {
		if len(f.Paths) == 0 {
			return nil
		}
		return f.Paths[0].Hops
	}),
	delayValues(
		func(f *telemetry.Flow) *telemetry.Distribution { return f.Residence },
		func(f *telemetry.Flow) *telemetry.Distribution { return f.EndToEnd },
	),
))

// outerOf returns the ends of the tunnel of a flow.
func outerOf(f *telemetry.Flow) telemetry.Endpoints {
	if f.Outer == nil {
		return telemetry.Endpoints{}
	}
	return *f.Outer
}

// PathTable has the values of Paths.
var PathTable = NewTable(Paths, joined(
	map[string]ValueOf[telemetry.Path]{
		"id":         MaybeText(func(p *telemetry.Path) string { return p.ID }),
		"flows":      Number(func(p *telemetry.Path) uint64 { return uint64(p.Flows) }),
		"packets":    Number(func(p *telemetry.Path) uint64 { return p.Packets }),
		"incomplete": Number(func(p *telemetry.Path) uint64 { return p.Incomplete }),
		"dropped": func(p *telemetry.Path, _ int) (Value, bool) {
			return FromBool(len(p.Hops) > 0 && p.Hops[len(p.Hops)-1].Dropped), true
		},
		"clock_errors": Number(func(p *telemetry.Path) uint64 { return p.ClockErrors }),
		"uncertain":    func(p *telemetry.Path, _ int) (Value, bool) { return FromBool(p.Uncertain), true },
		"first":        At(func(p *telemetry.Path) time.Time { return p.First }),
		"last":         At(func(p *telemetry.Path) time.Time { return p.Last }),
	},
	stationValues(func(p *telemetry.Path) []telemetry.PathHop { return p.Hops }),
	delayValues(
		func(p *telemetry.Path) *telemetry.Distribution { return p.Residence },
		func(p *telemetry.Path) *telemetry.Distribution { return p.EndToEnd },
	),
))
