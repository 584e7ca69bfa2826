package fabric

import (
	"slices"
	"testing"
	"time"

	"github.com/waybill-int/waybill/fabric/truth"
)

// forth returns the flows that carry data, by their starts.
func forth(list []truth.Record) (flows []*truth.Flow) {
	for _, fl := range of[*truth.Flow](list) {
		if fl.Reverse == 0 || fl.Flow < fl.Reverse {
			flows = append(flows, fl)
		}
	}
	slices.SortStableFunc(flows, func(a, b *truth.Flow) int { return int(a.StartNs - b.StartNs) })
	return flows
}

// Flows fill the asked share of the senders' links, begin at random between random hosts, and have the asked look.
func TestPoisson(t *testing.T) {
	const hosts, load, size = 6, 0.2, 10e3
	list, _ := ran(t, `
duration: 4s
topology:
  ring: {nodes: 3, hosts: 2, host_link: {rate: 20M}}
traffic:
  - {poisson: {load: 20%, sizes: 10kB}, transport: udp, rate: 10M, ip: mixed, port: 99, dscp: 10, packet: 1000}
truth: {sample_packets: 0}
`, Options{}, 4*time.Second)
	flows := forth(list)
	const want = hosts * 20e6 * load / 8 / size * 4
	if n := float64(len(flows)); n < 0.9*want || n > 1.1*want {
		t.Errorf("%.0f flows, want about %.0f", n, want)
	}
	pairs, gaps, v6 := map[string]int{}, 0, 0
	for i, fl := range flows {
		pairs[fl.Src+fl.Dst]++
		if fl.DstPort != 99 || fl.DSCP != 10 || fl.Protocol != 17 || fl.Src == fl.Dst {
			t.Fatalf("%+v", *fl)
		}
		if fl.Finished && fl.PacketsDelivered == 11 && fl.Bytes != 10000 {
			t.Fatalf("%+v", *fl)
		}
		if fl.Src[0] == 'f' {
			v6++
		}
		if i > 0 && float64(fl.StartNs-flows[i-1].StartNs) > 4e9/want {
			gaps++
		}
	}
	if len(pairs) != 2*hosts*(hosts-1) || v6 < len(flows)/2-1 || v6 > len(flows)/2+1 {
		t.Errorf("%d pairs, %d flows of IPv6", len(pairs), v6)
	}
	// Of exponential gaps, 1/e are longer than the mean.
	if share := float64(gaps) / float64(len(flows)); share < 0.32 || share > 0.42 {
		t.Errorf("%.2f of the gaps are longer than the mean", share)
	}
}

func TestIncast(t *testing.T) {
	list, _ := ran(t, dumbbell(4, `
traffic:
  - {incast: {senders: [s1, s2, s3], to: r1, bytes: 5kB, every: 100ms}, start: 50ms, stop: 300ms}
  - {incast: {senders: [s2, s3, s4], to: r2, bytes: 5kB, jitter: 10ms}}
`), Options{}, time.Second)
	var starts []int64
	jitters := map[int64]bool{}
	for _, fl := range forth(list) {
		if fl.Traffic == "traffic[0] incast" {
			starts = append(starts, fl.StartNs/1e6)
		} else {
			jitters[fl.StartNs] = true
			if fl.StartNs >= 10e6 {
				t.Errorf("%+v", *fl)
			}
		}
		if fl.Bytes != 5000 || !fl.Finished {
			t.Errorf("%+v", *fl)
		}
	}
	if !slices.Equal(starts, []int64{50, 50, 50, 150, 150, 150, 250, 250, 250}) || len(jitters) != 3 {
		t.Errorf("starts %v, %d different ones", starts, len(jitters))
	}
}

// A round moves 2(n-1)/n of the vector over each link of the ring; the next begins when it is over, and not before its
// time.
func TestAllReduce(t *testing.T) {
	for _, test := range []struct {
		every  string
		rounds uint64 // in 400 ms
	}{{"100ms", 4}, {"10ms", 0}} {
		list, _ := ran(t, `
duration: 2s
topology:
  leaf_spine: {leaves: 2, spines: 2, hosts: 2, host_link: {rate: 100M}, fabric_link: {rate: 200M}}
traffic:
  - {all_reduce: {hosts: [h1, h3, h2, h4], bytes: 400kB, every: `+test.every+`}, stop: 400ms}
`, Options{}, 2*time.Second)
		flows := forth(list)
		if len(flows) != 4 {
			t.Fatalf("%d flows", len(flows))
		}
		const round = 2 * 3 * 100e3
		for _, fl := range flows {
			if fl.Bytes%100e3 != 0 || fl.Bytes != flows[0].Bytes && test.rounds > 0 || test.rounds > 0 &&
				fl.Bytes != test.rounds*round || !fl.Finished {
				t.Errorf("every %s: %+v", test.every, *fl)
			}
			// one after the other, at most at the rate of the link
			if test.rounds == 0 && (fl.Bytes < 4*round || fl.Bytes > 0.4*100e6/8) {
				t.Errorf("every %s: %+v", test.every, *fl)
			}
		}
	}
}

func TestConstant(t *testing.T) {
	list, _ := ran(t, line+`
traffic:
  - {constant: {from: a, to: b}, rate: 10M, packet: 500}
  - {constant: {from: b, to: a, bytes: 100kB}, start: 100ms, rate: 8M}
  - {constant: {from: b, to: a}, transport: tcp, start: 1ms, stop: 100ms}
`, Options{}, time.Second)
	flows := forth(list)
	if len(flows) != 3 || !near(int(flows[0].PacketsSent), perSecond) || flows[0].EndNs != 1e9 {
		t.Errorf("%+v", *flows[0])
	}
	tcp, udp := flows[1], flows[2]
	if udp.Bytes != 100000 || udp.EndNs < 200e6 || udp.EndNs > 210e6 || !udp.Finished {
		t.Errorf("%+v", *udp)
	}
	if !tcp.Finished || tcp.EndNs < 100e6 || tcp.EndNs > 200e6 || tcp.Bytes < 5e5 {
		t.Errorf("%+v", *tcp)
	}
}

// Ports that hosts take come again only after all others.
func TestFreePort(t *testing.T) {
	h := host{nextPort: firstPort}
	for i := range lastPort - firstPort + 1 {
		if got := h.freePort(); got != uint16(firstPort+i) {
			t.Fatalf("port %d is %d", i, got)
		}
	}
	if h.freePort() != firstPort {
		t.Error("ports do not begin again")
	}
}
