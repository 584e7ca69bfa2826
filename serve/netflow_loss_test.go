package serve

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/waybill-int/waybill/export"
	"github.com/waybill-int/waybill/export/ipfix"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
)

// What a server exports as IPFIX, another one receives by a way that loses, repeats and reorders: the records that were
// sent are those that came and those that it says are missing.
func TestServeIPFIXLoss(t *testing.T) {
	c := DefaultConfig()
	c.Points.SourceNodes = map[netip.Addr]uint32{netip.MustParseAddr("127.0.0.1"): 3}
	c.Points.Compile()
	c.Workers, c.Listen, c.HTTP = 1, []string{"netflow://127.0.0.1:0"}, "127.0.0.1:0"
	s, err := New(t.Context(), &c, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()
	conn, err := net.Dial("udp", s.Receivers[0].Stats().Address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	way, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer way.Close()
	out, err := (&ipfix.Config{To: "udp://" + way.LocalAddr().String(), Domain: 9}).Open(export.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	datagram := func(records int) []byte { // as many as go into one
		var list []export.Record
		for i := range records {
			list = append(list, export.Record{Kind: export.Flows, Of: &telemetry.FlowInterval{
				StartNs: time.Now().UnixNano(), Packets: 5, Key: telemetry.FlowKey{
					Src: telemetry.AddrFrom4([4]byte{10, 0, 1, 1}), Dst: telemetry.AddrFrom4([4]byte{10, 0, 2, 1}),
					SrcPort: uint16(i), DstPort: 443, Protocol: 6,
				},
			}})
		}
		if refused, err := out.Send(ctx, list); err != nil || len(refused) > 0 {
			t.Fatal(err, refused)
		}
		b := make([]byte, 65536)
		if err := way.SetReadDeadline(time.Now().Add(10 * time.Minute)); err != nil {
			t.Fatal(err)
		}
		n, _, err := way.ReadFrom(b)
		if err != nil {
			t.Fatal(err)
		}
		return b[:n]
	}
	sent, lost, again, forwarded := 0, 0, 0, uint64(0)
	forward := func(b []byte) {
		forwarded++
		if _, err := conn.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	var held []byte
	for i := range 200 {
		records := 1 + i%4
		sent += records
		b := datagram(records)
		switch {
		case i > 20 && i < 190 && i%7 == 0:
			lost += records
		case i > 20 && i%11 == 5:
			held = b
		case i > 20 && i%13 == 4:
			again += records
			forward(b)
			forward(b)
		default:
			forward(b)
		}
		if held != nil && i%11 == 8 {
			forward(held)
			held = nil
		}
	}
	test.Eventually(t, "all datagrams are read", func() bool { return s.Receivers[0].Stats().Received == forwarded })

	get := func(path string, into any) {
		t.Helper()
		answer, err := http.Get(s.URL() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if err := json.NewDecoder(answer.Body).Decode(into); err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s, %v", path, answer.Status, err)
		}
	}
	var loss struct{ Loss []telemetry.Loss }
	get("/api/v1/loss", &loss)
	if len(loss.Loss) != 1 {
		t.Fatalf("got %+v", loss)
	}
	l := &loss.Loss[0]
	if l.RecordsLost == nil || *l.RecordsLost != int64(lost) || int(l.Repeated) != again || l.Lost != nil ||
		sent != int(l.Reports-l.Repeated)+int(*l.RecordsLost) {
		t.Errorf("got %+v, want %d records lost of %d, and %d again", l, lost, sent, again)
	}
	var exporters struct{ Exporters []telemetry.Exporter }
	get("/api/v1/exporters?filter=records_lost+%3E+0", &exporters)
	if len(exporters.Exporters) != 1 || *exporters.Exporters[0].RecordsLost != uint64(lost) {
		t.Errorf("got %+v", exporters)
	}
	test.Eventually(t, "the event has them", func() bool {
		var events struct{ Events []telemetry.Event }
		get("/api/v1/events?filter=kind+%3D+report_loss", &events)
		return len(events.Events) == 1 && events.Events[0].Count >= uint64(lost)
	})
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
