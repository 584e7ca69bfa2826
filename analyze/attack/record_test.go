package attack

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/telemetry"
)

// The text of an attack counts the gateways by which it comes, and not those by which a few packets of others do.
func TestAttackTextCountsGateways(t *testing.T) {
	r := telemetry.Attack{
		Kind: telemetry.AttackUDP, Target: netip.MustParseAddr("192.0.2.80"), PeakBPS: 16_100_000,
		Gateways: []telemetry.AttackSource{{Share: 0.6}, {Share: 0.3997}, {Share: 0.0003}},
	}
	if got := textOf(&r, &Sources{}); got != "udp flood of 192.0.2.80 by way of 2 gateways, at most 16.1 Mbit/s" {
		t.Errorf("got %s", got)
	}
	many := r
	many.Gateways, many.DevicesTotal = slices.Repeat([]telemetry.AttackSource{{Share: 0.005}}, 200), 2000
	if got := textOf(&many, &Sources{}); !strings.Contains(got, " by 2000 devices behind 200 gateways,") {
		t.Errorf("got %s", got)
	}
	all := 1.0
	many.Effectiveness, many.Packets, many.FilteredPackets = &all, 300, 200
	if got := textOf(&many, &Sources{}); !strings.HasSuffix(got, "; filters drop 100 % of it") {
		t.Errorf("got %s", got)
	}
	many.FilteredPackets, many.Lost = 280, 20 // as of fragments with stacks, of which nodes see only what is dropped
	if got := textOf(&many, &Sources{}); !strings.HasSuffix(got, "; filters drop 100 % of what is seen of it") {
		t.Errorf("got %s", got)
	}
	r.DevicesTotal = 1
	if got := textOf(&r, &Sources{}); got != "udp flood of 192.0.2.80 by 1 device behind 2 gateways, at most 16.1 Mbit/s" {
		t.Errorf("got %s", got)
	}
}
