package serve

import (
	"context"
	"io"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire"
)

// What comes before anybody looks for events is news as well: only what a process before this one counted is not.
func TestFirstReportsAreNews(t *testing.T) {
	c := DefaultConfig()
	c.Listen, c.HTTP = []string{"udp://127.0.0.1:0"}, "127.0.0.1:0"
	c.Points.Compile()
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	s, err := New(t.Context(), &c, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	s.Collector.Exporters[0].Observe([]telemetry.Header{{
		Source: netip.MustParseAddr("192.0.2.7"), Outcome: telemetry.Malformed, Reason: wire.ErrReportLengthOverrun,
	}}, time.Now().UnixNano())
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { s.scan(ctx); close(done) }()
	defer func() {
		cancel()
		<-done
		for _, undo := range slices.Backward(s.opened) {
			undo()
		}
	}()
	test.Eventually(t, "the event", func() bool {
		list, _ := s.Events.Events(nil, 1)
		return len(list) == 1 && list[0].Kind == telemetry.EventMalformed
	})
}
