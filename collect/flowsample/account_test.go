package flowsample

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
)

const (
	// A template (RFC 7011 §3.4.1) of sourceIPv4Address, destinationIPv4Address and packetDeltaCount, and one of
	// options (§3.4.2) with observationDomainId as scope and samplingInterval.
	accountTemplates = `
	0002 0014 0100 0003 00080004 000c0004 00020004
	0003 0012 0101 0002 0001 00950004 00220004`
	accountFlow    = "0a000101 0a000909 00000002"
	accountOptions = "00000007 00000001"
	v9Templates    = `
	0000 0014 0100 0003 00080004 000c0004 00020004
	0001 0012 0101 0004 0004 00010004 00220004`
)

// A sent is a message of an exporter, and what is in it.
type sent struct {
	version                uint16
	number, timeS          uint32
	templates              bool
	flows, options, hidden int // hidden: records of a template that was never sent
}

func (m *sent) bytes(t testing.TB) []byte {
	sets := []byte{}
	set := func(id uint16, record string, n int) {
		if n == 0 {
			return
		}
		one := unhex(t, record)
		sets = binary.BigEndian.AppendUint16(sets, id)
		sets = binary.BigEndian.AppendUint16(sets, uint16(4+n*len(one)))
		for range n {
			sets = append(sets, one...)
		}
	}
	templates := accountTemplates
	if m.version == 9 {
		templates = v9Templates
	}
	if m.templates {
		sets = append(sets, unhex(t, templates)...)
	}
	set(0x101, accountOptions, m.options)
	set(0x100, accountFlow, m.flows)
	set(0x200, accountFlow, m.hidden)
	b := binary.BigEndian.AppendUint16(nil, m.version)
	if m.version == 9 { // RFC 3954 §5.1: version, count, uptime, time, sequence, source id
		b = append(b, 0, 1, 0, 0, 0, 0)
	} else { // RFC 7011 §3.1: version, length, time, sequence, domain
		b = binary.BigEndian.AppendUint16(b, uint16(16+len(sets)))
	}
	b = binary.BigEndian.AppendUint32(b, 0x6b000000+m.timeS)
	b = binary.BigEndian.AppendUint32(b, m.number)
	b = binary.BigEndian.AppendUint32(b, 7)
	return append(b, sets...)
}

// An exporterOf counts by a rule: counts says of which records, upTo that a number includes those of its message.
type exporterOf struct {
	version     uint16
	next, timeS uint32
	counts      func(*sent) int
	upTo        bool
}

// The rules: what RFC 7011 says, what softflowd does, and what lies between.
var exporterRules = map[rule]exporterOf{
	recordsBefore: {counts: func(m *sent) int { return m.flows + m.options + m.hidden }},
	flowsBefore:   {counts: func(m *sent) int { return m.flows + m.hidden }},
	recordsUpTo:   {counts: func(m *sent) int { return m.flows + m.options + m.hidden }, upTo: true},
	flowsUpTo:     {counts: func(m *sent) int { return m.flows + m.hidden }, upTo: true},
	messages:      {counts: func(*sent) int { return 1 }},
}

func (e *exporterOf) send(m sent) sent {
	m.version, m.timeS, m.number = e.version, e.timeS, e.next
	e.timeS++
	e.next += uint32(e.counts(&m))
	if e.upTo {
		m.number = e.next
	}
	return m
}

// begin returns messages from which it can be told what the numbers count.
func (e *exporterOf) begin() (list []sent) {
	list = append(list, e.send(sent{templates: true, options: 2}))
	for i := range 3 * known {
		m := sent{flows: 2 + i%3}
		if i%2 == 0 {
			m.options = 1 + i%5
		}
		list = append(list, e.send(m))
	}
	return list
}

// An accountRead is what the headers of messages say.
type accountRead struct {
	missing                     int64
	flows, repeated, repeatedOf int // reports; reports of repeated messages, and these
	numbered, restarted         int // messages
	counting                    telemetry.Counting
}

func (r *accountRead) read(t testing.TB, n *NetFlow, m *sent) {
	h, _ := read(n, m.bytes(t))
	r.missing += h.RecordsMissing
	r.counting = h.Counting
	if h.HasSequence {
		r.numbered++
	}
	if h.RecordsRestarted {
		r.restarted++
	}
	if h.Repeated {
		r.repeatedOf++
		r.repeated += h.Reports
	} else {
		r.flows += h.Reports
	}
}

// What exporters count is found out, in both protocols, and that nothing is lost where nothing is.
func TestAccountRules(t *testing.T) {
	for want, e := range exporterRules {
		for _, version := range []uint16{9, 10} {
			t.Run(fmt.Sprint(want, " ", version), func(t *testing.T) {
				n, e := NewNetFlow(points(nil)), e
				e.version, e.next = version, 1<<32-30 // it wraps
				r := accountRead{}
				for i, m := range e.begin() {
					r.read(t, n, &m)
					if i < known && (version == 10) != (r.counting == telemetry.CountsUnsettled) {
						t.Errorf("after %d messages: %v", i, r.counting)
					}
				}
				d := n.domains[domainKey{from.Addr(), version, 7}]
				if d.account.rule != want || r.missing != 0 || r.restarted != 0 || r.repeatedOf != 0 {
					t.Errorf("got rule %d, %+v", d.account.rule, r)
				}
				counting := telemetry.CountsRecords
				if want == messages {
					counting = telemetry.CountsDatagrams
				}
				if r.counting != counting || want == messages && r.numbered < 2*known {
					t.Errorf("got %+v, want %d", r, counting)
				}
			})
		}
	}
}

// Messages of one record fit what counts records, and what counts messages: they say nothing, however many.
func TestAccountOneRecordEach(t *testing.T) {
	n, r := NewNetFlow(points(nil)), accountRead{}
	for i := range uint32(100) {
		r.read(t, n, &sent{version: 10, number: i, timeS: i, templates: true, flows: 1})
	}
	if r.counting != telemetry.CountsUnsettled || r.numbered != 0 || r.missing != 0 {
		t.Errorf("got %+v", r)
	}
}

// TestAccountConservation sends what exporters count through a path that loses, delays, reorders and repeats: what was
// sent is what came and what is said to be missing, each record in one of them.
func TestAccountConservation(t *testing.T) {
	turn, all := test.Seed(t)
	seeds := []uint64{0, 2*turn + 1, 2*turn + 2}
	for seed := range uint64(80) {
		if all {
			seeds = append(seeds, 1000+seed)
		}
	}
	for want, e := range exporterRules {
		if want == messages {
			continue // the ledger has them
		}
		for _, seed := range seeds {
			f := func(t *testing.T, hidden bool) {
				r := rand.New(rand.NewPCG(seed, uint64(want)))
				e := e
				e.version, e.next = 10, -uint32(r.IntN(4000))
				n, got := NewNetFlow(points(nil)), accountRead{}
				flows, lost, lostAny := 0, int64(0), false
				for _, m := range e.begin() {
					got.read(t, n, &m)
					flows += m.flows
				}
				type arrival struct {
					at float64
					m  sent
				}
				var path []arrival
				loss, late, again := r.Float64()*0.3, r.Float64()*0.3, r.Float64()*0.2
				if seed%4 == 0 {
					loss = 0
				}
				repeated := 0
				add := func(at float64, m sent) {
					if r.Float64() < late {
						at += r.Float64() * 20
					}
					path = append(path, arrival{at, m})
				}
				for i := range 1500 {
					m := sent{flows: r.IntN(30)}
					switch {
					case i >= 1450: // the end comes as it is
						m.flows++
					case r.IntN(10) == 0:
						m.options, m.templates = r.IntN(4), true
					case hidden && r.IntN(10) == 0:
						m.hidden = 1 + r.IntN(9)
					}
					m = e.send(m)
					if i >= 1450 {
						path = append(path, arrival{float64(i), m})
						flows += m.flows
						continue
					}
					if i < 1400 && r.Float64() < loss {
						lost += int64(e.counts(&m))
						lostAny = true
						continue
					}
					flows += m.flows
					add(float64(i), m)
					if r.Float64() < again && m.flows > 0 {
						repeated++
						add(float64(i), m)
					}
				}
				for i := 1; i < len(path); i++ { // by time; equal ones as they are
					for j := i; j > 0 && path[j].at < path[j-1].at; j-- {
						path[j], path[j-1] = path[j-1], path[j]
					}
				}
				for i := range path {
					got.read(t, n, &path[i].m)
				}
				switch {
				case got.flows != flows || got.repeatedOf != repeated || got.restarted != 0 ||
					got.counting != telemetry.CountsRecords:
					t.Errorf("got %+v, want %d flows, %d messages that came again", got, flows, repeated)
				case hidden && (got.missing < 0 || got.missing > lost) || hidden && !lostAny && got.missing != 0:
					t.Errorf("%d missing, of %d that are", got.missing, lost)
				case !hidden && got.missing != lost:
					t.Errorf("%d missing, want %d", got.missing, lost)
				}
			}
			t.Run(fmt.Sprint(want, " ", seed), func(t *testing.T) { f(t, false) })
			t.Run(fmt.Sprint(want, " ", seed, " some without template"), func(t *testing.T) { f(t, true) })
		}
	}
}

// A step is what happens to an exporter that counts as RFC 7011 says, and what its account must say of it.
func TestAccountCases(t *testing.T) {
	start := exporterRules[recordsBefore]
	start.version, start.next = 10, 100_000
	f := func(name string, want accountRead, steps func(e *exporterOf, send func(...sent))) {
		t.Helper()
		n, e, got := NewNetFlow(points(nil)), start, accountRead{}
		send := func(list ...sent) {
			for _, m := range list {
				got.read(t, n, &m)
			}
		}
		send(e.begin()...)
		got = accountRead{}
		steps(&e, send)
		if got.counting != want.counting || got.missing != want.missing || got.restarted != want.restarted ||
			got.repeatedOf != want.repeatedOf {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
	is := telemetry.CountsRecords
	five := sent{flows: 5}
	f("a gap", accountRead{counting: is, missing: 15}, func(e *exporterOf, send func(...sent)) {
		e.send(five)
		e.send(sent{flows: 10})
		send(e.send(five))
	})
	f("one that is late", accountRead{counting: is, missing: 10}, func(e *exporterOf, send func(...sent)) {
		a, b, c, d := e.send(five), e.send(five), e.send(five), e.send(five)
		_, _ = a, c
		send(d, b)
	})
	f("a range in its middle, and again", accountRead{counting: is, repeatedOf: 2},
		func(e *exporterOf, send func(...sent)) {
			a, b, c, d := e.send(five), e.send(five), e.send(five), e.send(five)
			send(d, b, b, a, c, b)
		})
	f("templates only", accountRead{counting: is}, func(e *exporterOf, send func(...sent)) {
		m := e.send(sent{templates: true})
		send(m, m, e.send(five))
	})
	f("a restart at 0", accountRead{counting: is, restarted: 1}, func(e *exporterOf, send func(...sent)) {
		send(e.send(five))
		e.next = 0
		send(e.send(five), e.send(five))
	})
	f("a restart at 0 whose first messages are lost", accountRead{counting: is, restarted: 1, missing: 7},
		func(e *exporterOf, send func(...sent)) {
			e.next = 20
			send(e.send(five), e.send(five), e.send(five))
			e.send(sent{flows: 7})
			send(e.send(five))
		})
	f("a restart soon after a restart", accountRead{counting: is, restarted: 2},
		func(e *exporterOf, send func(...sent)) {
			for range 2 {
				e.next = 0
				send(e.send(five), e.send(five), e.send(five))
			}
		})
	f("a restart far ahead", accountRead{counting: is, restarted: 1}, func(e *exporterOf, send func(...sent)) {
		e.next += 1 << 30
		send(e.send(five), e.send(five), e.send(five), e.send(five))
	})
	f("an outage", accountRead{counting: is, missing: 1 << 20}, func(e *exporterOf, send func(...sent)) {
		e.next += 1 << 20
		send(e.send(five), e.send(five), e.send(five), e.send(five))
	})
	f("two old messages, and one", accountRead{counting: is}, func(e *exporterOf, send func(...sent)) {
		old := *e
		old.next -= 90_000
		send(e.send(five), old.send(five), old.send(five), e.send(five), old.send(five), e.send(five))
	})
	f("an old message with the number 0", accountRead{counting: is, restarted: 1},
		func(e *exporterOf, send func(...sent)) {
			old := *e
			old.next = 0
			send(e.send(five), old.send(five), e.send(five), e.send(five))
		})
	f("records without template", accountRead{counting: is}, func(e *exporterOf, send func(...sent)) {
		send(e.send(sent{flows: 3, hidden: 9}))
		e.send(five) // lost, and it may as well be nine records of the message before
		send(e.send(five))
	})
	f("records without template behind a gap", accountRead{counting: is, missing: 5},
		func(e *exporterOf, send func(...sent)) {
			e.send(five)
			send(e.send(sent{flows: 3, hidden: 9}), e.send(five))
		})
	f("records without template that are late", accountRead{counting: is, missing: 5, repeatedOf: 1},
		func(e *exporterOf, send func(...sent)) {
			e.send(five)
			late := e.send(sent{flows: 3, hidden: 9})
			e.send(five) // taken for records of the late one
			send(e.send(five), late, late)
		})
	f("it counts messages now", accountRead{counting: telemetry.CountsDatagrams, restarted: 0},
		func(e *exporterOf, send func(...sent)) {
			e.counts = exporterRules[messages].counts
			for range 2 * known {
				send(e.send(five))
			}
		})
	f("it seems to count messages now", accountRead{counting: telemetry.CountsChanged},
		func(e *exporterOf, send func(...sent)) {
			e.counts = exporterRules[messages].counts
			for range 1 + doubted {
				send(e.send(five))
			}
		})
	f("it counts nothing now", accountRead{counting: telemetry.CountsChanged, restarted: 0},
		func(e *exporterOf, send func(...sent)) {
			e.counts = func(*sent) int { return 77_777_777 }
			for range 2 * alien {
				send(e.send(five))
			}
		})
}

// FuzzAccount looks for numbers that make an account say what cannot be.
func FuzzAccount(f *testing.F) {
	f.Add([]byte{0, 5, 0, 5, 5, 0, 10, 5, 0, 20, 5, 0, 15, 5, 0}, uint16(10))
	f.Add([]byte{0, 5, 8, 0, 5, 16, 255, 5, 0, 0, 2, 1}, uint16(9))
	f.Fuzz(func(t *testing.T, b []byte, version uint16) {
		a := newAccount(version)
		a.rule = rule(version>>8) % (noRule + 1)
		missing := int64(0)
		for ; len(b) >= 3; b = b[3:] {
			m := tally{
				number: uint32(b[0]) << (b[2] & 24), records: uint32(b[1]), flows: uint32(b[1]) >> (b[2] & 1),
				uncounted: b[2]&2 != 0,
			}
			more, _, _ := a.observe(&m)
			if missing += more; missing < 0 {
				t.Fatalf("%d records are missing", missing)
			}
			if len(a.records.gaps) > maxGaps {
				t.Fatalf("%d gaps", len(a.records.gaps))
			}
		}
	})
}

// An account takes no memory for messages that come in order.
func TestAccountNoAllocs(t *testing.T) {
	a, m := newAccount(10), tally{records: 5, flows: 5}
	a.believe(recordsBefore, &m)
	if n := testing.AllocsPerRun(1000, func() {
		m.number += 5
		a.observe(&m)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
