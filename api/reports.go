package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/waybill-int/waybill/api/encode"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/store/ring"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/dissect"
)

// reportTime is how long one question looks for reports; the cursor goes on where it ended.
const reportTime = 5 * time.Second

// reports lists raw reports, the newest first.
func (h *handler) reports(ctx context.Context, p *params) (answer, *types.Problem) {
	limit := p.limit()
	sought := h.soughtReports(p)
	at := p.cursor(sought.span)
	from, err := ring.ParseID(at.At)
	if err != nil && at.At != "" {
		p.reject("cursor", "next_cursor of an answer", "cursor is of another list")
	}
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	ctx, cancel := context.WithTimeout(ctx, reportTime)
	defer cancel()
	reader := h.newReportReader(sought)
	items, scanned, last, more := []types.RawReport{}, 0, ring.ID{}, false
	err = h.cfg.Reports.Newest(ctx, ring.Range{Since: at.Since.UnixNano(), Until: at.Until.UnixNano(), At: from},
		func(d *ring.Record) bool {
			if len(items) == limit {
				more = true
				return false
			}
			scanned, last = scanned+1, d.ID
			if reader.read(d) {
				items = append(items, reader.item(d))
			}
			return true
		})
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		more = last != ring.ID{} // it goes on from there
	case err != nil:
		return answer{}, types.NewProblem(http.StatusInternalServerError, "the raw reports cannot be read: %v", err)
	}
	a := newAnswer(p.list, items, len(items)).spanning(span{at.Since, at.Until})
	a.more = append(a.more, encode.Member{Name: "scanned", Value: scanned})
	if more {
		at.At = last.String()
		a.next = at.String()
	}
	return a, nil
}

// report answers with one raw report, whose id is the end of the path.
func (h *handler) report(w http.ResponseWriter, _ *http.Request, p *params) {
	problem := p.problem()
	id, err := ring.ParseID(p.id)
	if err != nil && problem == nil {
		p.reject("id", "an id that "+api+"reports lists", "%v", err)
		problem = p.wrong
	}
	if problem != nil {
		problem.Write(w)
		return
	}
	d, err := h.cfg.Reports.Get(id)
	switch {
	case errors.Is(err, ring.ErrGone):
		types.NewProblem(http.StatusNotFound, "%v", err).Write(w)
		return
	case err != nil:
		types.NewProblem(http.StatusInternalServerError, "the raw report cannot be read: %v", err).Write(w)
		return
	}
	reader := h.newReportReader(&soughtReports{})
	reader.read(&d)
	writeAnswer(w, types.ReportAnswer{
		RawReport: reader.item(&d), Bytes: d.Payload,
		Layers: decodedLayers(dissect.Datagram(d.Payload, d.Source, d.Listener.Port(), h.cfg.Points())),
	})
}

// soughtReports says which raw reports are wanted. The zero value wants all.
type soughtReports struct {
	span
	match *filter.Matcher // nil: all
}

// soughtReports returns what the parameters of a list of raw reports select.
func (h *handler) soughtReports(p *params) *soughtReports {
	now := h.cfg.Now()
	since, until := p.time("since", now), p.time("until", now)
	if until == 0 {
		until = now.UnixNano()
	}
	if until <= since {
		p.reject("until", "a time after since", "until is not after since")
	}
	s := &soughtReports{span: span{time.Unix(0, since), time.Unix(0, until)}}
	if e := p.filter(); e != nil && e.String() != "" {
		s.match = e.Matcher(h.cfg.Now)
	}
	return s
}

// A reportReader decodes raw reports as the collector did, and finds those that are wanted. It is for one goroutine.
type reportReader struct {
	*soughtReports
	names   map[uint32]string
	decoder *telemetry.Decoder
	batch   telemetry.Batch
	header  telemetry.Header
	row     filter.ReportRow
}

func (h *handler) newReportReader(s *soughtReports) *reportReader {
	return &reportReader{
		soughtReports: s, names: h.cfg.Collector.Names(), decoder: telemetry.NewDecoder(h.cfg.Points()),
	}
}

// read decodes a datagram and reports whether it is wanted; row has the first report in it that is.
func (r *reportReader) read(d *ring.Record) bool {
	r.batch.Reset()
	r.decoder.Decode(d.Payload, d.Source, d.Listener.Port(), &r.batch, &r.header)
	r.row = filter.ReportRow{TimeNs: d.TimeNs, Length: len(d.Payload), Header: &r.header}
	if r.match != nil {
		r.row.Listener = d.Listener.String()
	}
	if len(r.batch.Reports) == 0 {
		return r.wanted()
	}
	for i := range r.batch.Reports {
		r.row.Report = &r.batch.Reports[i]
		if r.wanted() {
			return true
		}
	}
	return false
}

// wanted reports whether row is wanted.
func (r *reportReader) wanted() bool {
	return r.match == nil || r.match.Match(filter.ReportTable.Row(&r.row))
}

// outcomeNames are the names of outcomes, as the metrics have them.
var outcomeNames = [...]string{
	telemetry.Decoded: "decoded", telemetry.Damaged: "damaged",
	telemetry.Malformed: "malformed",
}

// item returns what was read last, as the API lists it.
func (r *reportReader) item(d *ring.Record) types.RawReport {
	h := &r.header
	item := types.RawReport{
		ID: d.ID.String(), Time: time.Unix(0, d.TimeNs).UTC(), Exporter: d.Source.Addr(), ExporterPort: d.Source.Port(),
		Listener: d.Listener.String(),
		Dialect:  h.Dialect, Outcome: outcomeNames[h.Outcome], Reports: h.Reports, Nodes: []uint32{},
		Length: len(d.Payload), Truncated: d.Truncated,
	}
	if h.Dialect != "" { // its version was readable
		item.Version = h.Version.String()
	}
	if h.Outcome != telemetry.Decoded {
		item.Reason = h.Reason.Error()
	}
	if h.HasNodeID {
		node := h.NodeID
		item.Node, item.Name = &node, r.names[node]
	}
	if h.HasSequence {
		sequence := h.Sequence
		item.Sequence = &sequence
	}
	for i := range r.row.HopCount() {
		if hop := r.row.Hop(i); hop.Has&telemetry.HasNode != 0 {
			item.Nodes = append(item.Nodes, hop.NodeID)
		}
	}
	if report := r.row.Report; report != nil && report.Is(telemetry.HasFlow) {
		item.Flow = &types.ReportFlow{ID: flowID(&report.Flow), Text: report.Flow.String()}
	}
	return item
}

// flowID is the id of a flow in all answers.
func flowID(key *telemetry.FlowKey) string { return fmt.Sprintf("%016x", key.Hash()) }
