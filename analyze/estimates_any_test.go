package analyze

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/internal/test/anynet"
	"github.com/waybill-int/waybill/telemetry"
)

// What is said of times may be off by the steps of stamps, and by the rate of the clock that tells it: by up to 60
// parts per million, and 150 more after a fault.
const stampNs, rateOff = 2, 210e-6

// foundNs is after how long a clock that was set is found by packets of all links that are used: two windows of a
// second, and a bit. What is said of clocks until then is not compared.
const foundNs = int64(2200e6)

// An estimateTrial compares what is estimated of a network with the truth, while the network runs.
type estimateTrial struct {
	*scenario.Scenario
	v       *virtualCollector
	rate    float64 // nodes report 1 packet in so many
	records int     // of the truth that were taken
	atNs    int64   // of the latest comparison
	counts  estimateCounts
	wrong   []string

	clocks  map[uint32]*skewedClock
	set     map[uint32]int64 // when a clock was set, by node
	packets map[uint64]*passing
	links   map[topology.LinkKey]*trueLink
	paths   map[string]*trueDelay
	hops    map[[3]uint32][]float64 // latencies by node and ports
	sent    map[[2]uint32]uint64    // packets by node and egress port
	lost    map[[2]uint32]uint64
	flows   map[string]uint32 // by their ends
	entered map[uint32]uint64 // packets by flow
}

// A passing packet is what a packet has met so far.
type passing struct {
	firstNs int64
	last    truth.Hop
	way     string
}

// A trueLink is what packets needed on a link, in one direction.
type trueLink struct {
	trueDelay
	quickest map[int64]float64 // by second
	lastNs   int64
}

// estimateCounts are how many statements of each kind are right, and how many there are.
type estimateCounts map[string]*[2]int

func (c estimateCounts) add(what string, right, all int) {
	if c[what] == nil {
		c[what] = &[2]int{}
	}
	c[what][0] += right
	c[what][1] += all
}

// judge counts a statement, and notes it if it is wrong.
func (e *estimateTrial) judge(what string, right bool, format string, args ...any) {
	if right {
		e.counts.add(what, 1, 1)
		return
	}
	e.counts.add(what, 0, 1)
	e.wrong = append(e.wrong, fmt.Sprintf("%.1f s: %s: ", float64(e.atNs)/1e9, what)+fmt.Sprintf(format, args...))
}

// hop takes what a packet met.
func (e *estimateTrial) hop(h *truth.Hop) bool {
	at := [3]uint32{h.Node, h.In, h.Out}
	e.hops[at] = append(e.hops[at], float64(h.LatencyNs))
	e.sent[[2]uint32{h.Node, h.Out}]++
	p := e.packets[h.Packet]
	if p == nil {
		p = &passing{firstNs: h.InNs}
		e.packets[h.Packet] = p
		e.entered[h.Flow]++
	} else {
		k := topology.LinkKey{
			From: p.last.Node, FromPort: p.last.Out, To: h.Node, ToPort: h.In,
			Has: telemetry.HasEgressPort | telemetry.HasIngressPort,
		}
		l := e.links[k]
		if l == nil {
			l = &trueLink{quickest: map[int64]float64{}}
			e.links[k] = l
		}
		ns, second := float64(h.InNs-p.last.OutNs), h.InNs/1e9
		l.add(ns)
		l.lastNs = h.InNs
		if quickest, ok := l.quickest[second]; !ok || ns < quickest {
			l.quickest[second] = ns
		}
	}
	p.last = *h
	p.way += fmt.Sprintln(h.Node, h.In, h.Out)
	trueOf(e.paths, p.way).add(float64(h.OutNs - p.firstNs))
	return false
}

// take takes what else the truth says, up to now.
func (e *estimateTrial) take(v *virtualCollector) {
	for ; e.records < len(v.truth.List); e.records++ {
		switch r := v.truth.List[e.records].(type) {
		case *truth.Switch:
			e.clocks[r.Node] = &skewedClock{offsetNs: float64(r.OffsetNs), driftPPB: float64(r.DriftPPB)}
		case *truth.Flow:
			e.flows[truthEnds(r)] = r.Flow
		case *truth.Drop:
			if r.Place == "link" {
				e.lost[[2]uint32{r.Node, r.Out}]++
			}
		case *truth.Fault:
			if r.Kind == "clock" && r.Phase == "start" {
				f, c := e.Faults[r.Fault].Clock, e.clocks[r.Nodes[0]]
				c.fromNs, c.stepNs, c.moreDriftPPB = float64(r.TimeNs), float64(f.Offset), float64(f.Drift)*1e3
				e.set[r.Nodes[0]] = r.TimeNs
			}
		}
	}
}

// look compares what is said now: of clocks once a second, of all else three times.
func (e *estimateTrial) look(v *virtualCollector) {
	e.take(v)
	e.v = v
	nowNs := v.next - v.start
	if nowNs < e.atNs+int64(time.Second) || nowNs > int64(e.Duration) {
		return
	}
	e.atNs = nowNs
	settled := true
	for _, atNs := range e.set {
		settled = settled && nowNs-atNs >= foundNs
	}
	if settled {
		e.compareClocks()
	}
	if nowNs%int64(4*time.Second) < int64(time.Second) {
		e.compareDelays()
		if settled {
			e.compareFlows()
		}
	}
}

// ahead is by how much the clock of b was ahead of that of a.
func (e *estimateTrial) ahead(a, b uint32, atNs int64) float64 {
	return e.clocks[b].errorNs(atNs) - e.clocks[a].errorNs(atNs)
}

// reached returns the nodes that links with packets in both directions join to a node.
func (e *estimateTrial) reached(node uint32) map[uint32]bool {
	reached, list := map[uint32]bool{node: true}, []uint32{node}
	for ; len(list) > 0; list = list[1:] {
		for k := range e.links {
			back := topology.LinkKey{From: k.To, FromPort: k.ToPort, To: k.From, ToPort: k.FromPort, Has: k.Has}
			if k.From == list[0] && !reached[k.To] && e.links[back] != nil {
				reached[k.To] = true
				list = append(list, k.To)
			}
		}
	}
	return reached
}

func (e *estimateTrial) compareClocks() {
	for _, c := range e.v.Clocks() {
		if c.Node == c.Reference {
			continue
		}
		if !c.Trusted {
			e.judge("clocks that are not known", c.Reason != "" && c.OffsetNs == nil, "%+v", c)
			continue
		}
		e.judge("clocks that can be known", e.reached(c.Node)[c.Reference], "no packets both ways: %+v", c)
		// It is told for when packets told last, within a window and a scan, or before that if there were none since.
		first, off := e.atNs, math.Inf(1)
		for k, l := range e.links {
			if k.From == c.Node || k.To == c.Node {
				first = min(first, max(l.lastNs-foundNs, 0))
			}
		}
		for atNs := first; atNs <= e.atNs; atNs += 50 * millisecond {
			off = min(off, math.Abs(e.ahead(c.Reference, c.Node, atNs)-float64(*c.OffsetNs)))
		}
		drift := e.clocks[c.Node].drift(e.atNs) - e.clocks[c.Reference].drift(e.atNs)
		step := math.Abs(drift) * 25e-3 // between two of these moments
		e.judge("offsets of clocks", off <= float64(*c.UncertaintyNs)+stampNs+step, "off by %.0f: %d ± %d: %+v", off,
			*c.OffsetNs, *c.UncertaintyNs, c)
		e.judge("drifts of clocks", math.Abs(drift-*c.DriftPPB) <= *c.DriftWithin+1, "%v ± %v, want %v: %+v",
			*c.DriftPPB, *c.DriftWithin, drift, c)
		if j := c.LastJump; j != nil {
			atNs, was := e.set[c.Node]
			after, before := j.After.UnixNano()-e.v.start, j.Before.UnixNano()-e.v.start
			off := math.Abs(float64(j.StepNs) - e.clocks[c.Node].stepNs)
			e.judge("jumps of clocks", was && after <= atNs && before >= atNs &&
				off <= float64(j.UncertaintyNs)+stampNs, "%+v, want %v at %d ns: %+v", *j,
				e.clocks[c.Node].stepNs, atNs, c)
		}
	}
}

// compareDelay compares the delays of a link or a path with those of all of its packets.
func (e *estimateTrial) compareDelay(what string, a *telemetry.Delay, real *trueDelay) {
	switch {
	case a.NS == nil:
		e.judge(what+" that are not known", a.Unknown != "", "nobody says why")
		return
	case real == nil:
		e.judge(what, false, "there were no packets: %+v", a.NS)
		return
	}
	around := float64(*a.UncertaintyNs) + stampNs + rateOff*real.max
	e.judge(what, float64(a.NS.Min) >= real.min-around && float64(a.NS.Max) <= real.max+around &&
		a.NS.Count <= real.packets, "%+v ± %.0f, want %+v", *a.NS, around, *real)
}

func (e *estimateTrial) compareDelays() {
	for _, l := range e.v.Links() {
		k := topology.LinkKey{
			From: l.From, FromPort: *l.FromPort, To: l.To, ToPort: *l.ToPort,
			Has: telemetry.HasEgressPort | telemetry.HasIngressPort,
		}
		real := e.links[k]
		if real == nil {
			e.judge("links", false, "there is none: %+v", l)
			continue
		}
		e.compareDelay("delays of links", l.Delay, &real.trueDelay)
		back, _ := k.Reverse()
		if other := e.links[back]; l.Delay.RoundTripNs != nil && other != nil {
			quickest := math.Inf(1)
			for second, ns := range real.quickest {
				for near := second - 1; near <= second+1; near++ { // windows are of arrivals
					if ns2, ok := other.quickest[near]; ok {
						quickest = min(quickest, ns+ns2)
					}
				}
			}
			trip, around := float64(*l.Delay.RoundTripNs), float64(*l.Delay.RoundTripUncertaintyNs)
			e.judge("round trips", trip+around+2*stampNs+rateOff*trip >= quickest, "%v ± %v, the quickest took %v",
				trip, around, quickest)
			if l.Delay.NS != nil && e.atNs >= int64(12*time.Second) {
				// Half of what the quickest packets need there and back is not avoidable. Windows count in which clocks
				// are known four times worse than at best, as all packets waited, or few came.
				e.judge("delays that are known well", float64(*l.Delay.UncertaintyNs) <= 4*quickest+20e3,
					"± %d, the quickest took %.0f there and back", *l.Delay.UncertaintyNs, quickest)
			}
		} else if l.Delay.RoundTripNs != nil || l.Delay.NS != nil && !e.reached(k.From)[k.To] {
			e.judge("delays that can be known", false, "no packets went the other way: %+v", l.Delay)
		}
	}
	paths, _ := e.v.Paths(1000)
	for i := range paths {
		if way, whole := wayOf(paths[i].Hops); whole {
			e.compareDelay("delays of paths", paths[i].Delay, e.paths[way])
		}
	}
}

// wayOf returns the way of packets along hops, as a passing packet has it; false if it is not known.
func wayOf(hops []telemetry.PathHop) (way string, whole bool) {
	for i := range hops {
		h := &hops[i]
		if h.Node == nil || h.IngressPort == nil || h.EgressPort == nil || h.Dropped {
			return "", false
		}
		way += fmt.Sprintln(*h.Node, *h.IngressPort, *h.EgressPort)
	}
	return way, true
}

// compareFlows compares what end-to-end times of flows are to be corrected by.
func (e *estimateTrial) compareFlows() {
	flows, _ := e.v.Flows(FlowFilter{Limit: 100_000})
	for i := range flows {
		f := &flows[i]
		if f.EndToEndBy == nil || len(f.Paths) == 0 {
			continue
		}
		by := f.EndToEndBy
		if by.OffsetNs == nil {
			e.judge("offsets of flows that are not known", by.Unknown != "", "nobody says why")
			continue
		}
		hops, off := f.Paths[0].Hops, 0.0
		for _, at := range []time.Time{f.First, f.Last} {
			real := e.ahead(*hops[0].Node, *hops[len(hops)-1].Node, at.UnixNano()-e.v.start)
			off = max(off, math.Abs(real-float64(*by.OffsetNs)))
		}
		e.judge("offsets of flows", off <= float64(*by.UncertaintyNs)+stampNs, "off by %.0f: %d ± %d, from %d to %d ns",
			off, *by.OffsetNs, *by.UncertaintyNs, f.First.UnixNano()-e.v.start, f.Last.UnixNano()-e.v.start)
	}
}

// compareLosses compares what links lose, when all is over.
func (e *estimateTrial) compareLosses() {
	for _, l := range e.v.Links() {
		at := [2]uint32{l.From, *l.FromPort}
		share := float64(e.lost[at]) / float64(max(e.sent[at], 1))
		if l.Loss.Share == nil {
			e.judge("losses that are not known", l.Loss.Unknown != "", "nobody says why")
			continue
		}
		what := "losses by " + l.Loss.Method
		if e.lost[at] == 0 {
			what = "links that lose nothing"
		}
		e.judge(what, share >= *l.Loss.Lower && share <= *l.Loss.Upper,
			"%d-%d lost %d of %d, %.5f; %.5f to %.5f, %d of %d", l.From, l.To, e.lost[at], e.sent[at], share,
			*l.Loss.Lower, *l.Loss.Upper, l.Loss.Lost, l.Loss.Sent)
	}
}

// compareSamples compares what is said of how many packets nodes tell of, and what the figures of some say of all.
// alike says that packets of a flow may look the same to a node, which reports all of them or none.
func (e *estimateTrial) compareSamples(alike bool) {
	for _, l := range e.v.Links() {
		k := topology.LinkKey{
			From: l.From, FromPort: *l.FromPort, To: l.To, ToPort: *l.ToPort,
			Has: telemetry.HasEgressPort | telemetry.HasIngressPort,
		}
		if l.Sample == nil || alike || e.links[k] == nil {
			continue
		}
		told, all := float64(l.Packets+l.Incomplete), float64(e.links[k].packets)
		switch l.Sample.Kind {
		case "every_packet": // from that share on, see telemetry.EveryShare, and it is that of data
			e.judge("links of which all is told", told >= 0.8*all || told < 30, "%.0f of %.0f", told, all)
		case "one_in_n":
			e.judge("rates of links", float64(*l.Sample.Rate) == e.rate, "1 in %d, want %v", *l.Sample.Rate, e.rate)
		}
		// It is that of data of TCP, of some flows.
		if share := told / all; l.Sample.Complete != nil && told >= 100 {
			e.judge("shares that are told", math.Abs(*l.Sample.Complete-share) <= 0.1+0.3*share, "%v, want %v of %.0f",
				*l.Sample.Complete, share, all)
		}
	}
	flows, _ := e.v.Flows(FlowFilter{Limit: 100_000})
	for i := range flows {
		f := &flows[i]
		flow, ok := e.flows[fmt.Sprintln(f.Src, f.SrcPort, f.Dst, f.DstPort)]
		if !ok || alike || f.PacketsEstimated == nil || e.entered[flow] < 100 {
			continue
		}
		sent := float64(e.entered[flow])
		off, around := math.Abs(float64(*f.PacketsEstimated)-sent), 1.96*math.Sqrt(sent*(e.rate-1))+e.rate/2
		e.judge("packets that are estimated", off <= around, "%d, want %.0f, 1 in %v", *f.PacketsEstimated, sent,
			e.rate)
	}
	for _, h := range e.v.Hops() {
		if _, set := e.set[h.Node]; set || h.LatencyNs == nil || h.IngressPort == nil || h.EgressPort == nil {
			continue // set while a packet is there, a clock tells of another latency
		}
		var mean, square float64
		low, high := math.Inf(1), 0.0
		all := e.hops[[3]uint32{h.Node, *h.IngressPort, *h.EgressPort}]
		for _, ns := range all {
			mean += ns / float64(len(all))
			square += ns * ns / float64(len(all))
			low, high = min(low, ns), max(high, ns)
		}
		got := h.LatencyNs
		e.judge("latencies of hops", float64(got.Min) >= low*(1-rateOff)-stampNs &&
			float64(got.Max) <= high*(1+rateOff)+stampNs, "%+v, want %v to %v", *got, low, high)
		if kind := h.Sample.Kind; !alike && (kind == "every_packet" || kind == "one_in_n") {
			around := stampNs + rateOff*mean + 3*math.Sqrt(max(square-mean*mean, 0)/float64(got.Count))
			e.judge("means of hops", math.Abs(got.Mean-mean) <= around, "%v of %d, want %.1f ± %.1f of %d", got.Mean,
				got.Count, mean, around, len(all))
		}
	}
}

// An estimateMode is how nodes report.
type estimateMode struct {
	name, nodes string
	sampled     bool // 1 packet in N
}

var estimateModes = []estimateMode{
	{"stacks", everyPacket, false},
	{"postcards", postcards, false},
	{"stacks, 1 in N", "", true},
	{"postcards, 1 in N", "mode: xd\n", true},
}

// runEstimates runs a network of anynet.Measured and compares what is estimated with the truth. Of half of the networks
// in which nodes report 1 packet in N that is configured.
func runEstimates(t *testing.T, seed uint64, mode *estimateMode) *estimateTrial {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 7))
	text := anynet.Measured(r)
	s := scenarioOf(t, text)
	e := &estimateTrial{
		Scenario: s, rate: 1, counts: estimateCounts{}, clocks: map[uint32]*skewedClock{}, set: map[uint32]int64{},
		packets: map[uint64]*passing{}, links: map[topology.LinkKey]*trueLink{}, paths: map[string]*trueDelay{},
		hops: map[[3]uint32][]float64{}, sent: map[[2]uint32]uint64{}, lost: map[[2]uint32]uint64{},
		flows: map[string]uint32{}, entered: map[uint32]uint64{},
	}
	s.INT.Text = []byte(mode.nodes)
	run := emulation{shards: 1 + int(seed%3), seed: seed + 1, hop: e.hop, look: e.look}
	if mode.sampled {
		n := 2 + r.IntN(19)
		e.rate = float64(n)
		s.INT.Text = fmt.Appendf(nil, "watch: [{report_all: true, sample: %d}]\n%s", n, mode.nodes)
		if seed%2 == 0 {
			run.sample = telemetry.SampleRate(n)
		}
	}
	e.v = run.runScenario(t, s)
	e.take(e.v)
	e.compareLosses()
	// Where IPv4 does not number packets, those of UDP look the same, and all in a tunnel do.
	e.compareSamples(mode.sampled && (strings.Contains(text, `ip: "6"`) || strings.Contains(text, `ip: "mixed"`)))
	if len(e.wrong) > 0 {
		e.wrong = append(e.wrong, text)
	}
	return e
}

// leastRight is how many of 100 statements must be right where an interval holds the truth in 95 of 100 cases. All
// others must be. Of 1 packet in N, a clock that jumped was found after the next packets once in 3057 delays of links,
// and few data make a rough share.
var leastRight = map[string]float64{
	"losses by postcards": 95, "losses by tcp": 95, "packets that are estimated": 94, "means of hops": 97,
	"shares that are told": 85, "delays of links": 99.9, "delays of paths": 99.9,
	"delays that are known well": 90,
}

// estimatesOnceWrong are networks of which something wrong was said once: a clock jumped where few packets went the
// other way (2), packets of short connections were lost, and offsets of flows were off (21), more packets waited for
// postcards than there is room for (36), and a clock jumped right behind packets of both directions (6). The other one
// is any.
var estimatesOnceWrong = []uint64{2, 21, 36, 6, 9}

// TestAnyEstimates has networks, clocks and traffic that nobody has thought of: what is estimated is true within the
// bounds that are told, and where it cannot be known it is said so. Networks of which something else was said once must
// be right; of two hundred, with TEST_SEED=all, as many statements as leastRight says.
func TestAnyEstimates(t *testing.T) {
	seeds, all := drawnNetworks(t, estimatesOnceWrong, 200)
	if !all {
		seeds = estimatesOnceWrong // leastRight is of all of them
	}
	for i := range estimateModes {
		mode := &estimateModes[i]
		t.Run(mode.name, func(t *testing.T) {
			sum := estimateCounts{}
			inNetworks(t, seeds, func(t *testing.T, seed uint64) func() {
				e := runEstimates(t, seed, mode)
				if len(e.wrong) > 0 {
					t.Log(strings.Join(e.wrong, "\n"))
				}
				return func() {
					for what, n := range e.counts {
						sum.add(what, n[0], n[1])
					}
				}
			})
			for what, n := range sum {
				least, some := leastRight[what]
				if !some {
					least = 100
				}
				if t.Logf("%s: %d of %d", what, n[0], n[1]); percent(n[0], n[1]) < least {
					t.Errorf("%s: %d of %d are right", what, n[0], n[1])
				}
			}
		})
	}
}
