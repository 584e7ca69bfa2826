//go:build linux

package kernel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/waybill-int/waybill/node"
)

// A Filter says which packets the node drops as they arrive.
type Filter = node.Filter

// ErrNoFilter says that there is no such filter.
var ErrNoFilter = node.ErrNoFilter

// Filters returns the filters that hold, with what they dropped. It is for use while Run is running.
func (n *Node) Filters(ctx context.Context) (list []Filter, err error) {
	list = []Filter{}
	stopped := n.between(ctx, func() {
		for _, f := range n.filters {
			one := *f
			var wrong error
			if one.Packets, wrong = n.programs.Filtered(f.ID); wrong != nil {
				err = wrong
			}
			list = append(list, one)
		}
	})
	return list, errors.Join(stopped, err)
}

// AddFilter adds a filter until its time is over. One with an id that is there already holds until the new time. It is
// for use while Run is running.
func (n *Node) AddFilter(ctx context.Context, f Filter) error {
	f.Packets = 0
	compiled, err := f.Match(time.Now())
	if err != nil {
		return err
	}
	stopped := n.between(ctx, func() {
		at := slices.IndexFunc(n.filters, func(o *Filter) bool { return o.ID == f.ID })
		if at >= 0 {
			same := *n.filters[at]
			if same.Until = f.Until; same != f {
				err = fmt.Errorf("there is a filter %s already, which drops something else; remove it first", f.ID)
				return
			}
			n.filters[at].Until = f.Until
			return
		}
		if err = n.programs.SetFilter(f.ID, compiled); err == nil {
			n.filters = append(n.filters, &f)
		}
	})
	return errors.Join(stopped, err)
}

// RemoveFilter removes a filter; the error is ErrNoFilter if it is not there. It is for use while Run is running.
func (n *Node) RemoveFilter(ctx context.Context, id string) (err error) {
	stopped := n.between(ctx, func() {
		at := slices.IndexFunc(n.filters, func(o *Filter) bool { return o.ID == id })
		if at < 0 {
			err = fmt.Errorf("%w: %s", ErrNoFilter, id)
			return
		}
		if err = n.programs.RemoveFilter(id); err == nil {
			n.filters = slices.Delete(n.filters, at, at+1)
		}
	})
	return errors.Join(stopped, err)
}

// endFilters removes the filters whose time is over. It is for Run.
func (n *Node) endFilters(now time.Time) {
	n.filters = slices.DeleteFunc(n.filters, func(f *Filter) bool {
		return !now.Before(f.Until) && n.programs.RemoveFilter(f.ID) == nil
	})
}
