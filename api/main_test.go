package api

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/ledger"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
)

var update = flag.Bool("update", false, "write what the handler answers into the golden files")

// begin is when the first datagram arrives; each further one comes a millisecond later.
var begin = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

// A feed fills a collector with two shards as receivers do.
type feed struct {
	*analyze.Collector
	now time.Time
}

func newFeed() *feed {
	config := analyze.DefaultConfig()
	f := &feed{now: begin, Collector: &analyze.Collector{
		Owners:    []analyze.Owner{analyze.NewShard(config), analyze.NewShard(config)},
		Exporters: []*ledger.Exporters{ledger.NewExporters(100)},
	}}
	f.Configure(analyze.Configured{Names: map[uint32]string{1: "s1", 2: "s2", 3: "s3", 1001: "gateway"}})
	return f
}

// datagram takes one report datagram.
func (f *feed) datagram(d *telemetry.Decoder, payload []byte, src netip.AddrPort, port uint16) {
	var all telemetry.Batch
	var h telemetry.Header
	d.Decode(payload, src, port, &all, &h)
	headers := []telemetry.Header{h}
	all.Attribute(f.Exporters[0].Observe(headers, f.now.UnixNano()), headers)
	for i := range all.Reports {
		var one telemetry.Batch
		one.Origin = all.Origin
		one.Add(&all.Reports[i])
		f.Owners[all.Reports[i].Flow.ShardOf(2)].(*analyze.Shard).Process(&one, f.now.UnixNano())
	}
	f.now = f.now.Add(time.Millisecond)
}

// capture takes the reports of a capture.
func (f *feed) capture(t testing.TB, name, dialect string) { f.captureWith(t, name, dialect, 0) }

// captureWith takes the reports of a capture about packets that end otherwise: reports that come again count once.
func (f *feed) captureWith(t testing.TB, name, dialect string, change byte) {
	t.Helper()
	decoder := telemetry.NewDecoder(test.Dialect(t, dialect))
	for _, frame := range test.Packets(t, name+"_reports.pcap") {
		if d, ok := test.UDP(frame); ok {
			d.Payload[len(d.Payload)-1] ^= change
			f.datagram(decoder, d.Payload, d.Src, d.DstPort)
		}
	}
}

// finish ends the wait for postcards.
func (f *feed) finish() {
	f.now = f.now.Add(time.Second)
	for _, s := range f.Owners {
		for step := range int64(10) { // postcards wait for half a second
			s.Tick(f.now.UnixNano() + step*100e6)
		}
	}
}

// captured returns a collector that saw stacks, postcards with drops, Transparent Security and broken datagrams.
func captured(t testing.TB) *analyze.Collector {
	f := newFeed()
	f.capture(t, "onos_v10_udp", "onos-int10-ver0")
	f.capture(t, "fabric_tna_xd_drop", "fabric-tna-bmv2")
	f.capture(t, "tps_v21_udp", "tps")
	plain := telemetry.NewDecoder(test.Dialect(t, "spec"))
	source := netip.MustParseAddrPort("192.0.2.66:1234")
	f.datagram(plain, test.Report(test.Form20MD, 1, 7, 3)[:60], source, 8555)
	f.datagram(plain, []byte{0xf0, 0, 0, 0}, source, 8555)
	f.datagram(plain, test.Report(test.Form20XD, 5, 3, 1), source, 8555)
	f.datagram(plain, test.Report(test.Form20XD, 5, 6, 1), source, 8555)
	f.finish()
	return f.Collector
}

// happened returns a collector, and the events that a scanner found: four storms of drops that are over, and reports of
// an exporter that were lost a moment ago.
func happened(t testing.TB) (*analyze.Collector, *eventlog.Log) {
	f := newFeed()
	log := eventlog.New(100)
	scanner := analyze.NewScanner(f.Collector, log)
	seconds := func(n int) {
		for range n {
			second := f.now.Truncate(time.Second)
			for f.now = second; f.now.Before(second.Add(time.Second)); { // postcards wait for half a second
				f.now = f.now.Add(100 * time.Millisecond)
				for _, s := range f.Owners {
					s.Tick(f.now.UnixNano())
				}
			}
			scanner.Scan(f.now.UnixNano())
		}
	}
	seconds(1)
	for change := range byte(3) {
		f.captureWith(t, "fabric_tna_xd_drop", "fabric-tna-bmv2", change)
	}
	seconds(8)
	d := telemetry.NewDecoder(test.Dialect(t, "spec"))
	source := netip.MustParseAddrPort("192.0.2.66:1234")
	for _, sequence := range []uint32{1, 2, 3, 9, 10} {
		f.datagram(d, test.Report(test.Form20XD, 5, sequence, 1), source, 8555)
	}
	seconds(2) // what is missing at one look may come before the next
	return f.Collector, log
}

// listeners are the sockets of a server whose first address two of them share.
func listeners() []types.Listener {
	drops, none := uint64(5), uint64(0)
	return []types.Listener{
		{
			Address: "[::]:8555", Received: 184, Decoded: 180, Damaged: 1, Malformed: 3, KernelDrops: &drops,
			ReceiveBufferWanted: 33554432, ReceiveBuffer: 212992,
		},
		{
			Address: "[::]:8555", Received: 20, Decoded: 20, KernelDrops: &none, ReceiveBufferWanted: 33554432,
			ReceiveBuffer: 33554432,
		},
		{Address: "127.0.0.1:6000"},
	}
}

// testConfig is a server of collector at a fixed time.
func testConfig(collector *analyze.Collector) Config {
	return Config{
		Ledger: ledger.New(collector.Exporters,
			[]ledger.Socket{{Address: "[::]:8555", Drops: func() (uint64, error) { return 5, nil }}}, collector.Names,
			collector),
		Collector: collector, Listeners: listeners, Version: "v1.2.3",
		Now:    func() time.Time { return begin.Add(time.Minute) },
		Hosts:  []string{"noc.example"},
		Logger: slog.New(slog.DiscardHandler),
		Console: fstest.MapFS{
			"index.html":          {Data: []byte("<!doctype html><title>Waybill</title>")},
			"app.js":              {Data: []byte("'use strict'")},
			"assets/index-abc.js": {Data: []byte("export {}" + strings.Repeat("\n", 2000))},
			"parts/cable.js":      {Data: []byte("0")},
		},
	}
}

// ask sends a request and returns the answer.
func ask(h http.Handler, method, target string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	for _, c := range change {
		c(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// through lets a request come in by a local address, and ask for host.
func through(local, host string) func(*http.Request) {
	return func(r *http.Request) {
		addr := net.TCPAddrFromAddrPort(netip.MustParseAddrPort(local))
		*r = *r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, addr))
		r.Host = host
	}
}

// golden compares JSON with a file of testdata, or writes it there.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	var indented bytes.Buffer
	if err := json.Indent(&indented, bytes.TrimSpace(got), "", "  "); err != nil {
		t.Fatalf("%v in %q", err, got)
	}
	indented.WriteByte('\n')
	file := filepath.Join("testdata", name+".json")
	if *update {
		if err := os.WriteFile(file, indented.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(indented.Bytes(), want) {
		t.Errorf("%s differs (go test -update writes it):\n%s", file, indented.Bytes())
	}
}
