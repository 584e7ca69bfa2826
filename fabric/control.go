package fabric

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"time"

	intnode "github.com/waybill-int/waybill/node"
)

// Do calls a function while no event happens, from another goroutine than that of Run. It fails if ctx ends before.
func (f *Fabric) Do(ctx context.Context, do func()) error {
	done := make(chan struct{})
	select {
	case f.do <- func() { do(); close(done) }:
		<-done
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// FilterHandler returns the API of the filters of all switches: /nodes/ID, and behind that what node.FilterHandler has.
// do calls a function while no event happens, as Do does; now is the clock that filters end by.
func (f *Fabric) FilterHandler(do func(context.Context, func()) error, now func() time.Time) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/nodes/{id}/", func(w http.ResponseWriter, r *http.Request) {
		id, err := strconv.ParseUint(r.PathValue("id"), 10, 32)
		if err != nil || id == 0 || id > uint64(len(f.switches)) {
			http.Error(w, fmt.Sprintf("there is no node %.20q", r.PathValue("id")), http.StatusNotFound)
			return
		}
		filters := &switchFilters{f, f.switches[id-1], do, now}
		http.StripPrefix("/nodes/"+r.PathValue("id"), intnode.FilterHandler(filters)).ServeHTTP(w, r)
	})
	return mux
}

// switchFilters are the filters of a switch that were asked for while the network runs.
type switchFilters struct {
	fabric *Fabric
	node   *node
	do     func(context.Context, func()) error
	now    func() time.Time
}

// Filters implements node.Filters.
func (s *switchFilters) Filters(ctx context.Context) ([]intnode.Filter, error) {
	list := []intnode.Filter{}
	err := s.do(ctx, func() {
		s.trim()
		for i := range s.node.denies {
			if asked := s.node.denies[i].asked; asked != nil {
				list = append(list, *asked)
			}
		}
	})
	return list, err
}

// trim removes the filters whose time is over.
func (s *switchFilters) trim() {
	s.node.denies = slices.DeleteFunc(s.node.denies, func(fl filter) bool {
		return fl.asked != nil && fl.untilNs <= s.fabric.nowNs
	})
}

// maxFilters is how many filters a switch takes, as a node in the kernel.
const maxFilters = 64

// AddFilter implements node.Filters.
func (s *switchFilters) AddFilter(ctx context.Context, f intnode.Filter) (err error) {
	match, err := f.Match(s.now())
	if err != nil {
		return err
	}
	f.Packets = 0
	fl := filter{fault: -1, mac: match.MAC, port: f.Port, asked: &f}
	if match.Entry.Protocol != nil {
		fl.protocol = uint8(*match.Entry.Protocol)
	}
	fl.to = []netip.Prefix{match.Entry.Dst.Prefix}
	if match.Entry.Src.IsValid() {
		fl.from = []netip.Prefix{match.Entry.Src.Prefix}
	}
	stopped := s.do(ctx, func() {
		s.trim()
		fl.untilNs = s.fabric.nowNs + f.Until.Sub(s.now()).Nanoseconds()
		for i := range s.node.denies {
			old := &s.node.denies[i]
			if old.asked != nil && old.asked.ID == f.ID {
				old.untilNs, old.asked.Until = fl.untilNs, f.Until
				return
			}
		}
		if len(s.node.denies) >= maxFilters {
			err = fmt.Errorf("there are %d filters, which is all that a node takes", maxFilters)
			return
		}
		s.node.denies = append(s.node.denies, fl)
	})
	if stopped != nil {
		return stopped
	}
	return err
}

// RemoveFilter implements node.Filters.
func (s *switchFilters) RemoveFilter(ctx context.Context, id string) error {
	found := false
	err := s.do(ctx, func() {
		s.node.denies = slices.DeleteFunc(s.node.denies, func(fl filter) bool {
			is := fl.asked != nil && fl.asked.ID == id
			found = found || is
			return is
		})
	})
	if err == nil && !found {
		err = fmt.Errorf("%w: %s", intnode.ErrNoFilter, id)
	}
	return err
}
