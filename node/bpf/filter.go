//go:build linux

package bpf

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/waybill-int/waybill/node"
	"github.com/waybill-int/waybill/node/watch"
)

// MaxFilters is how many filters there are at most: each packet is compared with all.
const MaxFilters = 64

// ReasonFiltered is the Reason of an Event about a packet that a filter dropped.
const ReasonFiltered = 0xFFFF

// SetFilter adds a filter, between two packets. One with the same id keeps its count.
func (p *Programs) SetFilter(id string, f *node.FilterMatch) error {
	list, err := watch.Compile([]watch.Entry{f.Entry})
	if err != nil {
		return err
	}
	value := programsFilter{Mac: f.MAC}
	if f.MAC != 0 {
		value.MacMask = 1<<48 - 1
	}
	rules := 0
	for _, ipv6 := range []bool{false, true} {
		for _, t := range list.Tables(ipv6) {
			for _, r := range t.Rules {
				value.Mask, value.Value = r.Mask, r.Value
				rules++
			}
		}
	}
	if rules != 1 {
		return errors.New("want a filter of one family with single ports")
	}
	if _, known := p.filters[id]; known {
		return nil // the id is that of what it drops
	}
	if len(p.filters) >= MaxFilters {
		return fmt.Errorf("there are %d filters, which is all that a node takes", MaxFilters)
	}
	key := uint32(0)
	for p.hasFilter(key) {
		key++
	}
	if err := p.objects.Filters.Put(key, value); err != nil {
		return err
	}
	p.filters[id] = key
	return p.objects.HasFilters.Set(uint32(1))
}

func (p *Programs) hasFilter(key uint32) bool {
	for _, k := range p.filters {
		if k == key {
			return true
		}
	}
	return false
}

// RemoveFilter removes a filter, if it is there.
func (p *Programs) RemoveFilter(id string) error {
	key, known := p.filters[id]
	if !known {
		return nil
	}
	if err := p.objects.Filters.Delete(key); err != nil {
		return err
	}
	delete(p.filters, id)
	if len(p.filters) == 0 {
		return p.objects.HasFilters.Set(uint32(0))
	}
	return nil
}

// Filtered returns how many packets a filter dropped.
func (p *Programs) Filtered(id string) (uint64, error) {
	var value programsFilter
	key, known := p.filters[id]
	if !known {
		return 0, nil
	}
	err := p.objects.Filters.Lookup(key, &value)
	return value.Packets, err
}

// HoldFilters makes filters end by themselves after d, unless it is called again: with Keep they would go on without
// whoever ends them.
func (p *Programs) HoldFilters(d time.Duration) error {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		return err
	}
	return p.objects.FiltersEnd.Set(uint64(now.Nano()) + uint64(d))
}
