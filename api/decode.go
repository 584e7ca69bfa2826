package api

import (
	"io"
	"net/http"
	"strings"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/dissect"
)

// decode answers with what the bytes of the body are. The checks have read it, and bounded it.
func (h *handler) decode(w http.ResponseWriter, r *http.Request, p *params) {
	start, points := p.start(), p.dialect(h.cfg.Points())
	if problem := p.problem(); problem != nil {
		problem.Write(w)
		return
	}
	packet, err := io.ReadAll(r.Body)
	switch {
	case err != nil:
		types.NewProblem(http.StatusBadRequest, "the body did not come: %v", err).Write(w)
		return
	case len(packet) == 0:
		types.NewProblem(http.StatusBadRequest, "the body is empty; it is the bytes to decode").Write(w)
		return
	}
	writeAnswer(w, types.DecodeAnswer{
		Length: len(packet),
		Layers: decodedLayers(dissect.Packet(packet, start, points)),
	})
}

// startReport is another name for what the payload of a report datagram starts with.
const startReport = "report"

// startNames are the values of the parameter start.
func startNames() []string { return append([]string{startReport}, dissect.Starts()...) }

// start returns what the bytes start with: a report, if nothing else is said.
func (p *params) start() dissect.Start {
	name := p.choice("start")
	if name == startReport {
		return dissect.TelemetryReport
	}
	start, _ := dissect.ParseStart(name)
	return start
}

// dialect returns points with a dialect for all sources, if the parameter dialect names one.
func (p *params) dialect(points *codepoint.Config) *codepoint.Config {
	name, given := p.text("dialect")
	if !given {
		return points
	}
	dialect, err := codepoint.FindDialect(name)
	if err != nil {
		p.reject("dialect", strings.Join(dialectNames(), ", "), "dialect is %q", name)
		return points
	}
	with := &codepoint.Config{Points: points.Points, Rules: []codepoint.Rule{{Dialect: dialect}}}
	with.Compile()
	return with
}

func dialectNames() []string {
	names := make([]string, len(codepoint.Dialects))
	for i, d := range codepoint.Dialects {
		names[i] = d.Name
	}
	return names
}
