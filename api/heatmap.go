package api

import (
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/telemetry"
)

// heatmapScale is that of the buckets: four for each power of two, so that a bucket is 19 % wide.
const heatmapScale = 2

// heatmapColumns are the histograms that there are, by list.
var heatmapColumns = map[string]string{"hops": "latency", "links": "delay", "paths": "residence"}

// heatmap answers from the store.
func (h *handler) heatmap(w http.ResponseWriter, r *http.Request, p *params) {
	p.accepted(r.Header, types.MediaJSON)
	now := h.cfg.Now()
	of := p.choice("of")
	y := h.views().histories[of]
	if !p.values.Has("since") {
		p.values.Set("since", "1h")
	}
	at := h.written(y.table, p.span(now))
	q := store.Query{
		Table: y.table, From: at.since, To: at.until, Values: []string{heatmapColumns[of]},
		Limit: maxLimit,
	}
	q.Step = p.intervalOf(y.table, at)
	if p.schema = y.schema; p.schema != nil { // else of is no list
		p.where(&q, now, h.cfg.Dialect)
	}
	if problem := p.problem(); problem != nil {
		problem.Write(w)
		return
	}
	var found *store.Answer
	var problem *types.Problem
	if !h.pasts.during(r.Context(), func() { found, problem = h.ask(r.Context(), &q) }) {
		return
	}
	if problem != nil {
		problem.Write(w)
		return
	}
	a := types.Heatmap{
		GeneratedAt: now.UTC(), StepNs: q.Step.Nanoseconds(),
		Frame: types.Frame{Since: at.since.UTC(), Until: at.until.UTC(), ResolutionNs: found.Resolution.Nanoseconds()},
	}
	if q.Step == 0 {
		a.StepNs = at.until.Sub(at.since).Nanoseconds()
	}
	fillHeatmap(&a, found.Rows, at.since)
	writeAnswer(w, a)
}

// intervalOf is interval, which has to be a multiple of the shortest intervals of a table.
func (p *params) intervalOf(t store.Table, r span) time.Duration {
	step, finest := p.interval(r), time.Duration(telemetry.FlowIntervalNs)
	if t == store.Hops || t == store.Queues || t == store.Events || t == store.Bursts {
		finest = time.Second
	}
	if step%finest != 0 {
		text, _ := p.text("interval")
		p.reject("interval", fmt.Sprintf("multiples of %v, such as 1m; at most %d in the time range", finest, maxLimit),
			"interval is %q", text)
	}
	return step
}

// interval returns the length of the pieces that a time range is cut into; 0 if it is not.
func (p *params) interval(r span) time.Duration {
	text, given := p.text("interval")
	if !given {
		return 0
	}
	step, err := filter.ParseDuration(text)
	if err != nil || step < time.Second || step%time.Second != 0 || r.until.Sub(r.since)/max(step, 1) > maxLimit {
		p.reject("interval",
			fmt.Sprintf("whole seconds, such as 10s, 1m or 1h; at most %d in the time range", maxLimit),
			"interval is %q", text)
	}
	return step
}

// fillHeatmap takes rows of a histogram, with the time before it unless they are about the whole range, which begins at
// since.
func fillHeatmap(a *types.Heatmap, rows [][]any, since time.Time) {
	a.Bounds, a.Times, a.Counts, a.Spread = []float64{}, []time.Time{}, [][]uint64{}, []types.HeatmapStep{}
	var histograms []*telemetry.Histogram
	scale, low, high := int8(heatmapScale), math.MaxInt, math.MinInt
	for _, row := range rows {
		h, _ := row[len(row)-1].(*telemetry.Histogram)
		if h == nil || h.Count == 0 {
			continue
		}
		start := since
		if len(row) > 1 {
			start, _ = row[0].(time.Time)
		}
		histograms = append(histograms, h)
		scale = min(scale, h.Scale)
		a.Times = append(a.Times, start.UTC())
		a.Spread = append(a.Spread, types.HeatmapStep{
			Packets: h.Count, Min: h.Min, Mean: h.Sum / h.Count, P50: h.Quantile(0.5), P99: h.Quantile(0.99),
			Max: h.Max,
		})
	}
	for _, h := range histograms {
		shift := h.Scale - scale
		low = min(low, int(h.Start)>>shift)
		high = max(high, (int(h.Start)+len(h.Counts)-1)>>shift)
	}
	for _, h := range histograms {
		counts := make([]uint64, high-low+1)
		for i, n := range h.Counts {
			counts[(int(h.Start)+i)>>(h.Scale-scale)-low] += n
		}
		a.Counts = append(a.Counts, counts)
	}
	for i := low; i <= high+1 && len(histograms) > 0; i++ {
		a.Bounds = append(a.Bounds, math.Exp2(float64(i)*math.Exp2(-float64(scale))))
	}
}
