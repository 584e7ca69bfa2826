package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/store/clickhouse"
	"github.com/waybill-int/waybill/store/duckdb"
	"github.com/waybill-int/waybill/telemetry"
)

// TestStoreCopy: waybill store copy, killed at three requests to ClickHouse before and behind them, and started again,
// leaves every record of the files in ClickHouse once, and those of the journal of a server that was killed.
func TestStoreCopy(t *testing.T) {
	data := t.TempDir()
	files := openStore(t, data)
	start := time.Now().UTC().Truncate(time.Hour).Add(-2 * time.Hour)
	var all []*telemetry.Intervals
	for i := range 20 {
		v := &telemetry.Intervals{}
		for n := range 50 {
			at := start.Add(time.Duration(i) * 5 * time.Minute).UnixNano()
			v.Hops = append(v.Hops, telemetry.HopInterval{
				StartNs: at, Place: telemetry.Place{Has: telemetry.HasNode, Node: uint32(n)}, Packets: uint64(n + i),
			})
			v.Flows = append(v.Flows, telemetry.FlowInterval{
				StartNs: at, Key: telemetry.FlowKey{SrcPort: uint16(n)}, Reports: uint64(n), Packets: uint64(n * i),
			})
		}
		all = append(all, v)
	}
	if err := files.Write(all); err != nil {
		t.Fatal(err)
	}
	if err := files.Maintain(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}

	remote := newRemoteStore(t)
	config := remote.config(t)
	text, err := os.ReadFile(config)
	if err == nil {
		err = os.WriteFile(config, append(text, "data: "+data+"\n"...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	// The server stands still at a request, so that the process is killed there.
	reached, killed, inserts := make(chan struct{}), make(chan struct{}), 0
	stopAt, behind := 0, false
	var mu sync.Mutex // of the three
	standing := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		stop, late := false, behind
		if strings.HasPrefix(r.URL.Query().Get("query"), "INSERT") {
			inserts++
			stop = inserts == stopAt
		}
		mu.Unlock()
		if stop {
			if late { // with an answer that does not arrive
				remote.pass(&discarded{header: http.Header{}}, r)
			}
			reached <- struct{}{}
			<-killed
			panic(http.ErrAbortHandler)
		}
		remote.pass(w, r)
	})
	remote.instead.Store(&standing)
	for _, at := range []struct {
		insert int
		behind bool
	}{{2, false}, {3, true}, {1, true}} {
		mu.Lock()
		inserts, stopAt, behind = 0, at.insert, at.behind
		mu.Unlock()
		c := runSelf("store", "copy", data, config)
		ended := make(chan error, 1)
		output := &strings.Builder{}
		c.Stdout, c.Stderr = output, output
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		go func() { ended <- c.Wait() }()
		select {
		case <-reached:
			c.Process.Kill()
			<-ended
			killed <- struct{}{}
		case err := <-ended:
			t.Fatalf("it ended before insert %d: %v\n%s", at.insert, err, output)
		}
	}
	mu.Lock()
	stopAt = 0
	mu.Unlock()
	for range 2 { // the second one finds everything there
		stdout, stderr, code := runWaybill(t, "store", "copy", data, config)
		if code != 0 {
			t.Fatalf("code %d, %s", code, stderr)
		}
		for _, line := range []string{"flows_10s 1000 1000", "hops_1s 1000 1000", "flows_1m ", "hops_1h "} {
			if !strings.Contains(strings.Join(strings.Fields(stdout), " ")+" ", " "+line) {
				t.Errorf("no %q in\n%s", line, stdout)
			}
		}
	}
	files = openStore(t, data)
	kept, err := clickhouse.Open(t.Context(), clickhouse.DefaultConfig(remote.direct))
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	for _, table := range duckdb.TableNames() {
		if !strings.HasPrefix(table, "flows_") && !strings.HasPrefix(table, "hops_") {
			continue
		}
		statement := fmt.Sprintf("SELECT start, %s, packets FROM %s ORDER BY ALL",
			map[bool]string{true: "node", false: "reports"}[strings.HasPrefix(table, "hops_")], table)
		want, err := files.Select(t.Context(), statement, 10_000)
		if err != nil {
			t.Fatal(err)
		}
		got, err := kept.Select(t.Context(), statement, 10_000)
		if err != nil || fmt.Sprint(got.Rows) != fmt.Sprint(want.Rows) || len(want.Rows) == 0 {
			t.Errorf("%s: %d rows of %d, or other ones, %v", table, len(got.Rows), len(want.Rows), err)
		}
	}
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}

	for args, want := range map[string]string{
		"store copy " + data:                         "got 1 arguments, want FROM",
		"store copy /nowhere " + config:              "there is no store in /nowhere",
		"store copy " + data + " " + remote.direct:   "no such file",
		"store copy " + data + " " + noClickHouse(t): "the configuration has no store.clickhouse",
	} {
		if _, stderr, code := runWaybill(t, strings.Fields(args)...); code == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%s: code %d, %q, want %q", args, code, stderr, want)
		}
	}
	udp, web := test.FreePort(t, "udp"), test.FreePort(t, "tcp")
	startServe(t, udp, web, data)
	if _, stderr, code := runWaybill(t, "store", "copy", data, config); code == 0 ||
		!strings.Contains(stderr, "stop the server first") {
		t.Errorf("beside a server: code %d, %q", code, stderr)
	}
}

// noClickHouse is a configuration without it.
func noClickHouse(t *testing.T) string {
	file := filepath.Join(t.TempDir(), "waybill.yaml")
	if err := os.WriteFile(file, []byte("http: :0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// A discarded answer goes nowhere.
type discarded struct{ header http.Header }

func (d *discarded) Header() http.Header         { return d.header }
func (d *discarded) Write(b []byte) (int, error) { return len(b), nil }
func (d *discarded) WriteHeader(int)             {}
