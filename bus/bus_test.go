package bus

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/waybill-int/waybill/internal/test"
)

func testLog(t testing.TB) *slog.Logger {
	to := io.Discard
	if testing.Verbose() {
		to = t.Output()
	}
	return slog.New(slog.NewTextHandler(to, nil))
}

func openTestServer(t testing.TB, address, dir string) *Server {
	s, err := OpenServer(ServerConfig{Listen: address, Dir: dir, MaxBytes: 1 << 30, Log: testLog(t)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A testCollector runs a Publisher.
type testCollector struct {
	*Publisher
	stop func() // as a collector that is told to
}

func startCollector(t *testing.T, c Config, name, spool string) *testCollector {
	c.Name = name
	p, err := OpenPublisher(PublisherConfig{
		Bus: c, Collector: name, Partitions: 4,
		Spool: spool, SpoolBytes: 64 << 20, Log: testLog(t).With("collector", name),
		Counters: func() Counters { return Counters{Received: 5} }, Whole: func(now int64) int64 { return now },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() { p.Run(ctx) })
	return &testCollector{p, sync.OnceFunc(func() { cancel(); all.Wait() })}
}

// send has datagrams arrive now, of any partition.
func (c *testCollector) send(t *testing.T, list []Datagram) {
	for i := range list {
		list[i].ArrivedNs = max(time.Now().UnixNano(), list[max(i, 1)-1].ArrivedNs+1)
		if err := c.Add(context.Background(), rand.IntN(4), &list[i]); err != nil {
			t.Fatal(err)
		}
	}
}

// A testAnalyzer runs a Consumer and writes down what it takes.
type testAnalyzer struct {
	*Consumer
	mu    sync.Mutex
	taken map[string]int // datagrams, by their text
	order map[string]int // newest, by collector
	wrong []string
	stop  func()
}

func startAnalyzer(t *testing.T, c Config, from *Positions) *testAnalyzer {
	c.Name, c.Stream.MaxBytes = "analyzer", 1<<29
	a := &testAnalyzer{taken: map[string]int{}, order: map[string]int{}}
	var err error
	a.Consumer, err = OpenConsumer(ConsumerConfig{
		Bus: c, From: from, Log: testLog(t).With("analyzer", true),
		Deliver: func(list []Datagram) {
			a.mu.Lock()
			defer a.mu.Unlock()
			for _, d := range list {
				text := string(d.Payload)
				a.taken[text]++
				var n int
				fmt.Sscanf(text[len(d.Collector)+1:], "%d", &n)
				if n <= a.order[d.Collector] {
					a.wrong = append(a.wrong, fmt.Sprint(d.Collector, ": ", n, " behind ", a.order[d.Collector]))
				}
				a.order[d.Collector] = n
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() { a.Run(ctx) })
	a.stop = sync.OnceFunc(func() { cancel(); all.Wait() })
	return a
}

func (a *testAnalyzer) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.taken)
}

// check looks whether each of the datagrams was taken once, and in the order of arrival at its collector.
func (a *testAnalyzer) check(t *testing.T, want int) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.taken) != want {
		t.Errorf("%d datagrams were taken, want %d", len(a.taken), want)
	}
	for text, n := range a.taken {
		if n != 1 {
			t.Errorf("%s was taken %d times", text, n)
		}
	}
	for _, w := range a.wrong {
		t.Error(w)
	}
}

// numbered returns datagrams of a collector with the numbers from and above.
func numbered(name string, from, n int) []Datagram {
	list := someDatagrams(n, 1)
	for i := range list {
		list[i].Payload = fmt.Appendf(nil, "%s %08d", name, from+i)
	}
	return list
}

// What collectors got is taken, and confirmed, so that spools become empty.
func TestBus(t *testing.T) {
	t.Run("nats", func(t *testing.T) {
		address := test.FreePort(t, "tcp")
		server := openTestServer(t, address, t.TempDir())
		defer server.Close()
		testBus(t, Config{URLs: []string{"nats://" + address}})
	})
	t.Run("kafka", func(t *testing.T) {
		c, _ := startKafka(t)
		testBus(t, c)
	})
}

func testBus(t *testing.T, c Config) {
	a := startAnalyzer(t, c, nil)
	defer a.stop()
	one, two := startCollector(t, c, "one", t.TempDir()), startCollector(t, c, "two", "")
	defer one.stop()
	defer two.stop()
	one.send(t, numbered("one", 1, 20000))
	two.send(t, numbered("two", 1, 20000))
	test.Eventually(t, "all datagrams", func() bool { return a.count() == 40000 })
	a.check(t, 40000)
	a.Hold(func(p *Positions) { go a.Confirm(p) })
	var p *Positions
	a.Hold(func(now *Positions) { p = now })
	a.Confirm(p)
	test.Eventually(t, "empty spools", func() bool {
		a.Hold(func(now *Positions) { p = now })
		a.Confirm(p)
		return one.Stats().SpoolBytes+two.Stats().SpoolBytes < 4000
	})
	if c := a.Collectors(); len(c) != 2 || c[0].Name != "one" || c[0].Delivered != 20000 || c[1].Lost != 0 ||
		c[0].Counters.Received != 5 {
		t.Errorf("got %+v", c)
	}
	if at := a.Delivered(time.Now().UnixNano()); time.Since(time.Unix(0, at)) > longestBehind {
		t.Errorf("all was taken up to %v before now", time.Since(time.Unix(0, at)))
	}
}

// Each number is taken once and in order, however messages come: also the first of a collector that nobody has heard
// of, when the bus took it behind others. What does not come is given up, and counted.
func TestOrder(t *testing.T) {
	var taken []uint64
	n := newTestConsumer(t, nil, func(list []Datagram) {
		for i := range list {
			if number := uint64(list[i].Port); len(taken) == 0 || taken[len(taken)-1] != number {
				taken = append(taken, number)
			}
		}
	})
	sequence := uint64(0)
	take := func(run, number uint64) {
		sequence++
		list := someDatagrams(10, number)
		for i := range list {
			list[i].Port = uint16(number)
		}
		n.take(sequence, 0, messageOf(
			Header{Collector: "a", Run: run, Number: number, Before: (number - 1) * 10, WholeNs: math.MaxInt64}, list))
	}
	want := func(what string, numbers ...uint64) {
		t.Helper()
		if !slices.Equal(taken, numbers) {
			t.Errorf("%s: got %v, want %v", what, taken, numbers)
		}
		taken = nil
	}
	later := func() { n.expireMissing(time.Now().Add(missingFor + time.Second).UnixNano()) }
	for _, number := range []uint64{3, 2, 2, 1, 1, 3} {
		take(1, number)
	}
	want("the first came last", 1, 2, 3)
	take(1, 6)
	if p := n.positions(); p.Sequence != sequence-1 || p.Keys[0].Number != 3 {
		t.Errorf("a message waits, and the positions are %+v", p)
	}
	take(1, 4)
	want("one is missing", 4)
	n.expireMissing(time.Now().UnixNano())
	want("not for long")
	later()
	take(1, 5)
	take(1, 7)
	want("it did not come", 6, 7)
	take(2, 8) // an analyzer that has lost its data
	later()
	take(2, 9)
	want("a run that goes on", 8, 9)
	c := n.Collectors()[0]
	if c.Lost != 10 || c.Delivered != 60+20 || n.duplicates != 4 || n.held != 0 || n.heldBytes != 0 {
		t.Errorf("got %+v, %d duplicates, %d held with %d bytes", c, n.duplicates, n.held, n.heldBytes)
	}
}

// newTestConsumer returns a Consumer without a bus.
func newTestConsumer(t *testing.T, from *Positions, deliver func([]Datagram)) *Consumer {
	n := &Consumer{
		config: ConsumerConfig{From: from, Log: testLog(t), Deliver: deliver},
		now:    func() int64 { return time.Now().UnixNano() },
	}
	n.goOn()
	return n
}

// Datagrams are delivered in the order in which they arrived, whatever their partitions and collectors and in whatever
// order messages come; each once, also if the analyzer is replaced between two of them.
func TestOrderOfArrival(t *testing.T) {
	g := rand.New(rand.NewPCG(1, 2))
	collectors := []string{"a", "b", "c"}
	const partitions, rounds = 3, 200
	var stream [][]byte
	now := time.Now().UnixNano() - int64(time.Hour)
	numbers, before, latest := map[Key]uint64{}, map[Key]uint64{}, map[Key]int64{}
	sent := 0
	for round := range rounds {
		whole := now + 1e6
		// What a collector says is whole it sent, and its partition 0 comes last. Others are faster or slower.
		for _, c := range g.Perm(len(collectors)) {
			at := make([][]Datagram, partitions)
			for range g.IntN(30) * min(round, 1) { // nobody waits for those that were never heard of
				d := someDatagrams(1, g.Uint64())[0]
				part := g.IntN(partitions)
				// some behind what is whole
				begin := max(now, latest[Key{collectors[c], 1, uint16(part)}])
				d.ArrivedNs, d.Port = begin+g.Int64N(13e5), uint16(c)
				at[part] = append(at[part], d)
			}
			for part := partitions - 1; part >= 0; part-- {
				list := at[part]
				slices.SortFunc(list, func(a, b Datagram) int { return int(a.ArrivedNs - b.ArrivedNs) })
				key := Key{collectors[c], 1, uint16(part)}
				if len(list) > 0 {
					latest[key] = list[len(list)-1].ArrivedNs
				} else if part > 0 {
					continue
				}
				numbers[key]++
				h := Header{Collector: key.Collector, Run: 1, Partition: key.Partition, Number: numbers[key]}
				h.Before = before[key]
				if part == 0 {
					h.WholeNs = whole
				}
				before[key] += uint64(len(list))
				sent += len(list)
				stream = append(stream, messageOf(h, list))
			}
		}
		now = whole
	}
	var last int64
	taken := 0
	deliver := func(list []Datagram) {
		for i := range list {
			d := &list[i]
			if d.ArrivedNs < last || d.Collector != collectors[d.Port] {
				t.Fatalf("a datagram of %s (%d) of %d behind one of %d", d.Collector, d.Port, d.ArrivedNs, last)
			}
			last = d.ArrivedNs
			taken++
		}
	}
	n := newTestConsumer(t, nil, deliver)
	parts := 0
	for at := 0; at < len(stream); at++ {
		n.take(uint64(at+1), 1, stream[at])
		if g.IntN(20) > 0 {
			continue
		}
		text, err := json.Marshal(n.positions())
		if err != nil {
			t.Fatal(err)
		}
		var p Positions
		if err := json.Unmarshal(text, &p); err != nil {
			t.Fatal(err)
		}
		for _, key := range p.Keys {
			if key.Part > 0 {
				parts++
			}
		}
		n = newTestConsumer(t, &p, deliver)
		n.begin(p.Stream, uint64(len(stream)))
		at = int(p.Sequence) - 1
	}
	n.pending = 0
	n.catchUp()
	n.drain(now + 2*int64(time.Hour))
	if taken != sent || parts == 0 || len(n.queued) > 0 || n.queuedBytes != 0 {
		t.Errorf("%d datagrams, want %d; %d positions in messages, %d keys with %d bytes wait", taken, sent, parts,
			len(n.queued), n.queuedBytes)
	}
}

// What arrived at a collector is delivered in the order in which it arrived there, whatever its partitions, its clock
// and the way of its messages: some come by a faster way than others, and some are lost, and sent again.
func TestOrderOfEachCollector(t *testing.T) {
	for seed := range uint64(20) {
		g := rand.New(rand.NewPCG(seed, 3))
		skews := []time.Duration{0, time.Hour, -time.Hour, time.Minute, -3 * time.Second, 50 * time.Millisecond}
		g.Shuffle(len(skews), func(i, j int) { skews[i], skews[j] = skews[j], skews[i] })
		const collectors, partitions, ways = 3, 5, 3
		var on [ways][][]byte // messages on each way
		var sent, taken [collectors]int
		delivered := func(list []Datagram) {
			for i := range list {
				var c, number int
				fmt.Sscan(string(list[i].Payload), &c, &number)
				if number != taken[c] {
					t.Fatalf("seed %d: of a collector whose clock is wrong by %v came %d, want %d", seed, skews[c],
						number, taken[c])
				}
				taken[c]++
			}
		}
		// However slow the machine is, messages come fast enough that nothing is given up.
		clock := time.Now().UnixNano()
		replace := func(from *Positions) *Consumer {
			n := newTestConsumer(t, from, delivered)
			n.now = func() int64 {
				clock += 1000
				return clock
			}
			return n
		}
		n := replace(nil)
		var stream [][]byte
		next := 0 // of stream, to take
		deliver := func(atMost int) {
			for range atMost {
				if way := &on[g.IntN(ways)]; len(*way) > 0 {
					stream = append(stream, (*way)[0])
					*way = (*way)[1:]
				}
				if next < len(stream) {
					next++
					n.take(uint64(next), 1, stream[next-1])
				}
				if g.IntN(1000) == 0 { // another analyzer goes on
					p := n.positions()
					n = replace(p)
					n.begin(p.Stream, uint64(len(stream)))
					next = int(p.Sequence)
				}
				if g.IntN(50) == 0 {
					n.expireMissing(n.now())
				}
			}
		}
		var numbers, before [collectors][partitions]uint64
		now := clock - int64(time.Second)
		for range 200 {
			for c := range collectors {
				var at [partitions][]Datagram
				for range g.IntN(40) {
					now += 1 + g.Int64N(1e4)
					part := g.IntN(partitions)
					at[part] = append(at[part], Datagram{
						ArrivedNs: now + int64(skews[c]), Source: someDatagrams(1, 1)[0].Source,
						Payload: fmt.Append(nil, c, " ", sent[c]),
					})
					sent[c]++
				}
				for part := partitions - 1; part >= 0; part-- {
					if len(at[part]) == 0 && part > 0 {
						continue
					}
					numbers[c][part]++
					h := Header{
						Collector: fmt.Sprint("c", c), Run: 1, Partition: uint16(part), Number: numbers[c][part],
						Before: before[c][part],
					}
					before[c][part] += uint64(len(at[part]))
					if part == 0 {
						h.WholeNs = now + int64(skews[c])
						h.Numbers = append([]uint64{0}, numbers[c][1:]...)
					}
					way := &on[(part+c)%ways]
					*way = append(*way, messageOf(h, at[part]))
					if last := len(*way) - 1; last > 0 && g.IntN(20) == 0 { // it comes behind another one
						(*way)[last], (*way)[last-1] = (*way)[last-1], (*way)[last]
					}
				}
			}
			deliver(g.IntN(30))
		}
		for len(on[0])+len(on[1])+len(on[2]) > 0 || next < len(stream) {
			deliver(100)
		}
		n.drain(n.now())
		n.pending = 0
		n.catchUp()
		n.drain(n.now() + int64(time.Hour))
		if taken != sent || n.queuedBytes != 0 || n.held != 0 {
			t.Fatalf("seed %d: %d datagrams were delivered, want %d; %d bytes wait, and %d messages", seed, taken, sent,
				n.queuedBytes, n.held)
		}
	}
}

// A message that the bus has lost, and behind which nothing of its partition came, is asked for since another names it.
func TestUnheard(t *testing.T) {
	n := newTestConsumer(t, nil, func([]Datagram) {})
	missing := func() (list []Position) {
		var all []Position
		if err := json.Unmarshal(n.answer("a"), &all); err != nil {
			t.Fatal(err)
		}
		for _, p := range all {
			if p.MissingTo > 0 {
				list = append(list, p)
			}
		}
		return list
	}
	n.take(1, 0, messageOf(Header{
		Collector: "a", Run: 1, Number: 1, WholeNs: time.Now().UnixNano(), Numbers: []uint64{0, 2, 0},
	}, nil))
	if list := missing(); len(list) > 0 {
		t.Errorf("at once %+v are missing: they may be on their way", list)
	}
	n.clock.Lock()
	n.collectors["a"].said[0].seenNs -= int64(pollEvery)
	n.clock.Unlock()
	if list := missing(); len(list) != 1 || list[0] != (Position{Run: 1, Partition: 1, MissingFrom: 1, MissingTo: 2}) {
		t.Errorf("%+v are missing, want 1 and 2 of partition 1", list)
	}
	if list := missing(); len(list) > 0 {
		t.Errorf("%+v are asked for again at once", list)
	}
	for number := range uint64(2) {
		n.take(2+number, 0, messageOf(Header{Collector: "a", Run: 1, Partition: 1, Number: number + 1}, nil))
	}
	if list := missing(); len(list) > 0 || len(n.collectors["a"].said) > 0 {
		t.Errorf("%+v are missing, and are there", list)
	}
}

// Before anything is known of a stream the time is now, or that at which the process before this one was.
func TestClockWithoutCollectors(t *testing.T) {
	now := time.Now().UnixNano()
	if at := newTestConsumer(t, nil, nil).Delivered(now); at != now {
		t.Errorf("a new analyzer is at %d, want %d", at, now)
	}
	if at := newTestConsumer(t, &Positions{DeliveredNs: now - 7}, nil).Delivered(now); at != now-6 {
		t.Errorf("the next analyzer is at %d, want %d", at, now-6)
	}
}

// Datagrams of a collector whose clock is ahead, by however much, wait for none of that time, and stay in their order;
// the clock of the tables does not run ahead with them. Those of others are not moved.
func TestClockAhead(t *testing.T) {
	now := time.Now().UnixNano()
	for _, ahead := range []time.Duration{time.Millisecond, 2 * time.Second, time.Minute, time.Hour, 9999 * time.Hour} {
		var taken []Datagram
		n := newTestConsumer(t, nil, func(list []Datagram) { taken = append(taken, list...) })
		for i, of := range []struct {
			name  string
			ahead time.Duration
		}{{"right", 0}, {"ahead", ahead}} {
			whole := now + int64(of.ahead)
			list := someDatagrams(50, uint64(i))
			for j := range list {
				list[j].ArrivedNs = whole - int64(50-j)*1e3
			}
			n.take(uint64(2*i+1), 1, messageOf(Header{Collector: of.name, Run: 1, Partition: 1, Number: 1}, list))
			n.take(uint64(2*i+2), 0, messageOf(Header{Collector: of.name, Run: 1, Number: 1, WholeNs: whole}, nil))
		}
		h := Header{Collector: "right", Run: 1, Number: 2, WholeNs: time.Now().UnixNano()} // a moment later
		n.take(5, 0, messageOf(h, nil))
		before := map[string]int64{}
		for _, d := range taken {
			if d.ArrivedNs < before[d.Collector] || d.ArrivedNs > time.Now().UnixNano() ||
				d.Collector == "right" && now-d.ArrivedNs > 50e3 {
				t.Errorf("%v ahead: %s got %d behind %d, now is %d", ahead, d.Collector, d.ArrivedNs,
					before[d.Collector], now)
			}
			before[d.Collector] = d.ArrivedNs
		}
		if len(taken) != 100 || len(n.queued) > 0 {
			t.Errorf("%v ahead: %d datagrams were delivered, want 100", ahead, len(taken))
		}
		if at := n.Delivered(time.Now().UnixNano()); at > time.Now().UnixNano() || now-at > int64(longestBehind) {
			t.Errorf("%v ahead: the tables are at %d, and now is %d", ahead, at, now)
		}
	}
}
