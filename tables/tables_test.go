package tables

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/analyze/ledger"
	"github.com/waybill-int/waybill/collect"
	"github.com/waybill-int/waybill/fabric"
	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/internal/flat"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// start runs a server until the test ends, or stop is called.
func start(t testing.TB, shards int, version string) (address string, stop func()) {
	t.Helper()
	s, err := Listen(ServerConfig{
		Listen: "127.0.0.1:0", Shards: shards, Tables: analyze.DefaultConfig(), Version: version, Log: quiet(),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		s.Run(ctx)
		close(ended)
	}()
	stop = func() {
		cancel()
		<-ended
	}
	t.Cleanup(stop)
	return s.Address(), stop
}

func somePoints() *codepoint.Config {
	c := codepoint.New()
	_ = c.Set("dialects", map[string]any{"any": "waybill"})
	c.Compile()
	return c
}

func opened(t testing.TB, addresses ...string) *Analyzer {
	t.Helper()
	a, err := Open(t.Context(), Config{
		Addresses: addresses, Version: "v", Points: somePoints(), Log: quiet(),
		Delivered: func(nowNs int64) int64 { return nowNs },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

// sent are datagrams of an emulated network, as they came.
type sent []test.Datagram

func (s *sent) Report(atNs uint64, frame []byte) error {
	d, _ := test.UDP(bytes.Clone(frame))
	d.Payload = bytes.Clone(d.Payload)
	*s = append(*s, d)
	return nil
}

func (s *sent) Flush() error { return nil }

// datagramsOf runs a scenario for a while.
func datagramsOf(t testing.TB, name, nodes string, d time.Duration) (list sent) {
	t.Helper()
	s, err := scenario.Load(filepath.Join(test.Root(), "scenarios", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	s.INT.Text = []byte(nodes)
	device, err := fabric.INTDevices(s, netip.MustParseAddrPort("192.0.2.1:8555"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := fabric.New(s, fabric.Options{Device: device, Reports: &list, Truth: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Run(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	return list
}

// give gives datagrams, in batches of some, a millisecond after the other.
func give(r *collect.Receiver, list sent, tick func(nowNs int64)) (nowNs int64) {
	nowNs = int64(1e18)
	for i := 0; i < len(list); i += 20 {
		var batch []collect.Datagram
		for _, d := range list[i:min(i+20, len(list))] {
			batch = append(batch, collect.Datagram{Source: d.Src, Payload: d.Payload})
		}
		r.Receive(batch, 8555, nowNs)
		tick(nowNs)
		nowNs += 1e6
	}
	for range 20 {
		nowNs += 1e8
		tick(nowNs)
	}
	return nowNs
}

// What servers in other processes would have counted, by real connections, is what shards of this one have: of stacks
// and of postcards, of reports that came together in datagrams of several flows, and of datagrams that came twice.
func TestTablesAreShards(t *testing.T) {
	for name, nodes := range map[string]string{
		"stacks": "watch: [{report_all: true}]\n", "postcards": "watch: [{report_all: true}]\nmode: xd\n",
		"coalesced": "watch: [{report_all: true}]\nmode: xd\nreports: {coalesce: 5ms}\n",
	} {
		t.Run(name, func(t *testing.T) {
			list := datagramsOf(t, "demo", nodes, 3*time.Second)
			list = append(list, list[len(list)-5:]...) // they came twice
			first, _ := start(t, 1, "v")
			second, _ := start(t, 2, "v")
			a := opened(t, first, second)
			settings := &collect.Settings{Points: somePoints()}

			var here, apart analyze.Collector
			here.Exporters = []*ledger.Exporters{ledger.NewExporters(100)}
			apart.Exporters = []*ledger.Exporters{ledger.NewExporters(100)}
			var queues []*collect.Queue
			var dispatchers []collect.Dispatcher
			for range 3 {
				shard := analyze.NewShard(analyze.DefaultConfig())
				shard.Delivered = func(nowNs int64) int64 { return nowNs }
				here.Owners = append(here.Owners, shard)
				queues = append(queues, collect.NewQueue(untimed{shard}))
				dispatchers = append(dispatchers, queues[len(queues)-1])
			}
			apart.Owners = a.Owners()
			tick := func(of *analyze.Collector) func(int64) {
				return func(nowNs int64) {
					if of == &here {
						for _, q := range queues {
							q.Drain()
						}
					}
					for _, o := range of.Owners {
						o.Tick(nowNs)
					}
				}
			}
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			for _, q := range queues {
				go q.Run(ctx)
			}
			give(collect.NewReceiver(nil, settings, here.Exporters[0], dispatchers), list, tick(&here))
			relaying := collect.NewReceiver(nil, settings, apart.Exporters[0], nil)
			relaying.RelayTo(a.Relays(), a.Partitions())
			give(relaying, list, tick(&apart))

			sameAnswers(t, &here, &apart)
			if n := len(a.Servers()); n != 2 || a.Servers()[1].Shards != 2 || a.Servers()[1].Reports == 0 {
				t.Errorf("got %+v", a.Servers())
			}
			select {
			case err := <-a.Gone():
				t.Error(err)
			default:
			}
		})
	}
}

// sameAnswers compares what shards elsewhere say with what those of this process do, which have something to say.
func sameAnswers(t *testing.T, here, apart *analyze.Collector) {
	t.Helper()
	flows, total := here.Flows(analyze.FlowFilter{Order: analyze.ByPackets, Limit: 10_000})
	if total < 20 || here.Counters().Reports < 500 {
		t.Fatalf("%d flows of %d reports", total, here.Counters().Reports)
	}
	got, _ := apart.Flows(analyze.FlowFilter{Order: analyze.ByPackets, Limit: 10_000})
	paths, _ := here.Paths(10_000)
	gotPaths, _ := apart.Paths(10_000)
	for what, both := range map[string][2]any{
		"flows": {flows, got}, "paths": {paths, gotPaths}, "queues": {here.Queues(), apart.Queues()},
		"counters": {here.Counters(), apart.Counters()}, "links": {here.Links(), apart.Links()},
		"exporters":    {here.ExporterList(), apart.ExporterList()},
		"dispositions": {len(here.TakeDispositions(nil)), len(apart.TakeDispositions(nil))},
	} {
		want, _ := json.Marshal(both[0])
		got, _ := json.Marshal(both[1])
		at := 0
		for at < min(len(got), len(want)) && got[at] == want[at] {
			at++
		}
		if at = max(at-400, 0); !bytes.Equal(got, want) {
			t.Errorf("%s: got\n%.1000s\nwant\n%.1000s", what, got[at:], want[at:])
		}
	}
}

// untimed is a shard to which its queue does not tell the time of now.
type untimed struct{ *analyze.Shard }

func (untimed) Tick(int64) {}

// When a server is gone, the analyzer is told so, and nobody gets an answer that has a part missing.
func TestGone(t *testing.T) {
	first, _ := start(t, 1, "v")
	second, stop := start(t, 1, "v")
	a := opened(t, first, second)
	c := analyze.Collector{Owners: a.Owners()}
	if c.Counters().FlowLimit == 0 {
		t.Fatal("there is no room")
	}
	stop()
	answered := make(chan struct{})
	go func() {
		c.Counters()
		close(answered)
	}()
	select {
	case err := <-a.Gone():
		if !strings.Contains(err.Error(), second) {
			t.Errorf("got %v, want who it is", err)
		}
	case <-answered:
		t.Error("there is an answer without the tables that are gone")
	case <-time.After(10 * time.Second):
		t.Error("nobody says that the tables are gone")
	}
	select {
	case <-answered:
		t.Error("there is an answer without the tables that are gone")
	case <-time.After(50 * time.Millisecond):
	}
}

// Each analyzer begins with empty tables, and one that lost them to another is told so.
func TestTakenOver(t *testing.T) {
	address, _ := start(t, 1, "v")
	before := opened(t, address)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go before.Run(ctx)
	var origin telemetry.Origin
	for _, d := range datagramsOf(t, "demo", "watch: [{report_all: true}]\n", 200*time.Millisecond) {
		before.owners[0].Relay(relayedOf(d), origin, 1e18)
	}
	counted := analyze.Collector{Owners: before.Owners()}
	test.Eventually(t, "reports in the tables", func() bool { return counted.Counters().Reports > 10 })
	after := opened(t, address)
	select {
	case <-before.Gone():
	case <-time.After(10 * time.Second):
		t.Error("the analyzer does not know that its tables are another's")
	}
	if n := (&analyze.Collector{Owners: after.Owners()}).Counters().Reports; n != 0 {
		t.Errorf("the tables have %d reports of the analyzer before", n)
	}
}

// relayedOf returns a datagram as a receiver relays it.
func relayedOf(d test.Datagram) []byte {
	var relayed capture
	r := collect.NewReceiver(nil, &collect.Settings{Points: somePoints()}, nobody{}, nil)
	r.RelayTo([]collect.Relay{&relayed}, 1)
	r.Receive([]collect.Datagram{{Source: d.Src, Payload: d.Payload}}, 8555, 1)
	return relayed
}

type capture []byte

func (c *capture) Relay(datagrams []byte, _ telemetry.Origin, _ int64) { *c = bytes.Clone(datagrams) }

type nobody struct{}

func (nobody) Observe([]telemetry.Header, int64) (o telemetry.Origin) { return o }

// Whoever is no analyzer of the same build gets nothing, and disturbs nobody.
func TestRefused(t *testing.T) {
	address, _ := start(t, 1, "v")
	a := opened(t, address)
	_, err := Open(t.Context(), Config{Addresses: []string{address}, Version: "w", Points: somePoints(), Log: quiet()})
	if err == nil || !strings.Contains(err.Error(), "one build") {
		t.Errorf("another version: got %v", err)
	}
	types := analyze.Questions.Types()
	for name, content := range map[string][]byte{
		"HTTP":        []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
		"long":        {0xff, 0xff, 0xff, 0xff, byte(kindHello)},
		"no hello":    {0, 0, 0, 1, byte(kindDatagrams)},
		"other magic": frame(kindHello, &hello{Magic: "x"}),
		"other types": frame(kindHello, &hello{Magic: magic, Version: "v"}),
		"no such shard": frame(kindHello, &hello{
			Magic: magic, Version: "v", Types: types, Session: 1, Slot: 7, Of: 9,
		}),
		"no session": frame(kindHello, &hello{Magic: magic, Version: "v", Types: types, Session: 1, Of: 1}),
	} {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = conn.Write(content)
		_ = conn.SetReadDeadline(time.Now().Add(15 * time.Second))
		answer, _ := io.ReadAll(conn)
		if len(answer) > 4 && answer[4] != failed {
			t.Errorf("%s: got %q", name, answer)
		}
		conn.Close()
	}
	select {
	case err := <-a.Gone():
		t.Error(err)
	default:
	}
}

func frame(k kind, v *hello) []byte {
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	_ = writeFrame(w, byte(k), flat.Append(nil, v))
	_ = w.Flush()
	return b.Bytes()
}

// What an analyzer sends is no more trusted than anything else: whatever it is, there is an answer.
func FuzzTake(f *testing.F) {
	f.Add(byte(kindPoints), flat.Append(nil, pointsOf(somePoints())))
	f.Add(byte(kindQuestion), append(flat.Append(nil, ptr("counters")), flat.Append(nil, &struct{}{})...))
	f.Add(byte(kindQuestion), flat.Append(nil, ptr("paths")))
	f.Add(byte(kindLetGo), []byte("12345678"))
	f.Add(byte(kindDatagrams), appendHead(nil, &telemetry.Origin{Accounts: 3}, 1))
	for _, d := range datagramsOf(f, "demo", "watch: [{report_all: true}]\n", 5*time.Millisecond) {
		f.Add(byte(kindDatagrams), append(appendHead(nil, &telemetry.Origin{Accounts: 3}, 1), relayedOf(d)...))
		break
	}
	config := analyze.ConfigFor(32<<20, 1)
	s := &Server{config: ServerConfig{Shards: 1, Tables: config, Log: quiet()}}
	of := s.newShard(&hello{Of: 1, Partitions: 1})
	f.Fuzz(func(t *testing.T, k byte, content []byte) {
		if k%6 == byte(kindQuestion) && !bytes.Contains(content, []byte("counters")) {
			return // questions are the same types of both, as the hello says
		}
		if _, err := s.take(of, kind(k%6), content); err != nil && strings.Contains(err.Error(), "the tables failed") {
			t.Error(err)
		}
	})
}

func ptr[T any](v T) *T { return &v }
