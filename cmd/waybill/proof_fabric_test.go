package main

import (
	"bytes"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/fabric"
	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/internal/test/expect"
	"github.com/waybill-int/waybill/serve"
	"github.com/waybill-int/waybill/telemetry"
)

// A hurry is how a scenario is shortened, such that some thousand packets are sent.
type hurry struct {
	by     scenario.Duration
	buffer scenario.Bytes // of switches; 0: as it is
	drops  string         // reasons for drops that its faults must still have made
}

// hurries are the scenarios that differ from usualHurry, or that must drop something.
var hurries = map[string]hurry{
	"all-reduce": {by: 80},
	"blackhole":  {by: usualHurry, drops: "routing_miss"},
	"ddos":       {by: usualHurry, drops: "acl_deny traffic_manager"},
	// a storm that is so short fills no more
	"demo":                 {by: 20, buffer: 50e3, drops: "gray_link port_down traffic_manager"},
	"destination-headers":  {by: usualHurry, drops: "gray_link"},
	"gray-link":            {by: usualHurry, drops: "gray_link"},
	"incast":               {by: 20, drops: "traffic_manager"},
	"ioam":                 {by: usualHurry, drops: "routing_miss"},
	"link-failure":         {by: usualHurry, drops: "port_down"},
	"loop":                 {by: usualHurry, drops: "ttl"},
	"steady":               {by: 600},
	"transparent-security": {by: usualHurry, drops: "traffic_manager"},
}

const usualHurry = 10

// hurryOf returns how a scenario is shortened.
func hurryOf(s *scenario.Scenario) hurry {
	if h, ok := hurries[s.Name]; ok {
		return h
	}
	return hurry{by: usualHurry}
}

// hasten shows a scenario in fast motion: all times of its schedule are divided by the same number; those of the
// network (rates, delays, the sizes of flows) stay. So everything happens, in the same order, with fewer packets in
// between. A scenario that goes on for ever is cut behind its first minute.
func (h *hurry) hasten(s *scenario.Scenario) {
	if h.buffer > 0 {
		s.Switch.Buffer = h.buffer
	}
	s.Duration = min(s.Duration, scenario.Duration(time.Minute)) / h.by
	s.Routing.Reconvergence /= h.by
	for i := range s.Traffic {
		t := &s.Traffic[i]
		t.Start /= h.by
		t.Stop /= h.by
		if t.Incast != nil {
			t.Incast.Every /= h.by
			t.Incast.Jitter /= h.by
		}
		if t.AllReduce != nil {
			t.AllReduce.Every /= h.by
		}
	}
	for i := range s.Faults {
		f := &s.Faults[i]
		f.At /= h.by
		f.For /= h.by
		f.Every /= h.by
	}
}

// A pacedSink sends reports to a server, and never more at a time than fit into the receive buffer.
type pacedSink struct {
	to       []*fabric.UDPSink // those of a switch go to one of them
	t        *testing.T
	r        *running
	inFlight uint64

	sent    uint64 // datagrams
	reports uint64 // in them

	decoder    *telemetry.Decoder
	batch      telemetry.Batch
	identities []uint64 // of the packets in the reports: what a collector can tell them apart by
}

// longestDelay is how long postcards wait for others in reports that were not handed over yet.
const longestDelay = 5 * time.Second

// deliveredOf returns what an owner is told of what is on its way.
func deliveredOf(owner analyze.Owner) *func(int64) int64 {
	if r, ok := owner.(*analyze.Remote); ok {
		return &r.Delivered
	}
	return &owner.(*analyze.Shard).Delivered
}

// holdDelivery has the tables of a server that does not run yet know that reports are on their way, until it is false.
// On a slow machine a switch sends half a second behind what the scenario says, and more.
func holdDelivery(s *serve.Server) *atomic.Bool {
	sending, since := &atomic.Bool{}, time.Now().UnixNano()
	sending.Store(true)
	for _, owner := range s.Collector.Owners {
		of := deliveredOf(owner)
		delivered := *of
		*of = func(nowNs int64) int64 {
			if sending.Load() {
				return since
			}
			return delivered(nowNs)
		}
	}
	return sending
}

// inFlight is how many reports may be on their way: with the memory that the kernel takes for each less than what
// net.core.rmem_default allows.
const inFlight = 64

// newPacedSink returns one that sends to addresses; none: to that of the server.
func newPacedSink(t *testing.T, r *running, addresses ...string) *pacedSink {
	t.Helper()
	if addresses == nil {
		addresses = []string{r.udp(0)}
	}
	s := &pacedSink{t: t, r: r, inFlight: inFlight, decoder: telemetry.NewDecoder(r.Config.Points)}
	for _, address := range addresses {
		udp, err := fabric.NewUDPSink(address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { udp.Close() })
		s.to = append(s.to, udp)
	}
	return s
}

// Report implements fabric.Sink.
func (s *pacedSink) Report(atNs uint64, frame []byte) error {
	d, _ := test.UDP(frame)
	s.batch.Reset()
	var h telemetry.Header
	s.decoder.Decode(d.Payload, d.Src, d.DstPort, &s.batch, &h)
	s.reports += uint64(h.Reports)
	identity := uint64(0)
	if h.Reports > 0 {
		identity = s.batch.Reports[0].PacketID
	}
	s.identities = append(s.identities, identity)
	if err := s.to[int(d.Src.Addr().As4()[3])%len(s.to)].Report(atNs, frame); err != nil {
		return err
	}
	if s.sent++; s.sent%(s.inFlight/2) == 0 {
		s.wait(s.inFlight / 2)
	}
	return nil
}

// Flush implements fabric.Sink.
func (s *pacedSink) Flush() error { return nil }

// wait waits until all but rest reports are in the tables. It sleeps and does not spin: on few processors, who spins is
// in the way of what it waits for.
func (s *pacedSink) wait(rest uint64) {
	counted := func() bool { return s.r.Collector.Counters().Reports+rest >= s.reports }
	for range 100 {
		if counted() {
			return
		}
		time.Sleep(20 * time.Microsecond)
	}
	test.Eventually(s.t, "receiving what was sent", counted)
}

// drain waits until everything is in the tables.
func (s *pacedSink) drain() {
	s.t.Helper()
	var all uint64
	for _, to := range s.to {
		sent, failed, err := to.Sent()
		if failed > 0 {
			s.t.Fatalf("%d of %d reports were not sent: %v", failed, s.sent, err)
		}
		all += sent
	}
	if all != s.sent {
		s.t.Fatalf("%d reports were sent, want %d", all, s.sent)
	}
	s.wait(0)
}

// play runs a scenario, with options but for what is said here, until everything is in the tables. It returns what the
// network knows of itself.
func (s *pacedSink) play(of *scenario.Scenario, options fabric.Options) (f *fabric.Fabric, written *bytes.Buffer) {
	s.t.Helper()
	device, err := fabric.INTDevices(of, netip.MustParseAddrPort("192.0.2.1:8555"))
	if err != nil {
		s.t.Fatal(err)
	}
	written = &bytes.Buffer{}
	options.Device, options.Truth, options.Reports = device, written, s
	if f, err = fabric.New(of, options); err != nil {
		s.t.Fatal(err)
	}
	if err := f.Run(s.t.Context(), time.Duration(of.Duration)); err != nil {
		s.t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		s.t.Fatal(err)
	}
	s.drain()
	return f, written
}

// loopbackSource returns the address that a fabric.UDPSink sends from for a switch.
func loopbackSource(address string) string {
	a := netip.MustParseAddr(address).As4()
	a[0] = 127
	return netip.AddrFrom4(a).String()
}

// join lets the time go by for which packets wait for further postcards. Behind a bus that is what collectors say.
func (r *running) join() {
	now := time.Now().UnixNano()
	for _, shard := range r.Collector.Owners {
		for step := range int64(10) { // a step is not taken for longer than 150 ms
			shard.Tick(now + step*200e6)
		}
	}
	test.Eventually(r.t, "no packet that waits for postcards", func() bool {
		waiting, err := r.Collector.Waiting()
		if err != nil {
			r.t.Fatal(err)
		}
		return waiting == nil
	})
}

// answers asks for everything.
func (r *running) answers() *expect.Answers {
	r.t.Helper()
	a := &expect.Answers{}
	for name, list := range map[string]any{
		"flows": &a.Flows, "paths": &a.Paths, "nodes": &a.Nodes, "links": &a.Links, "drops": &a.Drops,
		"exporters": &a.Exporters,
	} {
		r.get("/api/v1/"+name+"?limit=10000", name, list)
		var total int
		r.get("/api/v1/"+name+"?limit=1", "total", &total)
		if total > 10000 {
			r.t.Fatalf("%d %s: the API does not list all of them", total, name)
		}
	}
	return a
}
