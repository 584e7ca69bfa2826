package api

import (
	"encoding/json"
	"net/netip"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/analyze/burst"
	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/scan"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// queued returns a configuration in which packets of three flows met a queue of node 2: 40 packets of 1486 bytes, two
// flows in turns, one each 1.1 us, while the link needs 10 us for each, then one of 86 bytes that had to wait. The
// packets of a fourth flow tell of the congestion of a queue of node 1.
func queued(t *testing.T) Config { return queuedAt(t, 4) }

// queuedAt is queued for queues of several ports of node 2: with each further port four packets more of the two flows.
func queuedAt(t *testing.T, ports ...uint32) Config {
	f := newFeed()
	bursts, log := burst.NewLog(1<<20), eventlog.New(100)
	scanner := analyze.NewScanner(f.Collector, log)
	scanner.KeepBursts(burst.ConfigFor(1<<20), bursts)
	scanner.Scan(f.now.UnixNano())
	var batch telemetry.Batch
	const perPacketNs, pipelineNs = 10_000, 800
	for n, egress := range ports {
		freeNs := uint64(0)
		last := 40 + 4*n
		for i := range last + 1 {
			bytes, port := uint32(1472), uint16(7001+i%2)
			if i == last {
				bytes, port = 72, 7003
			}
			inNs := uint64(f.now.UnixNano()) + uint64(i)*1100
			start := max(freeNs, inNs)
			waits := (start - inNs) / perPacketNs // packets in front that the link has not begun with
			freeNs = start + perPacketNs
			batch.Add(&telemetry.Report{
				Flags: telemetry.HasFlow | telemetry.Embedded | telemetry.Tracked, Bytes: bytes,
				PacketID: uint64(1000*n + i),
				Flow: telemetry.FlowKey{
					Src: telemetry.AddrFrom(netip.AddrFrom4([4]byte{10, 0, 1, byte(port)})),
					Dst: telemetry.AddrFrom(netip.MustParseAddr("10.0.2.2")), SrcPort: 5000, DstPort: port,
					Protocol: 17,
				},
				Hops: []telemetry.Hop{{
					NodeID: 2, IngressPort: 3, EgressPort: egress, QueueID: 1, QueueOccupancy: uint32(waits) * 1486,
					IngressNs: inNs, EgressNs: start + pipelineNs, LatencyNs: start + pipelineNs - inNs,
					Has: telemetry.HasNode | telemetry.HasIngressPort | telemetry.HasEgressPort |
						telemetry.InQueueUnit(codepoint.UnitBytes) |
						telemetry.HasIngressTime | telemetry.HasEgressTime | telemetry.HasWideTimes |
						telemetry.HasLatency,
				}},
			})
		}
	}
	for i := range uint32(3) {
		batch.Add(&telemetry.Report{
			Flags: telemetry.HasFlow | telemetry.Embedded | telemetry.Tracked, Flow: telemetry.FlowKey{DstPort: 9},
			PacketID: uint64(i),
			Hops:     []telemetry.Hop{{NodeID: 1, Congestion: 2 * i, Has: telemetry.HasNode | telemetry.HasCongestion}},
		})
	}
	for i := range batch.Reports {
		r := &batch.Reports[i]
		shard := f.Owners[r.Flow.ShardOf(2)].(*analyze.Shard)
		shard.Process(&telemetry.Batch{Reports: []telemetry.Report{*r}}, f.now.UnixNano())
	}
	for range 20 {
		f.now = f.now.Add(time.Duration(scan.TickNs))
		for _, shard := range f.Owners {
			shard.Tick(f.now.UnixNano())
		}
		scanner.Scan(f.now.UnixNano())
	}
	cfg := testConfig(f.Collector)
	cfg.Events, cfg.Bursts = log, bursts
	return cfg
}

// The list, one burst of it and the queues are those of the packets.
func TestBurstsAndQueues(t *testing.T) {
	cfg := queued(t)
	h := New(cfg)
	list := ask(h, "GET", "/api/v1/bursts")
	golden(t, "bursts", list.Body.Bytes())
	golden(t, "queues", ask(h, "GET", "/api/v1/queues").Body.Bytes())
	var bursts types.BurstList
	if err := json.Unmarshal(list.Body.Bytes(), &bursts); err != nil || len(bursts.Bursts) != 1 {
		t.Fatalf("%v in %s", err, list.Body)
	}
	b := &bursts.Bursts[0]
	// The 24th packet is the first that has 20 in front of it: the link has begun with three by then.
	if len(b.Culprits) != 2 || len(b.Victims) != 1 || b.Packets != 38 || b.Bytes != 37*1486+86 ||
		b.Culprits[0].Bytes != 19*1486 || b.Complete != 1 || b.Sources != 3 ||
		b.Start.Sub(begin) != 23*1100 || b.Peak.Sub(begin) != 40*1100 || *b.PeakBytes != 35*1486+86 {
		t.Errorf("got %+v", b)
	}
	events, _ := cfg.Events.Events(func(e *telemetry.Event) bool { return e.Queue != nil }, 10)
	if len(events) != 1 || events[0].ID != b.ID || !events[0].Start.Equal(b.Start) {
		t.Errorf("the burst %s has the events %+v", b.ID, events)
	}
	one := ask(h, "GET", "/api/v1/bursts/"+b.ID)
	golden(t, "burst", one.Body.Bytes())
	var detail types.BurstAnswer
	if err := json.Unmarshal(one.Body.Bytes(), &detail); err != nil || len(detail.Burst.Timeline) != 38 {
		t.Errorf("%v in %s", err, one.Body)
	}
	// The verdict on each of its flows names it.
	var flows types.FlowList
	if err := json.Unmarshal(ask(h, "GET", "/api/v1/flows?dst=10.0.2.2").Body.Bytes(), &flows); err != nil ||
		len(flows.Flows) != 3 {
		t.Fatalf("%v, %d flows", err, len(flows.Flows))
	}
	for _, f := range flows.Flows {
		var answer types.FlowAnswer
		w := ask(h, "GET", "/api/v1/flows/"+f.ID)
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || answer.Verdict == nil ||
			answer.Verdict.Burst != b.ID || answer.Verdict.Filled != b.MainSources {
			t.Errorf("flow to port %d: %v, verdict %+v", f.DstPort, err, answer.Verdict)
		}
	}
	for target, want := range map[string]int{
		"bursts?incast=true": 0, "bursts?incast=false": 1,
		"bursts?node=s2&order=peak": 1, "bursts?node=s1": 0, "queues?node=s1": 1,
	} {
		var head types.Head
		if err := json.Unmarshal(ask(h, "GET", "/api/v1/"+target).Body.Bytes(), &head); err != nil ||
			head.Total != want {
			t.Errorf("%s: got %d, %v, want %d", target, head.Total, err, want)
		}
	}
	for target, want := range map[string]int{
		"bursts/": 404, "bursts/0000000000000000": 404,
		"bursts/" + b.ID + "?x=1": 400, "bursts?order=size": 400,
	} {
		if w := ask(h, "GET", "/api/v1/"+target); w.Code != want {
			t.Errorf("%s: got %d %s, want %d", target, w.Code, w.Body, want)
		}
	}
	if w := ask(h, "POST", "/api/v1/bursts/"+b.ID); w.Code != 405 {
		t.Errorf("POST: got %d", w.Code)
	}
	got := scrapeOf(t, h)
	for name, want := range map[string]string{
		"waybill_bursts_total": "1", "waybill_bursts_kept": "1",
		"waybill_bursts_forgotten_total": "0", "waybill_queues": "3", // one of them is in both shards
	} {
		if got[name] != want {
			t.Errorf("%s: got %s, want %s", name, got[name], want)
		}
	}
}
