package api

import (
	"context"
	"net/http"
	"reflect"
	"slices"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/telemetry"
)

// pastOr answers with past if a query has one of the parameters, else with now.
func pastOr(now, past http.HandlerFunc, parameters ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		values := r.URL.Query()
		if slices.ContainsFunc(parameters, values.Has) {
			past(w, r)
			return
		}
		now(w, r)
	}
}

// ports lists the ports of all nodes.
func (h *handler) ports(ctx context.Context, p *params) (answer, *types.Problem) {
	s := selectFrom(h, p, "ports", portTable.Row)
	is, _ := p.node(h.cfg.Collector.Names)
	var there, counted span
	past := asksPast(p)
	if past {
		there, counted = s.moment(h, p)
	}
	p.knows("at", "since", "until")
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	var t telemetry.Topology
	if past {
		found, problem := h.pastTopology(ctx, there, counted)
		if problem != nil {
			return answer{}, problem
		}
		t = *found
	} else {
		t = h.cfg.Collector.Topology()
	}
	ports := []types.Port{}
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if !is(&n.ID, n.Name) {
			continue
		}
		for _, port := range n.Ports {
			ports = append(ports, types.Port{Node: n.ID, Name: n.Name, NodePort: port})
		}
	}
	return ofRange(s.answer(ports), past, counted), nil
}

// moment is params.moment for a list on pages: the cursor holds the times, so that relative ones stay what they were.
func (s *selection[T]) moment(h *handler, p *params) (there, counted span) {
	there, counted = p.moment(h.cfg.Now())
	isMoment := there != counted
	s.at = p.cursor(h.written(store.Links, counted))
	counted = span{s.at.Since, s.at.Until}
	if isMoment {
		return span{counted.until, counted.until}, counted
	}
	return counted, counted
}

// ofRange says in which range the items of a were counted, if it is of the past.
func ofRange(a answer, past bool, counted span) answer {
	if past {
		a.past = true
		a.more = append([]member{{"since", counted.since.UTC()}, {"until", counted.until.UTC()}}, a.more...)
	}
	return a
}

// linksAt lists the links that were there at a moment.
func (h *handler) linksAt(ctx context.Context, p *params) (answer, *types.Problem) {
	s := selectFrom(h, p, "links", filter.LinkTable.Row)
	is, _ := p.node(h.cfg.Collector.Names) // at either end
	there, counted := s.moment(h, p)
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	t, problem := h.pastTopology(ctx, there, counted)
	if problem != nil {
		return answer{}, problem
	}
	links := slices.DeleteFunc(t.Links, func(l telemetry.Link) bool { return !is(&l.From, l.FromName) && !is(&l.To, l.ToName) })
	return ofRange(s.answer(links), true, counted), nil
}

// nodesPast lists the nodes that were there, with what packets met at them.
func (h *handler) nodesPast(ctx context.Context, p *params) (answer, *types.Problem) {
	s := selectFrom(h, p, "nodes", filter.NodeTable.Row)
	is, _ := p.node(h.cfg.Collector.Names)
	there, counted := s.moment(h, p)
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	t, problem := h.pastTopology(ctx, there, counted)
	if problem != nil {
		return answer{}, problem
	}
	nodes, byID := make([]telemetry.Node, 0, len(t.Nodes)), map[uint32]int{}
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if !is(&n.ID, n.Name) {
			continue
		}
		node := telemetry.Node{ID: n.ID, Name: n.Name, Packets: n.Packets, First: n.First, Last: n.Last, Ports: make([]uint32, len(n.Ports))}
		for j := range n.Ports {
			node.Ports[j] = n.Ports[j].Port
		}
		byID[n.ID] = len(nodes)
		nodes = append(nodes, node)
	}
	for _, of := range []struct {
		table store.Table
		value string
	}{{store.Hops, "latency"}, {store.Drops, "packets"}, {store.Queues, "occupancy_max"}} {
		q := &store.Query{Table: of.table, Group: []string{"node"}, Values: []string{of.value}}
		problem := h.rows(ctx, q, counted, reflect.TypeFor[nodeCount](), func(row any) {
			r := row.(*nodeCount)
			if r.Node == nil {
				return
			}
			if i, listed := byID[*r.Node]; listed {
				r.into(&nodes[i])
			}
		})
		if problem != nil {
			return answer{}, problem
		}
	}
	return ofRange(s.answer(nodes), true, counted), nil
}

// A nodeCount is a row about a node: of its latencies, its drops, or its queues.
type nodeCount struct {
	Node     *uint32              `store:"node"`
	Latency  *telemetry.Histogram `store:"latency"`
	Drops    *uint64              `store:"packets"`
	QueueMax *uint32              `store:"occupancy_max"`
}

func (r *nodeCount) into(n *telemetry.Node) {
	if r.Latency != nil {
		n.LatencyNs = r.Latency.Distribution()
	}
	if r.Drops != nil {
		n.Drops = *r.Drops
	}
	if r.QueueMax != nil {
		n.QueueMax = r.QueueMax
	}
}
