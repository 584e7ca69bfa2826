package api

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/analyze/burst"
	"github.com/waybill-int/waybill/analyze/verdict"
	"github.com/waybill-int/waybill/api/encode"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/telemetry"
)

const (
	// usualRange is what is asked for if nothing else is said.
	usualRange = time.Hour
	// maxSteps is into how many pieces a range is cut to find out when a path was taken.
	maxSteps = 2000
)

// flowID returns the flow that the path names.
func (p *params) flowID() uint64 {
	hash, err := strconv.ParseUint(p.id, 16, 64)
	if err != nil || len(p.id) != 16 {
		p.reject("id", "16 hexadecimal digits", "%.40q is not the id of a flow", p.id)
	}
	return hash
}

// flow answers with one flow.
func (h *handler) flow(w http.ResponseWriter, r *http.Request, p *params) {
	hash := p.flowID()
	if asksPast(p) {
		p.reject("since", "", "this is the flow as it is now; %s/paths has what it was in a time range", p.path)
	}
	if problem := p.problem(); problem != nil {
		problem.Write(w)
		return
	}
	flow, found := h.flowNow(r.Context(), hash)
	if !found {
		types.NewProblem(http.StatusNotFound,
			"there is no flow %s, or it is no longer in the table; %s/paths has its past, if it was kept",
			p.id, p.path).Write(w)
		return
	}
	v := h.cfg.Collector.Inventory()
	flow.SrcName, flow.DstName = v.Host(flow.Src), v.Host(flow.Dst)
	near := func(b *telemetry.Burst) bool { return onItsWay(flow, b) }
	bursts, _ := h.cfg.Bursts.Bursts(near, burst.ByLast, math.MaxInt)
	bursts = append(bursts, h.cfg.Bursts.Open(near)...)
	writeAnswer(w, types.FlowAnswer{
		GeneratedAt: h.cfg.Now().UTC(), Flow: *flow, Verdict: verdict.Of(flow, bursts),
	})
}

// onItsWay reports whether a flow takes the port whose queue a burst was.
func onItsWay(f *telemetry.Flow, b *telemetry.Burst) bool {
	return slices.ContainsFunc(f.Paths, func(p telemetry.FlowPath) bool {
		return slices.ContainsFunc(p.Hops, func(h telemetry.PathHop) bool {
			return h.Node != nil && *h.Node == b.Node && h.EgressPort != nil && *h.EgressPort == b.Port
		})
	})
}

// flowNow returns a flow of the tables.
func (h *handler) flowNow(ctx context.Context, hash uint64) (flow *telemetry.Flow, found bool) {
	h.lists.during(ctx, func() { flow, found = h.findFlow(hash) })
	return flow, found
}

// findFlow is flowNow for who may look already.
func (h *handler) findFlow(hash uint64) (*telemetry.Flow, bool) {
	flows, _ := h.cfg.Collector.Flows(analyze.FlowFilter{
		Limit: 1, Which: analyze.FlowHash(hash),
	})
	if len(flows) == 0 {
		return nil, false
	}
	return &flows[0], true
}

// flowPaths lists the paths that a flow took, the first first.
func (h *handler) flowPaths(ctx context.Context, p *params) (answer, *types.Problem) {
	hash, now := p.flowID(), h.cfg.Now()
	r := span{now.Add(-usualRange), now}
	if asksPast(p) {
		r = p.span(now)
	}
	limit := p.limit()
	step := p.step(r)
	if kept := h.cfg.KeptFine; h.cfg.History != nil && kept > 0 && now.Sub(r.since) > kept {
		p.reject("since", fmt.Sprintf("at most %v ago", kept), "the paths of a flow are kept for %v", kept)
	}
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	list := types.FlowPathList{ID: fmt.Sprintf("%016x", hash), Since: r.since.UTC(), Until: r.until.UTC()}
	if h.cfg.History == nil {
		h.pathsOfTables(&list, hash)
	} else if problem := h.pathsOfStore(ctx, &list, hash, step, p.values.Has("interval")); problem != nil {
		return answer{}, problem
	}
	a := newAnswer("paths", list.Paths[:min(limit, len(list.Paths))], len(list.Paths))
	a.more = []encode.Member{
		{Name: "resolution_ns", Value: list.ResolutionNs},
		{Name: "id", Value: list.ID},
		{Name: "flow", Value: list.Flow},
	}
	a = a.spanning(r)
	a.past = h.cfg.History != nil
	return a, nil
}

// step returns the length of the pieces of r: what interval says, or else the shortest that are not too many.
func (p *params) step(r span) time.Duration {
	const shortest = time.Duration(telemetry.FlowIntervalNs)
	step := max(r.until.Sub(r.since)/maxSteps, 1)
	step = (step + shortest - 1) / shortest * shortest
	if text, given := p.text("interval"); given {
		d, err := filter.ParseDuration(text)
		if err != nil || d < shortest || d%shortest != 0 || r.until.Sub(r.since)/max(d, 1) > maxLimit {
			p.reject("interval", fmt.Sprintf("multiples of 10s, such as 1m; at most %d in the time range", maxLimit),
				"interval is %q", text)
		}
		step = d
	}
	return step
}

// pathsOfTables are those that the tables of now remember.
func (h *handler) pathsOfTables(list *types.FlowPathList, hash uint64) {
	list.Paths = []types.FlowPathSpan{}
	flow, found := h.findFlow(hash)
	if !found {
		return
	}
	list.Flow = &flow.Endpoints
	for _, path := range slices.Backward(flow.Paths) { // the latest first
		if path.First.Before(list.Until) && path.Last.After(list.Since) {
			list.Paths = append(list.Paths,
				types.FlowPathSpan{
					ID: path.ID, Start: path.First, End: path.Last, Packets: path.Packets,
					Hops: path.Hops,
				})
		}
	}
}

// A flowPathRow is what a store has of a flow on a path in a piece of the range.
type flowPathRow struct {
	Start    *time.Time      `store:"start"`
	Path     *types.PathID   `store:"path_id"`
	Src      *netip.Addr     `store:"src_hi,src_lo"`
	Dst      *netip.Addr     `store:"dst_hi,dst_lo"`
	SrcPort  *uint16         `store:"src_port"`
	DstPort  *uint16         `store:"dst_port"`
	Protocol *types.Protocol `store:"protocol"`
	Tunnel   *uint8          `store:"tunnel"`
	TunnelID *uint32         `store:"tunnel_id"`
	Packets  *uint64         `store:"packets"`
	Bytes    *uint64         `store:"bytes"`
	Drops    *uint64         `store:"drops"`
	Count    *uint64         `store:"residence_count"`
	Sum      *uint64         `store:"residence_sum"`
	Min      *int64          `store:"residence_min"`
	Max      *int64          `store:"residence_max"`
}

// pathsOfStore are those that a store has, in runs: a path that is taken again after another is there twice. In pieces,
// each of them stands for itself.
func (h *handler) pathsOfStore(ctx context.Context, list *types.FlowPathList, hash uint64, step time.Duration,
	pieces bool,
) *types.Problem {
	found, problem := h.ask(ctx, &store.Query{
		Table: store.Flows, From: list.Since, To: list.Until, Step: step, Limit: 2 * maxLimit,
		Where: "flow = " + h.cfg.Dialect.Unsigned(), Args: []any{strconv.FormatUint(hash, 10)}, Uses: []string{"flow"},
		Group: []string{
			"path_id", "src_hi", "src_lo", "dst_hi", "dst_lo", "src_port", "dst_port", "protocol",
			"tunnel", "tunnel_id",
		},
		Values: []string{
			"packets", "bytes", "drops", "residence_count", "residence_sum", "residence_min",
			"residence_max",
		},
	})
	if problem != nil {
		return problem
	}
	if found.More {
		problem := types.NewProblem(http.StatusBadRequest,
			"the flow took more paths than can be listed; ask for a shorter time range, or longer intervals")
		problem.Parameter = "since"
		return problem
	}
	runs := pathRuns{step: step, pieces: pieces, running: map[uint64]int{}}
	for _, row := range found.Rows {
		var r flowPathRow
		if err := fillRecord(reflect.ValueOf(&r).Elem(), found.Columns, row, nil); err != nil {
			return unreadable(err)
		}
		if list.Flow == nil {
			list.Flow = r.endpoints()
		}
		runs.add(&r)
	}
	list.Paths, list.ResolutionNs = runs.spans(), step.Nanoseconds()
	return h.addHops(ctx, list.Paths)
}

func (r *flowPathRow) endpoints() *telemetry.Endpoints {
	key := telemetry.FlowKey{
		Src: telemetry.AddrFrom(*r.Src), Dst: telemetry.AddrFrom(*r.Dst), SrcPort: *r.SrcPort,
		DstPort: *r.DstPort, Protocol: uint8(*r.Protocol),
	}
	if r.Tunnel != nil {
		key.Tunnel = telemetry.Tunnel(*r.Tunnel)
	}
	if r.TunnelID != nil {
		key.TunnelID = *r.TunnelID
	}
	e := telemetry.EndpointsOf(&key)
	return &e
}

// pathRuns puts rows, which come in the order of time, together.
type pathRuns struct {
	step    time.Duration
	pieces  bool
	at      time.Time // of the latest piece with packets
	before  time.Time // and of the one before it
	running map[uint64]int
	list    []pathRun
}

// A pathRun is a span that may go on.
type pathRun struct {
	types.FlowPathSpan
	count, sum uint64
	latest     time.Time // start of its last piece
}

func (p *pathRuns) add(r *flowPathRow) {
	path := uint64(0) // not known
	if r.Path != nil {
		path = uint64(*r.Path)
	}
	if path == 0 && *r.Packets == 0 && *r.Drops == 0 { // its first packet still waited for postcards
		return
	}
	if !r.Start.Equal(p.at) {
		p.before, p.at = p.at, *r.Start
	}
	i, running := p.running[path]
	if p.pieces || !running || p.list[i].latest.Before(p.before) {
		run := pathRun{FlowPathSpan: types.FlowPathSpan{
			Start: r.Start.UTC(), Bytes: new(uint64), Drops: new(uint64),
			Hops: []telemetry.PathHop{},
		}}
		if path != 0 {
			run.ID = fmt.Sprintf("%016x", path)
		}
		i = len(p.list)
		p.list, p.running[path] = append(p.list, run), i
	}
	run := &p.list[i]
	run.latest, run.End = *r.Start, r.Start.Add(p.step).UTC()
	run.Packets += *r.Packets
	*run.Bytes += *r.Bytes
	*run.Drops += *r.Drops
	if r.Count == nil || *r.Count == 0 {
		return
	}
	run.count, run.sum = run.count+*r.Count, run.sum+*r.Sum
	if run.ResidenceMin == nil {
		run.ResidenceMin, run.ResidenceMax = r.Min, r.Max
	}
	lowest, highest := min(*run.ResidenceMin, *r.Min), max(*run.ResidenceMax, *r.Max)
	run.ResidenceMin, run.ResidenceMax = &lowest, &highest
}

func (p *pathRuns) spans() []types.FlowPathSpan {
	spans := make([]types.FlowPathSpan, len(p.list))
	for i := range p.list {
		run := &p.list[i]
		if run.count > 0 {
			mean := int64(math.Round(float64(run.sum) / float64(run.count)))
			run.Residence = &mean
		}
		spans[i] = run.FlowPathSpan
	}
	return spans
}

// ask asks the store, within the time that an answer may take.
func (h *handler) ask(ctx context.Context, q *store.Query) (*store.Answer, *types.Problem) {
	ctx, cancel := context.WithTimeout(ctx, queryTime)
	defer cancel()
	found, err := h.cfg.History(ctx, q)
	if err != nil {
		return nil, storeProblem(ctx, err)
	}
	return found, nil
}
