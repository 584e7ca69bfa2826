package serve

import (
	"net/url"
	"time"

	"github.com/waybill-int/waybill/api/types"
)

// silentAfter is how long after its latest message a collector counts as silent; one that lives sends ten a second.
const silentAfter = 3 * time.Second

// cluster returns what is known of the bus and of the collectors behind it, and who has the tables.
func (s *Server) cluster() types.Cluster {
	t := s.bus
	now := time.Now()
	n := t.consumer.Stats()
	answer := types.Cluster{
		Role: roleAnalyze, Term: s.tenure.term(), Standing: s.tenure.standing(),
		Bus: &types.Bus{
			Connected: n.Connected, Servers: t.servers, Pending: n.Pending, Held: n.Held, Duplicates: n.Duplicates,
			Damaged: n.Damaged, Until: timeOf(t.consumer.Delivered(now.UnixNano())),
		},
		Collectors: []types.BusCollector{}, Tables: s.tableServers(),
	}
	for _, c := range t.consumer.Collectors() {
		out := types.BusCollector{
			Name: c.Name, State: "alive", Seen: timeOf(c.SeenNs), Received: c.Counters.Received,
			KernelDrops: c.Counters.KernelDrops, Refused: c.Counters.Refused, Spooled: c.Counters.Spooled,
			Delivered: c.Delivered, Lost: c.Lost, Missing: c.Missing, Partitions: []types.BusPartition{},
		}
		if now.Sub(out.Seen) > silentAfter {
			out.State = "silent"
		}
		if c.WholeNs > 0 {
			until := timeOf(c.WholeNs)
			out.Until = &until
		}
		for _, p := range c.Partitions {
			out.Partitions = append(out.Partitions, types.BusPartition{
				Partition: p.Partition, Owner: s.ownerOf(p.Partition), Messages: p.Number,
				Unconfirmed: p.Number - p.Confirmed,
				Delivered:   p.Datagrams - p.Before - p.Lost, Lost: p.Lost, Seen: timeOf(p.SeenNs),
			})
		}
		answer.Collectors = append(answer.Collectors, out)
	}
	return answer
}

// ownerOf returns who takes a partition of the bus.
func (s *Server) ownerOf(partition uint16) string {
	if s.tables == nil || !s.tables.Direct() {
		return s.bus.name
	}
	return s.tables.OwnerOf(partition)
}

func timeOf(ns int64) time.Time { return time.Unix(0, ns).UTC() }

// redacted returns the addresses of servers without what logs in there.
func redacted(urls []string) []string {
	list := make([]string, len(urls))
	for i, text := range urls {
		list[i] = text
		if u, err := url.Parse(text); err == nil {
			list[i] = u.Redacted()
		}
	}
	return list
}
