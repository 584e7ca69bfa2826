package portcount

import (
	"fmt"
	"math"
	"net/netip"
	"sync"
	"testing"

	"github.com/waybill-int/waybill/telemetry"
)

var agent = netip.MustParseAddr("10.0.0.3")

const second = int64(1e9)

// sample returns a sample of port 5 of node 3, which a device made that had been up for upSeconds.
func sample(number, upSeconds uint32, in, out telemetry.PortCounts) *telemetry.CounterSample {
	return &telemetry.CounterSample{
		Node: 3, Port: 5, Agent: agent, Sequence: number, UptimeMs: upSeconds * 1000, Speed: 1e9, AdminUp: true,
		OperUp: true, In: in, Out: out,
	}
}

// counts are octets, unicast packets, discards and errors.
func counts(octets uint64, unicast, discards, errors uint32) telemetry.PortCounts {
	return telemetry.PortCounts{Octets: octets, Unicast: unicast, Discards: discards, Errors: errors}
}

// only returns the one port of a table, as of some time.
func only(t *testing.T, table *Table, nowNs int64) telemetry.PortCounters {
	t.Helper()
	list := table.Ports(new(sync.Mutex), nowNs)
	if len(list) != 1 || list[0].Node != 3 || list[0].Port != 5 {
		t.Fatalf("got %+v", list)
	}
	return list[0].PortCounters
}

// text writes rates, use, discards and errors, of what comes in and of what leaves; - is not known.
func text(c *telemetry.PortCounters) string {
	number := func(n *uint64) string {
		if n == nil {
			return "-"
		}
		return fmt.Sprint(*n)
	}
	ratio := func(n *float64) string {
		if n == nil {
			return "-"
		}
		return fmt.Sprintf("%.4f", *n)
	}
	return fmt.Sprintf("in %s %s %s %s %s out %s %s %s %s %s restarts %d",
		number(c.InBPS), number(c.InPPS), ratio(c.InUse), number(c.InDiscards), number(c.InErrors),
		number(c.OutBPS), number(c.OutPPS), ratio(c.OutUse), number(c.OutDiscards), number(c.OutErrors), c.Restarts)
}

// Each case is a history of one port; samples arrive when the device made them unless the case says otherwise. What is
// wanted was computed by hand.
func TestPort(t *testing.T) {
	const unknown = telemetry.UnknownCount
	none := counts(0, 0, 0, 0)
	type arrival struct {
		at int64 // seconds
		s  *telemetry.CounterSample
	}
	for name, c := range map[string]struct {
		arrivals []arrival
		want     string
		passedBy uint64
	}{
		"one sample": {
			[]arrival{{100, sample(1, 100, counts(1e6, 1000, 7, 8), none)}},
			"in - - - 0 0 out - - - 0 0 restarts 0", 0,
		},
		// 25e6 octets in 20 s are 10 Mbit/s, 1/100 of 1 Gbit/s
		"two samples": {
			[]arrival{
				{100, sample(1, 100, counts(1e6, 1000, 7, 8), counts(0, 0, 0, 0))},
				{120, sample(2, 120, counts(26e6, 41000, 10, 8), counts(250e6, 200000, 0, 5))},
			},
			"in 10000000 2000 0.0100 3 0 out 100000000 10000 0.1000 0 5 restarts 0", 0,
		},
		"counters of 32 bits wrap": {
			[]arrival{
				{100, sample(1, 100, counts(1e12, math.MaxUint32-999, math.MaxUint32-1, 0), none)},
				{120, sample(2, 120, counts(1e12+25e6, 39000, 1, 0), none)},
			},
			"in 10000000 2000 0.0100 3 0 out 0 0 0.0000 0 0 restarts 0", 0,
		},
		"time of the agent and sequence wrap": {
			[]arrival{
				{100, sample(math.MaxUint32, (1<<32-1)/1000, none, none)},
				{120, sample(0, 19, counts(25e6, 40000, 0, 0), none)},
			},
			// up since (1<<32-1)/1000 s, without the fraction of 295 ms: 19.296 s, so that 20 s of arrival count
			"in 10000000 2000 0.0100 0 0 out 0 0 0.0000 0 0 restarts 0", 0,
		},
		"the device started anew": {
			[]arrival{
				{100, sample(50, 5000, counts(9e9, 90000, 70, 0), none)},
				{120, sample(51, 5020, counts(9e9, 90000, 75, 0), none)},
				{180, sample(1, 30, counts(1e6, 1000, 2, 0), none)},
			},
			"in - - - 5 0 out - - - 0 0 restarts 1", 0,
		},
		"and goes on": {
			[]arrival{
				{100, sample(50, 5000, counts(9e9, 90000, 70, 0), none)},
				{180, sample(1, 30, counts(1e6, 1000, 2, 0), none)},
				{200, sample(2, 50, counts(26e6, 41000, 3, 0), none)},
			},
			"in 10000000 2000 0.0100 1 0 out 0 0 0.0000 0 0 restarts 1", 0,
		},
		"it was up for as long as before, with the same number": {
			[]arrival{
				{100, sample(1, 20, counts(9e9, 90000, 70, 0), none)},
				{400, sample(1, 20, counts(1e6, 1000, 2, 0), none)},
			},
			"in - - - 0 0 out - - - 0 0 restarts 0", 1, // a copy looks the same; the next sample tells
		},
		"and the next sample": {
			[]arrival{
				{100, sample(1, 20, counts(9e9, 90000, 70, 0), none)},
				{400, sample(1, 20, counts(1e6, 1000, 2, 0), none)},
				{420, sample(2, 40, counts(2e6, 2000, 3, 0), none)},
			},
			"in - - - 0 0 out - - - 0 0 restarts 1", 1,
		},
		"octets fall in one direction": {
			[]arrival{
				{100, sample(1, 100, none, counts(9e9, 90000, 70, 0))},
				{120, sample(2, 120, counts(1e6, 1000, 0, 0), counts(1e6, 1000, 2, 0))},
			},
			"in - - - 0 0 out - - - 0 0 restarts 1", 0,
		},
		"packets fall, octets do not": {
			[]arrival{
				{100, sample(1, 100, counts(1000, 10, 0, 0), none)},
				{120, sample(2, 120, counts(2000, 5, 0, 0), none)},
			},
			"in - - - 0 0 out - - - 0 0 restarts 1", 0,
		},
		"discards fall alone": {
			[]arrival{
				{100, sample(1, 100, counts(1000, 10, 9, 0), none)},
				{120, sample(2, 120, counts(1000, 10, 4, 0), none)},
			},
			"in - - - 0 0 out - - - 0 0 restarts 1", 0,
		},
		"octets and packets are not read at the same moment": {
			[]arrival{
				{100, sample(1, 100, counts(1000, 10, 0, 0), none)},
				{120, sample(2, 120, counts(1000, 50, 0, 0), none)},
			},
			"in 0 2 0.0000 0 0 out 0 0 0.0000 0 0 restarts 0", 0,
		},
		"the sequence is reset, the agent is not": {
			[]arrival{
				{100, sample(50, 100, counts(1000, 10, 0, 0), none)},
				{120, sample(1, 120, counts(9000, 90, 0, 0), none)},
			},
			"in - - - 0 0 out - - - 0 0 restarts 1", 0,
		},
		"twice": {
			[]arrival{
				{100, sample(1, 100, none, none)},
				{120, sample(2, 120, counts(25e6, 40000, 3, 0), none)},
				{121, sample(2, 120, counts(25e6, 40000, 3, 0), none)},
			},
			"in 10000000 2000 0.0100 3 0 out 0 0 0.0000 0 0 restarts 0", 1,
		},
		// 35 Mbyte in the 28 s from 1012 to 1040
		"late": {
			[]arrival{
				{1000, sample(1, 1000, none, none)},
				{1012, sample(2, 1012, counts(5e6, 2000, 2, 0), none)},
				{1040, sample(4, 1040, counts(40e6, 58000, 5, 0), none)},
				{1041, sample(3, 1020, counts(9e6, 3000, 3, 0), none)},
			},
			"in 10000000 2000 0.0100 5 0 out 0 0 0.0000 0 0 restarts 0", 1,
		},
		"one waited with the next": {
			[]arrival{
				{100, sample(1, 100, none, none)},
				{139, sample(2, 120, counts(25e6, 40000, 0, 0), none)},
				{140, sample(3, 140, counts(50e6, 80000, 0, 0), none)},
			},
			"in 10000000 2000 0.0100 0 0 out 0 0 0.0000 0 0 restarts 0", 0,
		},
		"an agent that does not tell how long it is up": {
			[]arrival{
				{100, sample(1, 0, none, none)},
				{120, sample(2, 0, counts(25e6, 40000, 3, 0), none)},
				{121, sample(2, 0, counts(25e6, 40000, 3, 0), none)},
			},
			"in 10000000 2000 0.0100 3 0 out 0 0 0.0000 0 0 restarts 0", 1,
		},
		"counters that are not known": {
			[]arrival{
				{100, sample(1, 100, telemetry.PortCounts{
					Octets: telemetry.UnknownOctets, Unicast: unknown, Multicast: 1, Discards: unknown,
				}, telemetry.PortCounts{Unicast: 100, Multicast: unknown, Broadcast: unknown, Errors: unknown})},
				{120, sample(2, 120, telemetry.PortCounts{
					Octets: telemetry.UnknownOctets, Unicast: unknown, Multicast: 9, Discards: unknown,
				}, telemetry.PortCounts{
					Octets: 25e6, Unicast: 40100, Multicast: unknown, Broadcast: unknown, Errors: unknown,
				})},
			},
			"in - - - - 0 out 10000000 2000 0.0100 0 - restarts 0", 0,
		},
		"a counter is not known for once": {
			[]arrival{
				{100, sample(1, 100, none, none)},
				{120, sample(2, 120, counts(25e6, 40000, unknown, 0), none)},
				{140, sample(3, 140, counts(50e6, 80000, 9, 0), none)},
				{160, sample(4, 160, counts(75e6, 120000, 11, 0), none)},
			},
			"in 10000000 2000 0.0100 2 0 out 0 0 0.0000 0 0 restarts 0", 0,
		},
		// 400 GB in 20 s are 160 Gbit/s, and may be more than 2^32 packets of 64 octets
		"packets may have wrapped twice": {
			[]arrival{
				{100, sample(1, 100, none, none)},
				{120, sample(2, 120, counts(400e9, 40000, 0, 0), none)},
			},
			"in 160000000000 - 160.0000 0 0 out 0 0 0.0000 0 0 restarts 0", 0,
		},
		"kinds of packets": {
			[]arrival{
				{100, sample(1, 100, none, none)},
				{120, sample(2, 120, telemetry.PortCounts{
					Octets: 25e6, Unicast: 20000, Multicast: 12000, Broadcast: 8000,
				}, none)},
			},
			"in 10000000 2000 0.0100 0 0 out 0 0 0.0000 0 0 restarts 0", 0,
		},
	} {
		table := New()
		var last int64
		for _, a := range c.arrivals {
			table.Add(a.s, a.at*second)
			last = a.at * second
		}
		got := only(t, &table, last)
		if text := text(&got); text != c.want || table.PassedBy != c.passedBy || table.Overflow != 0 {
			t.Errorf("%s:\n got %s, %d passed by\nwant %s, %d", name, text, table.PassedBy, c.want, c.passedBy)
		}
	}
}

// Without a speed there is no use, and what the port is comes from the latest sample.
func TestStatus(t *testing.T) {
	table := New()
	table.Add(sample(1, 100, counts(0, 0, 0, 0), counts(0, 0, 0, 0)), 100*second)
	s := sample(2, 120, counts(25e6, 40000, 0, 0), counts(0, 0, 0, 0))
	s.Speed, s.OperUp = 0, false
	table.Add(s, 120*second)
	c := only(t, &table, 120*second)
	if c.Admin != "up" || c.Oper != "down" || c.Speed != 0 || c.InUse != nil || *c.InBPS != 10e6 ||
		c.IntervalNs != 20*second || c.First.Unix() != 100 || c.Last.Unix() != 120 {
		t.Errorf("got %+v", c)
	}
}

// What a device does not tell any more is not how it is now.
func TestSilence(t *testing.T) {
	table := New()
	table.Add(sample(1, 100, counts(0, 0, 0, 0), counts(0, 0, 0, 0)), 100*second)
	table.Add(sample(2, 140, counts(50e6, 80000, 4, 0), counts(0, 0, 0, 0)), 140*second)
	if got := only(t, &table, 260*second); got.InBPS == nil || *got.InBPS != 10e6 {
		t.Errorf("after three intervals: %s", text(&got))
	}
	got := only(t, &table, 261*second)
	if want := "in - - - 4 0 out - - - 0 0 restarts 0"; text(&got) != want || got.Last.Unix() != 140 {
		t.Errorf("got %s, last %v, want %s", text(&got), got.Last, want)
	}
}

// Two agents that count at the same port are not mixed, and one takes over when the other is silent.
func TestTwoAgents(t *testing.T) {
	table := New()
	table.Add(sample(1, 100, counts(0, 0, 0, 0), counts(0, 0, 0, 0)), 100*second)
	other := sample(9, 9000, counts(5e9, 90000, 0, 0), counts(0, 0, 0, 0))
	other.SubAgent = 1
	table.Add(other, 105*second)
	table.Add(sample(2, 120, counts(25e6, 40000, 0, 0), counts(0, 0, 0, 0)), 120*second)
	if got := only(t, &table, 120*second); table.PassedBy != 1 || *got.InBPS != 10e6 || got.Restarts != 0 {
		t.Errorf("got %s, %d passed by", text(&got), table.PassedBy)
	}
	table.Add(other, 181*second)
	if got := only(t, &table, 181*second); table.PassedBy != 1 || got.InBPS != nil || got.Restarts != 1 {
		t.Errorf("got %s, %d passed by", text(&got), table.PassedBy)
	}
}

// A table has so many ports and nodes and no more, and answers all of them.
func TestBounds(t *testing.T) {
	for _, c := range []struct{ nodes, ports, want int }{{maxNodes + 5, 1, maxNodes}, {1, maxPorts + 5, maxPorts}} {
		table := New()
		s := sample(1, 100, counts(0, 0, 0, 0), counts(0, 0, 0, 0))
		for n := range c.nodes {
			for p := range c.ports {
				s.Node, s.Port = uint32(n), uint32(p)
				table.Add(s, 100*second)
			}
		}
		list := table.Ports(new(sync.Mutex), 100*second)
		if table.Len() != c.want || len(list) != c.want || table.Overflow != 5 {
			t.Errorf("%d nodes with %d ports: %d are kept, %d in the answer, %d without a place", c.nodes, c.ports,
				table.Len(), len(list), table.Overflow)
		}
		s.Node, s.Port, s.Sequence, s.UptimeMs = 0, 0, 2, 120e3
		if table.Add(s, 120*second); table.Overflow != 5 || table.PassedBy != 0 {
			t.Error("a port that is kept goes on")
		}
	}
}
