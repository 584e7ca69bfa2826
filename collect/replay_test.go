package collect

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// texts returns received datagrams as one list of their payloads.
func texts(all []received) []string {
	var list []string
	for _, datagram := range all {
		list = append(list, datagram.payload)
	}
	return list
}

// Everything arrives once, in order and unchanged: alone, in runs of equal length, and between them.
func TestReplayOrder(t *testing.T) {
	var payloads [][]byte
	var want []string
	var size uint64
	add := func(count, length int) {
		for range count {
			payload := pattern(length, byte(len(payloads)))
			payloads = append(payloads, payload)
			want = append(want, string(payload))
			size += uint64(length)
		}
	}
	add(1, 200)
	add(700, 100) // more than a run and more than the sender holds
	add(2, 0)
	add(64, 1472)
	add(65, 1471)
	add(3, 9000)
	add(2, 65507)
	add(20, 40_000) // more bytes than the sender holds
	add(3, 1)
	for _, host := range []string{"127.0.0.1", "::1"} {
		for _, rate := range []float64{0, 1e6} {
			t.Run(fmt.Sprintf("%s rate %g", host, rate), func(t *testing.T) {
				s := listen(t, Config{Address: netip.AddrPortFrom(netip.MustParseAddr(host), 0).String()})[0]
				replay := Replay{
					Address: "udp://" + s.Addr().String(), Payloads: Payloads(payloads), Rate: rate,
					Loops: 2,
				}
				summary, err := replay.Run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if summary.Sent != 2*uint64(len(want)) || summary.Bytes != 2*size || summary.Refused != 0 {
					t.Errorf("got %+v, want %d datagrams with %d bytes", summary, 2*len(want), 2*size)
				}
				all := receive(t, s, 2*len(want))
				if !slices.Equal(texts(all), slices.Concat(want, want)) {
					t.Error("other datagrams or another order than sent")
				}
				for _, datagram := range all {
					if datagram.source != all[0].source {
						t.Fatalf("sources %v and %v", all[0].source, datagram.source)
					}
				}
			})
		}
	}
}

func TestReplayRewrite(t *testing.T) {
	s := listen(t, Config{Address: "127.0.0.1:0"})[0]
	payloads := [][]byte{{0, 0}, {0, 1}, {0, 2}}
	replay := Replay{
		Address:  s.Addr().String(),
		Payloads: Payloads(payloads),
		Loops:    4,
		Rewrite: func(loop int, payload []byte) {
			sequence := binary.BigEndian.Uint16(payload)
			binary.BigEndian.PutUint16(payload, sequence+uint16(loop*len(payloads)))
		},
	}
	if _, err := replay.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, datagram := range receive(t, s, 12) {
		if got := binary.BigEndian.Uint16([]byte(datagram.payload)); int(got) != i {
			t.Errorf("datagram %d has sequence number %d", i, got)
		}
	}
	if payloads[2][1] != 2 {
		t.Error("Rewrite changed the caller's payloads")
	}
}

// Under a fake clock the schedule can be checked to the nanosecond: no more than one sleep of a millisecond late.
func TestReplayRate(t *testing.T) {
	f := func(rate float64, count int) {
		t.Run(fmt.Sprintf("%g per second", rate), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := listen(t, Config{Address: "127.0.0.1:0"})[0]
				plan := schedule{rate}
				start := time.Now()
				var n uint64
				replay := Replay{
					Address:  s.Addr().String(),
					Payloads: Payloads(make([][]byte, count)),
					Rate:     rate,
					Rewrite: func(int, []byte) {
						late := time.Since(start) - plan.at(n)
						if late < 0 || late > minSleep {
							t.Errorf("datagram %d is %v late", n, late)
						}
						n++
					},
				}
				summary, err := replay.Run(t.Context())
				if err != nil || summary.Sent != uint64(count) {
					t.Errorf("got %+v %v, want %d sent", summary, err, count)
				}
				if late := summary.Elapsed - plan.at(n-1); late < 0 || late > minSleep {
					t.Errorf("%d datagrams took %v, want %v", count, summary.Elapsed, plan.at(n-1))
				}
			})
		})
	}
	f(0.5, 10)
	f(10, 100)
	f(1000, 2000)
	f(33_333, 10_000)
	f(100_000, 50_000)
	f(1e6, 50_000)
}

func TestReplayProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := listen(t, Config{Address: "127.0.0.1:0"})[0]
		var calls []Summary
		replay := Replay{
			Address:  s.Addr().String(),
			Payloads: Payloads(make([][]byte, 1001)),
			Rate:     1000,
			Progress: func(summary Summary) { calls = append(calls, summary) },
		}
		summary, err := replay.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(calls) != 11 || calls[len(calls)-1] != summary {
			t.Errorf("%d calls, the last with %+v; want 11, the last with %+v", len(calls), calls[len(calls)-1],
				summary)
		}
		if summary.Elapsed != time.Second || summary.Rate() != 1001 {
			t.Errorf("got %v and %g per second", summary.Elapsed, summary.Rate())
		}
	})
}

func TestReplayCancel(t *testing.T) {
	for _, rate := range []float64{0, 1000, 0.001} { // while it sends, while it sends and waits, while it waits
		s := listen(t, Config{Address: "127.0.0.1:0"})[0]
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			s.ReadBatch(NewBatch(1))
			cancel()
		}()
		replay := Replay{Address: s.Addr().String(), Payloads: Payloads([][]byte{{1}}), Rate: rate, Loops: -1}
		summary, err := replay.Run(ctx)
		if !errors.Is(err, context.Canceled) || summary.Sent == 0 {
			t.Errorf("rate %g: got %+v %v, want some sent and context.Canceled", rate, summary, err)
		}
	}
}

// Nobody listens: the kernel returns the ICMP answers as errors of later calls, which must not end the replay.
func TestReplayRefused(t *testing.T) {
	s := listen(t, Config{Address: "127.0.0.1:0"})[0]
	address := s.Addr().String()
	s.Close()
	for _, rate := range []float64{0, 1e6} {
		replay := Replay{Address: address, Payloads: Payloads([][]byte{{1}, {2}, {3, 3}}), Rate: rate, Loops: 100}
		summary, err := replay.Run(t.Context())
		if err != nil || summary.Sent != 300 || summary.Bytes != 400 || summary.Refused == 0 {
			t.Errorf("rate %g: got %+v %v, want 300 sent and some refused", rate, summary, err)
		}
	}
}

func TestReplayNothing(t *testing.T) {
	replay := Replay{Address: "127.0.0.1:9", Payloads: Payloads(nil), Loops: -1}
	if summary, err := replay.Run(t.Context()); err != nil || summary.Sent != 0 || summary.Rate() < 0 {
		t.Errorf("got %+v %v, want nothing", summary, err)
	}
}

func TestReplayErrors(t *testing.T) {
	broken := errors.New("broken file")
	s := listen(t, Config{Address: "127.0.0.1:0"})[0]
	good := s.Addr().String()
	f := func(replay Replay, sent uint64, want string) {
		t.Helper()
		summary, err := replay.Run(t.Context())
		if err == nil || !strings.Contains(err.Error(), want) || summary.Sent != sent {
			t.Errorf("got %+v %v, want %d sent and %s", summary, err, sent, want)
		}
	}
	f(Replay{Address: "8555"}, 0, "want HOST:PORT")
	f(Replay{Address: good, Rate: -1}, 0, "rate -1: want")
	f(Replay{Address: good, Rate: math.NaN()}, 0, "rate NaN: want")
	f(Replay{Address: good, Rate: math.Inf(1)}, 0, "rate +Inf: want")
	f(Replay{Address: good, Payloads: Payloads([][]byte{{1}, make([]byte, 65508), {2}})}, 1,
		"datagram 2 with 65508 bytes: sendmmsg: message too long")
	f(Replay{Address: good, Payloads: func(yield func([]byte, error) bool) {
		_ = yield([]byte{1}, nil) && yield([]byte{2}, nil) && yield(nil, broken)
	}}, 2, "broken file")
}
