package analyze

import (
	"math"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"github.com/waybill-int/waybill/analyze/attack"
	"github.com/waybill-int/waybill/analyze/eventlog"
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

// Attacks lets a function have what is counted for attacks, while nothing else is.
func (s *Shard) Attacks(look func(*attack.Counts)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	look(s.attacks.counts)
}

// FindAttacks lets s look for attacks. Without it, none are found. before is what was usual in the process before this
// one, which ended so long ago; nil: nobody knows.
func (s *Scanner) FindAttacks(c attack.Config, before *attack.Usual, ago time.Duration) {
	s.attacks = &attackDetector{
		scan: &s.scan, search: attack.NewSearch(c), begun: map[*attack.Attack]*begunAttack{},
	}
	for _, shard := range s.collector.Shards {
		s.attacks.shards = append(s.attacks.shards, shard)
	}
	events, _ := s.log.Events(isAttack, math.MaxInt) // of a process before this one
	for i := range slices.Backward(events) {
		e := &events[i]
		if e.End != nil {
			s.attacks.keep(e)
			continue
		}
		p, err := netip.ParsePrefix(e.Attack.Prefix)
		if err != nil {
			p = netip.PrefixFrom(e.Attack.Target, e.Attack.Target.BitLen())
		}
		s.attacks.search.Expect(attack.TargetOfPrefix(p))
	}
	if before != nil {
		s.attacks.search.Restore(before, ago)
		s.attacks.usual.Store(before)
	}
	s.attacks.trim()
	s.attacks.configure()
}

// Usual returns what is usual at targets, for the next process, as it was lately; nil: it is not known.
func (s *Scanner) Usual() *attack.Usual {
	if s.attacks == nil {
		return nil
	}
	return s.attacks.usual.Load()
}

// ConfigureAttacks changes what an attack is, from the next scan on, if attacks are looked for.
func (s *Scanner) ConfigureAttacks(c attack.Config) {
	if s.attacks != nil {
		s.attacks.next.Store(&c)
	}
}

func isAttack(e *telemetry.Event) bool { return e.Kind == telemetry.EventAttack && e.Attack != nil }

// An attackDetector finds attacks. It looks more often than other detectors, and notes at once what it finds.
type attackDetector struct {
	*scan
	search  *attack.Search
	shards  []attack.Shard
	totals  atomic.Pointer[attack.Totals]
	begun   map[*attack.Attack]*begunAttack
	next    atomic.Pointer[attack.Config] // to be configured at the next look; nil: it stays
	usual   atomic.Pointer[attack.Usual]  // as of usualNs
	usualNs int64

	configured *Configured // when it was looked at last

	// Records of attacks that are over keep all their devices as long as there is room.
	ended   []endedAttack // the oldest first
	sources int           // in their records
}

// A begunAttack is what was noted of an attack that goes on.
type begunAttack struct {
	packets uint64            // in the count of the event
	before  *telemetry.Attack // what a process before this one has counted; nil: it begins here
}

type endedAttack struct {
	id      string
	sources int
}

// maxEndedSources is how many sources the records of attacks that are over have together, about 300 bytes each;
// keptSources is how many a record keeps when it gives way to newer ones.
const maxEndedSources, keptSources = 1 << 16, 16

// AttackTotals returns totals of the search for attacks.
func (s *Scanner) AttackTotals() attack.Totals {
	if s.attacks != nil {
		if t := s.attacks.totals.Load(); t != nil {
			return *t
		}
	}
	return attack.Totals{}
}

// look takes what shards have counted, if it is time, and notes what changed.
func (d *attackDetector) look(nowNs int64) {
	d.configure()
	if c := d.next.Swap(nil); c != nil {
		d.search.Configure(*c)
	}
	for _, a := range d.search.Look(d.shards, nowNs) {
		d.note(a)
	}
	totals := d.search.Totals()
	d.totals.Store(&totals)
	if nowNs-d.usualNs >= usualEveryNs || d.usualNs > nowNs {
		d.usual.Store(d.search.Usual())
		d.usualNs = nowNs
	}
}

// usualEveryNs is how often it is noted what is usual: it changes within minutes.
const usualEveryNs = 10 * int64(time.Second)

// configure tells shards the sampling that is configured, if it changed. It holds for paths that flows take from then
// on.
func (d *attackDetector) configure() {
	c := d.collector.Configured()
	if c == d.configured {
		return
	}
	d.configured = c
	for _, s := range d.collector.Shards {
		s.mu.Lock()
		s.attacks.sampling = c.Sampling
		s.mu.Unlock()
	}
}

// attackKey is the key of the event of an attack: who is attacked stands where other events have an exporter.
func attackKey(t attack.Target, bits int) eventlog.Key {
	return eventlog.Key{
		Kind:     telemetry.EventAttack,
		Exporter: telemetry.ExporterKey{Source: t.Addr.IP(), Node: t.Tenant, HWID: uint8(bits)},
	}
}

func (d *attackDetector) note(a *attack.Attack) {
	key := attackKey(a.Target, a.Bits)
	noted := d.begun[a]
	if noted == nil {
		noted = &begunAttack{}
		d.begun[a] = noted
		d.log.Amend(key, func(e *telemetry.Event) { noted.before = e.Attack })
	}
	d.log.Note(key, a.BeginNs, a.NowNs, a.Offered.Packets-min(noted.packets, a.Offered.Packets),
		func(e *telemetry.Event) {})
	noted.packets = a.Offered.Packets
	d.log.Amend(key, func(e *telemetry.Event) {
		r := a.Record(e.ID, e.Start, d.collector.Names())
		if noted.before != nil {
			r.Packets += noted.before.Packets
			r.Bytes += noted.before.Bytes
			r.FilteredPackets += noted.before.FilteredPackets
			r.FilteredBytes += noted.before.FilteredBytes
		}
		e.Attack, e.Severity, e.Text, e.Evidence = r, r.Severity, r.Text, r.Evidence
		if nodes := r.Gateways; len(nodes) == 1 && nodes[0].Node != nil {
			e.Node, e.Name = nodes[0].Node, nodes[0].Name
		}
		if a.EndNs != 0 {
			d.keep(e)
		}
	})
	if a.EndNs != 0 {
		d.log.End(key, a.EndNs)
		delete(d.begun, a)
		d.trim()
	}
}

// keep notes how many sources the record of an attack that is over has, and lets older records give way.
func (d *attackDetector) keep(e *telemetry.Event) {
	n := len(e.Attack.Devices) + len(e.Attack.Addresses) + len(e.Attack.Gateways) + len(e.Attack.Paths)
	d.ended = append(d.ended, endedAttack{e.ID, n})
	d.sources += n
}

// trim shortens the oldest records, unless all are short.
func (d *attackDetector) trim() {
	for d.sources > maxEndedSources && len(d.ended) > 0 {
		oldest := d.ended[0]
		d.ended = d.ended[1:]
		d.sources -= oldest.sources
		d.log.AmendEnded(telemetry.EventAttack, oldest.id, func(e *telemetry.Event) {
			if e.Attack == nil {
				return
			}
			short := *e.Attack
			for _, list := range []*[]telemetry.AttackSource{
				&short.Devices, &short.Addresses, &short.Gateways, &short.Paths,
			} {
				*list = slices.Clone((*list)[:min(len(*list), keptSources)])
			}
			e.Attack = &short
		})
	}
}
