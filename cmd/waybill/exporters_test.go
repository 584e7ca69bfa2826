package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/serve"
	"github.com/waybill-int/waybill/telemetry"
)

// Reports of strangers, and of nodes that a source may not speak for, are refused; the API, the metrics and the command
// line say whose and how many.
func TestServeExporters(t *testing.T) {
	s := startServer(t, func(c *serve.Config) {
		c.Exporters = []serve.ExporterRule{
			{Source: "127.0.0.2", Nodes: serve.NodeIDs{1}, Name: "leaf1"},
			{Source: "127.0.0.3/32"},
		}
	})
	send := func(source string, node uint32, n int) {
		t.Helper()
		to, _ := net.ResolveUDPAddr("udp4", s.udp(0))
		conn, err := net.DialUDP("udp4", &net.UDPAddr{IP: net.ParseIP(source)}, to)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		for i := range uint32(n) {
			payload := test.Report(test.Form20XD, i, i, 1)
			payload[7] = byte(node)
			if _, err := conn.Write(payload); err != nil {
				t.Fatal(err)
			}
		}
	}
	send("127.0.0.2", 1, 10)
	send("127.0.0.2", 2, 7)
	send("127.0.0.3", 3, 5)
	send("127.0.0.4", 1, 3)
	test.Eventually(t, "receiving everything", func() bool { return s.total().Received == 25 })
	if n := s.total(); n.Decoded != 15 || n.KernelDrops != 0 {
		t.Errorf("got %+v", n)
	}
	var exporters []telemetry.Exporter
	s.get("/api/v1/exporters", "exporters", &exporters)
	got := ""
	for _, e := range exporters {
		node := "-"
		if e.Node != nil {
			node = fmt.Sprint(*e.Node)
		}
		got += fmt.Sprintf("%v node %s received %d refused %d %s\n", e.Source, node, e.Received, e.Refused,
			e.RefusedBecause)
	}
	if want := `127.0.0.2 node 1 received 10 refused 0 
127.0.0.3 node 3 received 5 refused 0 
127.0.0.2 node 2 received 7 refused 7 leaf1 (127.0.0.2/32) may not report as node 2
127.0.0.4 node - received 3 refused 3 no row of exporters has its address
`; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	var listeners []client.Listener
	s.get("/api/v1/listeners", "listeners", &listeners)
	if l := listeners[0]; l.Received != 25 || l.Decoded != 15 || l.Refused != 10 || l.RefusedUnlisted != 0 {
		t.Errorf("got %+v", l)
	}
	out, _, _ := runWaybill(t, "exporters", "--server", s.URL())
	if !strings.Contains(out, "refused 7: leaf1") || !strings.Contains(out, "refused 3: no row") {
		t.Errorf("got\n%s", out)
	}
	var nodes []telemetry.Node
	s.get("/api/v1/nodes", "nodes", &nodes)
	for _, n := range nodes {
		if n.ID == 2 {
			t.Error("node 2 is known by what was refused")
		}
	}
}

func TestServeExportersConfig(t *testing.T) {
	for text, want := range map[string]string{
		"exporters: [{source: 10.0.0.0/8, nodes: [1, 2, 0x3eb], name: leafs}, {source: '2001:db8::1', nodes: any}]": "",
		"exporters: []":                                          "",
		"exporters: [{source: 10.0.0.0/33}]":                     "row 1: source",
		"exporters: [{source: 10.0.0.1}, {source: leaf1}]":       "row 2: source",
		"exporters: [{nodes: [1]}]":                              "row 1: source",
		"exporters: [{source: 10.0.0.1, nodes: []}]":             "nodes is empty",
		"exporters: [{source: 10.0.0.1, nodes: all}]":            `exporters[0].nodes: got "all", want a list`,
		"exporters: [{source: 10.0.0.1, nodes: [-1]}]":           `exporters[0].nodes[0]: got "-1", want a whole number`,
		"exporters: [{source: 10.0.0.1}, {source: 10.0.0.1/32}]": "twice",
		"exporters: [{source: 10.0.0.1, node: [1]}]":             `exporters[0]: unknown key "node"; did you mean nodes?`,
		"exporters: {source: 10.0.0.1}":                          "",
	} {
		file := filepath.Join(t.TempDir(), "waybill.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, errs, code := runWaybill(t, "serve", "--dump", "--config", file)
		if text == "exporters: {source: 10.0.0.1}" {
			if code != command.ExitUsage {
				t.Errorf("a map is taken for a list: %s", out)
			}
			continue
		}
		if (code == 0) != (want == "") || !strings.Contains(errs, want) || strings.Count(errs, "\n") > 1 {
			t.Errorf("%s: got code %d, %s; want %q", text, code, errs, want)
		}
		if code != 0 {
			continue
		}
		if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
			t.Fatal(err)
		}
		if again, errs, _ := runWaybill(t, "serve", "--dump", "--config", file); again != out {
			t.Errorf("%s: the dump does not read back: %s\n%s", text, errs, out)
		}
	}
	t.Setenv("WAYBILL_EXPORTERS", "[{source: 10.0.0.0/8, nodes: [7]}]")
	if out, errs, _ := runWaybill(t, "serve", "--dump"); !strings.Contains(out, "source: 10.0.0.0/8") ||
		!strings.Contains(out, "- 7\n") {
		t.Errorf("got %s%s", out, errs)
	}
}

// A syncBuffer is a log that is read while it is written.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(text)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// The last line of a run, and the warning, tell of what was refused; a flood of it does not flood the log.
func TestServeSaysRefused(t *testing.T) {
	log := new(syncBuffer)
	c := serve.DefaultConfig()
	c.Listen, c.HTTP = []string{"udp://127.0.0.1:0"}, "127.0.0.1:0"
	c.Exporters = []serve.ExporterRule{{Source: "192.0.2.1"}}
	c.Points.Compile()
	s, err := serve.New(t.Context(), &c, log)
	if err != nil {
		t.Fatal(err)
	}
	r := run(t, s)
	for range 3 {
		r.send(r.udp(0), [][]byte{test.Report(test.Form20XD, 1, 1, 1), {1}, {2}})
		test.Eventually(t, "the warning",
			func() bool { return strings.Contains(log.String(), "refused reports of who may not send them") })
	}
	test.Eventually(t, "receiving everything", func() bool { return r.total().Received == 9 })
	r.stop()
	warned := 0
	for line := range strings.Lines(log.String()) {
		var entry struct {
			Msg, Because, Latest string
			Refused              int
		}
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatal(err)
		}
		switch entry.Msg {
		case "stopped":
			if entry.Refused != 9 {
				t.Errorf("got %s", line)
			}
		case "refused reports of who may not send them; waybill exporters lists them":
			warned++
			if entry.Latest != "127.0.0.1" || entry.Because != "no row of exporters has its address" {
				t.Errorf("got %s", line)
			}
		}
	}
	if warned != 1 {
		t.Errorf("warned %d times in a minute, want once", warned)
	}
}
