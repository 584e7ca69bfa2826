package collect

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"testing"
	"time"
)

// senderVariable makes the test binary a sender of benchmark datagrams instead, in a process of its own. Its value is
// the number of datagrams; the address is the first argument.
const senderVariable = "WAYBILL_TEST_SENDER"

// reportSize is the length of the datagrams in benchmarks, in bytes: about that of a telemetry report.
const reportSize = 200

func TestMain(m *testing.M) {
	if count := os.Getenv(senderVariable); count != "" {
		if err := sendBenchmark(os.Args[1], count); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if runRing() {
		return
	}
	os.Exit(m.Run())
}

func sendBenchmark(address, count string) error {
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	replay := Replay{Address: address, Payloads: Payloads([][]byte{make([]byte, reportSize)}), Loops: n}
	_, err = replay.Run(context.Background())
	return err
}

// listen opens sockets that the test closes.
func listen(tb testing.TB, cfg Config) []*Socket {
	tb.Helper()
	sockets, err := Listen(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		for _, s := range sockets {
			s.Close()
		}
	})
	return sockets
}

// received is a datagram that outlives its batch.
type received struct {
	source  netip.AddrPort
	payload string
}

// receive reads n datagrams. The deadline only keeps a failing test from waiting for ever.
func receive(tb testing.TB, s *Socket, n int) []received {
	tb.Helper()
	if err := s.SetReadDeadline(time.Now().Add(10 * time.Minute)); err != nil {
		tb.Fatal(err)
	}
	defer s.SetReadDeadline(time.Time{})
	var all []received
	b := NewBatch(DefaultBatchSize)
	for len(all) < n {
		got, err := s.ReadBatch(b)
		if err != nil {
			tb.Fatalf("after %d of %d datagrams: %v", len(all), n, err)
		}
		for i := range got {
			datagram := b.Datagram(i)
			if datagram.Truncated {
				tb.Errorf("datagram %d of %d bytes is truncated", len(all), len(datagram.Payload))
			}
			all = append(all, received{datagram.Source, string(datagram.Payload)})
		}
	}
	return all
}
