package serve

import (
	"context"
	"errors"
	"io"
	"net/netip"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/api"
	"github.com/waybill-int/waybill/fabric"
	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// What the button starts is a scenario, whatever that of "make demo" comes to say of INT.
func TestDemoScenario(t *testing.T) {
	text, err := demoScenario()
	if err != nil {
		t.Fatal(err)
	}
	s, err := scenario.Parse("demo", text)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fabric.INTDevices(s, netip.MustParseAddrPort("192.0.2.1:8555")); err != nil {
		t.Error(err)
	}
	if !strings.Contains(string(s.INT.Text), "mode: xd") {
		t.Errorf("got %q, want mode: xd", s.INT.Text)
	}
}

// The reports of a demo are neither mixed with those of a real network nor read as those of some program.
func TestDemoRefused(t *testing.T) {
	for name, c := range map[string]struct {
		dialect, source string
		want            error
	}{
		"nobody":      {source: ""},
		"own machine": {source: "127.0.0.1"},
		"a switch":    {source: "192.0.2.1", want: api.ErrDemoRefused},
		"a dialect":   {dialect: "dtel", want: api.ErrDemoRefused},
	} {
		t.Run(name, func(t *testing.T) {
			config := DefaultConfig()
			config.Listen, config.HTTP = []string{"udp://127.0.0.1:0"}, "127.0.0.1:0"
			if c.dialect != "" {
				if err := config.Points.Set("dialects", map[string]any{"127.0.0.0/8": c.dialect}); err != nil {
					t.Fatal(err)
				}
			}
			config.Points.Compile()
			s, err := New(t.Context(), &config, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				if err := s.Run(ctx); err != nil {
					t.Error(err)
				}
			}()
			if c.source != "" {
				h := telemetry.Header{
					Source: netip.MustParseAddr(c.source), Dialect: codepoint.Specification.Name,
					Version: telemetry.Version20, HasNodeID: true, NodeID: 1, Reports: 1,
				}
				s.Collector.Exporters[0].Observe([]telemetry.Header{h}, 1)
			}
			if err := s.demo.refused(); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}
