package api

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// decodeEvent answers with the commands that decode the report that shows an event, as this server reads it.
func (h *handler) decodeEvent(w http.ResponseWriter, r *http.Request, p *params) {
	e, problem := h.event(r.Context(), p.id)
	switch {
	case problem != nil:
	case e == nil:
		problem = types.NewProblem(http.StatusNotFound, "there is no event %.40q, or it is no longer kept", p.id)
	case len(e.Bytes) == 0:
		problem = types.NewProblem(http.StatusNotFound, "no report of event %s is kept", e.ID)
	default:
		writeAnswer(w, types.DecodeCommands{Commands: decodeCommands(e, h.allExporters(), h.cfg.Points())})
		return
	}
	problem.Write(w)
}

// event returns an event of now or of the past, or nil.
func (h *handler) event(ctx context.Context, id string) (*telemetry.Event, *types.Problem) {
	if live, _ := h.cfg.Events.Events(func(e *telemetry.Event) bool { return e.ID == id }, 1); len(live) > 0 {
		return &live[0], nil
	}
	if h.cfg.History == nil {
		return nil, nil
	}
	return h.storedEvent(ctx, id)
}

// decodeCommands are the commands that decode the report of an event: one for each dialect of the exporters that may
// have sent it, with the code points of the server.
func decodeCommands(e *telemetry.Event, exporters []telemetry.Exporter, points *codepoint.Config) []string {
	var dialects []string
	for i := range exporters {
		x := &exporters[i]
		sent := e.Node != nil && x.Node != nil && *x.Node == *e.Node
		if e.Source != "" {
			sent = x.Source.String() == e.Source
		}
		if sent && x.Dialect != "" && !slices.Contains(dialects, x.Dialect) {
			dialects = append(dialects, x.Dialect)
		}
	}
	if dialects == nil { // of exporters that are gone, or events about more than one node
		dialects = append(dialects, codepoint.Specification.Name)
		for i := range points.Rules {
			dialects = append(dialects, points.Rules[i].Dialect.Name)
		}
		slices.Sort(dialects[1:])
		dialects = slices.Compact(dialects)
	}
	flags := pointFlags(points)
	commands := make([]string, len(dialects))
	for i, dialect := range dialects {
		words := []string{"waybill decode"}
		if dialect != codepoint.Specification.Name {
			words = append(words, "--dialect "+dialect)
		}
		words = append(append(words, flags...), "--start telemetry_report --hex "+e.Bytes.String())
		commands[i] = strings.Join(words, " ")
	}
	return commands
}

// pointFlags are the flags of waybill decode for the code points that are not as they are without configuration.
func pointFlags(points *codepoint.Config) (flags []string) {
	usual, set := codepoint.New().Map(), points.Map()
	for _, key := range slices.Sorted(maps.Keys(set)) {
		if key == "dialects" || key == "report_port" || reflect.DeepEqual(set[key], usual[key]) {
			continue
		}
		text := fmt.Sprint(set[key])
		if kind := reflect.TypeOf(set[key]).Kind(); kind == reflect.Map || kind == reflect.Slice {
			value, _ := json.Marshal(set[key])
			text = string(value)
		}
		if strings.ContainsAny(text, "{[ ") {
			text = "'" + text + "'"
		}
		flags = append(flags, "--set "+key+"="+text)
	}
	return flags
}
