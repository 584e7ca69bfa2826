package collect

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// What a Forwarder gives is divided as whoever owns the flows divides it, and no two datagrams of an exporter arrived
// at the same moment, whatever the clock says.
func TestForwarder(t *testing.T) {
	points := codepoint.New()
	points.Compile()
	group, err := Listen(Config{Address: "127.0.0.1:0", Sockets: 1})
	if err != nil {
		t.Fatal(err)
	}
	const partitions, flows = 5, 300
	type given struct {
		payload   string
		partition int
		atNs      int64
	}
	var mu sync.Mutex
	var all []given
	f := NewForwarder(group[0], &Settings{Points: points}, partitions,
		func(_ context.Context, d *Datagram, partition int, _ uint16, atNs int64) error {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, given{string(d.Payload), partition, atNs})
			return nil
		})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- f.Run(ctx) }()
	conn, err := net.Dial("udp", group[0].Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	source := conn.LocalAddr().(*net.UDPAddr).AddrPort()
	for i := range flows {
		if _, err := conn.Write(test.Report(test.Form20MD, uint32(i), uint32(i), 3)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := conn.Write([]byte("not a report")); err != nil {
		t.Fatal(err)
	}
	test.Eventually(t, "all datagrams", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(all) == flows+1
	})
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	decoder, used, lastNs := telemetry.NewDecoder(points), map[int]int{}, int64(0)
	for _, d := range all {
		var b telemetry.Batch
		var h telemetry.Header
		decoder.Decode([]byte(d.payload), source, 8555, &b, &h)
		want := SocketOf(source.Addr(), partitions)
		if len(b.Reports) > 0 {
			want = b.Reports[0].Flow.ShardOf(partitions)
		}
		if d.partition != want || d.atNs <= lastNs {
			t.Fatalf("got partition %d at %d behind %d, want partition %d", d.partition, d.atNs, lastNs, want)
		}
		lastNs = d.atNs
		used[d.partition]++
	}
	if len(used) != partitions {
		t.Errorf("%d flows are in partitions %v, want all of %d", flows, used, partitions)
	}

	now := lastNs + int64(time.Minute)
	for _, step := range []struct{ atNs, want int64 }{
		{now, now},
		{now, now + 1},
		{now - 5e8, now + 2},
		{now - int64(time.Hour), now - int64(time.Hour)},
		{now - int64(time.Hour), now - int64(time.Hour) + 1},
	} {
		if got := f.arrived(&Datagram{ArrivedNs: step.atNs}, now); got != step.want {
			t.Errorf("a datagram of %d arrived at %d, want %d", step.atNs-now, got-now, step.want-now)
		}
	}
}
