package api

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/telemetry/catalogue"
)

// burstsPast lists the bursts that began in a time range, with who took part.
func (h *handler) burstsPast(ctx context.Context, p *params) (answer, *types.Problem) {
	now := h.cfg.Now()
	r := h.written(store.Bursts, p.span(now))
	limit := p.limit()
	groups := p.isGrouped()
	q := store.Query{Table: store.Bursts, Limit: limit}
	if groups {
		y := history{record: types.Records["bursts"]}
		y.columns(p, &q, r)
	} else {
		q.Order, q.Ascending = p.columnOrder(burstColumns, "start")
	}
	p.where(&q, now, h.cfg.Dialect)
	at := p.cursor(r)
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	if problem := needHistory(&h.cfg); problem != nil {
		return answer{}, problem
	}
	q.From, q.To, q.Offset = at.Since, at.Until, at.Offset
	if groups {
		return h.storedGroups(ctx, p.list, &q, at)
	}
	bursts, more, problem := h.storedBursts(ctx, &q)
	if problem != nil {
		return answer{}, problem
	}
	return newAnswer(p.list, bursts, 0).stored(at, more), nil
}

// storedBurst returns one burst of the past. Its packets are not kept.
func (h *handler) storedBurst(ctx context.Context, id string) (telemetry.BurstDetail, bool, *types.Problem) {
	if h.cfg.History == nil {
		return telemetry.BurstDetail{}, false, nil
	}
	bursts, _,
		problem := h.storedBursts(ctx,
		&store.Query{From: time.Unix(0, 0), To: h.cfg.Now().Add(time.Hour), Where: "id = ?", Args: []any{id}, Uses: []string{"id"}, Limit: 1})
	if problem != nil || len(bursts) == 0 {
		return telemetry.BurstDetail{}, false, problem
	}
	d := telemetry.BurstDetail{Burst: bursts[0], Flows: []*telemetry.Endpoints{}, Timeline: []telemetry.BurstPoint{}}
	d.Stack.Flows, d.Stack.Bytes = []int{}, [][]uint64{}
	return d, true, nil
}

// storedBursts returns the bursts that q selects, with who took part in them, and whether there are more.
func (h *handler) storedBursts(ctx context.Context, q *store.Query) ([]telemetry.Burst, bool, *types.Problem) {
	q.Table = store.Bursts
	q.Group = []string{"start"}
	for _, c := range burstFields {
		q.Group = append(q.Group, sqlName(c.Column))
	}
	found, problem := h.ask(ctx, q)
	if problem != nil {
		return nil, false, problem
	}
	bursts, byID := make([]telemetry.Burst, 0, len(found.Rows)), map[string]int{}
	ids, marks := []any{}, []string{}
	for _, row := range found.Rows {
		b, err := burstOf(found, row, h.cfg.Collector.Names())
		if err != nil {
			return nil, false, unreadable(err)
		}
		byID[b.ID] = len(bursts)
		bursts, ids, marks = append(bursts, b), append(ids, b.ID), append(marks, "?")
	}
	if len(bursts) == 0 {
		return bursts, false, nil
	}
	first := slices.MinFunc(bursts, func(a, b telemetry.Burst) int { return a.Start.Compare(b.Start) }).Start
	last := slices.MaxFunc(bursts, func(a, b telemetry.Burst) int { return a.Start.Compare(b.Start) }).Start
	parts, problem := h.ask(ctx, &store.Query{
		Table: store.BurstFlows, From: first, To: last.Add(1), Where: "burst IN (" + strings.Join(marks, ", ") + ")",
		Args: ids, Uses: []string{"burst"},
		Limit: maxParticipants * len(bursts),
		Group: []string{
			"burst", "culprit", "src_hi", "src_lo", "dst_hi", "dst_lo", "src_port", "dst_port", "protocol", "tunnel",
			"tunnel_id",
			"packets", "bytes", "drops", "build_up_bytes", "share", "extra", "extra_max",
		},
	})
	if problem != nil {
		return nil, false, problem
	}
	for _, row := range parts.Rows {
		problem := h.yield(parts, row, reflect.TypeFor[burstFlowRow](), func(row any) {
			r := row.(*burstFlowRow)
			r.into(&bursts[byID[*r.Burst]])
		})
		if problem != nil {
			return nil, false, problem
		}
	}
	for i := range bursts {
		b := &bursts[i]
		slices.SortStableFunc(b.Culprits,
			func(a, b telemetry.Culprit) int { return cmp.Compare(b.BuildUpBytes, a.BuildUpBytes) })
		slices.SortStableFunc(b.Victims, func(a, b telemetry.Victim) int { return cmp.Compare(b.ExtraNs, a.ExtraNs) })
	}
	return bursts, found.More, nil
}

// maxParticipants is how many culprits and victims a burst has: 32 each.
const maxParticipants = 64

// burstFields are those of a burst that a store has columns of.
var burstFields = catalogue.Columns(reflect.TypeFor[telemetry.Burst]())

// addedFields are columns that bursts of older versions do not have.
var addedFields = map[string]bool{
	"uncertainty": true, "unit": true, "peak_depth": true, "above_depth": true, "below_depth": true,
}

// burstOf returns the burst in a row.
func burstOf(found *store.Answer, row []any, names map[uint32]string) (telemetry.Burst, error) {
	b := telemetry.Burst{Culprits: []telemetry.Culprit{}, Victims: []telemetry.Victim{}}
	start, _ := row[slices.Index(found.Columns, "start")].(time.Time)
	for _, c := range burstFields {
		to := reflect.ValueOf(&b).Elem().FieldByName(c.Name)
		from := reflect.ValueOf(row[slices.Index(found.Columns, c.Column)])
		if !from.IsValid() && (to.Kind() == reflect.Pointer || addedFields[c.Column]) {
			continue
		}
		if to.Kind() == reflect.Pointer {
			to.Set(reflect.New(to.Type().Elem()))
			to = to.Elem()
		}
		if !from.IsValid() || !from.CanConvert(to.Type()) ||
			(from.Kind() == reflect.String) != (to.Kind() == reflect.String) {
			return b, fmt.Errorf("%s: got %v, want %v", c.Column, from, to.Type())
		}
		to.Set(from.Convert(to.Type()))
	}
	if b.Unit == "" { // of a version that took all depths for bytes
		b.Unit = telemetry.QueueUnit(0).String()
		if b.PeakBytes != nil && b.AboveBytes != nil && b.BelowBytes != nil {
			b.PeakDepth, b.AboveDepth, b.BelowDepth = *b.PeakBytes, *b.AboveBytes, *b.BelowBytes
		}
	}
	b.Name, b.Start, b.Peak, b.End = names[b.Node], start.UTC(), b.Peak.UTC(), b.End.UTC()
	return b, nil
}

// A burstFlowRow is who took part in a burst. What is not known, and what culprits or victims do not have, is nil.
type burstFlowRow struct {
	Burst    *string         `store:"burst"`
	Culprit  *bool           `store:"culprit"`
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
	BuildUp  *uint64         `store:"build_up_bytes"`
	Share    *float64        `store:"share"`
	Extra    *int64          `store:"extra"`
	ExtraMax *int64          `store:"extra_max"`
}

func (r *burstFlowRow) into(b *telemetry.Burst) {
	var flow *telemetry.Endpoints
	if r.Src != nil {
		flow = (&flowPathRow{
			Src: r.Src, Dst: r.Dst, SrcPort: r.SrcPort, DstPort: r.DstPort, Protocol: r.Protocol,
			Tunnel: r.Tunnel, TunnelID: r.TunnelID,
		}).endpoints()
	}
	if *r.Culprit {
		b.Culprits = append(b.Culprits,
			telemetry.Culprit{
				Flow: flow, Packets: *r.Packets, Bytes: *r.Bytes, Drops: *r.Drops,
				BuildUpBytes: *r.BuildUp, Share: *r.Share,
			})
		return
	}
	b.Victims = append(b.Victims,
		telemetry.Victim{
			Flow: flow, Packets: *r.Packets, Bytes: *r.Bytes, Drops: *r.Drops, ExtraNs: uint64(*r.Extra),
			MaxExtraNs: uint64(*r.ExtraMax),
		})
}
