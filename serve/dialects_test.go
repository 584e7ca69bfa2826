package serve

import (
	"bytes"
	"context"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// noticesOf returns what the log says of the reports of a capture that come from one source.
func noticesOf(t *testing.T, capture, rule string) string {
	t.Helper()
	points := codepoint.New()
	if rule != "" {
		if err := points.Set("dialects", map[string]any{rule: "spec"}); err != nil {
			t.Fatal(err)
		}
	}
	points.Compile()
	var log bytes.Buffer
	n := newDialectNotices(func() *codepoint.Config { return points }, slog.New(slog.NewTextHandler(&log, nil)))
	r := n.recorder(32766, nil)
	for i, frame := range test.Packets(t, capture) {
		if d, ok := test.UDP(frame); ok {
			r.Record(int64(i)*int64(time.Millisecond), netip.MustParseAddrPort("192.0.2.7:4000"), d.Payload, false)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { n.run(ctx); close(done) }()
	for len(n.offered) > 0 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	<-done
	return log.String()
}

// A source whose reports another dialect reads better is told of once, with the flag to copy; one that is named never.
func TestDialectNotices(t *testing.T) {
	text := noticesOf(t, "onos_v10_udp_reports.pcap", "")
	if strings.Count(text, "\n") != 1 || !strings.Contains(text, "--dialect 192.0.2.7=onos-int10-ver0") {
		t.Errorf("got %q", text)
	}
	if text := noticesOf(t, "onos_v10_udp_reports.pcap", "192.0.2.0/24"); text != "" {
		t.Errorf("a source that is named: got %q", text)
	}
}
