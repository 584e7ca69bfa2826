package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/store/ring"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// A rawDatagram is what a test sends.
type rawDatagram struct {
	source   string
	listener string
	payload  []byte
}

// rawDatagrams are reports of all forms by three nodes about 4 flows, one that is cut, and one that is none, a second
// apart from begin on.
func rawDatagrams() []rawDatagram {
	var list []rawDatagram
	for i, form := range test.Forms {
		for flow := range uint32(4) {
			source := fmt.Sprintf("192.0.2.%d:5000", i+1)
			if i == 2 {
				source = "[2001:db8::3]:5000"
			}
			list = append(list, rawDatagram{source, "0.0.0.0:8555", test.Report(form, flow, 3*flow+2, 3)})
		}
	}
	return append(
		list,
		rawDatagram{"192.0.2.66:1234", "[::]:32766", test.Report(test.Form20MD, 1, 7, 3)[:60]},
		rawDatagram{"192.0.2.66:1234", "127.0.0.1:6000", []byte{0xf0, 0, 0, 0}},
	)
}

// keeping returns the configuration of a server that has kept them.
func keeping(t testing.TB, list []rawDatagram) Config {
	t.Helper()
	r, err := ring.Open(ring.Config{Dir: t.TempDir(), MaxBytes: ring.MinBytes},
		store.NewTroubles(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	appenders := map[string]*ring.Appender{}
	for _, d := range list {
		if appenders[d.listener] == nil {
			appenders[d.listener] = r.Appender(netip.MustParseAddrPort(d.listener))
		}
	}
	for i, d := range list {
		at := begin.Add(time.Duration(i) * time.Second)
		appenders[d.listener].Record(at.UnixNano(), netip.MustParseAddrPort(d.source), d.payload, false)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r.Run(ctx) // which writes what there is
	cfg := testConfig(newFeed().Collector)
	points := codepoint.New()
	cfg.Reports, cfg.Points = r, func() *codepoint.Config { return points }
	if err := points.Apply(map[string]any{
		"int_udp_port": test.INTPort, "int_dscp": 0x17,
		"int_dscp_mask": 0x3f,
	}); err != nil {
		t.Fatal(err)
	}
	points.Compile()
	return cfg
}

// listReports asks for raw reports.
func listReports(t testing.TB, h http.Handler, query url.Values) types.ReportList {
	t.Helper()
	var list types.ReportList
	w := ask(h, "GET", "/api/v1/reports?"+query.Encode())
	if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || w.Code != 200 {
		t.Fatalf("%v: %d, %s", query, w.Code, w.Body)
	}
	return list
}

func TestReports(t *testing.T) {
	h := New(keeping(t, rawDatagrams()))
	golden(t, "reports", ask(h, "GET", "/api/v1/reports?filter=sequence+%3D+11+or+outcome+%3D+malformed").Body.Bytes())
	list := listReports(t, h, url.Values{"limit": {"1"}, "filter": {"version = '2.0' and outcome = decoded"}})
	golden(t, "report", ask(h, "GET", "/api/v1/reports/"+list.Reports[0].ID).Body.Bytes())
	for _, format := range []string{"csv", "ndjson", "parquet", "arrow"} {
		if w := ask(h, "GET", "/api/v1/reports?format="+format); w.Code != 200 || w.Body.Len() < 1000 {
			t.Errorf("%s: %d, %d bytes", format, w.Code, w.Body.Len())
		}
	}
}

// TestReportsSelection: a list has what its parameters ask for, and no more. What is expected follows from how the
// datagrams were made.
func TestReportsSelection(t *testing.T) {
	sent := rawDatagrams()
	h := New(keeping(t, sent))
	all := listReports(t, h, nil)
	if len(all.Reports) != len(sent) || all.Next != "" || all.Scanned != len(sent) {
		t.Fatalf("%d of %d, scanned %d", len(all.Reports), len(sent), all.Scanned)
	}
	for i, got := range all.Reports {
		want := sent[len(sent)-1-i]
		at := begin.Add(time.Duration(len(sent)-1-i) * time.Second)
		if netip.AddrPortFrom(got.Exporter, got.ExporterPort).String() != want.source ||
			got.Listener != want.listener || got.Length != len(want.payload) || !got.Time.Equal(at) {
			t.Errorf("%d: %+v, want %+v", i, got, want)
		}
		var one types.ReportAnswer
		decoder := json.NewDecoder(ask(h, "GET", "/api/v1/reports/"+got.ID).Body)
		decoder.UseNumber()
		if err := decoder.Decode(&one); err != nil || !bytes.Equal(one.Bytes, want.payload) || one.ID != got.ID {
			t.Errorf("%d: by id %v, %x", i, err, one.Bytes)
		}
		if checkPositions(t, got.ID, want.payload, one.Layers) == 0 {
			t.Errorf("%d: no positions", i)
		}
	}
	flow := all.Reports[2].Flow // of the coalesced form: its first flow, 3
	if flow == nil || !strings.Contains(flow.Text, " > ") {
		t.Fatalf("%+v", all.Reports[2])
	}
	for _, c := range []struct {
		name, value string
		want        int
	}{
		{"exporter", "192.0.2.1", 4},
		{"exporter", "192.0.2.0/24", 26},
		{"exporter", "2001:db8::/32", 4},
		{"flow", flow.ID, 9}, // each of the 7 forms once, and the coalesced ones that begin with flow 1 and 2
		{"flow", "0000000000000000", 0},
		{"filter", "outcome = malformed", 2},
		{"filter", "outcome != decoded and exporter = 192.0.2.66", 2},
		{"filter", "version = '0.5'", 8},
		{"filter", "version = '1.0'", 4},
		{"filter", "listener like '%:6000'", 1},
		{"filter", "hops = 1 and node = 3", 12}, // postcards: sequence 3n+2 is that of node 3
		{"filter", "hops = 3 and node = 1", 16},
		{"filter", "sender = s3", 25}, // all but 0.5 without local metadata, which names nobody; the cut one, too
		{"filter", "node = 4", 0},
		{"filter", "length < 60B", 1},
		{"filter", "time >= 2026-11-21T09:00:25Z", 5},
		{"filter", "flow = '" + flow.ID + "' and version != '2.0'", 3},
		{"since", begin.Add(10 * time.Second).Format(time.RFC3339), 20},
		{"until", begin.Add(10 * time.Second).Format(time.RFC3339), 10},
	} {
		got := listReports(t, h, url.Values{c.name: {c.value}})
		if len(got.Reports) != c.want {
			t.Errorf("%s=%s: %d items, want %d", c.name, c.value, len(got.Reports), c.want)
		}
	}
}

// TestReportsPages: cursors lead through all items, each once.
func TestReportsPages(t *testing.T) {
	h := New(keeping(t, rawDatagrams()))
	for _, filter := range []string{"", "version = '2.0'"} {
		query := url.Values{"filter": {filter}, "limit": {"7"}, "since": {"2h"}}
		whole := listReports(t, h, url.Values{"filter": {filter}})
		var paged []string
		for {
			page := listReports(t, h, query)
			for _, r := range page.Reports {
				paged = append(paged, r.ID)
			}
			if page.Next == "" {
				break
			}
			query.Set("cursor", page.Next)
		}
		var want []string
		for _, r := range whole.Reports {
			want = append(want, r.ID)
		}
		if strings.Join(paged, " ") != strings.Join(want, " ") {
			t.Errorf("%q: pages have %v\nall are %v", filter, paged, want)
		}
	}
}

// TestCapture: the file has the same datagrams in the order of their arrival, in frames that a decoder that is not ours
// finds right to the checksums.
func TestCapture(t *testing.T) {
	sent := rawDatagrams()
	h := New(keeping(t, sent))
	for _, c := range []struct {
		target string
		accept string
		from   int
		to     int
	}{
		{"/api/v1/reports.pcap", "", 0, len(sent)},
		{"/api/v1/reports?format=pcap", "", 0, len(sent)},
		{"/api/v1/reports", "application/vnd.tcpdump.pcap", 0, len(sent)},
		{"/api/v1/reports.pcap?limit=5", "", len(sent) - 5, len(sent)},
		{"/api/v1/reports.pcap?filter=version='0.5'", "", 0, 8},
		{"/api/v1/reports.pcap?filter=version='0.5'&limit=3", "", 5, 8},
		{"/api/v1/reports.pcap?exporter=2001:db8::3", "", 8, 12},
	} {
		w := ask(h, "GET", strings.ReplaceAll(c.target, "'", "%27"),
			func(r *http.Request) { r.Header.Set("Accept", c.accept) })
		if w.Code != 200 || w.Header().Get("Content-Type") != types.MediaCapture {
			t.Fatalf("%s: %d, %v", c.target, w.Code, w.Header())
		}
		file, err := pcapgo.NewReader(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		i := c.from
		for ; ; i++ {
			frame, info, err := file.ReadPacketData()
			if err == io.EOF {
				break
			}
			if err != nil || i >= len(sent) {
				t.Fatalf("%s: frame %d: %v", c.target, i, err)
			}
			if at := begin.Add(time.Duration(i) * time.Second); !info.Timestamp.Equal(at) {
				t.Errorf("%s: frame %d is of %v", c.target, i, info.Timestamp)
			}
			checkFrame(t, frame, &sent[i])
		}
		if i != c.to {
			t.Errorf("%s: ends at %d, want %d", c.target, i, c.to)
		}
	}
}

// checkFrame compares a frame with the datagram that it is to carry.
func checkFrame(t *testing.T, frame []byte, want *rawDatagram) {
	t.Helper()
	p := gopacket.NewPacket(frame, layers.LayerTypeEthernet, gopacket.Default)
	udp, ok := p.TransportLayer().(*layers.UDP)
	if !ok || p.NetworkLayer() == nil {
		t.Fatalf("no UDP in %v", p)
	}
	if err := udp.SetNetworkLayerForChecksum(p.NetworkLayer()); err != nil {
		t.Fatal(err)
	}
	src := netip.AddrPortFrom(addrOf(p.NetworkLayer().NetworkFlow().Src().Raw()), uint16(udp.SrcPort))
	if src.String() != want.source || uint16(udp.DstPort) != netip.MustParseAddrPort(want.listener).Port() ||
		!bytes.Equal(udp.Payload, want.payload) {
		t.Errorf("%v to %v, %x", src, udp.DstPort, udp.Payload)
	}
	if wrong, mismatches := p.VerifyChecksums(); wrong != nil || len(mismatches) > 0 {
		t.Errorf("checksums: %v, %v", wrong, mismatches)
	}
}

func addrOf(b []byte) netip.Addr {
	a, _ := netip.AddrFromSlice(b)
	return a
}

func TestReportsProblems(t *testing.T) {
	kept := New(keeping(t, rawDatagrams()))
	none := New(testConfig(newFeed().Collector))
	page := listReports(t, kept, url.Values{"limit": {"1"}})
	gone := strings.Replace(page.Reports[0].ID, "-", "f-", 1)
	for _, c := range []struct {
		h         http.Handler
		target    string
		status    int
		parameter string
	}{
		{kept, "/api/v1/reports?since=never", 400, "since"},
		{kept, "/api/v1/reports?since=1m&until=2m", 400, "until"},
		{kept, "/api/v1/reports?limit=0", 400, "limit"},
		{kept, "/api/v1/reports?exporter=leaf1", 400, "exporter"},
		{kept, "/api/v1/reports?filter=node+%3D", 400, "filter"},
		{kept, "/api/v1/reports?filter=sender+%3D+nobody", 400, "filter"},
		{kept, "/api/v1/reports?cursor=abc", 400, "cursor"},
		{kept, "/api/v1/reports?limit=1&exporter=192.0.2.1&cursor=" + page.Next, 400, "cursor"},
		{kept, "/api/v1/reports?order=time", 400, "order"},
		{kept, "/api/v1/reports?format=pdf", 400, "format"},
		{kept, "/api/v1/reports.pcap?cursor=" + page.Next, 400, "cursor"},
		{kept, "/api/v1/reports.pcap?format=pcap", 400, "format"},
		{kept, "/api/v1/reports/", 404, ""},
		{kept, "/api/v1/reports/..%2f..%2fetc%2fpasswd", 404, ""},
		{kept, "/api/v1/reports/1-2", 400, "id"},
		{kept, "/api/v1/reports/" + gone, 404, ""},
		{kept, "/api/v1/reports/" + page.Reports[0].ID + "?x=1", 400, "x"},
		{none, "/api/v1/reports", 404, ""},
		{none, "/api/v1/reports/1-10-0", 404, ""},
		{none, "/api/v1/reports.pcap", 404, ""},
		{none, "/api/v1/reports?limit=0", 400, "limit"},
	} {
		w := ask(c.h, "GET", c.target)
		var p types.Problem
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || p.Status != c.status ||
			p.Parameter != c.parameter || w.Header().Get("Content-Type") != types.MediaProblem {
			t.Errorf("%s: %d, %s", c.target, w.Code, w.Body)
		}
	}
}
