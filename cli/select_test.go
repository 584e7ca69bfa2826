package cli

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/internal/test"
)

// Each line of ndjson is an item as the server sent it.
func TestQueryLines(t *testing.T) {
	s := test.CannedServer(t, nil)
	for _, name := range queryCommands {
		content, err := os.ReadFile(apiAnswers + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var answer map[string]json.RawMessage
		var want, got []any
		member := name
		if name == "topology" {
			member = "nodes"
		}
		if json.Unmarshal(content, &answer); json.Unmarshal(answer[member], &want) != nil || len(want) == 0 {
			t.Fatalf("%s: the answer has no items", name)
		}
		stdout, _, code := runQuery(t, name, "--server", s.URL, "-o", "ndjson")
		for line := range strings.Lines(stdout) {
			var item any
			if err := json.Unmarshal([]byte(line), &item); err != nil {
				t.Fatalf("%s: %v in %s", name, err, line)
			}
			got = append(got, item)
		}
		if code != 0 || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: code %d, got\n%s", name, code, stdout)
		}
	}
}

// Intervals of loss are a line each, with the counts of the interval.
func TestQueryLossLines(t *testing.T) {
	const answer = `{"generated_at":"2026-11-21T09:01:00Z","total":1,"loss":[{"source":"192.0.2.1","node":7,"hw_id":null,"version":"2.0","sent":9,"received":9,"loss_known":"yes",
		"intervals":[{"start":"2026-11-21T09:00:00Z","end":"2026-11-21T09:00:10Z","sent":4,"received":3},{"start":"2026-11-21T09:00:10Z","end":"2026-11-21T09:00:20Z","sent":5,"received":6}]}]}`
	stdout, _, _ := runQuery(t, "loss", "--server", test.CannedServer(t, map[string]string{"loss": answer}).URL, "-o", "ndjson")
	decoder := json.NewDecoder(strings.NewReader(stdout))
	for _, sent := range []uint64{4, 5} {
		var line struct {
			Node, Sent uint64
			Interval   struct{ Sent uint64 }
			Intervals  []any
		}
		if err := decoder.Decode(&line); err != nil || line.Node != 7 || line.Sent != sent || line.Interval.Sent != sent || line.Intervals != nil {
			t.Errorf("%v, got %+v in\n%s", err, line, stdout)
		}
	}
}

// --sort puts numbers and times in their order, the largest first, and texts from a; what is not known comes last. --top cuts
// the list after that.
func TestQuerySort(t *testing.T) {
	const nodes = `{"generated_at":"2026-11-21T09:01:00Z","total":5,"nodes":[
		{"id":1,"name":"7","packets":9,"first":"2026-11-21T09:00:00.5Z"},
		{"id":2,"name":"b","packets":100,"first":"2026-11-21T09:00:00Z","queue_max":5},
		{"id":3,"name":"inf","packets":20,"first":"2026-11-21T09:00:00.25Z","queue_max":0},
		{"id":4,"packets":100,"first":"2026-11-20T10:00:00Z"},
		{"id":5,"name":"a","packets":3,"first":"2026-11-21T08:59:59Z","queue_max":40}]}`
	s := test.CannedServer(t, map[string]string{"nodes": nodes})
	for _, c := range []struct{ flags, want string }{
		{"--sort packets", "2 4 3 1 5"},
		{"--sort packets:asc", "5 1 3 2 4"},
		{"--sort first", "1 3 2 5 4"},
		{"--sort first:asc", "4 5 2 3 1"},
		{"--sort name", "1 5 2 3 4"},
		{"--sort name:desc", "3 2 5 1 4"},
		{"--sort queue_max", "5 2 3 1 4"},
		{"--sort queue_max:asc", "3 2 5 1 4"},
		{"--sort packets --top 2", "2 4"},
		{"--sort packets --limit 3", "2 4 3"},
		{"--top 2", "1 2"},
	} {
		stdout, stderr, code := runQuery(t, append(strings.Fields(c.flags), "nodes", "--server", s.URL, "-o", "csv")...)
		rows, err := csv.NewReader(strings.NewReader(stdout)).ReadAll()
		if err != nil || code != 0 || len(rows) == 0 {
			t.Fatalf("%s: code %d, %v, %s", c.flags, code, err, stderr)
		}
		var ids []string
		for _, row := range rows[1:] {
			ids = append(ids, row[0])
		}
		if got := strings.Join(ids, " "); got != c.want {
			t.Errorf("%s: got %s, want %s", c.flags, got, c.want)
		}
		if (stderr == "") != !strings.Contains(c.flags, "--limit") {
			t.Errorf("%s: said %q", c.flags, stderr)
		}
	}
	more := strings.Replace(nodes, `"total":5`, `"total":12000`, 1)
	_, stderr, _ := runQuery(t, "nodes", "--sort", "id", "--top", "1", "--server", test.CannedServer(t, map[string]string{"nodes": more}).URL)
	if want := "sorted 5 of 12000 nodes, since no server lists more\n"; stderr != want {
		t.Errorf("got %q, want %q", stderr, want)
	}
}

// A server says which parameters it does not take: nothing is left out in silence.
func TestQuerySelectionRefused(t *testing.T) {
	s := emptyServer(t)
	for _, name := range queryCommands {
		_, stderr, code := runQuery(t, name, "--server", s.URL, "--filter", "no filter")
		if code != command.ExitUsage || !strings.Contains(stderr, "filter") {
			t.Errorf("%s: code %d, %s", name, code, stderr)
		}
	}
}

// The shell is offered what the server knows, and nothing, soon, where there is none.
func TestCompletion(t *testing.T) {
	s := test.CannedServer(t, map[string]string{
		"nodes":           `{"nodes":[{"id":1,"name":"leaf1"},{"id":2,"name":"leaf2"},{"id":3,"name":"spine1"},{"id":40}]}`,
		"drops":           `{"drops":[{"reason_name":"acl_deny","meaning":"forbidden"},{"reason_name":"acl_deny"},{"reason_name":"no_route"}]}`,
		"flows":           `{"flows":[{"id":"ab12","src":"10.0.0.1","dst":"10.0.0.2","src_port":1,"dst_port":2,"protocol":"udp"}]}`,
		"filter/complete": `{"candidates":[{"text":"severity","class":"field","doc":"how bad","start":10,"end":13}]}`,
	})
	for _, c := range []struct{ line, want string }{
		{"flows --node le", "leaf1\tnode 1,leaf2\tnode 2,:4"},
		{"hops --node 4", "40\tnode 40,:4"},
		{"drops --reason a", "acl_deny\tforbidden,:4"},
		{"events --filter kind=loop|sev", "kind=loop|severity\thow bad,:6"},
		{"silence list --output c", "table,wide,json,ndjson,csv,:4"},
		{"drops --sort ", "node,name,ingress_port,egress_port,reason,reason_name,cause,severity,drop_key,packets,first,last,last_flow,:4"},
	} {
		t.Setenv("WAYBILL_SERVER", s.URL)
		args := append([]string{"__complete"}, strings.Split(c.line, " ")...)
		stdout, _, code := runQuery(t, args...)
		if got := strings.ReplaceAll(strings.TrimSpace(stdout), "\n", ","); code != 0 || got != c.want {
			t.Errorf("%s: code %d, got %q, want %q", c.line, code, got, c.want)
		}
		t.Setenv("WAYBILL_SERVER", "http://127.0.0.1:1")
		if stdout, _, code := runQuery(t, args...); code != 0 || !strings.HasSuffix(stdout, c.want[strings.LastIndex(c.want, ":"):]+"\n") || strings.Contains(stdout, "\t") {
			t.Errorf("%s without a server: code %d, got %q", c.line, code, stdout)
		}
	}
}
