package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/waybill-int/waybill/alert"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/serve"
	"github.com/waybill-int/waybill/telemetry"
)

// A serveProcess is a server in a process of its own.
type serveProcess struct {
	cmd       *exec.Cmd
	udp, http string
}

// startProgram starts a server and waits until it says where it listens.
func startProgram(t *testing.T, program string, args ...string) *serveProcess {
	t.Helper()
	p := &serveProcess{cmd: exec.Command(program, append([]string{"serve"}, args...)...)}
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.end(syscall.SIGKILL) })
	lines := bufio.NewScanner(stderr)
	var said strings.Builder
	for p.http == "" && lines.Scan() {
		said.WriteString(lines.Text() + "\n")
		var line struct{ Msg, Address, URL string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Address != "" {
			p.udp = line.Address
		}
		p.http = line.URL
	}
	if p.http == "" {
		t.Fatalf("the server did not start: %s", &said)
	}
	go func() { _, _ = io.Copy(io.Discard, stderr) }()
	return p
}

// end ends the server, once.
func (p *serveProcess) end(how os.Signal) {
	if p.cmd.ProcessState == nil {
		_ = p.cmd.Process.Signal(how)
		_ = p.cmd.Wait()
	}
}

// A receiver is a webhook that can go away and come back at the same address.
type receiver struct {
	t       *testing.T
	address string
	server  *http.Server

	mu  sync.Mutex
	got []alert.Notification
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{t: t, address: "127.0.0.1:0"}
	r.open()
	t.Cleanup(r.close)
	return r
}

func (r *receiver) open() {
	listener, err := net.Listen("tcp", r.address)
	if err != nil {
		r.t.Fatal(err)
	}
	r.address = listener.Addr().String()
	r.server = &http.Server{Handler: r}
	go func() { _ = r.server.Serve(listener) }()
}

func (r *receiver) close() { r.server.Close() }

func (r *receiver) ServeHTTP(_ http.ResponseWriter, request *http.Request) {
	var n alert.Notification
	if err := json.NewDecoder(request.Body).Decode(&n); err != nil {
		r.t.Error(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, n)
}

// messages returns what came, as "firing leaf1 spine1".
func (r *receiver) messages() (list []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range r.got {
		list = append(list, strings.TrimPrefix(n.Type, "alert.")+" "+n.Data.Event.Name+" "+n.Data.Event.ToName)
	}
	return list
}

// A link fails and is repaired: scenarios/link-failure.yaml takes the link between leaf1 and spine1 away, in both
// directions. Whatever is restarted in between, each direction is told of twice, as firing and then as resolved.
func TestServeAlerts(t *testing.T) {
	program := test.Program(t)
	t.Run("receiver", func(t *testing.T) {
		t.Parallel()
		n := startNetwork(t, program)
		n.fires()
		test.Eventually(t, "knowing that it was delivered", func() bool {
			return strings.Contains(n.ask("/metrics"),
				`waybill_alert_deliveries_total{outcome="delivered",output="hook"} 2`)
		})
		n.receiver.close()
		test.Eventually(t, "the repair",
			func() bool { return strings.Count(n.ask("/api/v1/alerts"), `"state":"resolved"`) == 2 })
		n.receiver.open()
		n.resolves()
	})
	t.Run("server", func(t *testing.T) {
		t.Parallel()
		n := startNetwork(t, program)
		n.fires()
		test.Eventually(t, "writing that it was delivered", func() bool {
			text, err := os.ReadFile(filepath.Join(n.data, "alerts.json"))
			return err == nil && bytes.Count(text, []byte(`"state":"firing"`)) == 2 &&
				bytes.Contains(text, []byte(`"queues":{}`))
		})
		n.serve.end(syscall.SIGKILL)
		n.args[1] = "udp://" + n.serve.udp[len("udp://"):]
		n.serve = startProgram(t, program, n.args...)
		n.resolves()
	})
}

// A network is an emulated one, whose reports go to a server with alert rules.
type network struct {
	t        *testing.T
	serve    *serveProcess
	receiver *receiver
	data     string
	args     []string // of serve; the second one is the address for reports
}

func startNetwork(t *testing.T, program string) *network {
	t.Helper()
	dir := t.TempDir()
	n := &network{t: t, receiver: newReceiver(t), data: filepath.Join(dir, "data")}
	text, err := os.ReadFile(filepath.Join(test.Root(), "scenarios/link-failure.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	// Longer, so that a link that carries little is missed too.
	scenario := strings.NewReplacer("duration: 7s", "duration: 14s", "for: 3s", "for: 7s").Replace(string(text))
	file := filepath.Join(dir, "link-failure.yaml")
	if err := os.WriteFile(file, []byte(scenario), 0o600); err != nil {
		t.Fatal(err)
	}
	config, err := exec.Command(program, "fabric", file, "--serve-config").Output()
	if err != nil {
		t.Fatal(err)
	}
	rules := "rules: [{name: link-lost, filter: 'kind = link_lost and node in (leaf1, spine1) and to_node in (leaf1, spine1)', clear_after: 1s, outputs: [hook]}]\n" +
		"outputs: {hook: {webhook: {url: 'http://" + n.receiver.address + "/'}}}\n"
	for name, text := range map[string]string{"waybill.yaml": string(config), "alerts.yaml": rules} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	n.args = []string{
		"--listen", "udp://127.0.0.1:0", "--http", "127.0.0.1:0", "--memory", "64MiB",
		"--config", filepath.Join(dir, "waybill.yaml"), "--alerts", filepath.Join(dir, "alerts.yaml"), "--data", n.data,
	}
	n.serve = startProgram(t, program, n.args...)
	fabric := exec.Command(program, "fabric", file, "-q", "--reports", strings.TrimPrefix(n.serve.udp, "udp://"))
	if err := fabric.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = fabric.Process.Kill()
		_ = fabric.Wait()
	})
	return n
}

// fires waits until both directions of the link fire.
func (n *network) fires() {
	n.t.Helper()
	test.Eventually(n.t, "firing", func() bool { return len(n.receiver.messages()) >= 2 })
}

// resolves waits until both are resolved, and checks that nothing came but that, once.
func (n *network) resolves() {
	n.t.Helper()
	test.Eventually(n.t, "resolving", func() bool { return len(n.receiver.messages()) >= 4 })
	n.serve.end(syscall.SIGTERM)
	got := n.receiver.messages()
	slices.Sort(got[:2])
	slices.Sort(got[2:])
	want := []string{"firing leaf1 spine1", "firing spine1 leaf1", "resolved leaf1 spine1", "resolved spine1 leaf1"}
	if !slices.Equal(got, want) {
		n.t.Errorf("got %q, want %q", got, want)
	}
	ids := map[string]bool{}
	for _, message := range n.receiver.got {
		ids[message.ID] = true
		if why := message.Data.Resolution; why != "" && why != telemetry.AlertEnded && why != telemetry.AlertForgotten {
			n.t.Errorf("resolved because %s", why)
		}
	}
	if len(ids) != 4 {
		n.t.Errorf("ids are not distinct: %v", ids)
	}
}

func (n *network) ask(path string) string {
	response, err := http.Get(n.serve.http + path)
	if err != nil {
		n.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		n.t.Fatal(err)
	}
	return string(body)
}

// SIGHUP reads the rules anew; those that are wrong change nothing.
func TestServeAlertsReload(t *testing.T) {
	dir := t.TempDir()
	rules := filepath.Join(dir, "alerts.yaml")
	write := func(text string) {
		if err := os.WriteFile(rules, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("outputs: {first: {command: {path: /bin/true}}}")
	p := startProgram(t, test.Program(t), "--listen", "udp://127.0.0.1:0", "--http", "127.0.0.1:0", "--memory", "64MiB",
		"--alerts", rules)
	deliver := func(output string) int {
		_, _, code := runWaybill(t, "alerts", "test", "--server", p.http, "--output", output)
		return code
	}
	if deliver("first") != 0 || deliver("second") != 1 {
		t.Error("the first rules do not hold")
	}
	write("outputs: [")
	if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	write("outputs: {second: {command: {path: /bin/true}}}")
	test.Eventually(t, "the second rules", func() bool {
		_ = p.cmd.Process.Signal(syscall.SIGHUP)
		return deliver("second") == 0
	})
	if deliver("first") != 1 {
		t.Error("the first rules still hold")
	}
}

// The commands about alerts and silences, on a server that has some.
func TestAlertCommands(t *testing.T) {
	dir := t.TempDir()
	rules := filepath.Join(dir, "alerts.yaml")
	const text = "rules: [{name: storms, filter: kind = drop_storm and node = s2, outputs: [good, bad]}, {name: none, filter: kind = loop}]\n" +
		"outputs: {good: {command: {path: /bin/true}}, bad: {command: {path: /bin/false}}}\n"
	if err := os.WriteFile(rules, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	wrong := filepath.Join(dir, "wrong.yaml")
	const mistakes = "rules:\n- {name: a, filter: nod = 3}\n- {name: a, filter: kind = loop, for: 3x, outputs: [zz]}\n" +
		"silences: [{filter: kind = loop, from: 2026-12-24 18:00, until: 2026-12-25}]\n"
	if err := os.WriteFile(wrong, []byte(mistakes), 0o600); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "waybill.yaml")
	if err := os.WriteFile(config, []byte("names: {2: s2}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startServer(t, func(c *serve.Config) { c.Names, c.Alerts = map[uint32]string{2: "s2"}, rules })
	url := s.URL()
	id, _, code := runWaybill(t, "silence", "add", "--server", url, "--filter", "node = s2", "--for", "2h", "--reason",
		"new line card")
	if id = strings.TrimSpace(id); code != 0 || id == "" {
		t.Errorf("got %q, %d", id, code)
	}
	for _, c := range []struct {
		args   []string
		code   int
		stdout string
		stderr string
	}{
		{[]string{"alerts", "check", rules, "--config", config}, 0, "is valid: 2 rules, 0 silences, 2 outputs\n", ""},
		{[]string{"alerts", "check", rules}, 2, "", "rules[0].filter: column 30: "},
		{
			[]string{"alerts", "check", wrong},
			2, "",
			wrong + `:3: rules[1].for: want a duration with its unit, for example 20us, 1m30s or 7d
` + wrong + `:2: rules[0].filter: column 1: events have no field nod: did you mean node?
` + wrong + `:3: rules[1].outputs: there is no output "zz"
` + wrong + `:3: rules[1].name: another rule has this name
waybill alerts check: ` + wrong + ": 4 mistakes\n",
		},
		{[]string{"policy", "check", "nothing"}, 2, "", "no such file"},
		{[]string{"alerts", "check", "nothing"}, 2, "", "no such file"},
		{[]string{"config", "--check", "--config", "nothing"}, 2, "", "no such file"},
		{[]string{"serve", "--check", "--config", "nothing"}, 2, "", "no such file"},
		{[]string{"config", "--check", "--dump", "--config", config}, 0, "names:\n  2: s2\n", ""},
		{[]string{"alerts", "check"}, 2, "", "want a file of alert rules"},
		{[]string{"alerts", "nonsense"}, 2, "", `unexpected argument "nonsense"`},
		{
			[]string{"alerts", "test", "storms", "--server", url},
			1, "bad: failed: exit status 1\ngood: delivered in ",
			"1 of 2 outputs did not take the test",
		},
		{[]string{"alerts", "test", "--output", "good", "--server", url}, 0, "good: delivered in ", ""},
		{[]string{"alerts", "test", "none", "--server", url}, 0, "", "this rule has no outputs"},
		{[]string{"alerts", "test", "nothing", "--server", url}, 1, "", `no such rule or output: "nothing"`},
		{[]string{"alerts", "test"}, 2, "", "want a rule, or an output"},
		{[]string{"alerts", "test", "a", "--server", "http://127.0.0.1:1"}, 1, "", "is `waybill serve` running?"},
		{[]string{"alerts", "--server", url}, 0, "", "no alerts yet: point telemetry reports"},
		{[]string{"silence"}, 0, "Available Commands", ""},
		{[]string{"silence", "nonsense"}, 2, "", "want add, list or remove"},
		{[]string{"silence", "add", "--server", url, "--for", "2h"}, 2, "", "--filter is missing"},
		{[]string{"silence", "add", "--server", url, "--filter", "node = s2"}, 2, "", "want --for or --until"},
		{
			[]string{"silence", "add", "--server", url, "--filter", "node = s2", "--until", "tomorrow"},
			2, "",
			"--until is \"tomorrow\"",
		},
		{
			[]string{"silence", "add", "--server", url, "--filter", "nodd = 2", "--for", "2h"},
			2, "",
			"filter: column 1: events have no field nodd: did you mean node?",
		},
		{[]string{"silence", "list", "--server", url, "-o", "csv"}, 0, ",new line card,false\n", ""},
		{[]string{"silence", "list", "--server", url}, 0, "Z  new line card\n", ""},
		{[]string{"silence", "remove", "nothing", "--server", url}, 1, "", "there is no silence"},
		{[]string{"silence", "remove", id, "--server", url}, 0, "", ""},
		{[]string{"silence", "list", "--server", url}, 0, "", "no silences"},
		{[]string{"serve", "--alerts", rules, "--check"}, 2, "", "alerts: " + rules + ":1: rules[0].filter"},
		{[]string{"serve", "--alerts", rules, "--config", config, "--check"}, 0, "the configuration is valid", ""},
		{[]string{"serve", "--alerts", rules, "--config", config, "--dump"}, 0, "alerts: " + rules + "\n", ""},
	} {
		stdout, stderr, code := runWaybill(t, c.args...)
		if code != c.code || !strings.Contains(stdout, c.stdout) || !strings.Contains(stderr, c.stderr) ||
			c.code != 0 && strings.Count(stderr, "\n") != 1 && !strings.HasSuffix(c.stderr, "\n") {
			t.Errorf("%q: got %d, %q, %q", c.args, code, stdout, stderr)
		}
	}
}

// A storm of drops becomes an alert, while it is silenced nobody is told, and the metrics say so.
func TestServeAlertSilenced(t *testing.T) {
	r := newReceiver(t)
	rules := filepath.Join(t.TempDir(), "alerts.yaml")
	text := "rules: [{name: storms, filter: kind = drop_storm, clear_after: 0s, outputs: [hook]}]\n" +
		"silences: [{filter: node = s2, until: " + time.Now().Add(time.Hour).UTC().Format(time.RFC3339) +
		", reason: test}]\n" +
		"outputs: {hook: {webhook: {url: 'http://" + r.address + "/'}}}\n"
	if err := os.WriteFile(rules, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startServer(t, func(c *serve.Config) {
		c.Names, c.Alerts = map[uint32]string{1: "s1", 2: "s2", 3: "s3"},
			rules
	})
	drops := test.Captured(t, "fabric_tna_xd_drop")
	s.send(s.udp(0), test.Again(drops, 5))
	var alerts []telemetry.Alert
	storms := map[string]int{} // by name
	test.Eventually(t, "the end of the storms", func() bool {
		s.get("/api/v1/alerts?state=resolved", "alerts", &alerts)
		clear(storms)
		for _, a := range alerts {
			storms[a.Event.Name]++
		}
		var firing []telemetry.Alert
		s.get("/api/v1/alerts?state=firing", "alerts", &firing)
		return storms["s1"] > 0 && storms["s2"] > 0 && len(firing) == 0
	})
	want := 0
	for name, n := range storms {
		if name != "s2" {
			want += 2 * n
		}
	}
	test.Eventually(t, "the messages", func() bool { return len(r.messages()) >= want })
	for _, m := range r.messages() {
		if strings.Contains(m, "s2") {
			t.Errorf("got %s", m)
		}
	}
	if got := len(r.messages()); got != want {
		t.Errorf("got %d messages, want %d", got, want)
	}
}
