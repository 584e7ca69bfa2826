package bench

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/store/duckdb"
	"github.com/waybill-int/waybill/telemetry"
)

// Of a soak: SOAK_SECONDS is how long it runs, SOAK_RATE how many reports are sent in a second, SOAK_PICTURE the file
// for its picture, in SVG.
const (
	soakSeconds = "SOAK_SECONDS"
	soakRate    = "SOAK_RATE"
	soakPicture = "SOAK_PICTURE"
)

// soakConfig is the configuration of the server: so little memory for tables and database that both are at their bounds
// within minutes.
const soakConfig = "memory: 32MiB\nstore: {memory: 128MiB}\n"

// A soak is a server to which everything happens at once.
type soak struct {
	t         *testing.T
	length    time.Duration
	dir, slow string // while the file slow is there, the store writes slowly
	http, udp string
	config    string // a file
	began     time.Time
	api       *client.Client
	server    *exec.Cmd
	log       bytes.Buffer // of the latest server
	kills     int
	exporters []*soakExporter
	broken    atomic.Uint64 // datagrams that were sent mutated
	asked     [6]int        // hostile statements, by the first digit of the status, 0: no answer
	samples   []soakSample
}

// A soakExporter sends numbered reports from an address of its own.
type soakExporter struct {
	net.PacketConn
	source string
	sent   uint64
}

// A soakSample is what the server takes at a moment; it is not running while rss is 0.
type soakSample struct {
	at                                  time.Duration
	rss, goroutines, files, disk, flows float64
}

// hostileStatements take more than there is.
var hostileStatements = []string{
	"SELECT median(range) FROM range(1000000000)",
	"SELECT list(a) FROM range(1000000000) t(a)",
	"SELECT count(*) FROM flows_10s a, flows_10s b, flows_10s c, flows_10s d",
	"SELECT count(*) FROM range(100000000) a, range(100000000) b",
	"SELECT repeat('a', 1000000000)",
}

// slowStore makes a disk slow: what writes by way of the C library, as DuckDB does, waits while a file is there.
const slowStore = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>
static void slow(void) {
	const char *file = getenv("SOAK_SLOW");
	if (file && access(file, F_OK) == 0) usleep(20000);
}
ssize_t pwrite(int f, const void *b, size_t n, off_t at) {
	slow();
	return ((ssize_t (*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite"))(f, b, n, at);
}
ssize_t pwrite64(int f, const void *b, size_t n, off_t at) { return pwrite(f, b, n, at); }
int fsync(int f) { slow(); return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(f); }
int fdatasync(int f) { slow(); return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(f); }
`

// TestSoak: whatever happens to a server at once, what was sent is what arrived and what it names as lost: kill -9, in
// the first two thirds; a full disk, and then a slow store, for a while; mutated datagrams and hostile statements, all
// the time. "make soak" runs it for an hour.
func TestSoak(t *testing.T) {
	seconds, rate := 6, 1000
	for name, n := range map[string]*int{soakSeconds: &seconds, soakRate: &rate} {
		if text := os.Getenv(name); text != "" {
			var err error
			if *n, err = strconv.Atoi(text); err != nil || *n < 1 {
				t.Fatalf("%s is %q: a number", name, text)
			}
		}
	}
	s := &soak{
		t: t, length: time.Duration(seconds) * time.Second, dir: t.TempDir(), http: test.FreePort(t, "tcp"),
		udp: test.FreePort(t, "udp"),
	}
	s.slow, s.config = filepath.Join(s.dir, "slow"), filepath.Join(s.dir, "waybill.yaml")
	data := filepath.Join(s.dir, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	disk := "size=400m" // of which the store leaves 256 MiB free
	if s.length > time.Minute {
		disk = "size=1g"
	}
	if err := unix.Mount("tmpfs", data, "tmpfs", 0, disk); err != nil {
		t.Skipf("cannot mount a small disk: %v", err)
	}
	defer unix.Unmount(data, unix.MNT_DETACH) //nolint:errcheck // the test is over
	s.prepare()
	s.start()
	defer func() {
		_ = s.server.Process.Kill()
		if t.Failed() {
			t.Logf("log of the server:\n%.5000s", s.log.String())
		}
	}()
	s.began = time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), s.length)
	defer cancel()
	var running sync.WaitGroup
	for i, e := range s.exporters {
		running.Go(func() { s.load(ctx, e, uint64(i), rate/len(s.exporters)) })
	}
	running.Go(func() { s.mutate(ctx, rate/20) })
	running.Go(func() { s.ask(ctx) })
	s.disturb(ctx)
	running.Wait()
	s.settle()
}

// prepare compiles what makes the disk slow, and opens the sockets of exporters.
func (s *soak) prepare() {
	s.t.Helper()
	source := filepath.Join(s.dir, "slow.c")
	for name, text := range map[string]string{source: slowStore, s.config: soakConfig} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	out, err := exec.Command("gcc", "-shared", "-fPIC", "-o", s.slow+".so", source).CombinedOutput()
	if err != nil {
		s.t.Fatalf("gcc: %v\n%s", err, out)
	}
	for i := range 4 {
		source := fmt.Sprintf("127.0.8.%d", i+1)
		c, err := net.ListenPacket("udp", source+":0")
		if err != nil {
			s.t.Fatal(err)
		}
		s.t.Cleanup(func() { c.Close() })
		s.exporters = append(s.exporters, &soakExporter{PacketConn: c, source: source})
	}
	if s.api, err = client.New("http://" + s.http); err != nil {
		s.t.Fatal(err)
	}
}

// start starts the server, and waits until it receives.
func (s *soak) start() {
	s.t.Helper()
	s.server = exec.Command(test.Program(s.t), "serve", "--listen", "udp://"+s.udp, "--http", s.http,
		"--data", filepath.Join(s.dir, "data"), "--config", s.config, "--workers", "2",
		"--int-port", strconv.Itoa(test.INTPort))
	s.server.Env = append(os.Environ(), "LD_PRELOAD="+s.slow+".so", "SOAK_SLOW="+s.slow)
	s.log.Reset()
	s.server.Stderr = &s.log
	if err := s.server.Start(); err != nil {
		s.t.Fatal(err)
	}
	test.Eventually(s.t, "the server starts", func() bool { return s.get("/readyz") != "" })
}

// get returns what the server answers, "" if it does not.
func (s *soak) get(path string) string {
	r, err := (&http.Client{Timeout: 10 * time.Second}).Get("http://" + s.http + path)
	if err != nil {
		return ""
	}
	defer r.Body.Close()
	var text bytes.Buffer
	if _, err := text.ReadFrom(r.Body); err != nil || r.StatusCode != http.StatusOK {
		return ""
	}
	return text.String()
}

// load sends numbered reports of an exporter, of more flows than the tables hold, until ctx is done.
func (s *soak) load(ctx context.Context, e *soakExporter, n uint64, rate int) {
	to := net.UDPAddrFromAddrPort(netip.MustParseAddrPort(s.udp))
	g := rand.New(rand.NewPCG(n, 1))
	for start := time.Now(); ctx.Err() == nil; time.Sleep(10 * time.Millisecond) {
		for due := uint64(time.Since(start).Seconds() * float64(rate)); e.sent < due; e.sent++ {
			// an error says that nobody listens
			_, _ = e.WriteTo(test.Report(test.Form20MD, g.Uint32N(1<<18), uint32(e.sent), 2+int(n)), to)
		}
	}
}

// mutate sends reports in which bytes were changed, or from which some were cut, until ctx is done.
func (s *soak) mutate(ctx context.Context, rate int) {
	c, err := net.ListenPacket("udp", "127.0.8.99:0")
	if err != nil {
		s.t.Error(err)
		return
	}
	defer c.Close()
	to := net.UDPAddrFromAddrPort(netip.MustParseAddrPort(s.udp))
	g := rand.New(rand.NewPCG(1, 2))
	for ctx.Err() == nil {
		b := test.Report(test.Forms[g.IntN(len(test.Forms))], g.Uint32N(100), g.Uint32(), 3)
		for range 1 + g.IntN(4) {
			b[g.IntN(len(b))] = byte(g.Uint32())
		}
		if g.IntN(4) == 0 {
			b = b[:g.IntN(len(b))]
		}
		if _, err := c.WriteTo(b, to); err == nil {
			s.broken.Add(1)
		}
		time.Sleep(time.Second / time.Duration(rate))
	}
}

// ask sends hostile statements, one after the other: any answer will do, also none, of a server that was killed.
func (s *soak) ask(ctx context.Context) {
	for n := 0; ctx.Err() == nil; n++ {
		statement := hostileStatements[n%len(hostileStatements)]
		r, err := http.NewRequestWithContext(ctx, http.MethodGet,
			"http://"+s.http+"/api/v1/query?sql="+url.QueryEscape(statement), nil)
		if err != nil {
			s.t.Error(err)
			return
		}
		status := 0
		if answer, err := http.DefaultClient.Do(r); err == nil {
			answer.Body.Close()
			status = answer.StatusCode / 100
		}
		s.asked[status]++
		select {
		case <-ctx.Done():
		case <-time.After(min(10*time.Second, s.length/20)):
		}
	}
}

// disturb kills the server, fills its disk and makes its store slow, and notes each second what it takes.
func (s *soak) disturb(ctx context.Context) {
	s.t.Helper()
	every := min(2*time.Minute, s.length/3)
	second := time.NewTicker(time.Second)
	defer second.Stop()
	ballast := filepath.Join(s.dir, "data", "ballast")
	for next := every; ; {
		select {
		case <-ctx.Done():
			_ = os.Remove(ballast)
			if s.kills == 0 { // a short run on a slow machine
				s.kill()
			}
			return
		case <-second.C:
		}
		at := time.Since(s.began)
		s.during(at, 20, 35, ballast, func() error { return fill(ballast) })
		s.during(at, 40, 55, s.slow, func() error { return os.WriteFile(s.slow, nil, 0o600) })
		_, err := os.Stat(ballast) // on a full disk it would not start
		if at >= next && at < s.length*2/3 && err != nil {
			s.kill()
			next += every
		}
		s.sample()
	}
}

// during makes a file be there from one percentage of the time to another.
func (s *soak) during(at time.Duration, from, to time.Duration, name string, begin func() error) {
	s.t.Helper()
	_, err := os.Stat(name)
	there := err == nil
	err = nil
	switch now := at * 100 / s.length; {
	case now >= from && now < to && !there:
		err = begin()
	case now >= to && there:
		err = os.Remove(name)
	}
	if err != nil {
		s.t.Error(err)
	}
}

// fill writes a file for which there is no room.
func fill(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	for block := make([]byte, 1<<20); err == nil; {
		_, err = f.Write(block)
	}
	return nil
}

func (s *soak) kill() {
	s.t.Helper()
	if err := s.server.Process.Kill(); err != nil {
		s.t.Fatal(err)
	}
	_ = s.server.Wait() // says that it was killed
	s.kills++
	s.start()
}

// sample notes what the server takes.
func (s *soak) sample() {
	x := soakSample{at: time.Since(s.began)}
	proc := "/proc/" + strconv.Itoa(s.server.Process.Pid)
	if files, err := os.ReadDir(proc + "/fd"); err == nil {
		x.files = float64(len(files))
	}
	status, _ := os.ReadFile(proc + "/status")
	x.rss = numberBehind(string(status), "VmRSS:") / 1024
	metrics := s.get("/metrics")
	x.goroutines = numberBehind(metrics, "\ngo_goroutines ")
	x.flows = numberBehind(metrics, "\nwaybill_flows ")
	x.disk = numberBehind(metrics, "\nwaybill_store_bytes ") / (1 << 20)
	if metrics != "" {
		s.samples = append(s.samples, x)
	}
}

// numberBehind is the number behind a word in a text, 0 if there is none.
func numberBehind(text, word string) float64 {
	_, rest, _ := strings.Cut(text, word)
	f := strings.Fields(rest)
	if len(f) == 0 {
		return 0
	}
	n, _ := strconv.ParseFloat(f[0], 64)
	return n
}

// settle compares what was sent with what the ledger and the store say of it.
func (s *soak) settle() {
	s.t.Helper()
	to := net.UDPAddrFromAddrPort(netip.MustParseAddrPort(s.udp))
	for i, e := range s.exporters { // one more, behind what was lost last
		if _, err := e.WriteTo(test.Report(test.Form20MD, 1, uint32(e.sent), 2+i), to); err != nil {
			s.t.Fatal(err)
		}
		e.sent++
	}
	bySource := func() map[string]telemetry.Loss {
		list, err := client.Get[client.LossList](s.t.Context(), s.api, "loss", client.Query{})
		if err != nil {
			s.t.Fatal(err)
		}
		m := map[string]telemetry.Loss{}
		for _, x := range list.Loss {
			m[x.Source.String()] = x
		}
		return m
	}
	complete := func() bool {
		m := bySource()
		return !slices.ContainsFunc(s.exporters, func(e *soakExporter) bool {
			x := m[e.source]
			return x.Sent == nil || *x.Sent < e.sent || x.Fate == nil || x.Fate.Waiting > 0
		})
	}
	test.Eventually(s.t, "the ledger knows of the last report", complete)
	var offered, arrived, lost, away uint64
	var fate telemetry.ReportFate
	ledger := bySource()
	for _, e := range s.exporters {
		x := ledger[e.source]
		offered, arrived, lost, away = offered+e.sent, arrived+*x.Arrived, lost+*x.Lost, away+*x.Away
		if *x.Sent != e.sent || *x.Arrived+*x.Lost != e.sent || x.Received != *x.Arrived || *x.Duplicate > 0 ||
			x.Restarted > 0 {
			s.t.Errorf("%s sent %d: %d sent, %d arrived, %d lost, %d received, %d again, %d restarts", e.source, e.sent,
				*x.Sent, *x.Arrived, *x.Lost, x.Received, *x.Duplicate, x.Restarted)
		}
		f := x.Fate
		if f.Reports != f.Repeated+f.Waiting+f.Flowless+f.KeptOut+f.InFlows ||
			f.InFlows != value(f.Held)+f.Unfollowed+f.Evicted+value(f.Queued)+value(f.Stored)+value(f.StoreDropped) {
			s.t.Errorf("%s: the reports do not add up: %+v", e.source, f)
		}
		fate.Reports, fate.KeptOut = fate.Reports+f.Reports, fate.KeptOut+f.KeptOut
		fate.InFlows, fate.Evicted = fate.InFlows+f.InFlows, fate.Evicted+f.Evicted
	}
	metrics := s.get("/metrics")
	if err := s.server.Process.Signal(os.Interrupt); err != nil {
		s.t.Fatal(err)
	}
	if err := s.server.Wait(); err != nil {
		s.t.Errorf("the server ends: %v", err)
	}
	stored := s.stored()
	s.t.Logf("%v, %d kills, %d mutated datagrams", time.Since(s.began).Round(time.Second), s.kills, s.broken.Load())
	s.t.Logf("hostile statements: %d answered, %d refused, %d failed, %d without an answer", s.asked[2], s.asked[4],
		s.asked[5], s.asked[0])
	s.t.Logf("offered %d = arrived %d + lost %d, %d of these while no server ran or after its last checkpoint", offered,
		arrived, lost, away)
	s.t.Logf("the store has %d of them in records of exporters, also of what came after the last checkpoint", stored)
	s.t.Logf("of %d that the last server received, %d are of flows that were not let in, %d in flows, %d of these evicted",
		fate.Reports, fate.KeptOut, fate.InFlows, fate.Evicted)
	s.t.Logf("flows: %.0f of at most %.0f", numberBehind(metrics, "\nwaybill_flows "),
		numberBehind(metrics, "\nwaybill_flows_limit "))
	if stored > offered {
		s.t.Errorf("%d reports are in the store, %d were sent", stored, offered)
	}
	if s.broken.Load() == 0 || s.length >= time.Minute && lost == 0 {
		s.t.Error("nothing happened to the server: this tests little")
	}
	s.flat()
	s.draw()
}

func value(n *uint64) uint64 {
	if n == nil {
		return 0
	}
	return *n
}

// stored is how many reports the records of the exporters in the store have.
func (s *soak) stored() (n uint64) {
	s.t.Helper()
	store, err := duckdb.Open(duckdb.DefaultConfig(filepath.Join(s.dir, "data", "store")))
	if err != nil {
		s.t.Fatal(err)
	}
	defer store.Close()
	a, err := store.Select(s.t.Context(),
		"SELECT CAST(sum(reports) AS UBIGINT) FROM exporters_10s WHERE source_lo % 256 <= 4", 1)
	if err != nil {
		s.t.Fatal(err)
	}
	return a.Rows[0][0].(uint64)
}

// flat compares what the last server took at the beginning and the end of the last quarter of the time.
func (s *soak) flat() {
	s.t.Helper()
	var early, late []float64
	for _, x := range s.samples {
		switch {
		case x.at >= s.length*7/8:
			late = append(late, x.rss)
		case x.at >= s.length*3/4:
			early = append(early, x.rss)
		}
	}
	if len(early) < 20 || len(late) < 20 {
		return // a short run
	}
	slices.Sort(early)
	slices.Sort(late)
	a, b := early[len(early)/2], late[len(late)/2]
	s.t.Logf("resident memory in the last quarter, medians of its halves: %.0f and %.0f MiB", a, b)
	if b > 1.1*a {
		s.t.Errorf("resident memory grows from %.0f to %.0f MiB, with the flows at their bound", a, b)
	}
}

// draw writes the picture.
func (s *soak) draw() {
	s.t.Helper()
	file := os.Getenv(soakPicture)
	if file == "" {
		file = filepath.Join(s.dir, "soak.svg")
	}
	var panels []panel
	step := max(1, len(s.samples)/400)
	for _, of := range []struct {
		title string
		value func(soakSample) float64
	}{
		{"resident memory, MiB", func(x soakSample) float64 { return x.rss }},
		{"flows in the tables", func(x soakSample) float64 { return x.flows }},
		{"goroutines", func(x soakSample) float64 { return x.goroutines }},
		{"open files", func(x soakSample) float64 { return x.files }},
		{"store on disk, MiB", func(x soakSample) float64 { return x.disk }},
	} {
		p := panel{title: of.title, lines: make([][]float64, 1)}
		for n := 0; n < len(s.samples); n += step {
			p.lines[0] = append(p.lines[0], of.value(s.samples[n]))
			p.labels = append(p.labels, s.samples[n].at.Round(time.Second).String())
		}
		panels = append(panels, p)
	}
	draw(s.t, file, 1, 800, 150, panels)
}
