package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/waybill-int/waybill/collect"
	"github.com/waybill-int/waybill/fabric"
	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/scenarios"
	"github.com/waybill-int/waybill/serve"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// runFabric runs waybill fabric with a text on standard input.
func runFabric(ctx context.Context, stdin string, args ...string) (out, errs string, code int) {
	root := newRootCommand()
	var outBuffer, errBuffer bytes.Buffer
	root.SetArgs(append([]string{"fabric"}, args...))
	root.SetIn(strings.NewReader(stdin))
	root.SetOut(&outBuffer)
	root.SetErr(&errBuffer)
	root.SetContext(ctx)
	code = command.Execute(root)
	return outBuffer.String(), errBuffer.String(), code
}

// mustFabric runs waybill fabric, which has to succeed without a word on standard error, and returns its output.
func mustFabric(t *testing.T, args ...string) string {
	t.Helper()
	out, errs, code := runFabric(t.Context(), "", args...)
	if code != 0 || errs != "" {
		t.Fatalf("fabric %v: code %d\n%s", args, code, errs)
	}
	return out
}

// fabricFiles are what a short run has written.
type fabricFiles struct {
	truth, pcap string
	links       string // directory
	summary     fabricSummary
}

func runToFiles(t *testing.T, args ...string) fabricFiles {
	t.Helper()
	dir := t.TempDir()
	f := fabricFiles{
		truth: filepath.Join(dir, "truth.ndjson"), pcap: filepath.Join(dir, "reports.pcap"),
		links: filepath.Join(dir, "new/links"),
	}
	out := mustFabric(t, append(args, "--truth", f.truth, "--pcap", f.pcap, "--pcap-links", f.links, "-o", "json")...)
	if err := json.Unmarshal([]byte(out), &f.summary); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return f
}

// truthRecords reads a truth file to its end.
func truthRecords(t *testing.T, file string) (list []truth.Record) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for r := truth.NewReader(f); ; {
		record, err := r.Next()
		if err == io.EOF {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, record)
	}
}

// packetsOf reads a capture to its end.
func packetsOf(t *testing.T, file string) (frames [][]byte) {
	t.Helper()
	c, err := collect.OpenCapture(file)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for {
		p, err := c.Next()
		if err == io.EOF {
			return frames
		}
		if err != nil {
			t.Fatal(err)
		}
		frames = append(frames, bytes.Clone(p.Data))
	}
}

// What the summary counts is what the files hold.
func TestFabricFiles(t *testing.T) {
	for _, args := range [][]string{{"report-loss", "--duration", "1500ms"}, {"incast", "--duration", "400ms"}} {
		f := runToFiles(t, args...)
		s := f.summary
		if s.Scenario != args[0] || s.Sent == 0 || s.Sent != s.Delivered+s.Dropped+s.InFlight ||
			fmt.Sprintf("%dms", s.VirtualNs/1e6) != args[2] {
			t.Errorf("summary %+v", s)
		}
		records := truthRecords(t, f.truth)
		end, ok := records[len(records)-1].(*truth.End)
		if !ok {
			t.Fatalf("the last record is %T", records[len(records)-1])
		}
		if end.Sent != s.Sent || end.Delivered != s.Delivered || end.InFlight != s.InFlight ||
			end.Hops != s.PacketHops ||
			end.Reports != s.Reports || end.ReportsLost != s.ReportsLost || len(end.Dropped) != len(s.Drops) {
			t.Errorf("the truth ends with %+v, the summary is %+v", *end, s)
		}
		var drops, reports, lost uint64
		for _, record := range records {
			switch r := record.(type) {
			case *truth.Drop:
				drops++
			case *truth.Report:
				reports++
				if r.Lost {
					lost++
				}
			}
		}
		if drops != s.Dropped || lost != s.ReportsLost {
			t.Errorf("%d drop records, %d lost reports, the summary is %+v", drops, lost, s)
		}
		if got := uint64(len(packetsOf(t, f.pcap))); got != s.Reports-s.ReportsLost || got == 0 {
			t.Errorf("%d reports in the capture, want %d - %d", got, s.Reports, s.ReportsLost)
		}
		links, err := filepath.Glob(f.links + "/leaf1-*.pcap")
		if err != nil || len(links) == 0 {
			t.Fatalf("captures of links: %v %v", links, err)
		}
		for _, link := range links {
			if len(packetsOf(t, link)) == 0 {
				t.Errorf("%s is empty", link)
			}
		}
	}
}

// The same seed gives the same bytes, another one does not.
func TestFabricSeed(t *testing.T) {
	content := func(args ...string) string {
		f := runToFiles(t, append([]string{"steady", "--duration", "60ms"}, args...)...)
		links, err := fs.Glob(os.DirFS(f.links), "*.pcap")
		if err != nil {
			t.Fatal(err)
		}
		var all bytes.Buffer
		for _, file := range append([]string{f.truth, f.pcap}, join(f.links, links)...) {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&all, "%s %x\n", filepath.Base(file), b)
		}
		return all.String()
	}
	first := content()
	if content("--seed", "1") != first {
		t.Error("seed 1, that of the scenario, gives other files")
	}
	if content("--seed", "2") == first {
		t.Error("seed 2 gives the same files")
	}
}

func join(dir string, names []string) []string {
	files := make([]string, len(names))
	for i, name := range names {
		files[i] = filepath.Join(dir, name)
	}
	return files
}

// listen opens a socket as a collector would.
func listen(t *testing.T, address string) net.PacketConn {
	t.Helper()
	conn, err := net.ListenPacket("udp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// received returns the datagrams that have come.
func received(conn net.PacketConn) (payloads [][]byte) {
	for b := make([]byte, 65536); ; {
		conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
		n, _, err := conn.ReadFrom(b)
		if err != nil {
			return payloads
		}
		payloads = append(payloads, bytes.Clone(b[:n]))
	}
}

// Two collectors share the reports, and each gets those that are addressed to it.
func TestFabricCollectors(t *testing.T) {
	a := listen(t, "127.0.0.1:0")
	_, port, _ := net.SplitHostPort(a.LocalAddr().String())
	b := listen(t, "127.0.0.2:"+port)
	pcap := filepath.Join(t.TempDir(), "reports.pcap")
	mustFabric(t, "microburst", "--duration", "30ms", "--speed", "max", "--pcap", pcap,
		"--reports", a.LocalAddr().String(), "--reports", b.LocalAddr().String())
	addressed := map[string][][]byte{}
	for _, frame := range packetsOf(t, pcap) {
		to := destination(frame).String()
		addressed[to] = append(addressed[to], frame)
	}
	for _, conn := range []net.PacketConn{a, b} {
		got, want := received(conn), addressed[conn.LocalAddr().String()]
		if len(got) != len(want) {
			t.Fatalf("%d datagrams at %s, want %d", len(got), conn.LocalAddr(), len(want))
		}
		for i := range got {
			if !bytes.HasSuffix(want[i], got[i]) {
				t.Fatalf("datagram %d differs:\n% x\n% x", i, got[i], want[i])
			}
		}
		delete(addressed, conn.LocalAddr().String())
	}
	if len(addressed) > 0 {
		t.Errorf("reports to %d others", len(addressed))
	}
}

// Reports are sent as virtual time goes by, and a run that is interrupted has complete files.
func TestFabricInterrupt(t *testing.T) {
	file := filepath.Join(t.TempDir(), "truth.ndjson")
	ctx, cancel := context.WithCancel(t.Context())
	conn := listen(t, "127.0.0.1:0")
	go func() {
		for b := make([]byte, 65536); ; {
			if _, _, err := conn.ReadFrom(b); err != nil {
				return
			}
			time.AfterFunc(200*time.Millisecond, cancel)
		}
	}()
	out, errs, code := runFabric(ctx, "", "demo", "--reports", conn.LocalAddr().String(), "--truth", file)
	if code != 0 || !strings.Contains(out, "seed 1, interrupted: ") {
		t.Errorf("code %d\n%s%s", code, out, errs)
	}
	records := truthRecords(t, file)
	end, ok := records[len(records)-1].(*truth.End)
	if !ok ||
		!strings.Contains(out,
			fmt.Sprintf("packets: %d sent = %d delivered + 0 dropped + %d in flight\n", end.Sent, end.Delivered,
				end.InFlight)) {
		t.Errorf("the truth ends with %+v, the summary is\n%s", records[len(records)-1], out)
	}
}

// In real time a run takes as long as it lasts.
func TestFabricRealTime(t *testing.T) {
	start := time.Now()
	mustFabric(t, "microburst", "--duration", "300ms", "--speed", "realtime", "-q")
	if took := time.Since(start); took < 300*time.Millisecond {
		t.Errorf("took %s", took)
	}
}

// A scenario may come from standard input, files may go to standard output, and the summary then does not.
func TestFabricPipes(t *testing.T) {
	text, err := scenarios.Files.ReadFile("microburst.yaml")
	if err != nil {
		t.Fatal(err)
	}
	out, errs, code := runFabric(t.Context(), string(text), "-", "--duration", "20ms", "--truth", "-")
	if code != 0 || !strings.HasPrefix(out, `{"type":"run","scenario":"microburst"`) ||
		!strings.HasPrefix(errs, "scenario microburst, seed 1: 20ms in ") {
		t.Errorf("code %d\n%.200s\n%s", code, out, errs)
	}
	if last := out[strings.LastIndex(strings.TrimSpace(out), "\n")+1:]; !strings.HasPrefix(last, `{"type":"end"`) {
		t.Errorf("the last line is %s", last)
	}
}

// A run that lasts longer than its scenario says has traffic to the end.
func TestFabricLonger(t *testing.T) {
	const text = "duration: 1s\ntopology: {leaf_spine: {leaves: 1, spines: 1, hosts: 2}}\n" +
		"traffic: [{constant: {from: h1, to: h2}, rate: 1M, packet: 500}, {constant: {from: h2, to: h1}, rate: 1M, packet: 500, stop: 500ms}]"
	out, errs, code := runFabric(t.Context(), text, "-", "--duration", "2s", "-o", "json")
	var s fabricSummary
	if err := json.Unmarshal([]byte(out), &s); err != nil || code != 0 {
		t.Fatalf("code %d %v\n%s", code, err, errs)
	}
	perSecond := 1e6 / 8 / 500.0
	if got := float64(s.Sent) / perSecond; got < 2.3 || got > 2.7 {
		t.Errorf("%d packets are those of %.2f seconds, want 2.5", s.Sent, got)
	}
}

// A progress bar does not change what happens.
func TestFabricProgress(t *testing.T) {
	s, err := scenario.Parse("x.yaml",
		[]byte("duration: 50ms\ntopology: {leaf_spine: {leaves: 2, spines: 2, hosts: 2}}\ntraffic: [{poisson: {load: 50%, sizes: web_search}}]"))
	if err != nil {
		t.Fatal(err)
	}
	var truths [2]bytes.Buffer
	var shown bytes.Buffer
	for i, bar := range []*progressbar.ProgressBar{
		nil,
		progressbar.NewOptions64(50e6, progressbar.OptionSetWriter(&shown)),
	} {
		f, err := fabric.New(s, fabric.Options{Truth: &truths[i]})
		if err != nil {
			t.Fatal(err)
		}
		p := fabricProgress{fabric: f, until: 50 * time.Millisecond, bar: bar}
		if err := errors.Join(p.run(t.Context()), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(truths[0].Bytes(), truths[1].Bytes()) {
		t.Error("a progress bar changes the truth")
	}
	for _, want := range []string{"of 50ms, ", " x real time, ", " packets, ", " reports"} {
		if !strings.Contains(shown.String(), want) {
			t.Errorf("the bar does not show %q: %q", want, shown.String())
		}
	}
}

func TestFabricList(t *testing.T) {
	out := mustFabric(t, "--list")
	files, err := fs.Glob(scenarios.Files, "*.yaml")
	if err != nil || len(files) < 10 || strings.Count(out, "\n") != len(files) {
		t.Fatalf("%d scenarios, %v, the list is\n%s", len(files), err, out)
	}
	for _, file := range files {
		name := strings.TrimSuffix(file, ".yaml")
		i := slices.IndexFunc(strings.Split(out, "\n"), func(line string) bool {
			listed, sentence, _ := strings.Cut(line, "  ")
			return listed == name && len(strings.TrimSpace(sentence)) > 10
		})
		if i < 0 {
			t.Errorf("no line for %s:\n%s", name, out)
		}
	}
}

// What --serve-config prints, serve takes.
func TestFabricServeConfig(t *testing.T) {
	for stdin, want := range map[string]map[uint32]string{
		"": {1: "leaf1", 2: "leaf2", 3: "leaf3", 4: "leaf4", 5: "spine1", 6: "spine2"},
		"duration: 1s\ntopology: {graph: {switches: [{name: \"12\"}, {name: \"true\"}, {name: a.b-c}]}}": {
			1: "12",
			2: "true", 3: "a.b-c",
		},
		"duration: 1s\nint: {dialect: spec}\ntopology: {graph: {switches: [{name: s1}]}}": {1: "s1"},
	} {
		name := "demo"
		if stdin != "" {
			name = "-"
		}
		out, errs, code := runFabric(t.Context(), stdin, name, "--serve-config")
		if code != 0 {
			t.Fatalf("code %d\n%s", code, errs)
		}
		file := filepath.Join(t.TempDir(), "serve.yaml")
		if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
			t.Fatal(err)
		}
		c := serve.DefaultConfig()
		if err := c.ReadFile(file); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(c.Names) != fmt.Sprint(want) {
			t.Errorf("names %v, want %v", c.Names, want)
		}
		// Switches of the fabric count bytes. A dialect that says something else, or nothing, needs the unit.
		if unit := c.QueueUnit["1"]; (unit == codepoint.UnitBytes) != strings.Contains(stdin, "dialect") {
			t.Errorf("unit of queues %v\n%s", unit, out)
		}
		if use := c.UtilizationUnit["1"]; (use > 0) != (c.QueueUnit["1"] > 0) {
			t.Errorf("unit of utilization %v\n%s", use, out)
		}
	}
}

func TestFabricRefuses(t *testing.T) {
	if test.RaceDetector {
		t.Skip("nothing here runs side by side")
	}
	bad := func(text string) string {
		file := filepath.Join(t.TempDir(), "bad.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	const small = "duration: 1ms\ntopology: {leaf_spine: {leaves: 1, spines: 1, hosts: 1}}\n"
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"", 2, "no scenario; for example"},
		{"steady incast", 2, `unexpected argument "incast"`},
		{"steady --list", 2, "--list takes no scenario"},
		{"study", 2, "study: no such file, and no scenario of this name"},
		{"/nonexistent.yaml", 2, "no such file"},
		{"steady --speed fast", 2, "realtime or max"},
		{"steady --duration -1s", 2, "--duration"},
		{"steady --seed -1", 2, "--seed"},
		{"steady -o xml", 2, "text, json, yaml"},
		{"steady --pcap x --truth x", 2, "two files"},
		{"steady --reports nowhere", 1, "--reports nowhere: "},
		{"steady --reports :8555", 2, "want HOST:PORT"},
		{"steady --reports 127.0.0.1:9 --reports 127.0.0.1:9", 2, "--reports 127.0.0.1:9: is there twice"},
		{"steady --reports 127.0.0.1:9 --reports 127.0.0.2:10", 2, "same port"},
		{"steady --truth /nonexistent/truth", 1, "no such file"},
		{"steady --pcap /nonexistent/pcap", 1, "no such file"},
		{"steady --pcap-links /dev/null/links", 1, "not a directory"},
		{"steady --duration 1s --truth /dev/full", 1, "no space left"},
		{"steady --duration 1s --pcap /dev/full", 1, "no space left"},
		{
			bad("duration: 10s\ntopology: {leaf_spine: {leaves: 2, spines: 0, hosts: 1}}\n"), 2,
			"bad.yaml:2: topology.leaf_spine.spines: got 0, want 1 to 64",
		},
		{
			bad("duration: 0s\ntopology: {leaf_spine: {leaves: 2, spines: 0, hosts: 1}}\n"), 2,
			"bad.yaml:1: duration: want how long the scenario lasts, for example 10s (and 1 more)",
		},
		{bad("duration: 10s\ncolour: red\n"), 2, "bad.yaml:2: "},
		{bad(small + "int:\n  mode: xyz\n"), 2, "bad.yaml:4: int: mode: "},
		{bad(small + "int:\n  mode: md\n  modus: xd\n"), 2, "bad.yaml:5: int: "},
		{bad(small+"int:\n  mode: xyz\n") + " --serve-config", 2, "bad.yaml:4: int: mode: "},
	} {
		out, errs, code := runFabric(t.Context(), "", strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(errs, c.want) || strings.Count(errs, "\n") != 1 || out != "" {
			t.Errorf("fabric %s: got code %d, %q and %q; want code %d, one line with %q", c.args, code, errs, out,
				c.code, c.want)
		}
	}
}
