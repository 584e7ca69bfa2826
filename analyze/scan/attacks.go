package scan

import (
	"math"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/waybill-int/waybill/analyze/attack"
	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/telemetry"
)

// FindAttacks lets s look for attacks. Without it, none are found. before is what was usual in the process before this
// one, which ended so long ago; nil: nobody knows.
func (s *Scanner) FindAttacks(c attack.Config, before *attack.Usual, ago time.Duration) {
	s.attacks = &attackDetector{
		scan: &s.scan, search: attack.NewSearch(c), begun: map[*attack.Attack]*begunAttack{},
	}
	for _, owner := range s.source.Owners {
		s.attacks.shards = append(s.attacks.shards, owner)
	}
	s.attacks.search.Reporting = s.attacks
	events, _ := s.log.Events(IsAttack, math.MaxInt) // of a process before this one
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

// IsAttack selects the events of attacks.
func IsAttack(e *telemetry.Event) bool { return e.Kind == telemetry.EventAttack && e.Attack != nil }

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
	rates   func() func(uint32) telemetry.SampleRate // of nodes, as of this look
	partly  func() bool                              // whether one of them is known to tell of some packets only

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

// look takes what owners have counted, if it is time, and notes what changed.
func (d *attackDetector) look(nowNs int64) {
	d.configure()
	if c := d.next.Swap(nil); c != nil {
		d.search.Configure(*c)
	}
	d.rates, d.partly = sync.OnceValue(d.source.SampleRates), sync.OnceValue(d.findPartly)
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

// Partly implements attack.Reporting. A node of which that is not known does as others do.
func (d *attackDetector) Partly(node uint32) bool {
	rate := d.rates()(node)
	return rate >= telemetry.SamplePart || rate == telemetry.SampleUnknown && d.partly()
}

// Unknown implements attack.Reporting.
func (d *attackDetector) Unknown(node uint32) bool { return d.rates()(node) == telemetry.SampleUnknown }

// SomePartly implements attack.Reporting.
func (d *attackDetector) SomePartly() bool { return d.partly() }

func (d *attackDetector) findPartly() bool {
	for _, e := range d.source.Exporters {
		for _, total := range e.Totals(nil) {
			if total.Key.HasNode && d.rates()(total.Key.Node) >= telemetry.SamplePart {
				return true
			}
		}
	}
	return false
}

// usualEveryNs is how often it is noted what is usual: it changes within minutes.
const usualEveryNs = 10 * int64(time.Second)

// configure tells owners the sampling that is configured.
func (d *attackDetector) configure() {
	rates := d.source.Sampling()
	for _, owner := range d.source.Owners {
		owner.SampleAt(rates)
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
		r := a.Record(e.ID, e.Start, d.source.Names())
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
