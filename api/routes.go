package api

import (
	"context"
	"fmt"
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
	var hashes []any
	for i := range spans {
		if id := spans[i].ID; id != "" && wanted[id] == nil {
			wanted[id] = []telemetry.PathHop{}
			hash, _ := strconv.ParseUint(id, 16, 64) // which it was made of
			ids = append(ids, h.cfg.Dialect.Unsigned())
			hashes = append(hashes, strconv.FormatUint(hash, 10))
		}
	}
	if len(ids) == 0 {
		return nil
	}
	found, problem := h.ask(ctx, &store.Query{
		Table: store.Routes, From: time.Unix(0, 0), To: h.cfg.Now().Add(time.Hour), Limit: 2 * maxLimit,
		Where: "path_id IN (" + strings.Join(ids, ", ") + ")", Args: hashes, Uses: []string{"path_id"},
		Group: []string{"path_id", "stations"},
	})
	if problem != nil {
		return problem
	}
	for _, row := range found.Rows {
		hash, _ := row[0].(uint64)
		text, _ := row[1].(string)
		elements, err := telemetry.ParseElements(text)
		if err != nil {
			return unreadable(err)
		}
		wanted[fmt.Sprintf("%016x", hash)] = pathHops(elements, h.cfg.Collector.Names())
	}
	for i := range spans {
		if hops := wanted[spans[i].ID]; hops != nil {
			spans[i].Hops = hops
		}
	}
	return nil
}

// pathHops returns elements as answers have them.
func pathHops(elements []telemetry.PathElement, names map[uint32]string) []telemetry.PathHop {
	hops := make([]telemetry.PathHop, len(elements))
	for i := range elements {
		s, hop := &elements[i], &hops[i]
		hop.Missing, hop.Dropped = int(s.Missing), s.Has&telemetry.HasDrop != 0
		if s.Has&telemetry.HasNode != 0 {
			hop.Node, hop.Name = &s.Node, names[s.Node]
		}
		if s.Has&telemetry.HasIngressPort != 0 {
			hop.IngressPort = &s.IngressPort
		}
		if s.Has&telemetry.HasEgressPort != 0 {
			hop.EgressPort = &s.EgressPort
		}
	}
	return hops
}
