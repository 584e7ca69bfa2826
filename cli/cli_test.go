package cli

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/analyze/ledger"
	"github.com/waybill-int/waybill/api"
	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/serve"
	"github.com/waybill-int/waybill/telemetry"
)

// apiAnswers are the golden files of the API: what a server says about captures of real switches.
const apiAnswers = "../api/testdata/"

// emptyServer is a real handler to which nothing was reported.
func emptyServer(t *testing.T, listeners ...client.Listener) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(api.New(api.Config{
		Collector: &analyze.Collector{
			Owners:    []analyze.Owner{analyze.NewShard(analyze.DefaultConfig())},
			Exporters: []*ledger.Exporters{ledger.NewExporters(10)},
		},
		Listeners: func() []client.Listener { return listeners },
	}))
	t.Cleanup(s.Close)
	return s
}

// newTestRoot returns the commands of this package as those of a program.
func newTestRoot() *cobra.Command {
	root := &cobra.Command{Use: "waybill", SilenceUsage: true, SilenceErrors: true}
	root.SetFlagErrorFunc(ExplainFlag)
	root.AddCommand(slices.Concat(AskCommands(serve.LocalStore{}), AccountCommands(), ServerCommands())...)
	return root
}

// runQuery runs waybill in this process, in a UTF-8 locale.
func runQuery(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	return runQueryIn(t, t.Context(), "C.UTF-8", args...)
}

func runQueryIn(t *testing.T, ctx context.Context, locale string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	t.Setenv("LC_ALL", locale)
	return test.RunCommand(t, ctx, newTestRoot(), command.Execute, args...)
}

// goldenQuery compares output with a file of testdata, or writes it there.
func goldenQuery(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *updateGolden {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test -update writes it):\n%s", file, got)
	}
}

var updateGolden = flag.Bool("update", false, "write golden files")

var queryCommands = []string{
	"topology", "nodes", "links", "hops", "clocks", "hosts", "flows", "paths", "drops",
	"events", "incidents", "attacks", "bursts", "queues", "alerts", "exporters", "loss", "reports",
}

// Each list of the captures prints as its golden file.
func TestQueryOutputs(t *testing.T) {
	s := test.CannedServer(t, nil)
	for _, name := range queryCommands {
		for _, output := range []string{"table", "wide"} {
			stdout, stderr, code := runQuery(t, name, "--server", s.URL, "-o", output)
			if code != 0 || strings.Contains(stdout, "\x1b") {
				t.Errorf("%s -o %s: code %d, %s", name, output, code, stderr)
			}
			goldenQuery(t, name+"."+output, stdout)
		}
	}
}

// One burst is drawn with its letters and tables, in colours and Unicode only where the terminal has them.
func TestQueryBurst(t *testing.T) {
	burst, err := os.ReadFile(apiAnswers + "burst.json")
	if err != nil {
		t.Fatal(err)
	}
	s := test.CannedServer(t, map[string]string{"bursts/1": string(burst)})
	for _, output := range []string{"table", "csv"} {
		stdout, stderr, code := runQuery(t, "bursts", "1", "--server", s.URL, "-o", output)
		if code != 0 || strings.Contains(stdout, "\x1b") {
			t.Errorf("-o %s: code %d, %s", output, code, stderr)
		}
		goldenQuery(t, "burst."+output, stdout)
	}
	stdout, _, _ := runQueryIn(t, t.Context(), "C", "bursts", "1", "--server", s.URL)
	goldenQuery(t, "burst.ascii", stdout)
	if _, stderr, code := runQuery(t, "bursts", "2", "--server", emptyServer(t).URL); code != 1 ||
		!strings.Contains(stderr, "no burst") {
		t.Errorf("an unknown burst: code %d, %s", code, stderr)
	}
	if _, stderr, code := runQuery(t, "bursts", "1", "2"); code != 2 || !strings.Contains(stderr, `"2"`) {
		t.Errorf("two bursts: code %d, %s", code, stderr)
	}
}

// One incident is drawn as a tree.
func TestQueryIncident(t *testing.T) {
	incident, err := os.ReadFile(apiAnswers + "incident.json")
	if err != nil {
		t.Fatal(err)
	}
	s := test.CannedServer(t, map[string]string{"incidents/1": string(incident)})
	stdout, stderr, code := runQuery(t, "incidents", "1", "--server", s.URL)
	if code != 0 || strings.Contains(stdout, "\x1b") {
		t.Errorf("code %d, %s", code, stderr)
	}
	goldenQuery(t, "incident.table", stdout)
	if _, stderr, code := runQuery(t, "incidents", "2", "--server", emptyServer(t).URL); code != 1 ||
		!strings.Contains(stderr, "no incident") {
		t.Errorf("an unknown incident: code %d, %s", code, stderr)
	}
}

// JSON is what the server sent, value for value.
func TestQueryJSON(t *testing.T) {
	s := test.CannedServer(t, nil)
	for _, name := range queryCommands {
		stdout, _, code := runQuery(t, name, "--server", s.URL, "-o", "json")
		want, err := os.ReadFile(apiAnswers + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var got, sent any
		if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != 0 {
			t.Fatalf("%s: code %d, %v", name, code, err)
		}
		json.Unmarshal(want, &sent)
		if !reflect.DeepEqual(got, sent) {
			t.Errorf("%s:\ngot  %s\nwant %s", name, stdout, want)
		}
	}
}

// In other formats than tables, lists are what the server sends, byte for byte.
func TestQueryEncoded(t *testing.T) {
	s := emptyServer(t)
	for _, name := range []string{
		"nodes", "links", "hops", "clocks", "cables", "hosts", "flows", "paths", "drops", "exporters",
		"loss", "queues",
	} {
		for _, format := range []string{"json", "ndjson", "csv", "parquet", "arrow"} {
			stdout, stderr, code := runQuery(t, name, "--server", s.URL, "-o", format)
			response, err := http.Get(s.URL + "/api/v1/" + name + "?limit=100&format=" + format)
			if err != nil {
				t.Fatal(err)
			}
			want, err := io.ReadAll(response.Body)
			response.Body.Close()
			text := regexp.MustCompile(`"(generated_at|since|until)":"[^"]*"`)
			if got := text.ReplaceAllString(stdout, ""); err != nil || code != 0 ||
				got != text.ReplaceAllString(string(want), "") {
				t.Errorf("%s -o %s: code %d, %s\ngot  %.300q\nwant %.300q", name, format, code, stderr, got, want)
			}
		}
	}
}

// oddities holds what the captures do not: missing and unknown nodes, names of other scripts, names that are an attack.
const oddities = `{"generated_at":"2026-11-21T09:01:00Z","total":3,"paths":[
{"id":"000000000000000a","packets":7,"flows":1,"first":"2026-11-21T08:00:00Z","last":"2026-11-21T09:00:59.9Z","uncertain":true,
 "residence_ns":{"count":7,"min":1,"mean":12345,"max":20000,"p50":12345,"p99":19999,"relative_error":0.01},
 "hops":[{"node":1,"name":"東京1","ingress_port":1,"egress_port":2,"latency_ns":{"count":7,"min":1,"mean":999.6,"max":2000,"p50":999,"p99":999600,"relative_error":0.01}},
         {"node":null,"ingress_port":null,"egress_port":null,"missing":2},
         {"node":null,"ingress_port":null,"egress_port":4},
         {"node":9,"ingress_port":7,"egress_port":null,"dropped":true}]},
{"id":"000000000000000b","packets":123456,"flows":20,"first":"2026-11-21T08:00:00Z","last":"2026-11-20T08:00:00Z","hops":[{"node":1,"name":"evil\u001b[2J","ingress_port":null,"egress_port":null}]},
{"id":"000000000000000c","packets":1,"flows":0,"first":"2026-11-21T08:00:00Z","last":"2026-11-19T08:00:00Z","hops":[]}]}`

func TestQueryOddPaths(t *testing.T) {
	s := test.CannedServer(t, map[string]string{"paths": oddities})
	for _, output := range []string{"table", "wide"} {
		stdout, _, _ := runQuery(t, "paths", "--server", s.URL, "-o", output)
		if strings.Contains(stdout, "\x1b") {
			t.Errorf("%s: a name reached the terminal as it is", output)
		}
		goldenQuery(t, "oddities."+output, stdout)
	}
	stdout, _, _ := runQueryIn(t, t.Context(), "C", "paths", "--server", s.URL)
	goldenQuery(t, "oddities.ascii", stdout)
	for _, arrow := range []string{"→", "✗", "µ"} {
		if strings.Contains(stdout, arrow) {
			t.Errorf("%s in a locale without UTF-8", arrow)
		}
	}
}

// An exporter whose sequence numbers do not count has an unknown loss with the reason, not none.
func TestQueryUnknownLoss(t *testing.T) {
	stdout, _, _ := runQuery(t, "exporters", "--server", test.CannedServer(t, nil).URL)
	found := false
	for line := range strings.Lines(stdout) {
		if strings.Contains(line, "onos-int10-ver0") {
			found = strings.Contains(line, "  unknown  ") &&
				strings.Contains(line, "loss unknown: its reports carry no sequence numbers that count")
		}
	}
	if !found {
		t.Errorf("got\n%s", stdout)
	}
}

// Flags for fields reach the server as one filter, all others under their names.
func TestQueryFilters(t *testing.T) {
	var got atomic.Value
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/listeners") {
			got.Store(r.URL)
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte("{}"))
	}))
	defer s.Close()
	for args, want := range map[string]url.Values{
		"flows --sort drops --limit 7 --src 10.0.0.1 --dst 10.0.0.0/8 --port 80 --protocol tcp": {
			"limit": {"7"}, "order": {"drops"},
			"filter": {"src in 10.0.0.1 and dst in 10.0.0.0/8 and port = 80 and protocol = tcp"},
		},
		"flows --outer-src ::1 --outer-port 9": {"limit": {"100"}, "filter": {"outer.src in ::1"}, "outer_port": {"9"}},
		"nodes --node s1":                      {"limit": {"100"}, "filter": {`node = "s1"`}},
		"links --node 3 --at 2h":               {"limit": {"100"}, "filter": {"node = 3"}, "at": {"2h"}},
		"hosts --address 10.0.0.0/8":           {"limit": {"100"}, "filter": {"address in 10.0.0.0/8"}},
		"topology --at 2h":                     {"at": {"2h"}},
		"topology --filter name=s1":            {"filter": {"name=s1"}},
		"topology --since 2h --until 1h":       {"since": {"2h"}, "until": {"1h"}},
		"links --node 0x3":                     {"limit": {"100"}, "filter": {"node = 0x3"}},
		"paths --node s1 --path 5a90":          {"limit": {"100"}, "filter": {`node = "s1" and id = "5a90"`}},
		"drops --node s1 --reason acl_deny": {
			"limit":  {"100"},
			"filter": {`node = "s1" and reason_name = "acl_deny"`},
		},
		"drops --reason 80": {"limit": {"100"}, "filter": {"reason = 80"}},
		"events --kind loop --kind incast,drop_storm --severity warning --node s1 --filter count>1 --open": {
			"limit": {"100"},
			"filter": {
				`(count>1) and node = "s1" and severity >= warning and kind in (loop, incast, drop_storm) and end is null`,
			},
		},
		"events --open=false": {"limit": {"100"}, "filter": {"not (end is null)"}},
		"links --filter node=s1 --since 10m --until 5m": {
			"limit": {"100"}, "filter": {"node=s1"}, "since": {"10m"},
			"until": {"5m"},
		},
		"flows --since 1h --group-by src,dst --interval 1m --sort bytes --limit 5": {
			"limit": {"5"}, "group_by": {"src,dst"}, "interval": {"1m"}, "order": {"bytes"}, "since": {"1h"},
		},
		"bursts --node s1 --incast --limit 3": {"limit": {"3"}, "filter": {`node = "s1" and incast = true`}},
		"bursts --sort id":                    {"limit": {"100"}, "order": {"id"}},
		"exporters --node s1 --source ::1":    {"limit": {"100"}, "filter": {`node = "s1" and source in ::1`}},
		"reports --exporter ::1 --flow 12":    {"limit": {"100"}, "filter": {`exporter in ::1 and flow = "12"`}},
		"alerts --node a\"b --state firing":   {"limit": {"100"}, "filter": {`node = "a""b"`}, "state": {"firing"}},
	} {
		_, stderr, code := runQuery(t, append(strings.Fields(args), "--server", s.URL)...)
		name, _, _ := strings.Cut(args, " ")
		asked := got.Load().(*url.URL)
		none := "no " + name + " match\n"
		if code != 0 || asked.Path != "/api/v1/"+name || !reflect.DeepEqual(asked.Query(), want) || len(want) > 2 &&
			stderr != none {
			t.Errorf("%s: code %d, asked %v, said %q", args, code, asked, stderr)
		}
	}
}

// What is wrong with the command line is code 2, whatever is wrong with the server is 1; one line says what.
func TestQueryErrors(t *testing.T) {
	var kinds []string
	for k := telemetry.EventKind(1); k < telemetry.NumEventKinds; k++ {
		kinds = append(kinds, k.String())
	}
	s := emptyServer(t)
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	for args, want := range map[string]struct {
		code int
		text string
	}{
		"flows --server " + s.URL +
			" --src 10.0.0": {
			2,
			`waybill flows: filter: column 8: expected an address or a prefix such as 10.0.0.0/8 or 2001:db8::/32, found 10.0.0`,
		},
		"flows --server " + s.URL +
			" --sort size": {
			2,
			`waybill flows: order is "size"; allowed: last, packets, latency, drops, first, bytes, reports, path_changes, residence_ns.mean, residence_ns.min, residence_ns.p50, residence_ns.p99, residence_ns.max, end_to_end_ns.mean; :asc or :desc may follow`,
		},
		"flows --server " + s.URL +
			" --limit 10001": {2, `waybill flows: limit is "10001"; allowed: 1 to 10000`},
		"flows --server " + s.URL +
			" --limit 0": {2, `waybill flows: --limit is 0; it must be at least 1`},
		"flows --server " + s.URL +
			" -o xml": {2, `waybill flows: --output is "xml"; allowed: table, wide, json, yaml, ndjson, csv, parquet, arrow`},
		"nodes --server " + s.URL +
			" --sort size": {
			2,
			`waybill nodes: order is "size"; allowed: id, name, packets, drops, first, last, latency_ns.count, latency_ns.min, latency_ns.mean, latency_ns.max, latency_ns.p50, latency_ns.p99, latency_ns.relative_error, sample.kind, sample.rate, sample.complete, queue_max, queue_unit; :asc or :desc may follow`,
		},
		"nodes --server " + s.URL +
			" --follow -o parquet": {
			2,
			`waybill nodes: -o parquet is of one answer: it does not go with --follow and --watch`,
		},
		"nodes --server " + s.URL +
			" --sort id --follow": {2, `waybill nodes: --sort and --follow do not go together`},
		"flows --server " + s.URL +
			" --watch 1ms": {2, `waybill flows: --watch is 1ms; it must be at least 100ms`},
		"flows --server " + s.URL + " --reason 1": {2, `waybill flows: unknown flag: --reason`},
		"flows --server " + s.URL + " all":        {2, `waybill flows: unexpected argument "all"`},
		"events --server " + s.URL +
			" --kind storm": {2, `waybill events: --kind is "storm"; allowed: ` + strings.Join(kinds, ", ")},
		"events --server " + s.URL +
			" --filter kindd=loop": {
			2,
			`waybill events: filter: column 1: events have no field kindd: did you mean kind?`,
		},
		"events --server " + s.URL +
			" --follow --watch 2s": {2, `waybill events: --watch and --follow do not go together`},
		"events --server " + s.URL +
			" --follow --kind storms": {2, `waybill events: --kind is "storms"; allowed: ` + strings.Join(kinds, ", ")},
		"topology --server " + s.URL +
			" --sort beauty": {2, `waybill topology: unknown flag: --sort: ` + flagsOfOthers["sort"]},
		"attacks a --server " + s.URL + " -o csv":       {2, `waybill attacks: -o csv is of lists, not of one of attacks`},
		"incidents a --server " + s.URL + " -o parquet": {2, `waybill incidents: -o parquet is of lists, not of one of incidents`},
		"nodes --server ftp://x": {
			2,
			`waybill nodes: --server: "ftp://x" is not the URL of a server; it looks like http://127.0.0.1:8080`,
		},
		"nodes --server " + closed.URL: {
			1,
			"waybill nodes: cannot reach " + closed.URL + ": connection refused; is `waybill serve` running?",
		},
		"nodes --server " + closed.URL +
			" --watch 100ms": {1, "waybill nodes: cannot reach " + closed.URL +
			": connection refused; is `waybill serve` running?"},
		"nodes --server " + other.URL: {
			1,
			`waybill nodes: ` + other.URL + `/api/v1/nodes?limit=100 answered "404 Not Found"`,
		},
	} {
		stdout, stderr, code := runQuery(t, strings.Fields(args)...)
		if code != want.code || stderr != want.text+"\n" || stdout != "" {
			t.Errorf("%s: code %d\ngot  %swant %s", args, code, stderr, want.text)
		}
	}
	t.Setenv("WAYBILL_SERVER", closed.URL)
	if _, stderr, code := runQuery(t, "links"); code != 1 || !strings.Contains(stderr, closed.URL) {
		t.Errorf("WAYBILL_SERVER: code %d, %s", code, stderr)
	}
}

// An empty list says what to do next.
func TestQueryEmpty(t *testing.T) {
	for _, c := range []struct {
		name      string
		listeners []client.Listener
		want      string
	}{
		{
			"flows",
			[]client.Listener{{Address: "[::]:8555"}, {Address: "[::]:8555"}, {Address: "0.0.0.0:6000"}},
			"no flows yet: point telemetry reports at udp port 8555 or 6000 of 127.0.0.1, or run `waybill replay FILE --to 127.0.0.1:8555`",
		},
		{"exporters", nil, "no exporters yet, and the server listens on no port"},
		{
			"paths",
			[]client.Listener{{Address: "[::]:8555", Received: 3, Malformed: 3}},
			"no paths yet: 3 datagrams arrived, but none could be read; `waybill exporters` says why",
		},
		{
			"nodes",
			[]client.Listener{{Address: "[::]:8555", Received: 3}},
			"no nodes yet: the reports that arrived name no node",
		},
		{"events", []client.Listener{{Address: "[::]:8555", Received: 3}}, "nothing happened"},
		{
			"drops",
			[]client.Listener{{Address: "[::]:8555", Received: 3}},
			"no drops were reported: nothing was dropped, or no device is set up to report drops",
		},
	} {
		s := emptyServer(t, c.listeners...)
		for _, output := range []string{"table", "json", "csv"} {
			stdout, stderr, code := runQuery(t, c.name, "--server", s.URL, "-o", output)
			if code != 0 || stderr != c.want+"\n" {
				t.Errorf("%s: code %d\ngot  %swant %s", c.name, code, stderr, c.want)
			}
			if lines := strings.Count(stdout, "\n"); output == "table" && lines != 0 || output == "csv" && lines != 1 ||
				output == "json" && !json.Valid([]byte(stdout)) {
				t.Errorf("%s -o %s: got %q", c.name, output, stdout)
			}
		}
	}
}

// A list that the limit cut says so, on stderr.
func TestQueryMore(t *testing.T) {
	_, stderr, _ := runQuery(t, "flows", "--server", test.CannedServer(t, nil).URL)
	if !strings.HasPrefix(stderr, "listed 6 of 10 flows; --limit lists more\n") {
		t.Errorf("got %q", stderr)
	}
}

// A list says on how many reports it rests if not all arrived, or if nobody knows; but not into JSON, which has it.
func TestQueryIncomplete(t *testing.T) {
	s := test.CannedServer(t, nil)
	since := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC).Local().Format(time.DateTime)
	want := "97.64 % of the reports arrived since " + since + ": 50 % of s1's; the loss of 2 exporters is unknown\n"
	if _, stderr, _ := runQuery(t, "nodes", "--server", s.URL); stderr != want {
		t.Errorf("got %q, want %q", stderr, want)
	}
	stdout, stderr, _ := runQuery(t, "nodes", "--server", s.URL, "-o", "json")
	if stderr != "" || !strings.Contains(stdout, `"completeness":`) {
		t.Errorf("json: got %q and %s", stderr, stdout)
	}
	half, all := 0.99999, 1.0
	for _, c := range []struct {
		of   telemetry.Completeness
		want string
	}{
		{telemetry.Completeness{Ratio: &all, Sent: 5}, ""},
		{
			telemetry.Completeness{Unknown: 1},
			"how many of the reports arrived is unknown; the loss of 1 exporter is unknown",
		},
		{
			telemetry.Completeness{Ratio: &all, Sent: 5, Unknown: 2},
			"all reports arrived; the loss of 2 exporters is unknown",
		},
		{
			telemetry.Completeness{
				Ratio: &half, Sent: 100000, Lost: 1,
				Since: time.Date(2026, 1, 1, 0, 0, 0, 0, time.Local),
			},
			"99.99 % of the reports arrived since 2026-01-01 00:00:00",
		},
	} {
		if got := incomplete(&c.of); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// Watching goes on while a server is away, and ends without an error.
func TestQueryWatch(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var asked atomic.Int32
	canned := test.CannedServer(t, nil)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("format") != "csv" {
			http.Redirect(w, r, canned.URL+r.URL.Path, http.StatusFound)
			return
		}
		switch asked.Add(1) {
		case 2:
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		case 4:
			cancel()
		}
		w.Header().Set("Content-Type", "text/csv")
		fmt.Fprint(w, "packets,reason_name\n7,acl_deny\n")
	}))
	defer s.Close()
	stdout, stderr, code := runQueryIn(t, ctx, "C.UTF-8", "drops", "--server", s.URL, "--watch", "100ms", "-o", "csv")
	if n := strings.Count(stdout, "reason_name"); code != 0 || n != 1 {
		t.Errorf("code %d, %d headers in\n%s", code, n, stdout)
	}
	if n := strings.Count(stdout, "acl_deny"); n < 2 || !strings.Contains(stderr, "503 Service Unavailable") {
		t.Errorf("%d answers, said %q", n, stderr)
	}
}
