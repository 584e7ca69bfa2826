package journal

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/telemetry"
)

// Recovered is what Recover gave to a store.
type Recovered struct {
	Records int
	Since   time.Time // start of the first interval
	Damaged error     // why a journal ends early; nil if none does
	// why the store did not take a journal, which stays where it is for the next time; nil if it took all
	Left error
}

// Recover gives a store what it lacks of the intervals that the last process left open, and removes their journals.
// complete is called with what is known of an interval, to add what follows from it. If it is cut short, it begins anew
// the next time. Notes with a number above until are left out: what they tell of is counted again.
func Recover(ctx context.Context, dir string, until uint64, to store.Backend, complete func(*telemetry.SoFar),
) (Recovered, error) {
	var all Recovered
	starts, err := files(dir)
	if err != nil {
		return all, err
	}
	for _, start := range starts {
		path := filepath.Join(dir, prefix+strconv.FormatInt(start, 10))
		r, err := readFile(path, until)
		if errors.Is(err, errNewer) {
			return all, fmt.Errorf("%s: %w; run the Waybill that wrote it, or move the file away", path, err)
		}
		if err != nil {
			all.Damaged = fmt.Errorf("%s: %w", path, err)
		}
		if r != nil {
			complete(r)
			err := lacking(ctx, r, to)
			n := r.Len()
			if err == nil && n > 0 {
				err = to.Write([]*telemetry.Intervals{&r.Intervals})
			}
			if err != nil {
				all.Left = fmt.Errorf("%s: %w", path, err)
				continue
			}
			if all.Records += n; n > 0 && all.Since.IsZero() {
				all.Since = time.Unix(0, start).UTC()
			}
		}
		if err := os.Remove(path); err != nil {
			return all, err
		}
	}
	return all, nil
}

// readFile reads the journal of an interval, and cuts off the notes with a number above until: if the store takes none
// of it now, numbers may have come that far when it does.
func readFile(path string, until uint64) (*telemetry.SoFar, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, later, err := read(f, until)
	if later > 0 {
		err = f.Truncate(later)
	}
	return r, err
}

// lacking takes from r what the store has: the process may have been killed while it wrote the interval. All of a table
// but flows is written at once.
func lacking(ctx context.Context, r *telemetry.SoFar, to store.Backend) error {
	from, end := r.StartNs, r.StartNs+telemetry.FlowIntervalNs
	for i := range r.Hops {
		from, end = min(from, r.Hops[i].StartNs), max(end, r.Hops[i].StartNs)
	}
	has := func(table string) (map[int64]bool, error) {
		a, err := to.Select(ctx,
			fmt.Sprintf(
				"SELECT DISTINCT start FROM %s WHERE start BETWEEN '%s' AND '%s'", table, literal(from), literal(end)),
			math.MaxInt32)
		if err != nil {
			return nil, err
		}
		starts := map[int64]bool{}
		for _, row := range a.Rows {
			starts[row[0].(time.Time).UnixNano()] = true
		}
		return starts, nil
	}
	var errs [7]error
	r.Paths, errs[0] = without(r.Paths, has, "paths_10s", func(v *telemetry.PathInterval) int64 { return v.StartNs })
	r.Hops, errs[1] = without(r.Hops, has, "hops_1s", func(v *telemetry.HopInterval) int64 { return v.StartNs })
	r.Queues, errs[2] = without(r.Queues, has, "queues_1s", func(v *telemetry.QueueInterval) int64 { return v.StartNs })
	r.Links, errs[3] = without(r.Links, has, "links_10s", func(v *telemetry.LinkInterval) int64 { return v.StartNs })
	r.Drops, errs[4] = without(r.Drops, has, "drops_10s", func(v *telemetry.DropInterval) int64 { return v.StartNs })
	r.Exporters, errs[5] = without(r.Exporters, has, "exporters_10s",
		func(v *telemetry.ExporterInterval) int64 { return v.StartNs })
	r.Hosts, errs[6] = without(r.Hosts, has, "hosts_10s", func(v *telemetry.HostInterval) int64 { return v.StartNs })
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	r.Routes = nil // the process that follows gives whole ones when it meets them
	return lackingFlows(ctx, r, to)
}

// literal is a time in nanoseconds since 1970 as every engine reads it where a column of times is compared with it.
func literal(ns int64) string { return time.Unix(0, ns).UTC().Format("2006-01-02 15:04:05.000000000") }

// without leaves out records of intervals that a table has.
func without[R any](list []R, has func(table string) (map[int64]bool, error), table string,
	startNs func(*R) int64,
) ([]R, error) {
	starts, err := has(table)
	return slices.DeleteFunc(list, func(r R) bool { return starts[startNs(&r)] }), err
}

// A flowRecord is what tells the records of a flow apart that are in one interval: one for each path that it took, more
// if it gave way to others and came again.
type flowRecord struct{ path, packets uint64 }

// lackingFlows takes from r the flows that the store has: they are written in pieces, each with all records of a flow,
// or all but those that gave way, which are in the first piece.
func lackingFlows(ctx context.Context, r *telemetry.SoFar, to store.Backend) error {
	a, err := to.Select(ctx,
		fmt.Sprintf("SELECT flow, coalesce(path_id, 0), packets FROM flows_10s WHERE start = '%s'",
			literal(r.StartNs)), math.MaxInt32)
	if err != nil || len(a.Rows) == 0 {
		return err
	}
	written := make(map[uint64][]flowRecord, len(a.Rows)) // by flow
	for _, row := range a.Rows {
		flow := row[0].(uint64)
		written[flow] = append(written[flow], flowRecord{row[1].(uint64), row[2].(uint64)})
	}
	r.Flows = slices.DeleteFunc(r.Flows, func(f telemetry.FlowInterval) bool {
		flow := f.Key.Hash()
		i := slices.Index(written[flow], flowRecord{f.Path, f.Packets})
		if i < 0 {
			return false
		}
		written[flow] = slices.Delete(written[flow], i, i+1)
		return true
	})
	// If the store has more of a flow, that counted on after the last note, and took the place of what was noted: with
	// more packets, or on other paths, which packets have that waited for postcards.
	r.Flows = slices.DeleteFunc(r.Flows, func(f telemetry.FlowInterval) bool { return len(written[f.Key.Hash()]) > 0 })
	return nil
}
