package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/collect"
	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/serve"
	"github.com/waybill-int/waybill/telemetry"
)

// running is a server under test.
type running struct {
	*serve.Server
	t     *testing.T
	stop  func()
	query string // URL of a server with role query that is asked instead; "": there is none
}

// URL is where questions go.
func (r *running) URL() string { return cmp.Or(r.query, r.Server.URL()) }

// startServer starts a server on free ports, with changes to the configuration; it is stopped at the end of the test.
func startServer(t *testing.T, change func(*serve.Config)) *running {
	t.Helper()
	return run(t, newServer(t, change))
}

// newServer returns a server that does not run yet.
func newServer(t *testing.T, change func(*serve.Config)) *serve.Server {
	t.Helper()
	c := serve.DefaultConfig()
	c.Listen, c.HTTP = []string{"udp://127.0.0.1:0"}, "127.0.0.1:0"
	if change != nil {
		change(&c)
	}
	c.Points.Compile()
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	s, err := serve.New(t.Context(), &c, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	// It has limited the memory of its process, which has what the tests before left: flags of a thousand commands.
	debug.SetMemoryLimit(math.MaxInt64)
	return s
}

// run runs s until the end of the test.
func run(t *testing.T, s *serve.Server) *running {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	stopped := false
	r := &running{Server: s, t: t}
	r.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(r.stop)
	return r
}

func (r *running) udp(i int) string { return r.Receivers[i].Stats().Address }

// send sends payloads to the server, slowly enough that nothing is dropped.
func (r *running) send(to string, payloads [][]byte) {
	r.t.Helper()
	replay := collect.Replay{Address: to, Payloads: collect.Payloads(payloads), Rate: 20000}
	if _, err := replay.Run(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
}

// sameCSV waits until a list that is not empty is as the program prints it what the server sends, byte for byte:
// between two questions items that are equally large may change places.
func (r *running) sameCSV(list string) {
	r.t.Helper()
	test.Eventually(r.t, "getting the same CSV of "+list, func() bool {
		response, err := http.Get(r.URL() + "/api/v1/" + list + "?limit=100&format=csv")
		if err != nil {
			r.t.Fatal(err)
		}
		defer response.Body.Close()
		want, err := io.ReadAll(response.Body)
		if err != nil {
			r.t.Fatal(err)
		}
		got, stderr, exit := runWaybill(r.t, list, "--server", r.URL(), "--limit", "100", "-o", "csv")
		if exit != 0 || strings.Count(got, "\n") < 2 {
			r.t.Fatalf("%s -o csv: code %d, %s\n%s", list, exit, stderr, got)
		}
		return got == string(want)
	})
}

// get decodes the list under key of an API answer into v, of which nothing that was there before is left: JSON leaves
// out what is false, and would leave it true.
func (r *running) get(path, key string, v any) {
	r.t.Helper()
	reflect.ValueOf(v).Elem().SetZero()
	response, err := http.Get(r.URL() + path)
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		r.t.Fatalf("%s: %s %v\n%s", path, response.Status, err, body)
	}
	var all map[string]json.RawMessage
	if err = json.Unmarshal(body, &all); err == nil {
		err = json.Unmarshal(all[key], v)
	}
	if err != nil {
		r.t.Fatalf("%s: %v\n%s", path, err, body)
	}
}

// total adds up the counters of all receivers.
func (r *running) total() (n collect.Stats) {
	for _, receiver := range r.Receivers {
		s := receiver.Stats()
		n.Received += s.Received
		n.KernelDrops += s.KernelDrops
		n.Decoded += s.Decoded
		n.Damaged += s.Damaged
		n.Malformed += s.Malformed
	}
	return n
}

// The reports of real switches, over a real socket: the API tells their paths, drops and accounts.
func TestServeCaptures(t *testing.T) {
	for _, workers := range []int{1, 2} {
		t.Run(fmt.Sprint("workers=", workers), func(t *testing.T) {
			s := startServer(t, func(c *serve.Config) {
				c.Workers = workers
				c.Listen = append(c.Listen, "udp://127.0.0.1:0")
				c.Names = map[uint32]string{1: "s1", 2: "s2", 3: "s3"}
			})
			first, second := s.udp(0), s.udp(workers)
			// Which port the kernel chose is known only now; the profiles of the running decoders are fixed by source
			// port.
			s.stop()
			s = startServer(t, func(c *serve.Config) {
				c.Workers = workers
				c.Listen = []string{"udp://" + first, "udp://" + second}
				c.Names = map[uint32]string{1: "s1", 2: "s2", 3: "s3"}
				_, onos, _ := net.SplitHostPort(first)
				_, tna, _ := net.SplitHostPort(second)
				if err := c.Points.Set("dialects",
					map[string]any{":" + onos: "onos-int10-ver0", ":" + tna: "fabric-tna-bmv2"}); err != nil {
					t.Fatal(err)
				}
			})
			pathchange, drop := test.Captured(t, "onos_v10_pathchange"),
				test.Captured(t, "fabric_tna_xd_drop", "fabric_tna_xd_tcp")
			s.send(first, pathchange)
			s.send(second, drop)
			sent := uint64(len(pathchange) + len(drop))
			test.Eventually(t, "receiving everything", func() bool { return s.total().Received == sent })
			if n := s.total(); n.Decoded != sent || n.KernelDrops != 0 {
				t.Errorf("sent %d: %+v", sent, n)
			}
			var paths []telemetry.Path
			packets := map[string]uint64{}
			defer func() {
				if t.Failed() {
					t.Logf("packets by path: %v", packets)
				}
			}()
			test.Eventually(t, "joining postcards", func() bool {
				s.get("/api/v1/paths?limit=100", "paths", &paths)
				clear(packets)
				for _, p := range paths {
					names := ""
					for _, h := range p.Hops {
						names += h.Name
						if h.Dropped {
							names += "x"
						}
					}
					packets[names] += p.Packets
				}
				return maps.Equal(packets,
					map[string]uint64{
						"s1s2s3": 194 + 19, "s3s2s1": 19, "s1s3": 106, "s1s2x": 20, "s1s2s3x": 10,
						"s1x": 10,
					})
			})
			for _, list := range []string{"nodes", "links", "hops", "flows", "paths", "drops", "hosts", "queues"} {
				s.sameCSV(list)
			}
			var exporters []telemetry.Exporter
			s.get("/api/v1/exporters", "exporters", &exporters)
			received := uint64(0)
			for _, e := range exporters {
				received += e.Received
			}
			if received != sent {
				t.Errorf("exporters: got %d datagrams, want %d", received, sent)
			}
			var nodes []telemetry.Node
			s.get("/api/v1/nodes", "nodes", &nodes)
			if len(nodes) != 3 || nodes[1].Name != "s2" || nodes[1].Drops != 20 {
				t.Errorf("nodes: %+v", nodes)
			}
			var links []telemetry.Link
			s.get("/api/v1/links", "links", &links)
			if len(links) != 5 { // both ways of s1-s2-s3, and s1-s3
				t.Errorf("links: %+v", links)
			}
			var drops []telemetry.Drop
			s.get("/api/v1/drops", "drops", &drops)
			if len(drops) != 4 {
				t.Errorf("drops: %+v", drops)
			}
			var flows []telemetry.Flow
			s.get("/api/v1/flows?limit=100", "flows", &flows)
			if len(flows) != 2+4+2 {
				t.Errorf("got %d flows", len(flows))
			}
		})
	}
}

// Whatever arrives, the server stays up and every datagram has exactly one outcome.
func TestServeBadInput(t *testing.T) {
	s := startServer(t, func(c *serve.Config) { c.Memory = "64MiB" })
	r := rand.New(rand.NewPCG(5, 6))
	var payloads [][]byte
	for _, v := range append(test.Vectors(t, "*tr*"), test.Vectors(t, "ts_*")...) {
		payload := v.Bytes
		if d, ok := test.UDP(v.Bytes); ok && v.StartsAt == "ethernet" {
			payload = d.Payload
		}
		for n := range len(payload) {
			payloads = append(payloads, payload[:n])
		}
		for bit := range 8 * min(len(payload), 64) {
			flipped := bytes.Clone(payload)
			flipped[bit/8] ^= 1 << (bit % 8)
			payloads = append(payloads, flipped)
		}
	}
	for range 2000 {
		random := make([]byte, r.IntN(600))
		for i := range random {
			random[i] = byte(r.Uint32())
		}
		payloads = append(payloads, random)
	}
	for _, first := range []byte{0x00, 0x14, 0x20, 0xff} { // as large as UDP gets
		huge := make([]byte, 65507)
		huge[0] = first
		payloads = append(payloads, huge)
	}
	for i := range uint32(3000) { // clocks and sequence numbers at their ends
		report := test.Report(test.Forms[i%7], i, []uint32{0, 1<<32 - 1, 1 << 31, i}[i%4], 3)
		for at := 12; at < min(len(report), 40) && i%2 == 0; at++ {
			report[at] = 0xff
		}
		payloads = append(payloads, report)
	}
	s.send(s.udp(0), payloads)
	test.Eventually(t, "receiving everything", func() bool {
		n := s.total()
		return n.Received+n.KernelDrops == uint64(len(payloads))
	})
	n := s.total()
	if n.Decoded+n.Damaged+n.Malformed != n.Received {
		t.Errorf("outcomes: %+v", n)
	}
	var exporters []telemetry.Exporter
	s.get("/api/v1/exporters?limit=10000", "exporters", &exporters)
	var received, bad uint64
	for _, e := range exporters {
		received += e.Received
		for _, count := range e.Malformed {
			bad += count
		}
		for _, count := range e.Damaged {
			bad += count
		}
	}
	received += s.Collector.Counters().ExportersOverflow
	if received != n.Received || s.Collector.Counters().ExportersOverflow == 0 && bad != n.Damaged+n.Malformed {
		t.Errorf("exporters account for %d datagrams, %d of them bad; %+v", received, bad, n)
	}
	for _, path := range []string{"/healthz", "/readyz", "/metrics", "/api/v1/flows", "/api/v1/drops", "/"} {
		response, err := http.Get(s.URL() + path)
		if err != nil || response.StatusCode != http.StatusOK {
			t.Errorf("%s: %v %v", path, response, err)
			continue
		}
		response.Body.Close()
	}
}

// Millions of spoofed flows, nodes and exporters do not take more memory than was allowed, and evictions are counted.
func TestServeMemoryIsBounded(t *testing.T) {
	if test.RaceDetector {
		t.Skip("ten times as slow, and nothing here runs side by side")
	}
	s := startServer(t, func(c *serve.Config) { c.Memory = "48MiB" })
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	shard, exporters := s.Collector.Owners[0].(*analyze.Shard), s.Collector.Exporters[0]
	decoder := telemetry.NewDecoder(s.Config.Points)
	var batch telemetry.Batch
	headers := make([]telemetry.Header, 1)
	for i := range uint32(400_000) {
		payload := test.Report(test.Form20XD, i, i, 1)
		payload[4], payload[5], payload[6], payload[7] = byte(i>>24), byte(i>>16), byte(i>>8), byte(i) // the node id
		// half of them are drops
		payload[11] |= byte(0x80 * (i & 1))
		batch.Reset()
		decoder.Decode(payload, spoofed(i), 8555, &batch, &headers[0])
		batch.Attribute(exporters.Observe(headers, int64(i)*1000), headers)
		shard.Process(&batch, int64(i)*1000)
	}
	// The server works on meanwhile: what its last look left is garbage, and no memory of tables; on
	// a busy machine a look takes some of these times.
	const limit = 48 << 20
	grown := int64(math.MaxInt64)
	for try := 0; try < 50 && grown > limit; try++ {
		time.Sleep(200 * time.Millisecond)
		runtime.GC()
		runtime.ReadMemStats(&after)
		grown = min(grown, int64(after.HeapAlloc)-int64(before.HeapAlloc))
	}
	if grown > limit {
		t.Errorf("the tables grew by %d KiB, 48 MiB were allowed", grown>>10)
	}
	t.Logf("%d KiB", grown>>10)
	n := s.Collector.Counters()
	if n.FlowsRejected == 0 || n.PathsEvicted == 0 || n.DropsOverflow == 0 || n.ExportersOverflow == 0 {
		t.Errorf("nothing was evicted: %+v", n)
	}
	if n.Reports != 400_000 || uint64(n.Flows)+n.FlowsEvicted+n.FlowsRejected != 400_000 {
		t.Errorf("flows do not add up: %+v", n)
	}
}

func TestServeRefuses(t *testing.T) {
	used, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer used.Close()
	usedTCP, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer usedTCP.Close()
	bad := func(text string) string {
		file := filepath.Join(t.TempDir(), "bad.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"--nonsense", 2, "unknown flag"},
		{"extra", 2, "unexpected argument"},
		{"--listen udp://" + used.LocalAddr().String() + " --http 127.0.0.1:0", 1, "in use"},
		{"--listen udp://127.0.0.1:0 --http " + usedTCP.Addr().String(), 1, "in use"},
		{"--listen tcp://127.0.0.1:0", 2, "tcp"},
		{"--listen 8555", 2, "HOST:PORT"},
		{"--int-port 8555", 2, "different ports"},
		{"--http 0.0.0.0:8080", 2, "--insecure"},
		{"--http nowhere", 2, "HOST:PORT"},
		{"--memory plenty", 2, "512MiB"},
		{"--memory 1MiB", 2, "at least"},
		{"--workers 0", 2, "workers"},
		{"--dialect 10.0.0.1=cisco", 2, "unknown dialect"},
		{"--set int_dcsp=3", 2, "unknown code point"},
		{"--config /nonexistent", 2, "no such file"},
		{"--config " + bad("listen: [udp://:1]\nlisten_too: 3\n"), 2, "listen_too"},
		{"--config " + bad("int_dscp: 99\n"), 2, "at most 63"},
		{"--config " + bad("bursts: {abov: 30kB}\n"), 2, "abov"},
		{"--config " + bad("bursts: {above: much}\n"), 2, "bursts: above"},
		{"--config " + bad("bursts: {above: 30kB, below: 40kB}\n"), 2, "below is 40kB"},
		{"--config " + bad("bursts: {min_above: 0}\n"), 2, "longer than 0 bytes"},
		{
			"--config " + bad("http: :8080\n# a comment\nworkers: many\n"), 2,
			`:3: workers: got "many", want a whole number`,
		},
		{"--config " + bad("a: [\n"), 2, "bad.yaml"},
	} {
		root := newRootCommand()
		var out, errs bytes.Buffer
		root.SetArgs(append([]string{"serve"}, strings.Fields(c.args)...))
		root.SetOut(&out)
		root.SetErr(&errs)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		root.SetContext(ctx)
		code := command.Execute(root)
		cancel()
		if code != c.code || !strings.Contains(errs.String(), c.want) || strings.Count(errs.String(), "\n") != 1 {
			t.Errorf("serve %s: got code %d and %q; want code %d, one line with %q", c.args, code, errs.String(),
				c.code, c.want)
		}
	}
}

func TestServeConfigRoundTrip(t *testing.T) {
	run := func(args ...string) string {
		root := newRootCommand()
		var out, errs bytes.Buffer
		root.SetArgs(append([]string{"serve"}, args...))
		root.SetOut(&out)
		root.SetErr(&errs)
		if code := command.Execute(root); code != 0 {
			t.Fatalf("serve %v: code %d\n%s", args, code, errs.String())
		}
		return out.String()
	}
	t.Setenv("WAYBILL_MEMORY", "1GiB")
	dumped := run("--config", "testdata/serve/dialects.yaml", "--int-port", "17768", "--dump")
	for _, want := range []string{"memory: 1GiB", "onos-int10-ver0", "int_udp_port: 17768", "2: s2"} {
		if !strings.Contains(dumped, want) {
			t.Errorf("the dump lacks %q:\n%s", want, dumped)
		}
	}
	file := filepath.Join(t.TempDir(), "dumped.yaml")
	if err := os.WriteFile(file, []byte(dumped), 0o600); err != nil {
		t.Fatal(err)
	}
	if again := run("--config", file, "--dump"); again != dumped {
		t.Errorf("a dump does not read back:\n%s\n%s", dumped, again)
	}
	if out := run("--config", file, "--check"); !strings.Contains(out, "valid") {
		t.Errorf("--check: got %q", out)
	}
}

// A storm of drops is found while the server runs.
func TestServeEvents(t *testing.T) {
	s := startServer(t, func(c *serve.Config) { c.Names = map[uint32]string{2: "s2"} })
	drops := test.Captured(t, "fabric_tna_xd_drop")
	s.send(s.udp(0), test.Again(drops, 5))
	var events []telemetry.Event
	test.Eventually(t, "the storm", func() bool {
		s.get("/api/v1/events?kind=drop_storm&node=s2", "events", &events)
		return len(events) > 0
	})
	if e := events[0]; e.Severity != telemetry.Warning || !strings.Contains(e.Text, "s2") {
		t.Errorf("got %+v", e)
	}
}
