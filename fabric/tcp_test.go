package fabric

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/fabric/truth"
)

// Pieces in any order, with repetitions, are put together.
func TestReceiverAdd(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		const size = 200
		var r receiver
		arrived := [size]bool{}
		for range 60 {
			from := uint64(random.IntN(size))
			to := min(from+1+uint64(random.IntN(30)), size)
			for i := from; i < to; i++ {
				arrived[i] = true
			}
			if to > r.next {
				r.add(from, to)
			}
			next := uint64(0)
			for next < size && arrived[next] {
				next++
			}
			if r.next != next {
				t.Fatalf("next is %d, want %d", r.next, next)
			}
			last := r.next
			for _, s := range r.beyond {
				if s.from <= last || s.to <= s.from {
					t.Fatalf("spans %v behind %d", r.beyond, r.next)
				}
				for i := s.from; i < s.to; i++ {
					if !arrived[i] {
						t.Fatalf("%d has not arrived: %v", i, r.beyond)
					}
				}
				last = s.to
			}
		}
	}
}

// dumbbell has n senders on the left and n receivers on the right of one link of 20 Mbit/s.
func dumbbell(n int, more string) string {
	text := `
duration: 60s
topology:
  graph:
    switches: [{name: left}, {name: right}]
    links: [{between: [left, right], rate: 20M, delay: 1ms}]
    hosts:
`
	for i := 1; i <= n; i++ {
		text += fmt.Sprintf(
			"      - {name: s%d, at: left, link: {rate: 100M}}\n      - {name: r%d, at: right, link: {rate: 100M}}\n",
			i, i)
	}
	if !strings.Contains(more, "switch:") {
		text += "switch: {buffer: 120kB}\n"
	}
	return text + more
}

// TCP brings every byte over, whatever is lost on the way, and ends.
func TestTCPFinishes(t *testing.T) {
	for _, test := range []struct{ name, more string }{
		{"nothing lost", ""},
		{"1% lost", "faults: [{gray_link: {link: [left, right], drop: 1%}}]\n"},
		{"10% lost", "faults: [{gray_link: {link: [left, right], drop: 10%}}]\n"},
		{"link down for a while", "faults: [{at: 100ms, for: 700ms, link_down: {link: [left, right]}}]\n"},
		{
			"link flaps",
			"faults: [{at: 10ms, for: 10ms, every: 53ms, link_down: {link: [left, right]}}]\nrouting: {reconvergence: 0s}\n",
		},
	} {
		traffic := "traffic: [{constant: {from: s1, to: r1, bytes: 1000001}, transport: tcp}, {constant: {from: s2, to: r2, bytes: 1}, transport: tcp}]\n"
		list, f := ran(t, dumbbell(2, traffic+test.more), Options{}, 60*time.Second)
		flows := of[*truth.Flow](list)
		if len(flows) != 4 || f.Stats().InFlight != 0 {
			t.Errorf("%s: %d flows, %d packets in flight", test.name, len(flows), f.Stats().InFlight)
			continue
		}
		for _, fl := range flows {
			want := map[uint32]uint64{1: 1000001, 3: 1}[fl.Flow]
			if !fl.Finished || fl.Bytes != want {
				t.Errorf("%s: flow %+v", test.name, *fl)
			}
		}
	}
}

// TCP flows through one link fill it and share it.
func TestTCPFair(t *testing.T) {
	const n, seconds = 8, 20
	traffic := "traffic:\n"
	for i := 1; i <= n; i++ {
		traffic += fmt.Sprintf("  - {constant: {from: s%d, to: r%d}, transport: tcp, start: %dms}\n", i, i, 13*i)
	}
	list, _ := ran(t, dumbbell(n, traffic), Options{}, seconds*time.Second)
	sum, squares := 0.0, 0.0
	for _, fl := range of[*truth.Flow](list) {
		if fl.Bytes > 0 {
			sum += float64(fl.Bytes)
			squares += float64(fl.Bytes) * float64(fl.Bytes)
		}
	}
	if use := sum * 8 / seconds / 20e6; use < 0.85 || use > 1 {
		t.Errorf("flows use %.2f of the link", use)
	}
	if jain := sum * sum / (n * squares); jain < 0.95 {
		t.Errorf("fairness index %.3f", jain)
	}
}

// A flow alone gets what the link has, less headers and framing.
func TestTCPAlone(t *testing.T) {
	list, _ := ran(t, dumbbell(1, "traffic: [{constant: {from: s1, to: r1, bytes: 10MB}, transport: tcp}]\n"),
		Options{}, 60*time.Second)
	fl := of[*truth.Flow](list)[0]
	got, most := float64(fl.Bytes)*8e9/float64(fl.EndNs-fl.StartNs), 20e6*1460/1538.0
	if got < 0.9*most || got > most {
		t.Errorf("%.0f bit/s, want nearly %.0f", got, most)
	}
}

// The timeout follows RFC 6298.
func TestRTT(t *testing.T) {
	r := rtt{rtoNs: initialRTONs}
	r.sample(100e6, 10e6)
	if r.smoothNs != 100e6 || r.variationNs != 50e6 || r.rtoNs != 300e6 {
		t.Errorf("first sample: %+v", r)
	}
	r.sample(180e6, 10e6)
	if r.smoothNs != 110e6 || r.variationNs != 57.5e6 || r.rtoNs != 340e6 {
		t.Errorf("second sample: %+v", r)
	}
	r.backOff()
	if r.rtoNs != 680e6 {
		t.Errorf("backed off: %+v", r)
	}
	for range 100 {
		r.sample(1000, 10e6)
	}
	if r.rtoNs != 10e6 {
		t.Errorf("short samples: %+v", r)
	}
}

// Handshake, data and end look like TCP on the wire.
func TestTCPOnTheWire(t *testing.T) {
	tap := &frames{link: "s1-s2"}
	f := newFabric(t, line+"traffic: [{constant: {from: a, to: b, bytes: 3000}, transport: tcp}]\n", Options{Tap: tap})
	run(t, f, time.Second)
	c := f.conversations[0]
	isn, peer := c.tx.isn, c.rx.isn
	for i, want := range []struct {
		flags     byte
		seq, ack  uint32
		length    int
		fromFirst bool
	}{
		{flagSYN, isn, 0, 8, true},
		{flagSYN | flagACK, peer, isn + 1, 8, false},
		{flagACK, isn + 1, peer + 1, 0, true},
		{flagACK, isn + 1, peer + 1, 1460, true},
		{flagACK, isn + 1461, peer + 1, 1460, true},
		{flagACK | flagPSH | flagFIN, isn + 2921, peer + 1, 80, true},
		{flagACK, peer + 1, isn + 1461, 0, false},
		{flagACK, peer + 1, isn + 2921, 0, false},
		{flagACK | flagFIN, peer + 1, isn + 3002, 0, false},
		{flagACK, isn + 3002, peer + 2, 0, true},
	} {
		if i >= len(tap.list) {
			t.Fatalf("%d packets", len(tap.list))
		}
		got := tap.list[i]
		tcp := got.frame[34:]
		seq, ack := be32(tcp[4:]), be32(tcp[8:])
		if tcp[13] != want.flags || seq != want.seq || ack != want.ack || len(tcp)-20 != want.length ||
			got.fromFirst != want.fromFirst {
			t.Errorf("packet %d: flags %#x, seq %d, ack %d, %d bytes; want %+v", i, tcp[13], seq, ack, len(tcp)-20,
				want)
		}
	}
	if len(tap.list) != 10 {
		t.Errorf("%d packets", len(tap.list))
	}
}
