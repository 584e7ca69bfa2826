package collect

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"testing"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// rawRecorder keeps payloads by their sender.
type rawRecorder map[netip.AddrPort][]string

func (r rawRecorder) Record(_ int64, source netip.AddrPort, payload []byte, _ bool) {
	r[source] = append(r[source], string(payload))
}

// readRecorder looks at the counters while a batch is read.
type readRecorder struct {
	t *testing.T
	r *Receiver
}

func (r readRecorder) Record(int64, netip.AddrPort, []byte, bool) {
	if s := r.r.Stats(); s.Received > s.Decoded+s.Damaged+s.Malformed+s.Refused {
		r.t.Errorf("received, and without an outcome: %+v", s)
	}
}

// Who sees a datagram among those that were received sees what became of it.
func TestReceivedHasOutcome(t *testing.T) {
	sockets, err := Listen(Config{Address: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	points := codepoint.New()
	points.Compile()
	r := NewReceiver(sockets[0], &Settings{Points: points}, &recorder{},
		[]Dispatcher{Inline(&recorder{reports: map[uint64]int{}})})
	r.Keep(readRecorder{t, r})
	conn, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(sockets[0].Addr()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, payload := range [][]byte{named(test.Form20XD, 1, 1), {0xf0}} {
		if _, err := conn.Write(payload); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // it takes what the kernel holds
	if err := r.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if s := r.Stats(); s.Received != 2 || s.Decoded != 1 {
		t.Errorf("%+v", s)
	}
}

// What is not refused is recorded as it came, in order, whatever can be read of it.
func TestReceiverKeeps(t *testing.T) {
	sockets, err := Listen(Config{Address: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	points := codepoint.New()
	points.Compile()
	raw, table := rawRecorder{}, &recorder{reports: map[uint64]int{}}
	r := NewReceiver(sockets[0], &Settings{
		Points:    points,
		AllowList: permits(t, Permit{Source: netip.MustParsePrefix("127.0.0.2/32"), Nodes: []uint32{1}}),
	}, &recorder{}, []Dispatcher{Inline(table)})
	r.Keep(raw)
	payloads := []string{
		string(named(test.Form20XD, 1, 1)), "\xf0", string(named(test.Form10MD, 2, 1)),
		string(named(test.Form20XD, 3, 1)[:20]),
	}
	var allowed netip.AddrPort
	for _, source := range []string{"127.0.0.2", "127.0.0.3"} {
		conn, err := net.DialUDP("udp4", &net.UDPAddr{IP: net.ParseIP(source)},
			net.UDPAddrFromAddrPort(sockets[0].Addr()))
		if err != nil {
			t.Fatal(err)
		}
		if source == "127.0.0.2" {
			allowed = conn.LocalAddr().(*net.UDPAddr).AddrPort()
		}
		// of a node that it may not speak for
		for _, payload := range append(payloads, string(named(test.Form20XD, 1, 2))) {
			if _, err := conn.Write([]byte(payload)); err != nil {
				t.Fatal(err)
			}
		}
		conn.Close()
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // it takes what the kernel holds
	if err := r.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if len(raw) != 1 || !slices.Equal(raw[allowed], payloads) {
		t.Errorf("recorded %q", raw)
	}
	if s := r.Stats(); s.Received != 10 || s.Refused != 6 {
		t.Errorf("%+v", s)
	}
}
