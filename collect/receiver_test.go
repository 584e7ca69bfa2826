package collect

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// recorder is an account and an owner that keeps what it is given.
type recorder struct {
	mu      sync.Mutex
	headers []telemetry.Header
	reports map[uint64]int // by flow hash
	counted []uint32       // ports
}

func (r *recorder) Observe(headers []telemetry.Header, _ int64) telemetry.Origin {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.headers = append(r.headers, headers...)
	return telemetry.Origin{}
}

func (r *recorder) Process(b *telemetry.Batch, _ int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range b.Reports {
		r.reports[b.Reports[i].Flow.Hash()]++
	}
	for i := range b.Counters {
		r.counted = append(r.counted, b.Counters[i].Port)
	}
}

func (r *recorder) Tick(int64) {}

// start runs receivers and owners until the returned function is called, which waits for them.
func start(t *testing.T, sockets []*Socket, owners int) (receivers []*Receiver, accounts, tables []*recorder,
	stop func(),
) {
	t.Helper()
	return startWith(t, sockets, owners, nil)
}

// startWith is start with receivers that take only what is permitted.
func startWith(t *testing.T, sockets []*Socket, owners int, only *AllowList) (receivers []*Receiver, accounts,
	tables []*recorder, stop func(),
) {
	t.Helper()
	points := codepoint.New()
	points.Compile()
	var queues []*Queue
	var dispatchers []Dispatcher
	for range owners {
		table := &recorder{reports: map[uint64]int{}}
		tables = append(tables, table)
		q := NewQueue(table)
		queues = append(queues, q)
		dispatchers = append(dispatchers, q)
	}
	receive, stopReceiving := context.WithCancel(t.Context())
	own, stopOwning := context.WithCancel(t.Context())
	var receiving, owning sync.WaitGroup
	for _, q := range queues {
		owning.Go(func() { q.Run(own) })
	}
	for _, s := range sockets {
		account := &recorder{}
		accounts = append(accounts, account)
		r := NewReceiver(s, &Settings{Points: points, AllowList: only}, account, dispatchers)
		receivers = append(receivers, r)
		receiving.Go(func() {
			if err := r.Run(receive); err != nil {
				t.Error(err)
			}
		})
	}
	return receivers, accounts, tables, func() {
		stopReceiving()
		receiving.Wait()
		stopOwning()
		owning.Wait()
	}
}

// Whatever arrives is received or dropped by the kernel, has one outcome, and its reports reach the owner of their
// flow.
func TestReceiversConserve(t *testing.T) {
	for _, owners := range []int{1, 3} {
		sockets, err := Listen(Config{Address: "127.0.0.1:0", Sockets: 2})
		if err != nil {
			t.Fatal(err)
		}
		receivers, accounts, tables, stop := start(t, sockets, owners)
		const flows, rounds = 20, 50
		sent := 0
		for source := range 4 {
			conn, err := net.DialUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, byte(10+source))},
				net.UDPAddrFromAddrPort(sockets[0].Addr()))
			if err != nil {
				t.Fatal(err)
			}
			for round := range rounds {
				for flow := range flows {
					payload := test.Report(test.Form20XD, uint32(flow), uint32(round), 1)
					switch flow {
					case 5:
						payload = payload[:10] // group header, no whole report
					case 6:
						payload[0] = 0x30 // version 3
					}
					if _, err := conn.Write(payload); err != nil {
						t.Fatal(err)
					}
					sent++
				}
			}
			conn.Close()
		}
		stop()
		var total Stats
		for _, r := range receivers {
			s := r.Stats()
			total.Received += s.Received
			total.KernelDrops += s.KernelDrops
			total.Decoded += s.Decoded
			total.Malformed += s.Malformed
			total.Damaged += s.Damaged
		}
		if total.Received+total.KernelDrops != uint64(sent) || total.KernelDrops != 0 {
			t.Errorf("sent %d: %+v", sent, total)
		}
		if total.Malformed != 4*rounds*2 || total.Damaged != 0 || total.Decoded+total.Malformed != total.Received {
			t.Errorf("outcomes: %+v", total)
		}
		reports, owned := 0, map[uint64]bool{}
		for _, table := range tables {
			for flow, n := range table.reports {
				if owned[flow] {
					t.Errorf("a flow has two owners")
				}
				owned[flow] = true
				reports += n
			}
		}
		if uint64(reports) != total.Decoded || len(owned) != flows-2 {
			t.Errorf("got %d reports of %d flows, want %d of %d", reports, len(owned), total.Decoded, flows-2)
		}
		// One source address, one account.
		home := map[netip.Addr]int{}
		for i, account := range accounts {
			for _, h := range account.headers {
				if at, ok := home[h.Source]; ok && at != i {
					t.Fatalf("%v is split over receivers", h.Source)
				}
				home[h.Source] = i
			}
		}
		if len(home) != 4 {
			t.Errorf("got %d exporters, want 4", len(home))
		}
	}
}

// Source ports do not spread an exporter over sockets; source addresses do.
func TestSocketsBySourceAddress(t *testing.T) {
	for _, network := range []string{"127.0.0.1:0", "[::1]:0"} {
		sockets, err := Listen(Config{Address: network, Sockets: 2})
		if err != nil {
			t.Fatal(err)
		}
		to := net.UDPAddrFromAddrPort(sockets[0].Addr())
		sources := []net.IP{net.IPv6loopback}
		if to.IP.To4() != nil {
			sources = nil
			for i := range 16 {
				sources = append(sources, net.IPv4(127, 0, 1, byte(i+1)))
			}
		}
		const ports = 8
		for _, source := range sources {
			for range ports {
				conn, err := net.DialUDP("udp", &net.UDPAddr{IP: source}, to)
				if err != nil {
					t.Fatal(err)
				}
				conn.Write([]byte("x"))
				conn.Close()
			}
		}
		used := 0
		for i, s := range sockets {
			bySource := map[netip.Addr]int{}
			batch := NewBatch(256)
			s.SetReadDeadline(time.Now())
			for {
				n, err := s.ReadBatch(batch)
				if err != nil {
					break
				}
				for j := range n {
					bySource[batch.Datagram(j).Source.Addr()]++
				}
			}
			for source, n := range bySource {
				if want := SocketOf(source, len(sockets)); want != i {
					t.Errorf("%v: got socket %d, SocketOf says %d", source, i, want)
				}
				if n != ports {
					t.Errorf("%v: got %d of %d datagrams on one socket", source, n, ports)
				}
			}
			if len(bySource) > 0 {
				used++
			}
			s.Close()
		}
		if len(sources) > 1 && used != 2 {
			t.Errorf("%s: 16 sources use %d of 2 sockets", network, used)
		}
	}
}

// An owner that is too slow makes the receiver wait, and the kernel counts what finds no room in the receive buffer.
func TestSlowOwnerLosesInTheKernelOnly(t *testing.T) {
	points := codepoint.New()
	points.Compile()
	sockets, err := Listen(Config{Address: "127.0.0.1:0", ReceiveBuffer: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	table := &recorder{reports: map[uint64]int{}}
	q := NewQueue(table)
	r := NewReceiver(sockets[0], &Settings{Points: points}, &recorder{}, []Dispatcher{q})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	conn, err := net.Dial("udp", sockets[0].Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const sent = 2 * queueLength * DefaultBatchSize
	for i := range uint32(sent) {
		conn.Write(test.Report(test.Form20XD, i, i, 1))
	}
	cancel()
	owning, stop := context.WithCancel(t.Context())
	owned := make(chan struct{})
	go func() { q.Run(owning); close(owned) }() // it was not running until now
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	stop()
	<-owned
	s := r.Stats()
	got := 0
	for _, n := range table.reports {
		got += n
	}
	if s.Received+s.KernelDrops != sent || s.KernelDrops == 0 || uint64(got) != s.Received {
		t.Errorf("sent %d, owner got %d: %+v", sent, got, s)
	}
}

// A receiver with datagrams in its socket, or on their way to the owner, has delivered only what came before.
func TestReceiverBehind(t *testing.T) {
	sockets, err := Listen(Config{Address: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	receivers, accounts, _, stop := start(t, sockets, 2)
	defer stop()
	conn, err := net.Dial("udp", sockets[0].Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	accounts[0].mu.Lock() // the receiver stays behind for as long
	before := time.Now().UnixNano()
	for i := range uint32(2 * DefaultBatchSize) {
		if _, err := conn.Write(test.Report(test.Form20XD, i, i, 1)); err != nil {
			t.Fatal(err)
		}
	}
	const hour = int64(time.Hour)
	for receivers[0].Delivered(before+hour) > time.Now().UnixNano() { // until it runs
		time.Sleep(time.Millisecond)
	}
	accounts[0].mu.Unlock()
	for receivers[0].Delivered(before+hour) != before+hour {
		time.Sleep(time.Millisecond)
	}
}

// A counting decoder reads a sample of the counters of a port in each datagram: the port is its first byte.
type counting struct{}

func (counting) Use(*codepoint.Config) {}

func (counting) Decode(payload []byte, src netip.AddrPort, _ uint16, b *telemetry.Batch, h *telemetry.Header) {
	*h = telemetry.Header{Source: src.Addr()}
	b.Counters = append(b.Counters, telemetry.CounterSample{Port: uint32(payload[0])})
}

// Counters of ports come to the first owner, once, and those of a source that may not send to nobody.
func TestCounters(t *testing.T) {
	points := codepoint.New()
	points.Compile()
	source := netip.MustParseAddrPort("10.0.0.1:4000")
	for _, owners := range []int{1, 3} {
		var tables []*recorder
		var dispatchers []Dispatcher
		for range owners {
			table := &recorder{reports: map[uint64]int{}}
			tables, dispatchers = append(tables, table), append(dispatchers, Inline(table))
		}
		only := permits(t, Permit{Source: netip.PrefixFrom(source.Addr(), 32)})
		r := NewReceiver(nil, &Settings{Points: points, AllowList: only}, &recorder{}, dispatchers)
		r.Read(counting{})
		r.Receive([]Datagram{
			{Payload: []byte{1}, Source: source},
			{Payload: []byte{2}, Source: netip.MustParseAddrPort("10.0.0.2:4000")},
			{Payload: []byte{3}, Source: source},
		}, 6343, 1)
		r.Receive([]Datagram{{Payload: []byte{4}, Source: source}}, 6343, 2)
		if got := tables[0].counted; !slices.Equal(got, []uint32{1, 3, 4}) || r.Stats().Refused != 1 {
			t.Errorf("%d owners: the first got %v, %d refused", owners, got, r.Stats().Refused)
		}
		for _, other := range tables[1:] {
			if len(other.counted) > 0 {
				t.Errorf("%d owners: another got %v", owners, other.counted)
			}
		}
	}
}
