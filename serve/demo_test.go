package serve

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/fabric"
	"github.com/waybill-int/waybill/fabric/scenario"
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
