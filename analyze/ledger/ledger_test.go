package ledger

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"slices"
	"testing"

	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/codepoint"
)

const second = int64(1e9)

// header returns the header of a good datagram with one report.
func header(version telemetry.Version, node, sequence uint32) telemetry.Header {
	return telemetry.Header{
		Source: netip.MustParseAddr("192.0.2.1"), Dialect: codepoint.Specification.Name, Version: version,
		HasNodeID: true, NodeID: node, HasSequence: true, Sequence: sequence, Reports: 1,
	}
}

// noTables are tables that get no reports.
type noTables struct{}

func (noTables) TakeDispositions(list []AccountDisposition) []AccountDisposition { return list }
func (noTables) Stored() bool                                                    { return false }
func (noTables) TableLoss() telemetry.TableLoss                                  { return telemetry.TableLoss{} }

// A socketRig is a ledger of one socket.
type socketRig struct {
	*Ledger
	e     *Exporters
	drops uint64
}

func newSocketRig() *socketRig {
	r := &socketRig{e: NewExporters(100)}
	r.Ledger = New([]*Exporters{r.e},
		[]Socket{{Listen: "udp://:8555", Address: "[::]:8555", Drops: func() (uint64, error) { return r.drops, nil }}},
		func() map[uint32]string { return map[uint32]string{7: "leaf7"} }, noTables{})
	return r
}

func (r *socketRig) observe(nowNs int64, headers ...telemetry.Header) { r.e.Observe(headers, nowNs) }

// check holds the sums of an answer against each other, and returns them for the one exporter that it has.
func (r *socketRig) check(t *testing.T, nowNs int64) telemetry.Loss {
	t.Helper()
	a := r.Loss(Query{Intervals: true}, nowNs)
	if len(a.Exporters) != 1 {
		t.Fatalf("got %d exporters, want 1: %+v", len(a.Exporters), a.Exporters)
	}
	x := a.Exporters[0]
	if *x.Sent != *x.Arrived+*x.Lost || x.Received != *x.Arrived+*x.Duplicate ||
		x.Received != x.Decoded+sumOf(x.Damaged)+sumOf(x.Malformed) {
		t.Fatalf("all time does not add up: %s", lossText(&x.LossCount))
	}
	var sent, lost, late, received, duplicate, reports, restarted uint64
	for _, i := range x.Intervals {
		if *i.Sent != *i.Arrived+*i.Lost || i.Received != *i.Arrived+*i.Late+*i.Duplicate ||
			i.Received != i.Decoded+sumOf(i.Damaged)+sumOf(i.Malformed) {
			t.Fatalf("the interval from %v does not add up: %s", i.Start, lossText(&i.LossCount))
		}
		sent, lost, late = sent+*i.Sent, lost+*i.Lost, late+*i.Late
		received, duplicate, reports, restarted = received+i.Received, duplicate+*i.Duplicate, reports+i.Reports,
			restarted+i.Restarted
		if r := i.Revised; r != nil {
			sent, lost = sent+uint64(r.Sent), lost+uint64(r.Sent-r.Arrived)
			duplicate, restarted = duplicate-uint64(r.Arrived), restarted+uint64(r.Restarted)
		}
	}
	if restarted != x.Restarted || sent != *x.Sent || lost-late != *x.Lost || late != *x.Late ||
		received != x.Received || duplicate != *x.Duplicate || reports != x.Reports {
		t.Fatalf(
			"the intervals have sent %d, lost %d - %d late, duplicate %d, received %d with %d reports; all time: %s",
			sent, lost, late, duplicate, received, reports, lossText(&x.LossCount))
	}
	if socket := a.Sockets[0]; socket.Received != x.Received {
		t.Fatalf("the socket received %d, its exporter sent %d of them", socket.Received, x.Received)
	}
	return x
}

func sumOf(counts map[string]uint64) (sum uint64) {
	for _, n := range counts {
		sum += n
	}
	return sum
}

// lossText returns "sent 5 arrived 4 lost 1 ...".
func lossText(c *telemetry.LossCount) string {
	text := ""
	for _, f := range []struct {
		name string
		n    *uint64
	}{
		{"sent", c.Sent},
		{"arrived", c.Arrived},
		{"lost", c.Lost},
		{"late", c.Late},
		{"duplicate", c.Duplicate},
		{"reordered", c.Reordered},
	} {
		if f.n == nil {
			text += f.name + " unknown "
			continue
		}
		text += fmt.Sprint(f.name, " ", *f.n, " ")
	}
	return text + fmt.Sprint("received ", c.Received)
}

// Whatever happens on the way, the ledger adds up after every datagram, says in the end what was sent and lost, and
// never changes an interval that is closed.
func TestLedgerConserves(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 11))
		version := []telemetry.Version{telemetry.Version05, telemetry.Version10, telemetry.Version20}[seed%3]
		mask := ^uint32(0) >> (32 - version.SequenceBits())
		next := r.Uint32() & mask
		if seed%2 == 0 {
			next = (mask - 500) & mask // it wraps
		}
		rig := newSocketRig()
		nowNs := 1000 * second
		var sent, lost, duplicate, restarted, reports uint64
		var closed []telemetry.LossInterval
		hold := []uint32{} // on their way
		arrive := func(n uint32) {
			h := header(version, 7, n)
			if r.IntN(50) == 0 {
				h.Outcome, h.Reason, h.Reports = telemetry.Malformed, wire.ErrTruncatedFixedHeader, 0
			}
			reports += uint64(h.Reports)
			rig.observe(nowNs, h)
			nowNs += r.Int64N(60e6)
			if r.IntN(100) == 0 {
				nowNs += 25 * second
			}
			if r.IntN(20) == 0 {
				rig.Tick(nowNs)
			}
			x := rig.check(t, nowNs)
			over := len(x.Intervals)
			if over > 0 && x.Intervals[over-1].Open {
				over--
			}
			if over < len(closed) || len(closed) > 0 && !reflect.DeepEqual(x.Intervals[:len(closed)], closed) {
				t.Fatalf("seed %d: closed intervals changed", seed)
			}
			closed = slices.Clone(x.Intervals[:over])
		}
		arriveAll := func() {
			r.Shuffle(len(hold), func(i, j int) { hold[i], hold[j] = hold[j], hold[i] })
			for _, n := range hold {
				arrive(n)
			}
			hold = hold[:0]
		}
		send := func(mayBeLost bool) {
			sent++
			if mayBeLost && r.IntN(8) == 0 {
				lost++
			} else {
				hold = append(hold, next)
				if r.IntN(12) == 0 {
					hold = append(hold, next)
					duplicate++
				}
			}
			next = (next + 1) & mask
		}
		send(false)
		arriveAll()
		for range 40 {
			for range r.IntN(30) {
				send(true)
			}
			send(false) // what is lost behind the last cannot be seen
			arriveAll()
			if r.IntN(15) == 0 && next > 5000 && mask-next > 5000 { // near the wrap it looks like a loss
				next, restarted = 0, restarted+1
				for range 3 {
					send(false)
					arriveAll()
				}
			}
		}
		x := rig.check(t, nowNs)
		got := fmt.Sprint(*x.Sent, *x.Lost, *x.Duplicate, x.Restarted, x.Reports)
		if want := fmt.Sprint(sent, lost, duplicate, restarted, reports); got != want {
			t.Errorf("seed %d: sent, lost, duplicate, restarted, reports: got %s, want %s", seed, got, want)
		}
	}
}

// A number that arrives after its interval was closed corrects the sum, and not the interval.
func TestLedgerLate(t *testing.T) {
	r := newSocketRig()
	r.observe(100*second, header(telemetry.Version20, 7, 10), header(telemetry.Version20, 7, 13))
	r.observe(109*second, header(telemetry.Version20, 7, 11)) // in time
	r.observe(111*second, header(telemetry.Version20, 7, 12), header(telemetry.Version20, 7, 15),
		header(telemetry.Version20, 7, 12))
	x := r.check(t, 112*second)
	for i, want := range []string{
		"sent 4 arrived 3 lost 1 late 0 duplicate 0 reordered 1 received 3",
		"sent 2 arrived 1 lost 1 late 1 duplicate 1 reordered 1 received 3",
	} {
		if got := lossText(&x.Intervals[i].LossCount); got != want {
			t.Errorf("interval %d: got %s, want %s", i+1, got, want)
		}
	}
	if got, want := lossText(&x.LossCount),
		"sent 6 arrived 5 lost 1 late 1 duplicate 1 reordered 2 received 6"; got != want {
		t.Errorf("all time: got %s, want %s", got, want)
	}
	// The second interval alone is as it was.
	a := r.Loss(Query{SinceNs: 110 * second}, 112*second)
	if got, want := lossText(&a.Exporters[0].LossCount),
		"sent 2 arrived 1 lost 1 late 1 duplicate 1 reordered 1 received 3"; got != want {
		t.Errorf("since: got %s, want %s", got, want)
	}
	if a.Since.UnixNano() != 110*second || a.Until.UnixNano() != 112*second {
		t.Errorf("about %v to %v", a.Since, a.Until)
	}
}

// Old datagrams that are sent once more change no interval, and make no loss.
func TestLedgerReplay(t *testing.T) {
	r := newSocketRig()
	for n := range uint32(5000) {
		r.observe(100*second, header(telemetry.Version20, 7, 100000+n))
	}
	before := r.check(t, 111*second).Intervals[0]
	for n := range uint32(50) {
		r.observe(112*second, header(telemetry.Version20, 7, 100000+n)) // beyond the window
		r.observe(112*second, header(telemetry.Version20, 7, 105000+n)) // goes on
		r.observe(112*second, header(telemetry.Version20, 7, 104900+n)) // in the window
	}
	x := r.check(t, 113*second)
	if !reflect.DeepEqual(x.Intervals[0], before) {
		t.Errorf("got %+v, want %+v", x.Intervals[0], before)
	}
	if *x.Lost != 0 {
		t.Errorf("all time: %s", lossText(&x.LossCount))
	}
}

// Where numbers do not count, everything that rests on them is unknown, in intervals too.
func TestLedgerUnknown(t *testing.T) {
	r := newSocketRig()
	for range 5 {
		r.observe(100*second, header(telemetry.Version20, 7, 1))
	}
	none := header(telemetry.Version20, 8, 0)
	none.HasSequence = false
	r.observe(101*second, none)
	a := r.Loss(Query{Intervals: true}, 120*second)
	want := "sent unknown arrived unknown lost unknown late unknown duplicate unknown reordered unknown received "
	for i, x := range a.Exporters {
		n := fmt.Sprint([]int{5, 1}[i])
		if got := lossText(&x.LossCount); got != want+n {
			t.Errorf("exporter %d: %s", i, got)
		}
		if got := lossText(&x.Intervals[0].LossCount); got != want+n {
			t.Errorf("interval of exporter %d: %s", i, got)
		}
	}
	if c := Completeness(r.exporters, r.names()); c.Unknown != 2 || c.Ratio != nil {
		t.Errorf("completeness: %+v", c)
	}
}

// What the kernel drops is among the lost of the exporter of the socket, if there is one only.
func TestLedgerKernelDrops(t *testing.T) {
	r := newSocketRig()
	r.observe(100*second, header(telemetry.Version20, 7, 1))
	r.drops = 3
	r.observe(105*second, header(telemetry.Version20, 7, 5))
	r.Tick(110 * second)
	r.drops = 5
	r.observe(111*second, header(telemetry.Version20, 7, 8))
	a := r.Loss(Query{Intervals: true}, 112*second)
	if x := a.Exporters[0]; *x.Lost != 5 || x.KernelDrops == nil || *x.KernelDrops != 5 {
		t.Errorf("got %s, kernel drops %v", lossText(&x.LossCount), x.KernelDrops)
	}
	if s := a.Sockets[0]; *s.KernelDrops != 5 || len(s.Intervals) != 1 || *s.Intervals[0].KernelDrops != 3 ||
		s.Intervals[0].Received != 2 {
		t.Errorf("socket: %+v", s)
	}
	r.observe(113*second, header(telemetry.Version20, 8, 1))
	a = r.Loss(Query{}, 114*second)
	for _, x := range a.Exporters {
		if x.KernelDrops != nil {
			t.Errorf("node %d: %d kernel drops, but nobody knows", *x.Node, *x.KernelDrops)
		}
	}
}

// In version 0.5 some reports name their node and others do not, but all are counted together (TR 0.5 §3.2).
func TestLedgerNodeNotInEachReport(t *testing.T) {
	r := newSocketRig()
	for n := range uint32(100) {
		h := header(telemetry.Version05, 7, n)
		if n%3 != 1 {
			h.HasNodeID, h.NodeID = false, 0
		}
		if n%10 != 5 {
			r.observe(100*second, h)
		}
	}
	x := r.check(t, 101*second)
	if *x.Sent != 100 || *x.Lost != 10 || x.Node == nil || *x.Node != 7 {
		t.Errorf("node %v: %s", x.Node, lossText(&x.LossCount))
	}
	r.observe(101*second, header(telemetry.Version05, 8, 55)) // a second switch behind the same address
	if n := r.e.Counters().Exporters; n != 2 {
		t.Errorf("%d exporters, want 2", n)
	}
}

// What does not fit gives way, the oldest first, and is counted.
func TestLedgerIsBounded(t *testing.T) {
	r := newSocketRig()
	r.e.ledger.max = 50
	for i := range int64(400) {
		r.observe((100+10*i)*second, header(telemetry.Version20, 7, uint32(i)),
			header(telemetry.Version20, 8, uint32(i)))
	}
	nowNs := (100 + 10*400) * second
	a := r.Loss(Query{Intervals: true}, nowNs)
	if rows := len(a.Exporters[0].Intervals) + len(a.Exporters[1].Intervals); rows > 50 || rows < 40 {
		t.Errorf("%d rows are kept, 50 may be", rows)
	}
	if a.IntervalsEarly == 0 || a.IntervalsSince.UnixNano() < nowNs-500*second {
		t.Errorf("%d gave way, since %v", a.IntervalsEarly, a.IntervalsSince)
	}
	if len(r.e.ledger.sockets) > keptIntervals+2 {
		t.Errorf("%d intervals of the socket are kept", len(r.e.ledger.sockets))
	}
	if x := a.Exporters[0]; *x.Sent != 400 || *x.Lost != 0 {
		t.Errorf("all time: %s", lossText(&x.LossCount))
	}
}

// A clock that is set makes intervals longer or shorter, and loses nothing.
func TestLedgerClockIsSet(t *testing.T) {
	r := newSocketRig()
	for i, at := range []int64{10000, 10001, 2000, 2001, 2011, 50000, 50001} {
		r.observe(at*second, header(telemetry.Version20, 7, uint32(2*i)))
	}
	if x := r.check(t, 50002*second); *x.Sent != 13 || *x.Lost != 6 {
		t.Errorf("all time: %s", lossText(&x.LossCount))
	}
}

// Each socket has a ledger of its own: a copy of the reports that goes to another one is sent, arrives and is lost once
// more.
func TestLedgerTwoSockets(t *testing.T) {
	one, two := NewExporters(10), NewExporters(10)
	l := New([]*Exporters{one, two}, []Socket{{Address: "[::]:8555"}, {Address: "[::]:8556"}}, nil, noTables{})
	for n := range uint32(100) {
		h := []telemetry.Header{header(telemetry.Version20, 7, n)}
		if n%10 != 5 {
			one.Observe(h, 100*second)
		}
		if n%25 != 5 {
			two.Observe(h, 100*second)
		}
	}
	a := l.Loss(Query{}, 101*second)
	if len(a.Exporters) != 2 {
		t.Fatalf("got %d ledgers, want 2", len(a.Exporters))
	}
	for i, lost := range []uint64{10, 4} {
		if x := a.Exporters[i]; x.Socket != i || *x.Sent != 100 || *x.Lost != lost || x.KernelDrops != nil {
			t.Errorf("socket %d: %s", x.Socket, lossText(&x.LossCount))
		}
	}
	if got := Completeness(l.exporters, nil); got.Sent != 200 || got.Lost != 14 || got.Lossy != 2 {
		t.Errorf("completeness: %+v", got)
	}
}

func TestCompleteness(t *testing.T) {
	r := newSocketRig()
	for n := range uint32(100) {
		if n%10 != 5 {
			r.observe(100*second, header(telemetry.Version20, 7, n))
		}
		r.observe(100*second, header(telemetry.Version20, 8, n))
	}
	c := Completeness(r.exporters, r.names())
	if c.Sent != 200 || c.Lost != 10 || *c.Ratio != 0.95 || c.Lossy != 1 || c.Unknown != 0 ||
		c.Since.UnixNano() != 100*second {
		t.Errorf("got %+v", c)
	}
	if len(c.Below) != 1 || c.Below[0].Name != "leaf7" || c.Below[0].Ratio != 0.9 {
		t.Errorf("below: %+v", c.Below)
	}
}

// Samples are bounded, and those without a place are counted.
func TestSamplesAreBounded(t *testing.T) {
	e := NewExporters(maxSamples + 10)
	for i := range maxSamples + 5 {
		h := telemetry.Header{
			Source:  netip.AddrFrom4([4]byte{192, 0, byte(i >> 8), byte(i)}),
			Outcome: telemetry.Malformed, Reason: wire.ErrUnknownVersion, Datagram: make([]byte, 9000),
		}
		e.Observe([]telemetry.Header{h}, second)
	}
	samples := 0
	for _, x := range e.Snapshot(nil) {
		for _, b := range x.Samples {
			samples++
			if len(b) != telemetry.MaxDatagram {
				t.Errorf("a sample of %d bytes", len(b))
			}
		}
	}
	if n := e.Counters().SamplesOverflow; samples != maxSamples || n != 5 {
		t.Errorf("%d samples, %d without a place", samples, n)
	}
}

// TestNoise: datagrams of random bytes, and reports of which a byte was changed, are all counted in a row, that of
// their source or another. Random bytes do not fill the table: an exporter that comes later has a row of its own.
func TestNoise(t *testing.T) {
	e := NewExporters(256)
	g := rand.New(rand.NewPCG(8, 8))
	config := codepoint.New()
	config.Compile()
	decoder := telemetry.NewDecoder(config)
	source := netip.MustParseAddrPort("192.0.2.9:1")
	whole, err := hex.DecodeString("20000000" + "00000007" + "00000001" + "4a00000000000007" + "0102030405060708")
	if err != nil {
		t.Fatal(err)
	}
	observe := func(b []byte) {
		var batch telemetry.Batch
		var h telemetry.Header
		decoder.Decode(b, source, 8555, &batch, &h)
		e.Observe([]telemetry.Header{h}, 1e18)
	}
	random := func(b []byte) []byte {
		for i := range b {
			b[i] = byte(g.Uint32())
		}
		return b
	}
	const datagrams = 20_000
	for range datagrams {
		observe(random(make([]byte, g.IntN(120))))
	}
	e.Observe([]telemetry.Header{header(telemetry.Version20, 77, 1)}, 1e18)
	for range datagrams {
		b := bytes.Clone(whole)
		random(b[g.IntN(len(b)):][:1])
		observe(b)
	}
	received, own := uint64(0), false
	for _, x := range e.Totals(nil) {
		received += x.Received
		own = own || x.Key.Node == 77 && x.Received == 1
	}
	if c := e.Counters(); received != 2*datagrams+1 || c.Overflow != 0 || !own {
		t.Errorf("%d of %d datagrams in %d rows, %d in none, row of the exporter that came late: %v", received,
			2*datagrams+1, c.Exporters, c.Overflow, own)
	}
}
