//go:build linux

package bpf

import (
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/waybill-int/waybill/internal/test/packets"
	"github.com/waybill-int/waybill/node"
	"github.com/waybill-int/waybill/node/watch"
)

// TestHoldFilters lets filters end while nobody asks the programs for it, as they do 30 s after a process was killed
// whose programs stay, and hold again when the next process says so.
func TestHoldFilters(t *testing.T) {
	needKernel(t)
	p := newTrial(t, Config{Mode: watch.ModeXD, Slots: 1})
	p.setPorts(true, false)
	frame := packets.Shape{Kind: packets.UDP}.Frame(rand.New(rand.NewPCG(1, 1)))
	drops := func() bool {
		got, _ := p.send(append([]byte(nil), frame...), &node.Egress{Port: 2, DepartedNs: 1000}, 1000)
		return got == nil
	}
	if drops() {
		t.Fatal("dropped without a filter")
	}
	all := watch.Entry{Dst: watch.Prefix{Prefix: netip.MustParsePrefix("10.0.0.0/8")}}
	if err := p.SetFilter("f", &node.FilterMatch{Entry: all}); err != nil {
		t.Fatal(err)
	}
	if !drops() {
		t.Fatal("a filter does not hold that nobody limits")
	}
	for _, row := range []struct {
		hold time.Duration
		want bool
	}{{time.Hour, true}, {0, false}, {-time.Second, false}, {time.Hour, true}} {
		if err := p.HoldFilters(row.hold); err != nil {
			t.Fatal(err)
		}
		if got := drops(); got != row.want {
			t.Errorf("held for %s: dropped %v, want %v", row.hold, got, row.want)
		}
	}
	if got, err := p.Filtered("f"); err != nil || got != 3 {
		t.Errorf("got %d packets, %v, want 3", got, err)
	}
}
