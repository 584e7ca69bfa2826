package bus

import (
	"context"
	"fmt"
	"io"
	"log/slog"
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

func openTestServer(t *testing.T, address, dir string) *Server {
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

func (c *testCollector) send(t *testing.T, list []Datagram) {
	for i := range list {
		if err := c.Add(context.Background(), i%4, &list[i]); err != nil {
			t.Fatal(err)
		}
	}
}

// A testAnalyzer runs a Consumer and writes down what it takes.
type testAnalyzer struct {
	*Consumer
	mu    sync.Mutex
	taken map[string]int // datagrams, by their text
	order map[string]int // newest, by collector and partition
	wrong []string
	stop  func()
}

func startAnalyzer(t *testing.T, c Config, from *Positions) *testAnalyzer {
	c.Name, c.Stream.MaxBytes = "analyzer", 1<<29
	a := &testAnalyzer{taken: map[string]int{}, order: map[string]int{}}
	var err error
	a.Consumer, err = OpenConsumer(ConsumerConfig{
		Bus: c, From: from, Log: testLog(t).With("analyzer", true),
		Deliver: func(h *Header, list []Datagram) {
			a.mu.Lock()
			defer a.mu.Unlock()
			for _, d := range list {
				text := string(d.Payload)
				a.taken[text]++
				var n int
				fmt.Sscanf(text[len(h.Collector)+1:], "%d", &n)
				place := fmt.Sprint(h.Collector, "/", h.Partition)
				if n <= a.order[place] {
					a.wrong = append(a.wrong, fmt.Sprint(place, ": ", n, " behind ", a.order[place]))
				}
				a.order[place] = n
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

// check looks whether each of the datagrams was taken once, and in the order of its partition.
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
	n := &Consumer{
		config: ConsumerConfig{
			Log: testLog(t), Deliver: func(h *Header, list []Datagram) { taken = append(taken, h.Number) },
		},
		keys: map[Key]*keyState{}, collectors: map[string]*collectorState{}, confirmed: map[Key]uint64{},
	}
	sequence := uint64(0)
	take := func(run, number uint64) {
		sequence++
		n.sequence = sequence
		n.accept(messageOf(Header{Collector: "a", Run: run, Number: number, Before: (number - 1) * 10},
			someDatagrams(10, number)), sequence)
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
