package serve

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/collect/flowsample"
	"github.com/waybill-int/waybill/fabric"
	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/node"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/store/duckdb"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// halfNetwork has INT at leaf1 and leaf2 alone; the other three switches have sFlow. Of what goes to h6 leaf4 has no
// route for a while.
const halfNetwork = `
name: half
duration: 2s
topology:
  graph:
    switches: [{name: leaf1}, {name: leaf2}, {name: leaf3}, {name: leaf4}, {name: spine}]
    links:
      - {between: [leaf1, spine], rate: 100M, delay: 20us}
      - {between: [leaf2, spine], rate: 100M, delay: 20us}
      - {between: [leaf3, spine], rate: 100M, delay: 20us}
      - {between: [leaf4, spine], rate: 100M, delay: 20us}
    hosts:
      - {name: h1, at: leaf1, link: {rate: 50M}}
      - {name: h2, at: leaf2, link: {rate: 50M}}
      - {name: h3, at: leaf3, link: {rate: 50M}}
      - {name: h4, at: leaf4, link: {rate: 50M}}
traffic:
  - {constant: {from: h1, to: h2}, rate: 4M, packet: 500, port: 6001}
  - {constant: {from: h3, to: h4}, rate: 16M, packet: 500, port: 6002}
faults:
  - {at: 1s, for: 200ms, blackhole: {node: spine, prefix: 10.0.4.0/24}}
int: {watch: [{report_all: true}]}
`

const sampleRate = 20

// An sFlowDevice is a switch with sFlow: it samples what comes in by each port, and tells of each packet that it drops.
type sFlowDevice struct {
	agent   test.SFlowAgent
	random  *rand.Rand
	pools   map[uint32]uint32
	waiting map[uint32][]byte // sampled frames in the switch, by slot
	sent    *[][]byte
	samples *int
}

// Arrive implements fabric.Device.
func (d *sFlowDevice) Arrive(frame []byte, s *fabric.PacketState) fabric.Verdict {
	d.pools[s.Port]++
	delete(d.waiting, s.Slot)
	if d.random.IntN(sampleRate) == 0 {
		d.waiting[s.Slot] = bytes.Clone(frame)
	}
	return fabric.Verdict{}
}

func (d *sFlowDevice) sample(s *fabric.PacketState, out uint32) {
	if frame := d.waiting[s.Slot]; frame != nil {
		*d.samples++
		*d.sent = append(*d.sent, d.agent.Datagram(
			d.agent.Sample(s.Port, sampleRate, d.pools[s.Port], 0, s.Port, out, frame)))
		delete(d.waiting, s.Slot)
	}
}

// Depart implements fabric.Device.
func (d *sFlowDevice) Depart(s *fabric.PacketState, q *fabric.Queued, _ *fabric.Departure) {
	d.sample(s, q.Port)
}

// Drop implements fabric.Device.
func (d *sFlowDevice) Drop(s *fabric.PacketState, x *fabric.Dropped, _ *fabric.Reports) {
	d.sample(s, 0)
	reason := map[fabric.Reason]uint32{fabric.ReasonRoutingMiss: 6, fabric.ReasonTrafficManager: 259}[x.Reason]
	*d.sent = append(*d.sent, d.agent.Datagram(d.agent.Discard(s.Port, 0, s.Port, x.Port, reason, x.Frame)))
}

// Tick implements fabric.Device.
func (*sFlowDevice) Tick(uint64, *fabric.Reports) {}

// Close implements fabric.Device.
func (*sFlowDevice) Close(uint64, *fabric.Reports) {}

// A network with INT at half of its switches is one picture: flows with INT have exact figures, to which samples of the
// switches between add nothing; of others there are estimates beside figures that stay 0; drops are counted one by one
// with either, and nothing is lost without a number.
func TestHalfOfTheSwitchesHaveINT(t *testing.T) {
	scene, err := scenario.Parse("half", []byte(halfNetwork))
	if err != nil {
		t.Fatal(err)
	}
	withINT, err := fabric.INTDevices(scene)
	if err != nil {
		t.Fatal(err)
	}
	var reports payloads
	var sFlow [][]byte
	var told bytes.Buffer
	samples := 0
	names := map[uint32]string{}
	sources := map[netip.Addr]uint32{}
	device := func(spec fabric.NodeSpec) (fabric.Device, error) {
		names[spec.ID] = spec.Name
		if spec.Name == "leaf1" || spec.Name == "leaf2" {
			return withINT(spec)
		}
		sources[spec.Address] = spec.ID
		return &sFlowDevice{
			agent: test.SFlowAgent{Address: spec.Address}, random: rand.New(rand.NewPCG(uint64(spec.ID), 1)),
			pools: map[uint32]uint32{}, waiting: map[uint32][]byte{}, sent: &sFlow, samples: &samples,
		}, nil
	}
	f, err := fabric.New(scene, fabric.Options{Device: device, Reports: &reports, Truth: &told})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Run(t.Context(), time.Duration(scene.Duration)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	sent, drops := truthOf(t, &told)
	if sent[6001] < 1000 || sent[6002] < 5000 || drops["spine"] < 100 {
		t.Fatalf("the network is not what is tested: sent %v, dropped %v", sent, drops)
	}

	config, err := node.Load(scene.INT.Text)
	if err != nil {
		t.Fatal(err)
	}
	c := DefaultConfig()
	c.Points = codepoint.New()
	if c.Points.Points, err = config.CodePoints(); err != nil {
		t.Fatal(err)
	}
	c.Points.SourceNodes = sources
	c.Points.Compile()
	c.Names, c.Workers, c.Data = names, 1, filepath.Join(t.TempDir(), "data")
	c.Listen, c.HTTP = []string{"udp://127.0.0.1:0", "sflow://127.0.0.1:0"}, "127.0.0.1:0"
	s, err := New(t.Context(), &c, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()
	lost := 0
	for receiver, list := range map[int][][]byte{0: reports, 1: sFlow} {
		conn, err := net.Dial("udp", s.Receivers[receiver].Stats().Address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		for i, payload := range list {
			if receiver == 1 && i%50 == 49 && i < len(list)-300 && !isDiscard(payload) {
				lost++ // on the way here
				samples--
				continue
			}
			if _, err := conn.Write(payload); err != nil {
				t.Fatal(err)
			}
			if i%64 == 63 {
				want := uint64(i + 1)
				if receiver == 1 {
					want -= uint64(lost)
				}
				test.Eventually(t, "datagrams are read", func() bool {
					return s.Receivers[receiver].Stats().Received == want
				})
			}
		}
		test.Eventually(t, "all datagrams are read", func() bool {
			n := s.Receivers[receiver].Stats()
			return n.Decoded == uint64(len(list)-receiver*lost) && n.Damaged+n.Malformed == 0
		})
	}
	test.Eventually(t, "drops are counted in their flow", func() bool { // they wait for postcards of the same packet
		list, _ := s.Collector.Flows(analyze.FlowFilter{Limit: 100})
		return slices.ContainsFunc(list, func(f telemetry.Flow) bool { return f.Drops >= drops["spine"] })
	})
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}

	flows := map[uint16]telemetry.Flow{}
	list, _ := s.Collector.Flows(analyze.FlowFilter{Limit: 100})
	for _, f := range list {
		flows[f.DstPort] = f
	}
	exact, estimated := flows[6001], flows[6002]
	if exact.Packets != sent[6001] || exact.PacketsEstimated != nil || exact.Drops != 0 {
		t.Errorf("with INT: %d packets, estimated %v, %d drops; %d were sent", exact.Packets, exact.PacketsEstimated,
			exact.Drops, sent[6001])
	}
	// exact are the drops alone
	if n := drops["spine"]; estimated.Packets != n || estimated.Drops != n || estimated.PacketsEstimated == nil {
		t.Fatalf("with sFlow: %d packets, %d drops, want %d; estimated %v", estimated.Packets, estimated.Drops, n,
			estimated.PacketsEstimated)
	}
	// 5 standard deviations of a binomial distribution, and one sample in 50 was lost
	want := float64(sent[6002])
	near := 5*math.Sqrt(want*sampleRate) + want/25
	if got := float64(*estimated.PacketsEstimated); math.Abs(got-want) > near {
		t.Errorf("estimated %.0f packets, %.0f were sent, want within %.0f", got, want, near)
	}
	if s := estimated.Sample; s == nil || s.Kind != "one_in_n" || s.Rate == nil || *s.Rate != sampleRate {
		t.Errorf("got %+v", s)
	}
	var path []string
	for _, h := range estimated.Paths[0].Hops {
		path = append(path, h.Name)
	}
	if want := []string{"leaf3", "spine", "leaf4"}; !slices.Equal(path, want) {
		t.Errorf("got path %v, want %v", path, want)
	}
	var dropped uint64
	for _, d := range s.Collector.Drops(nil) {
		if d.Name != "spine" || d.ReasonName != "dst_net_unknown" || d.Cause != "no_route" {
			t.Errorf("got %+v", d)
		}
		dropped += d.Packets
	}
	if dropped != drops["spine"] {
		t.Errorf("%d drops, want %d", dropped, drops["spine"])
	}
	var nodes []string
	for _, n := range s.Collector.Nodes() {
		nodes = append(nodes, n.Name)
	}
	if want := []string{"leaf1", "leaf2", "leaf3", "leaf4", "spine"}; !slices.Equal(nodes, want) {
		t.Errorf("got nodes %v, want %v", nodes, want)
	}
	if got := s.Collector.Completeness(); got.Lost != uint64(lost) {
		t.Errorf("%d datagrams are lost, want %d", got.Lost, lost)
	}
	var counts [2]uint64
	for _, stats := range s.samples["sflow"] {
		counts[0] += stats.Counts()[flowsample.Sample]
		counts[1] += stats.Counts()[flowsample.Discard]
	}
	if counts != [2]uint64{uint64(samples), drops["spine"]} {
		t.Errorf("got %v samples and drops, want %d and %d", counts, samples, drops["spine"])
	}

	kept, err := duckdb.Open(duckdb.DefaultConfig(filepath.Join(c.Data, "store")))
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	answer, err := kept.Query(t.Context(), &store.Query{
		Table: store.Flows, To: time.Now().Add(time.Hour), Group: []string{"dst_port"},
		Values: []string{"packets", "drops", "packets_estimated", "bytes_estimated"},
		Order:  "dst_port", Ascending: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(answer.Rows), fmt.Sprint([][]any{
		{6001, exact.Packets, 0, nil, nil},
		{6002, estimated.Packets, estimated.Drops, *estimated.PacketsEstimated, *estimated.BytesEstimated},
	}); got != want {
		t.Errorf("the store has %s, want %s", got, want)
	}
}

// isDiscard tells whether the first sample of a datagram of an IPv4 agent is of a dropped packet.
func isDiscard(payload []byte) bool { return payload[31] == 5 }

// truthOf returns how many packets were sent to each port, and dropped at each switch.
func truthOf(t *testing.T, file io.Reader) (sent map[uint16]uint64, drops map[string]uint64) {
	t.Helper()
	sent, drops = map[uint16]uint64{}, map[string]uint64{}
	names := map[uint32]string{}
	for r := truth.NewReader(file); ; {
		record, err := r.Next()
		if err == io.EOF {
			return sent, drops
		}
		if err != nil {
			t.Fatal(err)
		}
		switch x := record.(type) {
		case *truth.Switch:
			names[x.Node] = x.Name
		case *truth.Flow:
			sent[x.DstPort] += x.PacketsSent
		case *truth.Drop:
			drops[names[x.Node]]++
		}
	}
}
