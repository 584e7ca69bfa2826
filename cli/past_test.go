package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/internal/test"
)

// pastLists are those that a server with a store knows of a time range.
var pastLists = []string{"flows", "paths", "hops", "queues", "links", "drops", "exporters", "events"}

// Each list of a time range prints what the server counted: the golden files of the API.
func TestQueryPast(t *testing.T) {
	for _, name := range pastLists {
		text, err := os.ReadFile(apiAnswers + name + "_history.json")
		if err != nil {
			t.Fatal(err)
		}
		var answer map[string]any
		if err := json.Unmarshal(text, &answer); err != nil {
			t.Fatal(err)
		}
		records, _ := answer[name].([]any)
		if len(records) == 0 {
			t.Fatalf("%s: no records", name)
		}
		s := test.CannedServer(t, map[string]string{name: string(text)})
		run := func(output string) string {
			stdout, stderr, code := runQuery(t, name, "--server", s.URL, "--since", "1h", "-o", output)
			if code != 0 {
				t.Errorf("%s -o %s: code %d, %s", name, output, code, stderr)
			}
			return stdout
		}
		if name != "events" { // which are the same as of now
			goldenQuery(t, name+"_history.table", run("table"))
		}
	}
}

// An empty --group-by asks for all in one record, and none for what is usual.
func TestQueryTogether(t *testing.T) {
	var asked url.Values
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.Query()
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"flows":[]}`)
	}))
	defer s.Close()
	for _, c := range []struct {
		flags []string
		want  bool
	}{{nil, false}, {[]string{"--group-by", ""}, true}, {[]string{"--group-by="}, true}} {
		if _, stderr,
			code := runQuery(t, append([]string{"flows", "--server", s.URL, "--since", "1h"}, c.flags...)...); code !=
			0 || asked.Has("group_by") != c.want {
			t.Errorf("%v: code %d, %s, asked %v", c.flags, code, stderr, asked)
		}
	}
	if _, stderr, code := runQuery(t, "flows", "--server", s.URL, "--group-by", ""); code != 2 ||
		!strings.Contains(stderr, "add --since") {
		t.Errorf("code %d, %s", code, stderr)
	}
}

// What does not go together is said in one line, with what to do, before any server is asked.
func TestQueryPastRefused(t *testing.T) {
	for line, want := range map[string]string{
		"hosts --until 1h":                        "hosts are of now only; nodes, links, topology, flows, paths, hops, queues, bursts, drops, events, incidents, attacks, exporters and loss know of --since",
		"flows --since 1h --follow":               "--since and --follow do not go together: what is new is of now; --watch asks about a time range again",
		"events --since 1h --follow":              "--since and --follow do not go together: what is new is of now; --watch asks about a time range again",
		"flows --group-by src":                    "--group-by and --interval are about a time range: add --since, for example --since 1h",
		"hops --interval 1m":                      "--group-by and --interval are about a time range: add --since, for example --since 1h",
		"events --group-by kind --follow":         "--group-by and --follow do not go together: groups are of all items; --watch 2s shows them again and again",
		"bursts --interval 1m":                    "--interval is about a time range: add --since, for example --since 1h",
		"bursts 12 --group-by node":               "--group-by is about all bursts, not about 12",
		"nodes --group-by name":                   "unknown flag: --group-by: " + flagsOfOthers["group-by"],
		"flows --sort packets --follow":           "--sort and --follow do not go together",
		"flows --watch 1s --follow":               "--watch and --follow do not go together",
		"queues --since 1h --sort nothing --json": "unknown flag: --json",
	} {
		name, _, _ := strings.Cut(line, " ")
		_, stderr, code := runQuery(t, append(strings.Fields(line), "--server", "http://127.0.0.1:1")...)
		if stderr != "waybill "+name+": "+want+"\n" || code != command.ExitUsage {
			t.Errorf("%s: code %d, %s", line, code, stderr)
		}
	}
}
