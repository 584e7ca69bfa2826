package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/fabric"
	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/serve"
	"github.com/waybill-int/waybill/telemetry"
)

// Sources that leave packets alone, and send a clone with INT behind each: the collector knows of every packet as a
// probe of its flow, and which way how many of them took, as the network does. They are no packets of the flow. A
// switch that is source and sink at once reports the packet itself, which is one.
func TestProofClones(t *testing.T) {
	if test.RaceDetector {
		t.Skip("what runs side by side in it TestProof has, too")
	}
	for _, mode := range []string{"md", "mx"} {
		t.Run(mode, func(t *testing.T) {
			s, err := scenario.Load(filepath.Join(test.Root(), "scenarios/slow-switch.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			h := hurryOf(s)
			h.hasten(s)
			s.INT = scenario.Raw{Text: []byte(everyPacket + "clone: true\nmode: " + mode + "\n")}
			r := startServer(t, func(c *serve.Config) {
				c.Workers = 1
				if err := c.Points.Apply(map[string]any{"int_dscp": 0x17}); err != nil {
					t.Fatal(err)
				}
			})
			_, written := newPacedSink(t, r).play(s, fabric.Options{})
			r.join()

			probes, packets, ways := clonesOf(t, written)
			gotProbes, gotPackets, gotWays := map[string]uint64{}, map[string]uint64{}, map[string]uint64{}
			answers := r.answers()
			for i := range answers.Flows {
				x := &answers.Flows[i]
				name := fmt.Sprint(x.Src, " ", x.SrcPort, " ", x.Dst, " ", x.DstPort)
				gotProbes[name] += x.Probes
				gotPackets[name] += x.Packets
			}
			for i := range answers.Paths {
				gotWays[wayOf(answers.Paths[i].Hops)] += answers.Paths[i].Packets
			}
			if len(probes) < 50 || len(packets) < 10 || len(ways) < 20 {
				t.Errorf("only %d flows over links, %d others, and %d ways", len(probes), len(packets), len(ways))
			}
			same(t, "probes of flow", gotProbes, probes)
			same(t, "packets of flow", gotPackets, packets)
			same(t, "probes by way", gotWays, ways)
		})
	}
}

// clonesOf returns, as the network knows, how many packets flows have over links, how many they have in one switch, and
// how many took which way.
func clonesOf(t *testing.T, written io.Reader) (probes, packets, ways map[string]uint64) {
	t.Helper()
	probes, packets, ways = map[string]uint64{}, map[string]uint64{}, map[string]uint64{}
	names := map[uint32]string{}
	var paths []*truth.Path
	for reader := truth.NewReader(written); ; {
		record, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch v := record.(type) {
		case *truth.Flow:
			names[v.Flow] = fmt.Sprint(v.Src, " ", v.SrcPort, " ", v.Dst, " ", v.DstPort)
		case *truth.Path:
			paths = append(paths, v)
			var hops []string
			for _, h := range v.Hops {
				hops = append(hops, fmt.Sprint(h.In, ">", h.Node, ">", h.Out))
			}
			ways[strings.Join(hops, " ")] += v.Packets
		case *truth.Drop:
			if v.CopyOf == 0 {
				t.Errorf("a packet was dropped: %+v", *v)
			}
		}
	}
	for _, p := range paths {
		if len(p.Hops) > 1 {
			probes[names[p.Flow]] += p.Packets
		} else {
			packets[names[p.Flow]] += p.Packets
		}
	}
	return probes, packets, ways
}

func wayOf(hops []telemetry.PathHop) string {
	var list []string
	for i := range hops {
		h := &hops[i]
		if h.Node == nil || h.IngressPort == nil || h.EgressPort == nil {
			list = append(list, "?")
			continue
		}
		list = append(list, fmt.Sprint(*h.IngressPort, ">", *h.Node, ">", *h.EgressPort))
	}
	return strings.Join(list, " ")
}

// same compares two counts by name, and shows the first five that differ.
func same(t *testing.T, what string, got, want map[string]uint64) {
	t.Helper()
	all := maps.Clone(got)
	maps.Copy(all, want)
	shown := 0
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if got[name] != want[name] && shown < 5 {
			t.Errorf("%s %s: got %d, want %d", what, name, got[name], want[name])
			shown++
		}
	}
}
