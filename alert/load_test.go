package alert

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/internal/conf"
	"github.com/waybill-int/waybill/internal/conf/conftest"
	"github.com/waybill-int/waybill/telemetry"
)

// everything is a file that has every key.
const everything = `
rules:
  - name: link-lost
    filter: kind = link_lost and node = leaf1
    for: 30s
    clear_after: 1m
    causes: true
    repeat: 0s
    severity: critical
    labels: {team: fabric}
    summary: '{{.Text}}{{if .ToNode}} (to {{.ToNode}}){{end}}'
    annotations: {runbook: 'https://runbooks.example/{{.Kind}}'}
    outputs: [noc, log, am, pager]
  - {name: storms, filter: 'kind = drop_storm'}
silences:
  - {filter: node = leaf2, from: 2026-12-24T18:00:00Z, until: 2026-12-26T06:00:00+01:00, reason: maintenance}
outputs:
  noc:
    webhook: {url: "https://noc.example/hook", secret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw, timeout: 5s, headers: {X-Team: fabric}}
  log:
    syslog: {address: "tls://log.example:6514", facility: local3, ca: /etc/ssl/log.pem, timeout: 3s}
  am:
    alertmanager: {url: "http://127.0.0.1:9093"}
  pager:
    command: {path: /usr/local/bin/page, args: [--now, "it's on"], timeout: 20s}
`

var leaves = map[uint32]string{1: "leaf1", 2: "leaf2"}

func TestParse(t *testing.T) {
	c, err := parseText([]byte(everything), leaves)
	if err != nil {
		t.Fatal(err)
	}
	r := &c.Rules[0]
	if r.Name != "link-lost" || time.Duration(r.For) != 30*time.Second || r.clearAfter() != time.Minute ||
		r.repeat() != 0 || len(r.Outputs) != 4 {
		t.Errorf("got %+v", r)
	}
	if s := &c.Rules[1]; s.clearAfter() != time.Minute || s.repeat() != 4*time.Hour ||
		s.severity(&telemetry.Event{Severity: telemetry.Warning}) != telemetry.Warning {
		t.Errorf("got %+v", s)
	}
	node, other, to := uint32(1), uint32(2), "spine1"
	e := telemetry.Event{Kind: telemetry.EventLinkLost, Node: &node, ToName: to, Text: "gone"}
	if !r.selects(&e) || r.severity(&e) != telemetry.Critical {
		t.Error("the rule does not select its event")
	}
	f := fieldsOf(r.Name, telemetry.Critical, &e)
	if got := r.summary.text(&f) + " " +
		r.annotations["runbook"].text(&f); got != "gone (to spine1) https://runbooks.example/link_lost" {
		t.Errorf("got %q", got)
	}
	e.Node = &other
	s := &c.Silences[0]
	from := time.Date(2026, 12, 24, 18, 0, 0, 0, time.UTC)
	until := time.Date(2026, 12, 26, 5, 0, 0, 0, time.UTC)
	for at, want := range map[time.Time]bool{from: true, from.Add(-1): false, until: false, until.Add(-1): true} {
		if s.holds(&e, at) != want {
			t.Errorf("the silence at %v: want %v", at, want)
		}
	}
	if r.selects(&e) || !s.InFile || !strings.HasPrefix(s.ID, "file-") {
		t.Errorf("got %+v", s)
	}
	o := c.Outputs
	if time.Duration(*o["noc"].Webhook.Timeout) != 5*time.Second || o["noc"].Webhook.Headers["X-Team"] != "fabric" ||
		o["log"].Syslog.Facility != "local3" ||
		o["am"].Alertmanager.URL != "http://127.0.0.1:9093" || o["pager"].Command.Args[1] != "it's on" ||
		o["pager"].timeout() != 20*time.Second {
		t.Errorf("got %+v", o)
	}
}

// Bad files: what is said of them begins with the line, and tells nothing of secrets.
func TestParseErrors(t *testing.T) {
	rule := func(more string) string { return "rules:\n  - name: a\n    filter: kind = loop\n    " + more + "\n" }
	out := func(more string) string { return "outputs:\n  a:\n    " + more + "\n" }
	for _, c := range []struct{ text, want string }{
		{"rule: []", `line 1: unknown key "rule"; did you mean rules?`},
		{"- a", "line 1: got a list, want keys and values; known are outputs, rules, silences"},
		{"rules: {}", "line 1: "},
		{"rules: []\n---\nrules: []", "line 3: a second YAML document, want one"},
		{"rules: &a []\noutputs: *a", "line 1: rules: want a plain value, without tags"},
		{"rules:\n  - name: a\n  - name: b", "line 2: rules[0].filter: want a filter"},
		{
			"rules:\n  - {name: a, filter: kind = loop}\n  - {name: a, filter: kind = loop}",
			"line 3: rules[1].name: another rule",
		},
		{
			"rules:\n  - name: a\n    filter: kindd = loop",
			"line 3: rules[0].filter: column 1: events have no field kindd: did you mean kind?",
		},
		{"rules:\n  - name: a\n    filter: node = leaf9", "line 3: rules[0].filter: column 8: "},
		{"rules:\n  - name: a b\n    filter: kind = loop", "line 2: rules[0].name: want letters"},
		{rule("for: soon"), "line 4: rules[0].for: want a duration"},
		{rule("for: -1s"), "line 4: rules[0].for: want a duration"},
		{rule("for: [1s]"), "line 4: rules[0].for: got a list, want a duration"},
		{rule("clear_after: 25h"), "line 4: rules[0].clear_after: want at most 24h"},
		{rule("repeat: 1s"), "line 4: rules[0].repeat: want at least 1m"},
		{rule("severity: bad"), "line 4: rules[0].severity: want info, warning or critical"},
		{rule("outputs: [noc]"), `line 4: rules[0].outputs: there is no output "noc"`},
		{rule("labels: {node: x}"), `line 4: rules[0].labels: "node" cannot be a label`},
		{rule("labels: {a-b: x}"), `line 4: rules[0].labels: "a-b" cannot be a label`},
		{rule("annotations: {summary: x}"), `line 4: rules[0].annotations: "summary" cannot be an annotation`},
		{rule("summary: '{{.Nodes}}'"), "line 4: rules[0].summary: "},
		{rule("summary: '{{.Node'"), "line 4: rules[0].summary: "},
		{
			rule("summary: '{{range 1000000000}}{{end}}'"),
			"line 4: rules[0].summary: {{range 1000000000}}{{end}} is not possible",
		},
		{rule("summary: '{{$x := .Node}}'"), "line 4: rules[0].summary: variables are not possible"},
		{rule(`summary: '{{printf "%9999999d" 1}}'`), "line 4: rules[0].summary: the function printf is not possible"},
		{rule(`summary: '{{define "x"}}{{end}}'`), "line 4: rules[0].summary: define and block are not possible"},
		{rule("summary: '" + strings.Repeat("x", 1025) + "'"), "line 4: rules[0].summary: the template is longer"},
		{"silences:\n  - {filter: kind = loop}", "line 2: silences[0].until: want the time"},
		{"silences:\n  - {filter: kind = loop, until: tomorrow}", "line 2: silences[0].until: want a time such as"},
		{"silences:\n  - {filter: '', until: 2026-12-24T18:00:00Z}", "line 2: silences[0].filter: want a filter"},
		{
			"silences:\n  - filter: kind = loop\n    from: 2026-12-24T18:00:00Z\n    until: 2026-12-24T18:00:00Z",
			"line 4: silences[0].until: want a time after from",
		},
		{"outputs: {a: }", "outputs.a: got 0 kinds"},
		{"outputs: {a b: {}}", "line 1: outputs: want names"},
		{
			out("webhook: {url: 'http://x', secret: 'sixteen bytes ok', secret_file: /x}"),
			"line 3: outputs.a: want secret or secret_file",
		},
		{out("webhook: {url: 'http://x', secret: hunter2}"), "outputs.a: secret: want at least 16 bytes"},
		{out("webhook: {url: 'http://x', secret: whsec_hunter2!}"), "outputs.a: secret: want base64"},
		{out("webhook: {url: 'ftp://hunter2'}"), "outputs.a: url: want http"},
		{out("webhook: {url: '/hunter2'}"), "outputs.a: url: want http"},
		{out("webhook: {url: 'http://x', timeout: 31s}"), "outputs.a: timeout: want 100ms to 30s"},
		{out("webhook: {url: 'http://x', headers: {Host: y}}"), `outputs.a: headers: "Host" cannot be set`},
		{out(`webhook: {url: 'http://x', headers: {A: "hunter2\r\nB: c"}}`), `outputs.a: headers: the value of "A"`},
		{out("webhook: {url: 'http://x', token: hunter2}"), `line 3: outputs.a.webhook: unknown key "token"`},
		{out("webhook: [hunter2]"), "line 3: "},
		{out("alertmanager: {url: 'http://x?a'}"), "outputs.a: url: want http://HOST:9093"},
		{out("syslog: {address: 'log:514'}"), "outputs.a: address: want udp://"},
		{out("syslog: {address: 'udp://log'}"), "outputs.a: address: want udp://"},
		{out("syslog: {address: 'udp://log:514', facility: local9}"), "outputs.a: facility: want one of kern"},
		{out("syslog: {address: 'tcp://log:514', ca: /x}"), "outputs.a: ca: only tls://"},
		{out("command: {path: page}"), "outputs.a: path: want an absolute path"},
		{out("command: {path: /page}\n    webhook: {url: 'http://x'}"), "outputs.a: got 2 kinds"},
		{"a: [", ""},
		{strings.Repeat(" ", maxText+1), "the file is too large, want at most 1MiB"},
	} {
		_, err := parseText([]byte(c.text), leaves)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%.80q: got %v, want %s", c.text, err, c.want)
		}
	}
	if c, err := parseText([]byte("# nothing\n"), nil); err != nil || len(c.Rules) != 0 {
		t.Errorf("a file without rules: %v", err)
	}
}

// What a file names must be there.
func TestLoad(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	empty, program, secret := file("empty", "", 0o600), file("program", "#!/bin/sh\n", 0o700),
		file("secret", "0123456789abcdef\n", 0o600)
	for text, want := range map[string]string{
		"command: {path: " + program + "}":                               "",
		"command: {path: " + secret + "}":                                "cannot be executed",
		"command: {path: " + dir + "}":                                   "cannot be executed",
		"command: {path: /nowhere}":                                      "no such file",
		"webhook: {url: 'http://x', secret_file: " + secret + "}":        "",
		"webhook: {url: 'http://x', secret_file: " + empty + "}":         "it is empty",
		"webhook: {url: 'http://x', secret_file: /nowhere}":              "no such file",
		"webhook: {url: 'http://x', ca: " + secret + "}":                 "no certificate",
		"syslog: {address: 'tls://x:1', ca: /nowhere}":                   "no such file",
		"alertmanager: {url: 'http://x', ca: " + empty + ", timeout: 1}": "want a duration",
	} {
		_, err := Load(file("rules", "outputs:\n  a:\n    "+text+"\n", 0o600), nil)
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
	if _, err := Load(filepath.Join(dir, "nothing"), nil); err == nil {
		t.Error("a file that is not there was read")
	}
}

// The keys that everything does not have.
const others = `
outputs:
  noc:
    webhook: {url: "https://noc.example/hook", secret_file: /x, ca: /x}
  am:
    alertmanager: {url: "http://127.0.0.1:9093", headers: {A: b}, timeout: 5s, ca: /x}
silences:
  - {filter: node = leaf2, from: 2026-12-24T18:00:00Z, for: 2h}
`

func TestMisspeltKeys(t *testing.T) {
	conftest.Misspell(t, reflect.TypeFor[Config](), []string{everything, others}, func(text []byte) error {
		_, err := parseText(text, leaves)
		return err
	})
}

// FuzzAlerts: no file makes the parser panic or quote more than a line; one that is taken has rules that work.
func FuzzAlerts(f *testing.F) {
	for _, text := range []string{
		everything, "", "rules: []",
		"rules:\n  - {name: a, filter: 'count > 3 or not end is null', summary: '{{if eq .Node \"x\"}}{{.Count}}{{else}}b{{end}}'}",
		"outputs: {a: {syslog: {address: 'udp://[::1]:514'}}}", "outputs: {a: null}",
		"silences: [{filter: a, until: 2026-01-01T00:00:00Z}]", "? : :", "&a [*a]",
		"rules:\n  - {name: a, filter: kind = loop, summary: '{{not}}'}", "rules: [[[{}]]]",
		"outputs: {a: {webhook: {url: 'http://%zz'}}}",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := parseText(text, leaves)
		if err != nil {
			for _, p := range err.(conf.Problems) {
				if p.Line > bytes.Count(text, []byte("\n"))+bytes.Count(text, []byte("\r"))+2 ||
					strings.Contains(p.Rule, "\n") {
					t.Fatalf("%+v", p)
				}
			}
			return
		}
		e := telemetry.Event{Kind: telemetry.EventLoop, Text: "text", ID: "1"}
		for i := range c.Rules {
			r := &c.Rules[i]
			r.selects(&e)
			a := instance{Alert: telemetry.Alert{Rule: r.Name, Event: e}}
			if a.describe(r); len(a.Summary) > maxSummary+3 {
				t.Fatalf("a summary of %d bytes", len(a.Summary))
			}
		}
		for i := range c.Silences {
			c.Silences[i].holds(&e, time.Now())
		}
	})
}

// parseText reads rules without a file, and without opening those that it names.
func parseText(text []byte, nodes map[uint32]string) (*Config, error) {
	c, file, err := read("", text, nodes)
	if err == nil {
		err = file.Err()
	}
	return c, err
}

// All mistakes of a file are told at once, also two of one rule.
func TestLoadAllMistakes(t *testing.T) {
	name := filepath.Join(t.TempDir(), "alerts.yaml")
	if err := os.WriteFile(name, []byte(`rules:
  - name: one two
    filter: kind = nothing
    severity: awful
    outputs: [nowhere]
outputs:
  page:
    webhook: {url: "ftp://x"}
  none:
silences:
  - filter: node = 1
    from: 2026-11-21T09:00:00Z
    for: 2h
    until: 2026-11-21T10:00:00Z
`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Load(name, nil)
	if err == nil {
		t.Fatal("no mistake was found")
	}
	for _, want := range []string{
		":2: rules[0].name", ":3: rules[0].filter", ":4: rules[0].severity", ":5: rules[0].outputs", "outputs.page",
		"outputs.none", "silences[0].for",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s is missing in:\n%v", want, err)
		}
	}
}

// A silence of the file lasts until a time, or for a duration from its beginning on.
func TestSilenceFor(t *testing.T) {
	c, err := parseText([]byte("silences: [{filter: node = 1, from: 2026-11-21T09:00:00Z, for: 90m}]"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := time.Date(2026, 11, 21, 10, 30, 0, 0, time.UTC); !c.Silences[0].Until.Equal(want) {
		t.Errorf("until %v, want %v", c.Silences[0].Until, want)
	}
	if _, err := parseText([]byte("silences: [{filter: node = 1, for: 90m}]"), nil); err == nil ||
		!strings.Contains(err.Error(), "from") {
		t.Errorf("without from: %v", err)
	}
}
