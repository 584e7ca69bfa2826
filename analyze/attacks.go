package analyze

import (
	"github.com/waybill-int/waybill/analyze/attack"
	"github.com/waybill-int/waybill/analyze/join"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/telemetry/dropreason"
)

// attackCounts are what a shard counts by destination, for attacks.
type attackCounts struct {
	counts   *attack.Counts
	sampling map[uint32]telemetry.SampleRate // of nodes, where it is configured
	packet   attack.Packet                   // memory that is reused
}

// weightOf returns for how many packets one stands whose way begins at a node.
func (a *attackCounts) weightOf(first *topology.HopKey) uint32 {
	if len(a.sampling) == 0 || first.Has&telemetry.HasNode == 0 {
		return 0
	}
	if rate := a.sampling[first.Node]; rate > telemetry.SampleEvery && rate <= telemetry.MaxSampleRate {
		return uint32(rate)
	}
	return 0
}

// attackPacket counts a packet of f that was not dropped. several says that other exporters than this one tell of it,
// too.
func (s *Shard) attackPacket(f *flow, bytes uint32, opening bool, exporter uint32, several bool, nowNs int64) {
	class := attack.ClassOf(&f.key, opening)
	if w := s.attacks.counts.Passed(&f.ends, &f.key, class, bytes, f.weight); w != nil {
		s.attacks.packet = attack.Packet{
			Class: class, Bytes: bytes, Weight: f.weight, Exporter: exporter, Several: several,
		}
		s.attackSource(w, f, nowNs)
	}
}

// attackPostcard counts a packet of f when the first of its postcards comes: an attack is not told later for what is to
// be known of its path.
func (s *Shard) attackPostcard(f *flow, p *join.Packet, hop *telemetry.Hop) {
	p.Counted, p.Weight = true, f.weight
	if !f.paths[0].used { // the source of its packets is not known yet: most likely this is it
		key := topology.HopKeyOf(hop)
		p.Weight = s.attacks.weightOf(&key)
	}
	s.attacks.counts.Passed(&f.ends, &f.key, attack.ClassOf(&f.key, p.Opening), p.Bytes, p.Weight)
}

// attackTaken takes back what attackPostcard counted, of a packet that turns out to be another one's to count.
func (s *Shard) attackTaken(f *flow, p *join.Packet) {
	if p.Counted {
		p.Counted = false
		s.attacks.counts.TakeBack(&f.ends, &f.key, attack.ClassOf(&f.key, p.Opening), p.Bytes, p.Weight)
	}
}

// attackJoined counts where a packet of f comes from whose postcards have come, if it still counts as passed.
func (s *Shard) attackJoined(f *flow, p *join.Packet, nowNs int64) {
	if !p.Counted {
		return
	}
	class := attack.ClassOf(&f.key, p.Opening)
	if w := s.attacks.counts.Restate(&f.ends, &f.key, class, p.Bytes, p.Weight, f.weight); w != nil {
		s.attacks.packet = attack.Packet{
			Class: class, Bytes: p.Bytes, Weight: f.weight, Exporter: p.Exporter, Several: p.Several,
		}
		s.attackSource(w, f, nowNs)
	}
}

// attackDrop counts a packet of f that a node dropped: filters mitigate attacks, and full queues do not. Nodes report
// every drop that they report, so that it stands for itself, but for those of packets that only have INT because their
// source chose 1 in N.
func (s *Shard) attackDrop(f *flow, r *telemetry.Report, nowNs int64) {
	weight := uint32(0)
	if r.Is(telemetry.Embedded) {
		weight = f.weight
	}
	class := attack.ClassOf(&f.key, r.Is(telemetry.Opening))
	filter := r.Local.Has&telemetry.HasDrop != 0 &&
		dropreason.Of(r.DropReasons, r.Local.DropReason).Group == dropreason.ACL
	w := s.attacks.counts.Dropped(&f.ends, &f.key, class, r.Bytes, weight, filter)
	if w == nil {
		return
	}
	p := &s.attacks.packet
	*p = attack.Packet{
		Class: class, Bytes: r.Bytes, Weight: weight, Exporter: s.dispositions.Exporter(r), Filtered: filter,
		Filter: join.NodeOf(&r.Local),
	}
	if len(r.Hops) > 0 && r.Hops[0].Has&telemetry.HasNode != 0 {
		p.Gateway, p.HasNode = r.Hops[0].NodeID, true
	}
	s.attackSource(w, f, nowNs)
}

// attackSource counts where the packet at hand comes from.
func (s *Shard) attackSource(w *attack.Watch, f *flow, nowNs int64) {
	p := &s.attacks.packet
	p.Device, p.HasDevice = f.device, f.hasDevice
	p.Src, p.Port, p.FlowNs, p.NowNs = f.key.Src, f.key.DstPort, f.first, nowNs
	if fp := &f.paths[0]; fp.used {
		if path := s.pathOf(fp); path != nil {
			p.Path, p.HasPath = path.hash, !p.Filtered
			if last := &path.hops[len(path.hops)-1].HopKey; last.Has&telemetry.HasNode != 0 {
				p.Last, p.HasLast = last.Node, !p.Filtered
			}
			if first := &path.hops[0].HopKey; first.Has&telemetry.HasNode != 0 {
				p.Gateway, p.HasNode = first.Node, true
			}
		}
	}
	w.Count(&f.ends, p)
}

// attackSummary counts what a rule of Transparent Security dropped. Reports of gaps in flows are none of a filter.
func (s *Shard) attackSummary(r *telemetry.Report, packets uint64, nowNs int64) {
	if r.DropKey == 0 || r.Is(telemetry.HasFlow) {
		return
	}
	key := attack.RuleKey{Key: r.DropKey, Node: join.NodeOf(&r.Local)}
	s.attacks.counts.DroppedByRule(key, packets, nowNs)
}

// TakeTallies implements attack.Shard.
func (s *Shard) TakeTallies(empty attack.Tallies) attack.Tallies {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.attacks.counts.Take(empty)
}

// WatchTarget implements attack.Shard.
func (s *Shard) WatchTarget(w attack.WatchOf) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attacks.counts.Watch(w)
}

// UnwatchTarget implements attack.Shard.
func (s *Shard) UnwatchTarget(number uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attacks.counts.Unwatch(number)
}

// WatchedSources implements attack.Shard.
func (s *Shard) WatchedSources(number uint32, classes attack.Classes) attack.Watched {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.attacks.counts.Watched(number, classes)
}
