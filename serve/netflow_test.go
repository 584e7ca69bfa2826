package serve

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/netip"
	"testing"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
)

// Flow records that come to netflow://, of IPFIX and of NetFlow 9, are in the answers of the API: flows with estimates,
// drops with their number, and what was lost on the way by the numbers of NetFlow 9, which are those of datagrams.
// What those of IPFIX count is not known of one message: its exporter is one of which the loss is not known.
func TestServeNetFlow(t *testing.T) {
	c := DefaultConfig()
	c.Points.SourceNodes = map[netip.Addr]uint32{netip.MustParseAddr("127.0.0.1"): 3}
	c.Points.Compile()
	c.Names, c.Workers = map[uint32]string{3: "leaf3"}, 1
	c.Listen, c.HTTP = []string{"netflow://127.0.0.1:0"}, "127.0.0.1:0"
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
	// NetFlow 9: a template of addresses and packets, and a record of 5 packets
	v9 := append([]byte{0, 9, 0, 2}, make([]byte, 16)...)
	v9 = append(v9, 0, 0, 0, 20, 1, 0, 0, 3, 0, 8, 0, 4, 0, 12, 0, 4, 0, 2, 0, 4)
	v9 = append(v9, 1, 0, 0, 16, 10, 0, 1, 1, 10, 0, 9, 9, 0, 0, 0, 5)
	sent := uint64(0)
	send := func(payload []byte) {
		sent++
		if _, err := conn.Write(payload); err != nil {
			t.Fatal(err)
		}
	}
	const lost = 6
	for i := range uint32(60) {
		for source := range uint32(2) { // each counts for itself
			if source == 1 && i%10 == 5 { // on the way here
				continue
			}
			b := bytes.Clone(v9)
			binary.BigEndian.PutUint32(b[12:], 1000+i+7777*source)
			binary.BigEndian.PutUint32(b[16:], source)
			send(b)
		}
	}
	send(test.IPFIX())
	test.Eventually(t, "all datagrams are read", func() bool { return s.Receivers[0].Stats().Received == sent })

	var flows struct{ Flows []telemetry.Flow }
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
	get("/api/v1/flows", &flows)
	found := map[uint8]telemetry.Flow{}
	for _, f := range flows.Flows {
		found[uint8(f.DstPort>>8)] = f
	}
	if f := found[6000>>8]; f.PacketsEstimated == nil || *f.PacketsEstimated != 42 || f.Drops != 7 || f.Packets != 7 ||
		f.Sample == nil || f.Sample.Rate == nil || *f.Sample.Rate != 3 || len(f.Paths) == 0 ||
		f.Paths[0].Hops[0].Name != "leaf3" {
		t.Errorf("of IPFIX: got %+v", f)
	}
	if f := found[0]; f.PacketsEstimated == nil || *f.PacketsEstimated != 5*(120-lost) || f.Drops != 0 ||
		f.Packets != 0 || f.Sample == nil || f.Sample.Kind != telemetry.SampleUnknown.Kind() {
		t.Errorf("of NetFlow 9: got %+v", f)
	}
	var drops struct{ Drops []telemetry.Drop }
	get("/api/v1/drops", &drops)
	for _, d := range drops.Drops {
		want := map[string]uint64{"unknown": 3, "wred": 4}[d.ReasonName]
		if d.Packets != want || d.Name != "leaf3" || d.IngressPort == nil || *d.IngressPort != 5 {
			t.Errorf("got %+v, want %d", d, want)
		}
	}
	if len(drops.Drops) != 2 {
		t.Errorf("got %d places of drops", len(drops.Drops))
	}
	if got := s.Collector.Completeness(); got.Lost != lost || got.Sent != 120 || got.Unknown != 1 {
		t.Errorf("got %+v, want %d lost of 120", got, lost)
	}
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
