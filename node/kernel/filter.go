//go:build linux

package kernel

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/waybill-int/waybill/internal/conf/unit"
	"github.com/waybill-int/waybill/node/bpf"
	"github.com/waybill-int/waybill/node/watch"
)

// A Filter says which packets the node drops as they arrive, and until when. What is not set is any. What it drops is
// reported, whatever the watchlists say.
type Filter struct {
	ID       string    `json:"id"`
	Device   string    `json:"device,omitempty"` // MAC address of the sender
	Source   string    `json:"source,omitempty"` // prefix
	Target   string    `json:"target"`           // prefix
	Protocol string    `json:"protocol,omitempty"`
	Port     uint16    `json:"port,omitempty"` // destination
	Until    time.Time `json:"until"`          // it ends then by itself
	Packets  uint64    `json:"packets"`        // that it dropped
}

// maxFilterTime is how long a filter may hold: one that nobody remembers would be a riddle.
const maxFilterTime = 7 * 24 * time.Hour

// ErrNoFilter says that there is no such filter.
var ErrNoFilter = errors.New("there is no such filter")

// compile returns f as programs take it, or what is wrong with it.
func (f *Filter) compile(now time.Time) (*bpf.Filter, error) {
	b := &bpf.Filter{}
	if f.ID == "" || len(f.ID) > 64 {
		return nil, errors.New("id: want 1 to 64 characters")
	}
	if f.Device != "" {
		mac, err := net.ParseMAC(f.Device)
		if err != nil || len(mac) != 6 {
			return nil, fmt.Errorf("device: got %q, want a MAC address", f.Device)
		}
		b.MAC = uint64(binary.BigEndian.Uint16(mac))<<32 | uint64(binary.BigEndian.Uint32(mac[2:]))
	}
	for key, prefix := range map[string]struct {
		text string
		to   *watch.Prefix
	}{"source": {f.Source, &b.Entry.Src}, "target": {f.Target, &b.Entry.Dst}} {
		if prefix.text == "" && key == "source" {
			continue
		}
		p, err := unit.ParsePrefix(prefix.text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		*prefix.to = p
	}
	if f.Protocol != "" {
		var p watch.Protocol
		if err := p.UnmarshalText([]byte(f.Protocol)); err != nil {
			return nil, fmt.Errorf("protocol: %w", err)
		}
		b.Entry.Protocol = &p
	}
	if f.Port != 0 {
		b.Entry.DstPort = &watch.PortRange{Low: f.Port, High: f.Port}
	}
	if !now.Before(f.Until) || f.Until.Sub(now) > maxFilterTime {
		return nil, fmt.Errorf("until: got %v, want a time in the next 7 days", f.Until.Format(time.RFC3339))
	}
	return b, nil
}

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
	compiled, err := f.compile(time.Now())
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
