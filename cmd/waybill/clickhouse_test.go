package main

import (
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/internal/test/chdb"
	"github.com/waybill-int/waybill/store/clickhouse"
	"github.com/waybill-int/waybill/telemetry"
)

// A remoteStore is ClickHouse behind TLS and a password, which can be away.
type remoteStore struct {
	*httptest.Server
	direct   string // its address without that
	database string
	away     atomic.Bool
	refused  atomic.Int64 // requests while it was away
	pass     http.HandlerFunc
	instead  atomic.Pointer[http.HandlerFunc] // of pass; nil: none
}

func newRemoteStore(t *testing.T) *remoteStore {
	t.Helper()
	s := &remoteStore{direct: chdb.Start(t)}
	to, err := url.Parse(s.direct)
	if err != nil {
		t.Fatal(err)
	}
	if to.Scheme != "http" {
		t.Skip("the proxy of this test speaks HTTP")
	}
	s.database = strings.Trim(to.Path, "/")
	to.Path = ""
	proxy := httputil.NewSingleHostReverseProxy(to)
	s.pass = func(w http.ResponseWriter, r *http.Request) {
		if s.away.Load() {
			s.refused.Add(1)
			panic(http.ErrAbortHandler)
		}
		user, password, ok := r.BasicAuth()
		if !ok {
			user, password = r.Header.Get("X-ClickHouse-User"), r.Header.Get("X-ClickHouse-Key")
		}
		if user != "waybill" || password != "it's a secret" {
			http.Error(w, "Code: 516. DB::Exception: Authentication failed", http.StatusForbidden)
			return
		}
		proxy.ServeHTTP(w, r)
	}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if instead := s.instead.Load(); instead != nil {
			(*instead)(w, r)
			return
		}
		s.pass(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// config is a configuration file with this store.
func (s *remoteStore) config(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"ca.pem":   string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})),
		"password": "it's a secret\n",
		"waybill.yaml": fmt.Sprintf("store:\n  clickhouse:\n    url: %s\n    database: %s\n    user: waybill\n"+
			"    password_file: %s/password\n    ca: %[3]s/ca.pem\n", s.URL, s.database, dir),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "waybill.yaml")
}

// TestStoreClickHouse: a server with its records in ClickHouse, which is away for a while, during which the server is
// killed, and away once more. When both are back, the store has every report that was sent, once.
func TestStoreClickHouse(t *testing.T) {
	remote := newRemoteStore(t)
	udp, web, data, config := test.FreePort(t, "udp"), test.FreePort(t, "tcp"), t.TempDir(), remote.config(t)
	begin := func() *process { return startServe(t, udp, web, data, "--config", config) }
	p, stood := begin(), uint32(0)
	to, err := net.ResolveUDPAddr("udp", udp)
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.ListenPacket("udp", "127.0.7.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	from := &switchOfTest{PacketConn: c, to: to}
	send := func() {
		t.Helper()
		from.send(200) // which the receive buffer takes
		test.Eventually(t, "receiving", func() bool {
			var l struct{ Tables telemetry.TableLoss }
			var live struct{ Flows []struct{ Packets uint32 } } // which wait for other reports of them
			return p.ask("/api/v1/loss", &l) == nil && l.Tables.Stored == uint64(from.next-stood) &&
				p.ask("/api/v1/flows", &live) == nil && len(live.Flows) == 1 && live.Flows[0].Packets == from.next-stood
		})
	}
	stored := func() (n float64) {
		var a struct{ Rows [][]any }
		if p.ask("/api/v1/query?sql="+url.QueryEscape("SELECT toFloat64(sum(reports)) FROM flows_10s"), &a) == nil {
			n, _ = a.Rows[0][0].(float64)
		}
		return n
	}
	allStored := func() {
		t.Helper()
		test.Eventually(t, "the store", func() bool { return stored() >= float64(from.next) })
	}
	send()
	allStored()
	remote.away.Store(true)
	send()
	counted := time.Now()
	test.Eventually(t, "noting while the store is away", func() bool {
		return p.noted().After(counted) && remote.refused.Load() > 0
	})
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.Wait()
	remote.away.Store(false)

	p, stood = begin(), from.next
	allStored() // of the journal
	remote.away.Store(true)
	send()
	test.Eventually(t, "what is not written", func() bool {
		var ready struct {
			NotWritten []string `json:"not_written"`
		}
		return p.ask("/readyz", &ready) == nil && len(ready.NotWritten) > 0
	})
	remote.away.Store(false)
	allStored()
	var hour struct {
		Flows []struct {
			ID      string
			Packets uint64
		}
	}
	test.Eventually(t, "the flow in the list of the last hour", func() bool { // which ends where all is written
		return p.ask("/api/v1/flows?since=1h", &hour) == nil && len(hour.Flows) == 1 &&
			hour.Flows[0].Packets == uint64(from.next)
	})
	var taken struct {
		Paths []struct {
			Packets uint64
			Hops    []struct{ Node uint32 }
		}
	}
	if err := p.ask("/api/v1/flows/"+hour.Flows[0].ID+"/paths?since=1h", &taken); err != nil || len(taken.Paths) != 1 ||
		taken.Paths[0].Packets != uint64(from.next) || len(taken.Paths[0].Hops) != 1 ||
		taken.Paths[0].Hops[0].Node != 3 {
		t.Errorf("paths of the flow: %+v, %v; want one through node 3 with %d packets", taken.Paths, err, from.next)
	}
	var page struct {
		Events []struct{ ID string }
		Next   string `json:"next_cursor"`
	}
	seen := map[string]bool{}
	for cursor := ""; len(seen) == 0 || page.Next != ""; cursor = "&cursor=" + url.QueryEscape(page.Next) {
		page.Events, page.Next = nil, ""
		if err := p.ask("/api/v1/events?since=1h&limit=1"+cursor, &page); err != nil {
			t.Fatal(err)
		}
		for _, e := range page.Events {
			if seen[e.ID] {
				t.Errorf("event %s is on two pages", e.ID)
			}
			seen[e.ID] = true
		}
		if len(page.Events) == 0 {
			break
		}
	}
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(); err != nil {
		t.Fatal(err)
	}
	kept, err := clickhouse.Open(t.Context(), clickhouse.DefaultConfig(remote.direct))
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	for _, length := range []string{"10s", "1h"} {
		a, err := kept.Select(t.Context(), fmt.Sprintf(
			"SELECT sum(reports), sum(packets), (SELECT sum(reports) FROM exporters_%s) FROM flows_%[1]s", length), 1)
		if err != nil {
			t.Fatal(err)
		}
		n := uint64(from.next)
		if got, want := fmt.Sprint(a.Rows[0]), fmt.Sprint([]any{n, n, n}); got != want {
			t.Errorf("%s: reports, packets and reports of the exporter: got %s, want %s", length, got, want)
		}
		if err := kept.Maintain(t.Context(), time.Now().Add(2*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	if left, err := os.ReadDir(filepath.Join(data, "journal")); len(left) > 0 || err != nil {
		t.Errorf("after a stop %d journals are left, %v", len(left), err)
	}
}
