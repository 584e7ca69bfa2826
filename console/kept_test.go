package console_test

import (
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// alertRules has an output that never works: nobody listens there.
const alertRules = `
rules:
  - {name: drops, filter: kind = drop_storm, severity: critical, outputs: [pager]}
  - {name: never, filter: kind = loop, for: 1h}
outputs:
  pager: {webhook: {url: 'http://127.0.0.1:9/'}}
`

// TestKept has a browser use the pages that need a server with records and alert rules.
func TestKept(t *testing.T) {
	chromium := needBrowser(t)
	rules := filepath.Join(t.TempDir(), "alerts.yaml")
	if err := os.WriteFile(rules, []byte(alertRules), 0o600); err != nil {
		t.Fatal(err)
	}
	server := fed(t, "testdata/all.yaml", nil, "--data", t.TempDir(), "--raw-reports", "64MiB", "--alerts", rules)
	for _, datagram := range []string{"no report", "neither is this"} {
		send(t, listener(t, server), datagram)
	}
	waitForRecords(t, server)
	drive(t, chromium, "explore.mjs", below(t, server))
	drive(t, chromium, "flows.mjs", below(t, server))
	drive(t, chromium, "lists.mjs", below(t, server))
	drive(t, chromium, "reports.mjs", below(t, server))
	drive(t, chromium, "alerts.mjs", below(t, server))
	drive(t, chromium, "docs.mjs", below(t, server))
	drive(t, chromium, "sizes.mjs", below(t, server))
	drive(t, chromium, "keys.mjs", below(t, server))
	drive(t, chromium, "robust.mjs", below(t, server))
	drive(t, chromium, "recover.mjs", below(t, server))
}

// send sends a datagram to a UDP address.
func send(t *testing.T, to, datagram string) {
	t.Helper()
	conn, err := net.Dial("udp", to)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(datagram)); err != nil {
		t.Fatal(err)
	}
}

// waitForRecords waits until what a server received is in its store, which takes some seconds after the last report.
func waitForRecords(t *testing.T, server string) {
	t.Helper()
	var before uint64
	var since time.Time // it did not change
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(3 * time.Second) {
		answer, err := http.Get(server + "/api/v1/flows?since=10m&group_by=")
		if err != nil {
			t.Fatal(err)
		}
		var list struct{ Flows []struct{ Packets uint64 } }
		err = json.NewDecoder(answer.Body).Decode(&list)
		answer.Body.Close()
		if err != nil || len(list.Flows) != 1 {
			continue
		}
		if n := list.Flows[0].Packets; n == 0 || n != before {
			before, since = n, time.Now()
		}
		if time.Since(since) > 12*time.Second { // records of flows come every ten
			return
		}
	}
	t.Fatal("no records within a minute")
}
