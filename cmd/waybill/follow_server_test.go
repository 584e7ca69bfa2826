package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"testing"

	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/serve"
)

// Following at a real server tells of what was there, of what comes, and of what changes: each once.
func TestQueryFollowServer(t *testing.T) {
	first, second := test.FreePort(t, "udp"), test.FreePort(t, "udp")
	s := startServer(t, func(c *serve.Config) {
		c.Listen = []string{"udp://" + first, "udp://" + second}
		_, port, _ := net.SplitHostPort(second)
		if err := c.Points.Set("dialects", map[string]any{":" + port: "onos-int10-ver0"}); err != nil {
			t.Fatal(err)
		}
	})
	drops := test.Captured(t, "fabric_tna_xd_drop")
	s.send(first, drops)
	type item struct {
		ID, Kind string
		Paths    []struct{ ID string }
	}
	var before, after []item
	test.Eventually(t, "a flow", func() bool {
		s.get("/api/v1/flows", "flows", &before)
		return len(before) > 0
	})
	ctx, cancel := context.WithCancel(t.Context())
	t.Setenv("LC_ALL", "C")
	follow := func(name string) *bufio.Scanner {
		read, write := io.Pipe()
		root := newRootCommand()
		root.SetArgs([]string{name, "--follow", "-o", "ndjson", "--server", s.URL()})
		root.SetOut(write)
		root.SetErr(io.Discard)
		root.SetContext(ctx)
		go func() {
			if code := command.Execute(root); code != 0 {
				t.Errorf("%s --follow: code %d", name, code)
			}
			write.Close()
		}()
		lines := bufio.NewScanner(read)
		lines.Buffer(nil, 1<<20)
		return lines
	}
	next := func(lines *bufio.Scanner) (i item) {
		t.Helper()
		if !lines.Scan() {
			t.Fatalf("the end: %v", lines.Err())
		}
		if err := json.Unmarshal(lines.Bytes(), &i); err != nil {
			t.Fatalf("%v in %s", err, lines.Bytes())
		}
		return i
	}
	flows, events := follow("flows"), follow("events")
	// A flow is told anew when its path is known, half a second after its first postcard.
	told, latest := map[string]bool{}, map[string]string{}
	tell := func() {
		t.Helper()
		f, path := next(flows), ""
		if len(f.Paths) > 0 {
			path = f.Paths[0].ID
		}
		if told[f.ID] && latest[f.ID] == path {
			t.Errorf("flow %s is told twice on path %q", f.ID, path)
		}
		told[f.ID], latest[f.ID] = true, path
	}
	for len(told) < len(before) {
		tell()
	}
	s.send(first, test.Again(drops, 6)[len(drops):])
	s.send(second, test.Captured(t, "onos_v10_udp"))
	test.Eventually(t, "another flow", func() bool {
		s.get("/api/v1/flows", "flows", &after)
		return len(after) > len(before)
	})
	for len(told) < len(after) {
		tell()
	}
	for _, f := range after {
		if !told[f.ID] {
			t.Errorf("flow %s is not told", f.ID)
		}
	}
	for next(events).Kind != "drop_storm" {
	}
	cancel()
	for flows.Scan() || events.Scan() {
	}
}
