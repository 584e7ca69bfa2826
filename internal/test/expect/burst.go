package expect

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/telemetry"
)

// A burst is a time in which a queue was long, and what came to it then.
type burst struct {
	*truth.Burst
	visits []queueVisit
}

// A burstFlow is what one flow had in a burst. Extra is what its packets waited in the queue, by the clock of the
// switch.
type burstFlow struct {
	packets, bytes, drops, buildUp uint64
	extraNs                        int64
	src                            string
}

// slowBy is how much longer a fault makes packets stay in a switch, in ns.
func slowBy(f *truth.Fault) (ns int64) {
	fmt.Sscan(f.Detail, &ns)
	return ns
}

// listed is how many culprits, and how many victims, a collector lists.
const listed = 32

// latenessNs is how long after packets others of their queue may be told of, see burst.DefaultConfig: those that go
// round are told of when they are dropped.
const latenessNs = 200e6

// known reports whether reports told of all packets of a burst in time, and the truth has all of them: those that are
// still in a queue when its link is cut have no hop, and neither do those that are in the network at the end.
func (c *Chronicle) known(b *burst) bool {
	sums, packets := map[uint32]uint64{}, uint64(0)
	for i := range b.visits {
		k := &b.visits[i]
		if !k.known() {
			return false
		}
		if !k.dropped {
			sums[k.flow] += k.bytes
			packets++
		}
	}
	for _, f := range b.Flows {
		if sums[f.Flow] != f.Bytes || c.truth.Flows[f.Flow] == nil {
			return false
		}
	}
	return !b.Open && packets == b.Packets && len(sums) == len(b.Flows)
}

// known reports whether a report told of a packet in a queue in time.
func (k *queueVisit) known() bool {
	return k.packet.reported && !k.untold && k.packet.atNs-k.outNs <= latenessNs
}

// mayHaveSlack reports whether reports did not tell of all packets that were at a switch within a second of a burst
// there, or the switch was slower for a while.
func (c *Chronicle) mayHaveSlack(b *burst) bool {
	const second = 1e9
	if slices.ContainsFunc(c.truth.Faults, func(f *truth.Fault) bool {
		return f.Kind == "slow_switch" && f.Nodes[0] == b.Node
	}) {
		return true
	}
	for key, q := range c.watched {
		if key.node == b.Node && slices.ContainsFunc(q.visits, func(k queueVisit) bool {
			return !k.known() && k.outNs > b.StartNs-second && k.inNs < b.EndNs+second
		}) {
			return true
		}
	}
	return false
}

// flows returns who took part in a burst, by name.
func (c *Chronicle) burstFlows(b *burst) map[string]*burstFlow {
	flows := map[string]*burstFlow{}
	for i := range b.visits {
		k := &b.visits[i]
		e, _ := endpoints(c.truth.Flows[k.flow])
		f := flows[endpointsName(&e)]
		if f == nil {
			f = &burstFlow{src: e.Src.String()}
			flows[endpointsName(&e)] = f
		}
		if k.dropped {
			f.drops++
			continue
		}
		f.packets++
		f.bytes += k.bytes
		f.extraNs += int64(k.outClock-k.inClock) - c.truth.Switches[b.Node].LatencyNs
		if k.inNs <= b.PeakNs {
			f.buildUp += k.bytes
		}
	}
	return flows
}

// clock returns what the clock of the switch showed when a packet came; false if none came then.
func (b *burst) clock(ns int64) (uint64, bool) {
	at := slices.IndexFunc(b.visits, func(k queueVisit) bool { return k.inNs == ns && !k.dropped })
	if at < 0 {
		return 0, false
	}
	return b.visits[at].inClock, true
}

// BurstDifferences returns where bursts of a whole run are not those of the queues, as text, and how many were
// compared; call it behind Intervals. The others were not told of wholly: nothing is said of them but that they were
// there.
func (c *Chronicle) BurstDifferences(got []telemetry.Burst) (list []string, compared, others int) {
	byQueue := map[queueKey][]*telemetry.Burst{}
	for i := range got {
		k := queueKey{got[i].Node, got[i].Port, got[i].Queue}
		byQueue[k] = append(byQueue[k], &got[i])
	}
	matched := map[string]bool{}
	for _, b := range c.bursts {
		bursts := byQueue[queueKey{b.Node, b.Port, b.Queue}]
		if !c.known(b) {
			others++
			for _, g := range bursts { // there may be a part of it
				if c.overlaps(b, g) {
					matched[g.ID] = true
				}
			}
			continue
		}
		compared++
		startNs, _ := b.clock(b.StartNs)
		at := slices.IndexFunc(bursts, func(g *telemetry.Burst) bool { return uint64(g.Start.UnixNano()) == startNs })
		if at < 0 {
			list = append(list,
				fmt.Sprintf("missed: %d port %d queue %d at %v for %v, %d bytes", b.Node, b.Port, b.Queue,
					time.Unix(0, int64(startNs)).UTC(), time.Duration(b.EndNs-b.StartNs), b.Peak))
			continue
		}
		g := bursts[at]
		matched[g.ID] = true
		for _, text := range c.burstWrong(b, g) {
			list = append(list,
				fmt.Sprintf("burst %s of %d port %d queue %d at %v: %s", g.ID, b.Node, b.Port, b.Queue, g.Start, text))
		}
	}
	for i := range got {
		if g := &got[i]; !matched[g.ID] {
			list = append(list,
				fmt.Sprintf("made up: burst %s of %d port %d queue %d at %v to %v, %d %s", g.ID, g.Node, g.Port,
					g.Queue, g.Start, g.End, g.PeakDepth, g.Unit))
		}
	}
	slices.SortFunc(list, cmp.Compare)
	return list, compared, others
}

// overlaps reports whether g may be a part of b. The clock of a switch is off by less than slack.
func (c *Chronicle) overlaps(b *burst, g *telemetry.Burst) bool {
	const slack = 100e6
	return g.Start.UnixNano() <= c.epochNs+b.EndNs+slack && g.End.UnixNano() >= c.epochNs+b.StartNs-slack
}

// burstWrong returns what is wrong with what was said of a burst.
func (c *Chronicle) burstWrong(b *burst, g *telemetry.Burst) (list []string) {
	is := func(what string, got, want any) {
		if got != want {
			list = append(list, fmt.Sprintf("%s: got %v, want %v", what, got, want))
		}
	}
	startNs, _ := b.clock(b.StartNs)
	peakNs, _ := b.clock(b.PeakNs)
	is("peak", uint64(g.Peak.UnixNano()), peakNs)
	endNs := int64(startNs) + b.EndNs - b.StartNs
	endNs += (b.EndNs - b.StartNs) / 1000 * c.truth.Switches[b.Node].DriftPPB / 1e6 // how fast its clock is
	if later := endNs - g.End.UnixNano(); later < -10_000 || later > 10_000+int64(g.EndSlackNs) {
		is("end", g.End.UnixNano(), endNs)
	}
	is("duration", int64(g.DurationNs), g.End.Sub(g.Start).Nanoseconds())
	if !c.mayHaveSlack(b) {
		is("slack", g.StartSlackNs+g.EndSlackNs, uint64(0))
	}
	is("complete", g.Complete, 1.0)
	is("open", g.Open, false)
	is("unit", g.Unit, "bytes")
	is("peak", g.PeakDepth, b.Peak)
	is("peak bytes", g.PeakBytes != nil && *g.PeakBytes == b.Peak, true)
	is("packets", g.Packets, b.Packets)
	is("bytes", g.Bytes, b.Bytes)
	is("drops", g.Drops, b.Drops)
	flows := c.burstFlows(b)
	senders, all := map[string]uint64{}, uint64(0)
	for _, f := range flows {
		if f.buildUp > 0 {
			senders[f.src] += f.buildUp
			all += f.buildUp
		}
	}
	main, sum := 0, uint64(0)
	for _, n := range slices.Backward(slices.Sorted(maps.Values(senders))) {
		if 5*sum < 4*all {
			main, sum = main+1, sum+n
		}
	}
	is("sources", g.Sources, len(senders))
	is("main sources", g.MainSources, main)
	is("incast", g.Incast, main >= 5)
	return append(list, listsWrong(flows, g)...)
}

// listsWrong returns what is wrong with the culprits and victims of a burst.
func listsWrong(flows map[string]*burstFlow, g *telemetry.Burst) (list []string) {
	var culprits, victims []uint64 // by what their lists are sorted
	var bytes, up, largest, largestUp uint64
	for _, f := range flows {
		bytes, up, largest, largestUp = bytes+f.bytes, up+f.buildUp, max(largest, f.bytes), max(largestUp, f.buildUp)
	}
	culprit := func(f *burstFlow) bool { // a tenth of all, or a quarter of the largest
		return f.buildUp > 0 && (10*f.buildUp >= up || 4*f.buildUp >= largestUp) || f.bytes > 0 &&
			(10*f.bytes >= bytes || 4*f.bytes >= largest)
	}
	for _, f := range flows {
		if culprit(f) {
			culprits = append(culprits, f.buildUp)
		} else {
			victims = append(victims, uint64(max(f.extraNs, 0)))
		}
	}
	named, namedBytes := map[string]bool{}, uint64(0)
	check := func(e *telemetry.Endpoints, made bool, packets, bytes, drops uint64) *burstFlow {
		name := endpointsName(e)
		f := flows[name]
		if f == nil || named[name] || culprit(f) != made || f.packets != packets || f.bytes != bytes ||
			f.drops != drops {
			list = append(list,
				fmt.Sprintf("culprit %v, %s with %d packets, %d bytes, %d drops; want %+v", made, name, packets, bytes,
					drops, f))
			return nil
		}
		named[name] = true
		namedBytes += bytes
		return f
	}
	for i, x := range g.Culprits {
		if f := check(x.Flow, true, x.Packets, x.Bytes, x.Drops); f != nil &&
			(f.buildUp != x.BuildUpBytes || up > 0 && x.Share != float64(f.buildUp)/float64(up)) {
			list = append(list,
				fmt.Sprintf("build-up of %s: got %d, share %v; want %d of %d", endpointsName(x.Flow), x.BuildUpBytes,
					x.Share, f.buildUp, up))
		}
		if i > 0 && x.BuildUpBytes > g.Culprits[i-1].BuildUpBytes {
			list = append(list, "culprits are not in order")
		}
	}
	for i, x := range g.Victims {
		// What the empty queue costs is a nanosecond more or less, as the clock shows it.
		if f := check(x.Flow, false, x.Packets, x.Bytes, x.Drops); f != nil {
			if d := int64(x.ExtraNs) - f.extraNs; max(d, -d) > int64(f.packets) || x.MaxExtraNs > x.ExtraNs {
				list = append(list,
					fmt.Sprintf("wait of %s: got %d ns, want %d", endpointsName(x.Flow), x.ExtraNs, f.extraNs))
			}
		}
		if i > 0 && x.ExtraNs > g.Victims[i-1].ExtraNs {
			list = append(list, "victims are not in order")
		}
	}
	if len(g.Culprits) != min(len(culprits), listed) || len(g.Victims) != min(len(victims), listed) ||
		g.OtherFlows != len(flows)-len(named) || g.OtherBytes != bytes-namedBytes {
		list = append(list,
			fmt.Sprintf(
				"%d culprits, %d victims, %d others with %d bytes; want %d culprits and %d victims with %d bytes",
				len(g.Culprits), len(g.Victims), g.OtherFlows, g.OtherBytes, len(culprits), len(victims), bytes))
	}
	slices.Sort(culprits)
	if n := len(culprits); n > listed && g.Culprits[listed-1].BuildUpBytes != culprits[n-listed] {
		list = append(list, "the largest culprits are not listed")
	}
	slices.Sort(victims)
	if n := len(victims); n > listed && g.Victims[listed-1].ExtraNs+uint64(g.Packets) < victims[n-listed] {
		list = append(list, "those who waited longest are not listed")
	}
	return list
}
