package serve

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/waybill-int/waybill/fabric"
	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/internal/conf/unit"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/node"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// twoHomes is a network of which cam and pc send the same to web: what pc sends did not happen.
const twoHomes = `
name: forged
duration: 300ms
topology:
  graph:
    switches: [{name: gw}, {name: core}]
    links: [{between: [gw, core], rate: 100M, delay: 1ms}]
    hosts:
      - {name: cam, at: gw, mac: "a6:1a:f6:b1:64:01", link: {rate: 20M}}
      - {name: tv, at: gw, mac: "a6:1a:f6:b1:64:02", link: {rate: 20M}}
      - {name: pc, at: gw, mac: "a6:1a:f6:b1:64:03", link: {rate: 20M}}
      - {name: web, at: core, address: 192.0.2.80, link: {rate: 100M}}
int: {domain: 0x5453, ds_instruction: 0x8000, ds_flags: 0x4000, watch: [{report_all: true}]}
faults: [{ddos: {from: [DEVICES], to: web, rate: 2M, packet: 500, port: 53}}]
`

// payloads is a fabric.Sink of what report datagrams have in them.
type payloads [][]byte

// Report implements fabric.Sink.
func (p *payloads) Report(_ uint64, frame []byte) error {
	d, _ := test.UDP(frame)
	*p = append(*p, bytes.Clone(d.Payload))
	return nil
}

// Flush implements fabric.Sink.
func (p *payloads) Flush() error { return nil }

// reportsOf returns the reports of a flood by these hosts, and the code points of the network.
func reportsOf(t *testing.T, devices string) (list payloads, points *codepoint.Config) {
	t.Helper()
	s, err := scenario.Parse("forged", bytes.ReplaceAll([]byte(twoHomes), []byte("DEVICES"), []byte(devices)))
	if err != nil {
		t.Fatal(err)
	}
	device, err := fabric.INTDevices(s)
	if err != nil {
		t.Fatal(err)
	}
	f, err := fabric.New(s, fabric.Options{Device: device, Reports: &list})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Run(t.Context(), time.Duration(s.Duration)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	config, err := node.Load(s.INT.Text)
	if err != nil {
		t.Fatal(err)
	}
	points = codepoint.New()
	if points.Points, err = config.CodePoints(); err != nil {
		t.Fatal(err)
	}
	points.Compile()
	return list, points
}

// Reports that name an innocent device, from an address that may not report or by a node that its address may not speak
// for, name nobody; and of a device that one exporter tells of, that is told.
func TestForgedReportsNameNobody(t *testing.T) {
	forged, _ := reportsOf(t, "pc")
	truthful, points := reportsOf(t, "cam, tv")
	c := DefaultConfig()
	c.Points = points
	c.Listen, c.HTTP = []string{"udp://127.0.0.1:0"}, "127.0.0.1:0"
	c.Exporters = []ExporterRule{{Source: "127.0.0.2", Nodes: NodeIDs{1, 2}}, {Source: "127.0.0.3", Nodes: NodeIDs{7}}}
	c.Attacks.Floor, c.Attacks.Learn = attackLimit{Packets: 50}, unit.Duration(time.Second)
	s, err := New(t.Context(), &c, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()
	to, err := net.ResolveUDPAddr("udp", s.Receivers[0].Stats().Address)
	if err != nil {
		t.Fatal(err)
	}
	dial := func(from string) *net.UDPConn {
		conn, err := net.DialUDP("udp", &net.UDPAddr{IP: net.ParseIP(from)}, to)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	sink, stranger, other := dial("127.0.0.2"), dial("127.0.0.1"), dial("127.0.0.3")
	var a *telemetry.Attack
	for deadline := time.Now().Add(10 * time.Minute); a == nil && time.Now().Before(deadline); {
		for i := range min(len(truthful), len(forged)) {
			for conn, what := range map[*net.UDPConn][]byte{sink: truthful[i], stranger: forged[i], other: forged[i]} {
				if _, err := conn.Write(what); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(2 * time.Millisecond)
		}
		events, _ := s.Events.Events(func(e *telemetry.Event) bool {
			return e.Attack != nil && len(e.Attack.Devices) > 0
		}, 10)
		if len(events) > 0 {
			a = events[0].Attack
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if a == nil || a.Target != netip.MustParseAddr("192.0.2.80") {
		t.Fatalf("got %+v", a)
	}
	var devices []string
	for i := range a.Devices {
		if devices = append(devices, a.Devices[i].Device); !a.Devices[i].OneExporter {
			t.Errorf("not only one exporter told of %s", a.Devices[i].Device)
		}
	}
	slices.Sort(devices)
	if want := []string{"a6:1a:f6:b1:64:01", "a6:1a:f6:b1:64:02"}; !slices.Equal(devices, want) {
		t.Errorf("got %v, want %v", devices, want)
	}
}
