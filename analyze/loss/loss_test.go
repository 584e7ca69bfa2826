package loss

import (
	"math"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// A gap is given once nothing fills it any more, or when another one needs its place; numbers that come late take from
// it.
func TestGaps(t *testing.T) {
	var table Gaps
	const second = int64(1e9)
	add := func(tag, from, to uint32, atNs int64) Gap {
		return table.Add(&Gap{Ns: atNs, Tag: tag, From: from, To: to, Missing: to - from})
	}
	add(1, 10, 13, second)
	add(2, 50, 51, second)
	if !table.Fill(1, 11) || table.Fill(1, 13) || table.Fill(3, 11) || !table.Fill(2, 50) || table.Fill(2, 50) {
		t.Error("numbers fill gaps that are not theirs, or not their own")
	}
	var given []Gap
	give := func(g *Gap) { given = append(given, *g) }
	table.Settle(second+gapWaitNs-1, give)
	if table.Settle(2*second, give); len(given) != 1 || given[0].Tag != 1 || given[0].Missing != 2 {
		t.Errorf("given %+v", given)
	}
	if table.Settle(9*second, give); len(given) != 1 {
		t.Errorf("given again: %+v", given[1:])
	}
	for i := range uint32(perSet) {
		if oldest := add(1+i*gapSets, 1, 2, second+int64(i)); oldest.Ns != 0 {
			t.Errorf("%+v gives way although there is room", oldest)
		}
	}
	if oldest := add(1+perSet*gapSets, 1, 2, 2*second); oldest.Ns != second || oldest.Tag != 1 {
		t.Errorf("%+v gives way, and not the oldest", oldest)
	}
}

// A hole is filled by its own data, in pieces too; one that gives way early is counted.
func TestHoles(t *testing.T) {
	table := NewHoles()
	fill := func(tag, from, to uint32, nowNs int64) bool {
		_, ok := table.Fill(tag, &telemetry.Report{StreamFrom: from, StreamTo: to}, nowNs)
		return ok
	}
	table.Open(Hole{Ns: 1, Tag: 7, From: 1000, To: 3000})
	if fill(7, 3000, 4000, 2) || fill(8, 1000, 2000, 2) || !fill(7, 1000, 2000, 2) || fill(7, 1000, 2000, 2) ||
		!fill(7, 2000, 3000, 2) || fill(7, 2000, 3000, 2) {
		t.Error("data fills holes that are not its own")
	}
	table.Open(Hole{Ns: 1, Tag: 7, From: 1000, To: 3000})
	if fill(7, 1000, 3000, 1+holeLifeNs) {
		t.Error("a hole waits for longer than it lives")
	}
	for i := range int64(holesOfSet + 2) {
		table.Open(Hole{Ns: 2 + holeLifeNs + i, Tag: 9, From: uint32(i), To: uint32(i + 1)})
	}
	if table.Displaced != 2 {
		t.Errorf("%d holes gave way, want 2", table.Displaced)
	}
}

// routesOver are routes from 1 to 2 by 5 over a lossy link, or by 6, and others. The first two are over the lossy one.
func routesOver() (routes [][]topology.HopKey, lossy, other topology.LinkKey) {
	const has = telemetry.HasNode | telemetry.HasIngressPort | telemetry.HasEgressPort
	routes = [][]topology.HopKey{
		{
			{Node: 1, In: 100, Out: 5, Has: has},
			{Node: 5, In: 1, Out: 2, Has: has},
			{Node: 2, In: 5, Out: 100, Has: has},
		},
		{
			{Node: 1, In: 101, Out: 5, Has: has},
			{Node: 5, In: 1, Out: 3, Has: has},
			{Node: 3, In: 5, Out: 100, Has: has},
		},
		{
			{Node: 1, In: 100, Out: 6, Has: has},
			{Node: 6, In: 1, Out: 2, Has: has},
			{Node: 2, In: 6, Out: 100, Has: has},
		},
		{
			{Node: 4, In: 100, Out: 5, Has: has},
			{Node: 5, In: 4, Out: 2, Has: has},
			{Node: 2, In: 5, Out: 100, Has: has},
		},
		{
			{Node: 4, In: 100, Out: 5, Has: has},
			{Node: 5, In: 4, Out: 3, Has: has},
			{Node: 3, In: 5, Out: 100, Has: has},
		},
	}
	lossy, other = topology.LinkKey{From: 1, FromPort: 5, To: 5, ToPort: 1},
		topology.LinkKey{From: 5, FromPort: 2, To: 2, ToPort: 5}
	lossy.Has, other.Has = has&^telemetry.HasNode, has&^telemetry.HasNode
	return routes, lossy, other
}

// takeScan gives streams a scan at atNs in which the first two routes lose 2 % of their packets.
func takeScan(streams *Streams, routes [][]topology.HopKey, atNs int64) {
	streams.Begin()
	for i, route := range routes {
		c := Count{Arrived: 1000, FirstNs: atNs, LastNs: atNs}
		if i < 2 {
			c = Count{Arrived: 980, Lost: 20, Flows: 4, Tag: uint32(i), FirstNs: atNs, LastNs: atNs}
		}
		streams.Take(uint64(i+1), false, route, &c, nil, make([]uint32, len(route)))
	}
}

// The link that all paths share which lose packets is found and its loss is estimated; none is where reports were lost.
func TestStreamsOfALossyLink(t *testing.T) {
	routes, lossy, other := routesOver()
	for _, reportsLost := range []uint64{0, 1000} {
		streams, estimates := NewStreams(), &Estimates{}
		estimator := NewEstimator(estimates)
		reports := Reports{
			Lost: func(uint32) (uint64, bool) { return reportsLost, true },
			Rate: func(uint32) telemetry.SampleRate { return telemetry.SampleEvery },
		}
		found := map[topology.LinkKey]*Link{}
		for scan := range int64(4) {
			takeScan(streams, routes, scan)
			streams.Finish(scan*1e9, reports, func(k topology.LinkKey, g *Link, _ uint64) { found[k] = g })
			estimator.Estimate(scan*1e9, map[topology.LinkKey]Cards{lossy: {}, other: {}}, streams,
				func(uint32) string { return "x" })
		}
		e, clean := estimates.Of(lossy), estimates.Of(other)
		if reportsLost > 0 {
			if len(found) != 0 || e.Share != nil || !strings.Contains(e.Unknown, "reports of x were lost") {
				t.Errorf("found %v where reports were lost; estimate %+v", found, e)
			}
			continue
		}
		if len(found) != 1 || found[lossy] == nil || !found[lossy].Certain() || found[lossy].Total().Lost != 4*40 {
			t.Fatalf("found %+v", found)
		}
		if e.Method != telemetry.LossByTCP || *e.Share != 0.02 || *e.Lower >= 0.02 || *e.Upper <= 0.02 {
			t.Errorf("the link that loses 2 %% has %+v", e)
		}
		if clean.Share == nil || *clean.Share != 0 {
			t.Errorf("the link that loses nothing has %+v", clean)
		}
	}
}

// Where many packets come behind a hole, a link loses many if what was sent again fills the holes. If nothing does,
// reports tell of some packets only.
func TestStreamsWithHoles(t *testing.T) {
	routes, lossy, _ := routesOver()
	for _, c := range []struct {
		lost, jumped uint32
		rate         telemetry.SampleRate
		found        bool
	}{
		{400, 450, telemetry.SampleEvery, true},
		{230, 450, telemetry.SampleEvery, true},
		{220, 450, telemetry.SampleEvery, false},
		{400, 450, telemetry.SampleOnEvent, false},
		{400, 450, telemetry.SampleUnknown, false},
		{20, 20, telemetry.SampleUnknown, true},
	} {
		streams := NewStreams()
		found := map[topology.LinkKey]*Link{}
		for scan := range int64(4) {
			streams.Begin()
			for i, route := range routes {
				n := Count{Arrived: 1000}
				if i < 2 {
					n = Count{
						Arrived: 600, Lost: c.lost, Jumped: c.jumped, Flows: 20, Tag: uint32(i), FirstNs: scan,
						LastNs: scan,
					}
				}
				streams.Take(uint64(i+1), false, route, &n, nil, make([]uint32, len(route)))
			}
			streams.Finish(scan*1e9, Reports{
				Lost: func(uint32) (uint64, bool) { return 0, true },
				Rate: func(uint32) telemetry.SampleRate { return c.rate },
			}, func(k topology.LinkKey, g *Link, _ uint64) { found[k] = g })
		}
		if g := found[lossy]; (g != nil) != c.found || g != nil && g.Total().Lost != 8*uint64(c.lost) {
			t.Errorf("%d of %d holes filled: found %+v", c.lost, c.jumped, found)
		}
	}
}

// Of a link that loses many packets TCP shows fewer than there are: what it loses at least is what is certain.
func TestShare(t *testing.T) {
	for _, c := range []struct {
		lost              uint64
		streams, numbered bool
		share, least      float64
	}{
		{20, true, false, 0.02, 0.02},
		{200, true, false, 0.2, 0.173},
		{200, true, true, 0.2, 0.2},
		{200, false, false, 0.2, 0.2},
	} {
		g := &Link{Streams: c.streams, Numbered: c.numbered}
		for range 3 {
			g.Add(Amount{sent: 1000, Lost: c.lost})
		}
		key := topology.LinkKey{From: 1}
		share, least := Links{key: g}.Share(key)
		if share != c.share || math.Abs(least-c.least) > 0.001 {
			t.Errorf("%+v: got %v, at least %v", c, share, least)
		}
	}
}

// What is missing while as many reports are counts for nothing, but a loss beside it says that it may have been a part
// of it: not if that was too long before.
func TestStreamsMayBeLonger(t *testing.T) {
	const second = int64(1e9)
	routes, lossy, _ := routesOver()
	streams := NewStreams()
	for _, scan := range []struct {
		at       int64 // seconds
		loses    bool
		reports  uint64
		earliest int64 // of the link, in seconds; 0: it is not found
		latest   int64
	}{
		{at: 1, loses: true, reports: 1000},
		{at: 2},
		{at: 3},
		{at: 4, loses: true, reports: 1000},
		{at: 5, loses: true, reports: 1000},
		{at: 6},
		{at: 7, loses: true, earliest: 4, latest: 5},
		{at: 8, loses: true, earliest: 4, latest: 5},
		{at: 9, loses: true, reports: 1000, earliest: 4, latest: 9},
		{at: 10},
	} {
		if scan.loses {
			takeScan(streams, routes, scan.at*second)
		} else {
			streams.Begin()
		}
		var found *Link
		streams.Finish(scan.at*second, Reports{
			Lost: func(uint32) (uint64, bool) { return scan.reports, true },
			Rate: func(uint32) telemetry.SampleRate { return telemetry.SampleEvery },
		}, func(k topology.LinkKey, g *Link, _ uint64) {
			if k != lossy {
				t.Errorf("scan %d: found %+v", scan.at, k)
			}
			found = g
		})
		switch {
		case found == nil && scan.earliest == 0:
		case found == nil || scan.earliest == 0:
			t.Errorf("scan %d: found %+v", scan.at, found)
		case found.FirstNs != 7*second, found.Earliest() != scan.earliest*second,
			found.LatestNs != scan.latest*second:
			t.Errorf("scan %d: begins at %d, at the earliest at %d, ends at the latest at %d", scan.at, found.FirstNs,
				found.Earliest(), found.LatestNs)
		}
	}
}

// Packets of a flow that are lost one after the other are a blackhole if chance does not do that where a link loses
// such a share of them.
func TestSilentByChance(t *testing.T) {
	for _, c := range []struct {
		lost, again uint32
		through     uint64
		silent      bool
	}{
		{10, 9, 90, true},
		{10, 9, 8, false},
		{10, 10, 10, true},
		{100, 97, 50, true},
		{13, 11, 10, false},
		{100, 60, 900, false},
		{9, 9, 90, false},
		{20, 19, 0, false},
	} {
		x := Crossing{Crossed: c.through}
		x.Meet(1, 0, &Part{Last: c.lost, Again: c.again})
		if count, silent, _ := x.Evidence(0, 0); silent != c.silent {
			t.Errorf("%+v: got silent %v, and %+v", c, silent, count)
		}
	}
}
