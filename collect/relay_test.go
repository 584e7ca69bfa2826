package collect

import (
	"bytes"
	"errors"
	"net/netip"
	"testing"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// A relayRecorder keeps what it is given.
type relayRecorder struct {
	datagrams []byte
	origin    telemetry.Origin
}

func (r *relayRecorder) Relay(datagrams []byte, origin telemetry.Origin, _ int64) {
	r.datagrams, r.origin = append(r.datagrams, datagrams...), origin
}

// repeats is an account by which every third datagram came again.
type repeats struct{}

func (repeats) Observe(headers []telemetry.Header, _ int64) (o telemetry.Origin) {
	for i := range headers {
		headers[i].Account = uint32(i + 1)
		if headers[i].Repeated = i%3 == 2; headers[i].Repeated {
			o.Repeated++
		}
	}
	o.Socket, o.Turn, o.Accounts = 3, 9, uint32(len(headers))
	return o
}

// kept is a shard that keeps a copy of its reports.
type kept struct {
	reports []telemetry.Report
	origin  telemetry.Origin
	nowNs   int64
}

func (k *kept) Process(b *telemetry.Batch, nowNs int64) {
	for _, r := range b.Reports {
		r.Hops, r.Datagram = append([]telemetry.Hop(nil), r.Hops...), nil
		k.reports = append(k.reports, r)
	}
	k.origin, k.nowNs = b.Origin, nowNs
}

func (*kept) Tick(int64) {}

// Owners elsewhere get each report once, with its account, but for those of datagrams that came again or were refused;
// of a datagram with reports of several owners each takes its own.
func TestRelay(t *testing.T) {
	points := codepoint.New()
	points.Compile()
	const owners, partitions = 3, 8
	var list []Datagram
	for i := range 30 {
		form := test.Form20MD
		if i%4 == 0 {
			form = test.Form20Three
		}
		list = append(list, Datagram{
			Source:  netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}), uint16(5000+i)),
			Payload: test.Report(form, uint32(i*7), uint32(i), 5),
		})
	}
	list = append(list, Datagram{Source: list[0].Source, Payload: []byte{0xff}}) // nothing can be read of it

	var want kept
	here := NewReceiver(nil, &Settings{Points: points}, repeats{}, []Dispatcher{Inline(&want)})
	here.Receive(list, 8555, 7)

	var relays [owners]relayRecorder
	r := NewReceiver(nil, &Settings{Points: points}, repeats{}, nil)
	r.RelayTo([]Relay{&relays[0], &relays[1], &relays[2]}, partitions)
	r.Receive(list, 8555, 7)
	var got int
	for i := range relays {
		var shard kept
		to := NewRelayed(RelayedConfig{Shard: &shard, Owner: i, Of: owners, Partitions: partitions, Points: points})
		if err := to.Take(relays[i].datagrams, relays[i].origin, 7); err != nil {
			t.Fatal(err)
		}
		if shard.origin != relays[i].origin || shard.nowNs != 7 || len(shard.reports) == 0 {
			t.Errorf("owner %d: %d reports of %+v at %d", i, len(shard.reports), shard.origin, shard.nowNs)
		}
		next := 0
		for _, report := range want.reports { // its own, in their order
			if ownerOf(&report, partitions, owners) != i {
				continue
			}
			one := &shard.reports[next]
			if next++; one.Flow != report.Flow || one.Account != report.Account || one.PacketID != report.PacketID ||
				len(one.Hops) != len(report.Hops) {
				t.Fatalf("owner %d: report %d is %+v, want %+v", i, next, one, report)
			}
		}
		if next != len(shard.reports) {
			t.Errorf("owner %d has %d reports, want %d", i, len(shard.reports), next)
		}
		got += next
		for cut := 1; cut < relayedHead; cut++ {
			if err := to.Take(relays[i].datagrams[:cut], telemetry.Origin{}, 7); !errors.Is(err, ErrRelayed) {
				t.Errorf("%d bytes are datagrams: %v", cut, err)
			}
		}
		whole := bytes.Clone(relays[i].datagrams)
		if err := to.Take(whole[:len(whole)-1], telemetry.Origin{}, 7); !errors.Is(err, ErrRelayed) {
			t.Errorf("what is cut at its end is whole: %v", err)
		}
	}
	if got != len(want.reports) || got < 20 {
		t.Errorf("%d reports, want %d", got, len(want.reports))
	}
}
