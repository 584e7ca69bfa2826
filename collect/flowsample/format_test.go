package flowsample

import "testing"

func TestFormatOf(t *testing.T) {
	f := func(address, name, plain string) {
		t.Helper()
		format, got := FormatOf(address)
		if format == nil {
			format = &Format{}
		}
		if format.Name != name || got != plain {
			t.Errorf("%s: got %q, %s, want %q, %s", address, format.Name, got, name, plain)
		}
	}
	f("udp://:8555", "", "udp://:8555")
	f(":8555", "", ":8555")
	f("sflow", "", "sflow")
	f("tcp://:8555", "", "tcp://:8555")
	f("sflow://:6343", "sFlow", ":6343")
	f("sflow://", "sFlow", ":6343")
	f("netflow://", "NetFlow and IPFIX", ":2055")
	f("netflow://192.0.2.1", "NetFlow and IPFIX", "192.0.2.1:2055")
	f("netflow://[2001:db8::1]", "NetFlow and IPFIX", "[2001:db8::1]:2055")
	f("netflow://[2001:db8::1]:4739", "NetFlow and IPFIX", "[2001:db8::1]:4739")
	f("netflow://2001:db8::1", "NetFlow and IPFIX", "2001:db8::1") // of which Listen says what it wants
}
