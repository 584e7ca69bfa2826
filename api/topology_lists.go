package api

import (
	"context"
	"reflect"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/telemetry"
)

// ports lists the ports of all nodes.
func (h *handler) ports(ctx context.Context, p *params) (answer, *types.Problem) {
	s := selectFrom(h, p, portTable.Row)
	var there, counted span
	past := asksPast(p)
	if past {
		there, counted = s.moment(h, p)
	}
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
		t = h.cfg.Collector.Ports()
	}
	ports := []types.Port{}
	for i := range t.Nodes {
		n := &t.Nodes[i]
		for _, port := range n.Ports {
			ports = append(ports, types.Port{Node: n.ID, Name: n.Name, NodePort: port})
		}
	}
	if !past {
		return s.answer(ports), nil
	}
	return s.answer(ports).spanning(counted), nil
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

// linksAt lists the links that were there at a moment.
func (h *handler) linksAt(ctx context.Context, p *params) (answer, *types.Problem) {
	s := selectFrom(h, p, filter.LinkTable.Row)
	there, counted := s.moment(h, p)
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	t, problem := h.pastTopology(ctx, there, counted)
	if problem != nil {
		return answer{}, problem
	}
	return s.answer(t.Links).spanning(counted), nil
}

// nodesPast lists the nodes that were there, with what packets met at them.
func (h *handler) nodesPast(ctx context.Context, p *params) (answer, *types.Problem) {
	s := selectFrom(h, p, filter.NodeTable.Row)
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
		node := telemetry.Node{
			ID: n.ID, Name: n.Name, Packets: n.Packets, First: n.First, Last: n.Last,
			Ports: make([]uint32, len(n.Ports)),
		}
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
	return s.answer(nodes).spanning(counted), nil
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
