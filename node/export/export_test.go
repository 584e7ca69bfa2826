package export

import (
	"net/netip"
	"testing"

	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/report"
)

const nodeID = 0x01020304

// config returns a Config with one collector.
func config(f Format) Config {
	c := DefaultConfig(f)
	c.NodeID = nodeID
	c.Source = netip.MustParseAddr("192.0.2.1")
	c.Destinations = collectors(1)
	c.Frame.SrcMAC, c.Frame.DstMAC = [6]byte{2, 0, 0, 0, 1, 1}, [6]byte{2, 0, 0, 0, 1, 2}
	return c
}

// collectors returns n destinations.
func collectors(n int) []netip.AddrPort {
	list := make([]netip.AddrPort, n)
	for i := range list {
		list[i] = netip.AddrPortFrom(netip.AddrFrom4([4]byte{198, 51, 100, byte(i + 1)}), 32766)
	}
	return list
}

// A rig is an Exporter and what it sent.
type rig struct {
	*Exporter
	t    *testing.T
	sent Batch
}

func newRig(t *testing.T, c Config) *rig {
	t.Helper()
	r := &rig{t: t}
	e, err := New(c, r.sent.Add)
	if err != nil {
		t.Fatal(err)
	}
	r.Exporter = e
	return r
}

// one adds a report and returns the datagram that it makes.
func (r *rig) one(report Report) Datagram {
	r.t.Helper()
	r.sent.Reset()
	if err := r.Add(&report, 0); err != nil {
		r.t.Fatal(err)
	}
	r.Drain(0)
	if len(r.sent.Datagrams()) != 1 {
		r.t.Fatalf("got %d datagrams, want 1", len(r.sent.Datagrams()))
	}
	return r.sent.Datagrams()[0]
}

// only decodes the one report of a datagram of version 2.0.
func (r *rig) only(d Datagram) report.V20 {
	r.t.Helper()
	var rs report.Reports
	var v report.V20
	rs.Reset(d.Payload[groupLen:])
	if !rs.Next(&v) || rs.Err() != nil {
		r.t.Fatalf("got no report: %v in %x", rs.Err(), d.Payload)
	}
	var more report.V20
	if rs.Next(&more) || rs.Err() != nil || rs.Trailer() != nil {
		r.t.Fatalf("got more than a report: %v in %x", rs.Err(), d.Payload)
	}
	return v
}

// decode returns what a collector makes of a datagram, which must be without a fault.
func decode(t *testing.T, c Config, d Datagram) ([]telemetry.Report, telemetry.Header) {
	t.Helper()
	decoder := telemetry.NewDecoder(points(t))
	var b telemetry.Batch
	var h telemetry.Header
	decoder.Decode(d.Payload, netip.AddrPortFrom(c.Source, d.SourcePort), c.Destinations[0].Port(), &b, &h)
	if h.Outcome != telemetry.Decoded {
		t.Fatalf("outcome %d: %v in %x", h.Outcome, h.Reason, d.Payload)
	}
	return b.Reports, h
}
