package api

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/telemetry"
)

// addHops gives spans the hops of their paths, as far as the store knows them.
func (h *handler) addHops(ctx context.Context, spans []types.FlowPathSpan) *types.Problem {
	wanted := map[string][]telemetry.PathHop{}
	var ids []string
	for i := range spans {
		if id := spans[i].ID; id != "" && wanted[id] == nil {
			wanted[id] = []telemetry.PathHop{}
			hash, _ := strconv.ParseUint(id, 16, 64) // which it was made of
			ids = append(ids, "CAST("+strconv.FormatUint(hash, 10)+" AS UBIGINT)")
		}
	}
	if len(ids) == 0 {
		return nil
	}
	found, problem := h.ask(ctx, &store.Query{
		Table: store.Routes, From: time.Unix(0, 0), To: h.cfg.Now().Add(time.Hour), Limit: 2 * maxLimit,
		Where: "path_id IN (" + strings.Join(ids, ", ") + ")", Group: []string{"path_id", "stations"},
	})
	if problem != nil {
		return problem
	}
	for _, row := range found.Rows {
		hash, _ := row[0].(uint64)
		text, _ := row[1].(string)
		hops, err := parseStations(text, h.cfg.Collector.Names)
		if err != nil {
			return types.NewProblem(http.StatusInternalServerError, "what the store has cannot be read: %v", err)
		}
		wanted[fmt.Sprintf("%016x", hash)] = hops
	}
	for i := range spans {
		if hops := wanted[spans[i].ID]; hops != nil {
			spans[i].Hops = hops
		}
	}
	return nil
}

// parseStations reads the stations of a route as the store has them: "1[3,2] > ?(1) > 2[2,3]!".
func parseStations(text string, names map[uint32]string) ([]telemetry.PathHop, error) {
	hops := []telemetry.PathHop{}
	if text == "" {
		return hops, nil
	}
	for part := range strings.SplitSeq(text, " > ") {
		var hop telemetry.PathHop
		if _, err := fmt.Sscanf(part, "?(%d)", &hop.Missing); err == nil {
			hops = append(hops, hop)
			continue
		}
		rest, dropped := strings.CutSuffix(part, "!")
		node, ports, ok := strings.Cut(strings.TrimSuffix(rest, "]"), "[")
		in, out, both := strings.Cut(ports, ",")
		var err error
		for _, field := range []struct {
			text string
			to   **uint32
		}{{node, &hop.Node}, {in, &hop.IngressPort}, {out, &hop.EgressPort}} {
			if *field.to, err = known(field.text); err != nil {
				break
			}
		}
		if !ok || !both || err != nil {
			return nil, fmt.Errorf("%.40q is no station of a route", part)
		}
		if hop.Node != nil {
			hop.Name = names[*hop.Node]
		}
		hop.Dropped = dropped
		hops = append(hops, hop)
	}
	return hops, nil
}

// known returns a number, or nil for "?".
func known(text string) (*uint32, error) {
	if text == "?" {
		return nil, nil
	}
	n, err := strconv.ParseUint(text, 10, 32)
	v := uint32(n)
	return &v, err
}
