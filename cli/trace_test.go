package cli

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/internal/test"
)

// tracedFlow took 10 µs in s1, 20 on the link, 40 in s2, an unknown time on the next link, 30 in s3, and is 100 µs long
// with what is known. Another flow has the same ends and was seen before; its second path has a gap.
const (
	tracedFlows = `{"generated_at":"2026-11-21T09:01:00Z","total":2,"flows":[
{"id":"00000000000000a1","src":"10.0.0.1","dst":"10.0.0.2","src_port":5001,"dst_port":80,"protocol":"tcp","last":"2026-11-21T09:00:58Z","packets":60,"bytes":6000,"drops":1,
 "residence_ns":{"count":9,"min":1,"mean":80000,"max":90000,"p50":80000,"p99":90000,"relative_error":0.01},
 "paths":[{"id":"000000000000000a","packets":50,"last":"2026-11-21T09:00:58Z","hops":[
  {"node":1,"name":"s1","ingress_port":1,"egress_port":2,"latency_ns":{"count":9,"min":1,"mean":11000,"max":20000,"p50":10000,"p99":20000,"relative_error":0.01},"queue":{"id":0,"mean":1.5,"max":7}},
  {"node":2,"name":"s2","ingress_port":3,"egress_port":4,"latency_ns":{"count":9,"min":1,"mean":41000,"max":80000,"p50":40000,"p99":80000,"relative_error":0.01}},
  {"node":3,"name":"s3\u001b[2J","ingress_port":5,"egress_port":6,"latency_ns":{"count":9,"min":1,"mean":30000,"max":60000,"p50":0,"p99":0,"relative_error":0}}]},
 {"id":"000000000000000b","packets":10,"last":"2026-11-21T09:00:30Z","hops":[{"node":1,"name":"s1","ingress_port":1,"egress_port":2},{"node":null,"ingress_port":null,"egress_port":null,"missing":2},{"node":3,"ingress_port":5,"egress_port":null,"dropped":true}]}]},
{"id":"00000000000000a2","src":"10.0.0.1","dst":"10.0.0.2","src_port":5002,"dst_port":80,"protocol":"tcp","last":"2026-11-21T09:00:50Z","packets":1,"bytes":100,"paths":[]}]}`

	tracedLinks = `{"generated_at":"2026-11-21T09:01:00Z","total":3,"links":[
{"from":1,"from_port":2,"to":2,"to_port":3,"packets":5,"delay":{"ns":{"count":5,"min":1,"mean":20000,"max":25000,"p50":20000,"p99":25000,"relative_error":0.01},"uncertainty_ns":500}},
{"from":1,"from_port":9,"to":2,"to_port":9,"packets":5,"delay":{"ns":{"count":5,"min":1,"mean":1,"max":1,"p50":1,"p99":1,"relative_error":0.01}}},
{"from":2,"from_port":4,"to":3,"to_port":5,"packets":5,"delay":{"unknown":"clocks are not compared"}}]}`
)

func TestTrace(t *testing.T) {
	s := test.CannedServer(t, map[string]string{"flows": tracedFlows, "links": tracedLinks})
	for file, args := range map[string]string{
		"trace.table": "10.0.0.1 10.0.0.2",
		"trace.id":    "00000000000000A1",
		"trace.wide":  "10.0.0.1:5001 10.0.0.2:80 -o wide",
		"trace.bare":  "10.0.0.1:5002 10.0.0.2",
	} {
		stdout, stderr, code := runQuery(t, append([]string{"trace", "--server", s.URL}, strings.Fields(args)...)...)
		if code != 0 || strings.Contains(stdout, "\x1b") {
			t.Errorf("%s: code %d, %s", args, code, stderr)
		}
		if several := args == "10.0.0.1 10.0.0.2"; several != strings.HasPrefix(stderr,
			"2 flows match; this is the one that was seen last.") {
			t.Errorf("%s: said %q", args, stderr)
		}
		goldenQuery(t, file, stdout)
	}
	stdout, _, _ := runQueryIn(t, t.Context(), "C", "trace", "10.0.0.1", "10.0.0.2", "--server", s.URL)
	goldenQuery(t, "trace.ascii", stdout)
	for _, r := range stdout {
		if r > 127 {
			t.Fatalf("%q in a locale without UTF-8", r)
		}
	}
}

// The bars of a waterfall are as long as their share of the time, and each begins where the one before ended.
func TestWaterfall(t *testing.T) {
	s := test.CannedServer(t, map[string]string{"flows": tracedFlows, "links": tracedLinks})
	stdout, _, _ := runQueryIn(t, t.Context(), "C", "trace", "10.0.0.1", "10.0.0.2", "--server", s.URL)
	lines := strings.Split(stdout, "\n")
	title := lines[4]
	left := strings.LastIndex(title, "  0 ") + 2
	columns := len(title) - left
	if len(title) != command.DefaultColumns || !strings.HasSuffix(title, "100us") {
		t.Fatalf("got %q", title)
	}
	for i, want := range []struct {
		bar      string
		from, to float64
	}{{"#", 0, 10}, {"-", 10, 30}, {"#", 30, 70}, {"?", 70, 70}, {"#", 70, 100}} {
		line := lines[5+i]
		if len(line) < left {
			t.Fatalf("no bar in %q", line)
		}
		at := func(share float64) int { return int(share/100*float64(columns) + 0.5) }
		bar := strings.Repeat(want.bar, max(at(want.to)-at(want.from), 1))
		if got := strings.Repeat(" ", at(want.from)) + bar; line[left:] != got {
			t.Errorf("got  %q\nwant %q", line[left:], got)
		}
	}
}

// A terminal that is too narrow for bars has none, and no row is broken by them in one that is wide enough.
func TestWaterfallWidths(t *testing.T) {
	s := test.CannedServer(t, map[string]string{"flows": tracedFlows, "links": tracedLinks})
	server := serverFlags{url: s.URL}
	c, err := server.client()
	if err != nil {
		t.Fatal(err)
	}
	q, _, _ := flowOf([]string{"10.0.0.1", "10.0.0.2"})
	flows, err := client.Get[client.FlowList](t.Context(), c, "flows", q)
	if err != nil {
		t.Fatal(err)
	}
	links, err := client.Get[client.LinkList](t.Context(), c, "links", q)
	if err != nil {
		t.Fatal(err)
	}
	stages := stagesOf(flows.Flows[0].Paths[0].Hops, links.Links)
	v := view{}
	bare := tableWidth(&v, waterfallColumns, stages)
	for columns := range 200 {
		bars := barColumn(&v, stages, columns-bare-2)
		if (bars == nil) != (columns < bare+2+leastBar) {
			t.Fatalf("%d columns, of which %d without bars: %v", columns, bare, bars != nil)
		}
		if bars == nil {
			continue
		}
		if got := tableWidth(&v, append(waterfallColumns[:len(waterfallColumns):len(waterfallColumns)], *bars),
			stages); got > columns {
			t.Fatalf("%d columns of a terminal with %d", got, columns)
		}
	}
}

func TestTraceErrors(t *testing.T) {
	s := test.CannedServer(t, map[string]string{"flows": tracedFlows, "links": tracedLinks})
	many := test.CannedServer(t,
		map[string]string{"flows": strings.Replace(tracedFlows, `"total":2`, `"total":12000`, 1)})
	for _, c := range []struct {
		args, server string
		code         int
		want         string
	}{
		{"trace", s.URL, 2, "want the id of a flow, or its source and destination"},
		{"trace a b c", s.URL, 2, "want the id of a flow, or its source and destination"},
		{
			"trace 10.0.0.1", s.URL, 2,
			`"10.0.0.1" is not the id of a flow, 16 hexadecimal digits; a source needs a destination`,
		},
		{
			"trace 10.0.0.1 leaf1", s.URL, 2,
			`"leaf1" is not an end of a flow; it looks like 10.0.1.1, 10.0.1.1:5001 or [2001:db8::1]:443`,
		},
		{"trace 10.0.0.1 10.0.0.2 -o csv", s.URL, 2, `--output is "csv"; allowed: table, wide, json, yaml`},
		{
			"trace 10.0.0.1:7 10.0.0.2", s.URL, 1,
			`no flow from 10.0.0.1:7 to 10.0.0.2 is in memory; waybill flows lists those that are. With --since 1h the store is asked, if the server has one`,
		},
		{
			"trace 00000000000000ff", many.URL, 1,
			`no flow 00000000000000ff among the 2 of 12000 flows that were seen last`,
		},
		{"path 10.0.0.1", s.URL, 2, "want a source and a destination"},
		{"path 10.0.0.1 leaf1", s.URL, 2, "want two addresses or prefixes, or two nodes"},
		{"path 10.0.0.1 10.0.0.0/33", s.URL, 2, "want two addresses or prefixes, or two nodes"},
		{"path s1 s9", s.URL, 1, "no path from s1 to s9 is known; waybill paths lists those that are"},
	} {
		stdout, stderr, code := runQuery(t, append(strings.Fields(c.args), "--server", c.server)...)
		name, _, _ := strings.Cut(c.args, " ")
		if want := "waybill " + name + ": " + c.want + "\n"; code != c.code || stderr != want || stdout != "" {
			t.Errorf("%s: code %d\ngot  %swant %s", c.args, code, stderr, want)
		}
	}
}

// Paths between hosts are those that their flows take, paths between nodes those that begin and end there.
func TestPath(t *testing.T) {
	s := test.CannedServer(t, nil)
	content, err := os.ReadFile(apiAnswers + "paths.json")
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Paths []struct {
			ID   string
			Hops []struct{ Name string }
		}
	}
	if err := json.Unmarshal(content, &want); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := runQuery(t, "path", "s1", "s3", "--server", s.URL)
	if code != 0 {
		t.Fatalf("code %d, %s", code, stderr)
	}
	found := 0
	for _, p := range want.Paths {
		is := p.Hops[0].Name == "s1" && p.Hops[len(p.Hops)-1].Name == "s3"
		if is != strings.Contains(stdout, "path "+p.ID) {
			t.Errorf("path %s: %v in\n%s", p.ID, is, stdout)
		}
		if is {
			found++
		}
	}
	if found == 0 {
		t.Error("no path of the answer is of this kind")
	}
	goldenQuery(t, "path.nodes", stdout)
	stdout, _, _ = runQuery(t, "path", "10.0.0.0/8", "10.0.0.2", "--server",
		test.CannedServer(t,
			map[string]string{"flows": tracedFlows, "links": tracedLinks, "paths": `{"paths":[]}`}).URL)
	if !strings.HasPrefix(stdout,
		"path 000000000000000a: 1 of 2 flows; in all 50 packets of 1 flow; last seen 2s ago\n") {
		t.Errorf("got\n%s", stdout)
	}
}

// JSON has the flow as the server sent it, and the links on its way only.
func TestTraceJSON(t *testing.T) {
	s := test.CannedServer(t, map[string]string{"flows": tracedFlows, "links": tracedLinks})
	for _, args := range []string{"trace 00000000000000a1", "path 10.0.0.1 10.0.0.2"} {
		stdout, _, _ := runQuery(t, append(strings.Fields(args), "--server", s.URL, "-o", "json")...)
		var got struct {
			Flow  struct{ ID string }
			Paths []struct{ ID string }
			Links []struct{ From_port int }
		}
		if err := json.Unmarshal([]byte(stdout), &got); err != nil {
			t.Fatal(err)
		}
		if len(got.Links) != 2 || got.Links[0].From_port != 2 || got.Links[1].From_port != 4 ||
			got.Flow.ID != "00000000000000a1" && len(got.Paths) == 0 {
			t.Errorf("%s: got %+v", args, got)
		}
	}
}

// With --since the ways of a flow come from the store, also of one that is not in memory.
func TestTracePast(t *testing.T) {
	const paths = `{"generated_at":"2026-11-21T09:01:00Z","total":2,"since":"2026-11-21T06:00:00Z","until":"2026-11-21T07:00:00Z","resolution_ns":10000000000,
"id":"00000000000000a1","flow":{"src":"10.0.0.1","dst":"10.0.0.2","src_port":5001,"dst_port":80,"protocol":"tcp","text":"x"},"paths":[
{"id":"000000000000000a","start":"2026-11-21T06:00:00Z","end":"2026-11-21T06:10:00Z","packets":50,"drops":2,"residence_min_ns":1000,"residence_mean_ns":2000,"residence_max_ns":5000,
 "hops":[{"node":1,"name":"s1","ingress_port":1,"egress_port":2},{"node":3,"name":"s3\u001b[2J","ingress_port":5,"egress_port":6}]},
{"id":"","start":"2026-11-21T06:20:00Z","end":"2026-11-21T06:30:00Z","packets":1,"hops":[]}]}`
	const history = `{"generated_at":"2026-11-21T09:01:00Z","total":2,"since":"2026-11-21T06:00:00Z","until":"2026-11-21T07:00:00Z","resolution_ns":10000000000,"flows":[
{"id":"00000000000000b1","src":"10.0.0.1","dst":"10.0.0.2","src_port":5002,"dst_port":80,"packets":100},
{"id":"00000000000000a1","src":"10.0.0.1","dst":"10.0.0.2","src_port":5001,"dst_port":80,"packets":51},
{"id":"00000000000000c1","src":"10.0.0.1","dst":"10.0.0.2","src_port":5001,"dst_port":81,"packets":3}]}`
	s := test.CannedServer(t, map[string]string{"flows": history, "flows/00000000000000a1/paths": paths})
	for _, args := range []string{"00000000000000A1", "10.0.0.1:5001 10.0.0.2:80", "10.0.0.1:5001 10.0.0.2"} {
		stdout, stderr,
			code := runQuery(t,
			append([]string{"trace", "--server", s.URL, "--since", "3h"}, strings.Fields(args)...)...)
		if code != 0 || strings.Contains(stdout, "\x1b") ||
			strings.HasPrefix(stderr, "1 more flows match") != (args == "10.0.0.1:5001 10.0.0.2") {
			t.Errorf("%s: code %d, %s", args, code, stderr)
		}
		for _, want := range []string{
			"flow 00000000000000a1: 10.0.0.1:5001",
			"50 packets, 2 dropped; in nodes: mean 2.00µs, 1.00µs to 5.00µs\n  path 000000000000000a: s1",
			"1 packet\n  its path is not known\n",
		} {
			if !strings.Contains(stdout, want) {
				t.Errorf("%s: no %q in\n%s", args, want, stdout)
			}
		}
	}
	stdout, _, code := runQuery(t, "trace", "--server", s.URL, "--since", "3h", "-o", "json", "00000000000000a1")
	if !json.Valid([]byte(stdout)) || code != 0 || !strings.Contains(stdout, `"start": "2026-11-21T06:20:00Z"`) {
		t.Errorf("code %d, got %s", code, stdout)
	}
	if _, stderr, code := runQuery(t, "trace", "--server", s.URL, "--since", "3h", "10.0.0.1:9",
		"10.0.0.2"); code != 1 || !strings.Contains(stderr, "the store has no flow from 10.0.0.1:9 to 10.0.0.2") {
		t.Errorf("code %d, said %s", code, stderr)
	}
}
