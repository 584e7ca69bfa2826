package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/store/duckdb"
	"github.com/waybill-int/waybill/telemetry"
)

// A steadySender sends INT-MD reports of one flow and postcards of another, two for each packet, until it is told to
// stop.
type steadySender struct {
	reports, packets atomic.Uint64 // with stacks; with postcards, two reports each
	// late counts packets whose postcards may have left further apart than one waits for another, as this process did
	// not run: they may count as two, and the second postcard of a flow's first packet at no hop.
	late atomic.Uint64
	stop func()
}

func sendSteadily(t *testing.T, to ...string) *steadySender {
	t.Helper()
	s := &steadySender{}
	var conns []net.Conn
	for _, address := range to {
		conn, err := net.Dial("udp", address)
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, conn)
	}
	send := func(b []byte) {
		for _, c := range conns {
			c.Write(b)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var sending sync.WaitGroup
	sending.Go(func() {
		for ctx.Err() == nil {
			for range 4 {
				send(test.Report(test.Form20MD, 1, uint32(s.reports.Load()), 3))
				s.reports.Add(1)
			}
			n, began := uint32(s.packets.Load()), time.Now()
			for node := range uint32(2) { // first all of node 1, so that packets wait for node 2
				for i := range uint32(8) {
					b := test.Report(test.Form20XD, 2, 2*(n+i)+node, 2)
					// The payload has the number of the IP header, which would cancel out.
					b[len(b)-18]++
					binary.BigEndian.PutUint32(b[len(b)-10:], n+i)
					send(b)
				}
				time.Sleep(3 * time.Millisecond)
			}
			s.packets.Add(8)
			if time.Since(began) > 200*time.Millisecond {
				s.late.Add(8)
			}
		}
		for _, c := range conns {
			c.Close()
		}
	})
	s.stop = sync.OnceFunc(func() { cancel(); sending.Wait() })
	t.Cleanup(s.stop)
	return s
}

// terminate ends a server as an operator does, and waits for it.
func (p *process) terminate(t *testing.T) {
	t.Helper()
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(); err != nil {
		t.Fatal(err)
	}
}

// received returns how many reports a server has received, by the accounts of their exporters.
func (p *process) received() (n uint64) {
	var l struct{ Loss []telemetry.Loss }
	if p.ask("/api/v1/loss", &l) == nil {
		for _, x := range l.Loss {
			n += x.Received
		}
	}
	return n
}

// With those that are late: their postcards, each for itself, fit on the path that is known, and count as incomplete.
const allPackets = "SELECT 'all', sum(packets + incomplete) FROM paths_10s"

// equal compares a store with what was sent.
func (s *steadySender) equal(t *testing.T, kept *duckdb.Store) {
	t.Helper()
	reports, packets := s.reports.Load(), s.packets.Load()
	source := func(flow byte) string {
		return fmt.Sprint(telemetry.AddrFrom(netip.AddrFrom4([4]byte{10, 1, 0, flow})).Lo)
	}
	nodes := map[string]string{ // stacks are not configured
		"1": fmt.Sprint(packets), "2": fmt.Sprint(packets), "3": fmt.Sprint(reports),
	}
	for statement, want := range map[string]map[string]string{
		"SELECT src_lo, sum(reports), sum(packets) FROM flows_10s GROUP BY 1": {
			source(1): fmt.Sprint(reports, reports), source(2): fmt.Sprint(2*packets, packets),
		},
		"SELECT node, sum(packets) FROM hops_1s GROUP BY 1": nodes,
		allPackets: {"all": fmt.Sprint(reports + packets)},
		"SELECT node, sum(reports) FROM exporters_10s GROUP BY 1": nodes,
	} {
		got := sums(t, kept, statement)
		if !strings.Contains(statement, "exporters") {
			for key, sum := range got {
				got[key] = s.withLate(sum, want[key], strings.Contains(statement, "hops"))
			}
		}
		equalSums(t, statement, want, got)
	}
}

// withLate returns want if the last number of sum, which counts packets, has late ones twice at most, or lacks some.
func (s *steadySender) withLate(sum, want string, lacks bool) string {
	reports, packets, _ := strings.Cut(sum, " ")
	wantReports, wantPackets, two := strings.Cut(want, " ")
	if !two {
		reports, packets, wantReports, wantPackets = "", reports, "", wantReports
	}
	n, err := strconv.ParseInt(packets, 10, 64)
	m, err2 := strconv.ParseInt(wantPackets, 10, 64)
	more := n - m
	if lacks {
		more = -more
	}
	if err != nil || err2 != nil || reports != wantReports || more < 0 || more > int64(s.late.Load()) {
		return sum
	}
	return want
}

// A killedProof compares an analyzer that ends in all ways with a single process, which gets the same reports.
type killedProof struct {
	web, data string
	config    string
	log       strings.Builder // of the analyzers that were killed
}

// start starts the analyzer.
func (k *killedProof) start(t *testing.T) *process {
	t.Helper()
	return startRole(t, k.web, k.config)
}

// kill kills the analyzer.
func (k *killedProof) kill(a *process) {
	a.kill()
	k.log.WriteString(a.log.String())
}

// proveKilled has disturb start and end the analyzer while reports come. Then, in a last one, the store has every
// report and every packet that was sent once, as that of a single process: of flows, paths, hops and exporters.
func proveKilled(t *testing.T, disturb func(*killedProof)) {
	t.Helper()
	bus, udp := test.FreePort(t, "tcp"), test.FreePort(t, "udp")
	k := &killedProof{web: test.FreePort(t, "tcp"), data: t.TempDir()}
	k.config = fmt.Sprintf("role: analyze\nworkers: 2\nhttp: %s\ndata: %s\nbus: {embedded: %q}\n",
		k.web, k.data, bus)
	collector := test.FreePort(t, "tcp")
	startRole(t, collector, fmt.Sprintf(
		"role: collect\nhttp: %s\nlisten: [%q]\ndata: %s\nbus: {urls: [%q], name: c}\n",
		collector, "udp://"+udp, t.TempDir(), "nats://"+bus))
	singleWeb, singleUDP, singleData := test.FreePort(t, "tcp"), test.FreePort(t, "udp"), t.TempDir()
	single := startRole(t, singleWeb, fmt.Sprintf("workers: 2\nhttp: %s\nlisten: [%q]\ndata: %s\n",
		singleWeb, "udp://"+singleUDP, singleData))
	sender := sendSteadily(t, udp, singleUDP)
	disturb(k)
	a := k.start(t)
	time.Sleep(time.Second)
	sender.stop()
	want := sender.reports.Load() + 2*sender.packets.Load()
	for what, p := range map[string]*process{"analyzer": a, "single process": single} {
		test.Eventually(t, what+" receiving everything", func() bool { return p.received() >= want })
		if n := p.received(); n != want {
			t.Errorf("%s: received %d reports, want %d", what, n, want)
		}
		p.terminate(t)
	}
	sender.equal(t, openStore(t, singleData))
	packets := sender.reports.Load() + sender.packets.Load()
	sender.equal(t, openLast(t, k.data, packets, func() *process { return k.start(t) }))
}

// openLast opens the store of an analyzer that has ended. What waited for postcards then does so in one that follows,
// until there are so many packets at least, or it takes too long.
func openLast(t *testing.T, data string, packets uint64, start func() *process) *duckdb.Store {
	t.Helper()
	for pause := time.Second; ; pause += time.Second {
		kept := openStore(t, data)
		if n, _ := strconv.ParseUint(sums(t, kept, allPackets)["all"], 10, 64); n >= packets || pause > 10*time.Second {
			return kept
		}
		kept.Close()
		a := start()
		time.Sleep(pause)
		a.terminate(t)
	}
}

// TestAnalyzerKilled: an analyzer that is killed again and again, whenever it is, loses and repeats nothing.
func TestAnalyzerKilled(t *testing.T) {
	seed, all := test.Seed(t)
	turns := 4
	if all {
		seed, turns = uint64(time.Now().UnixNano()), 20
	}
	t.Logf("seed %d", seed)
	g := rand.New(rand.NewPCG(seed, 0))
	proveKilled(t, func(k *killedProof) {
		replayed := func() int { return strings.Count(k.log.String(), "journal replayed") }
		for turn := 0; turn < turns || replayed() == 0 && turn < 40; turn++ {
			a := k.start(t)
			// On a busy machine it takes longer until the journal has something.
			time.Sleep(time.Duration(g.IntN(3000*(1+turn/turns))) * time.Millisecond)
			k.kill(a)
		}
		if replayed() == 0 {
			t.Error("no analyzer found anything in a journal: this tests little")
		}
	})
}

// TestCheckpointFails: an analyzer that is killed while it cannot write a checkpoint, or a journal, loses and repeats
// nothing either, nor one that can write again.
func TestCheckpointFails(t *testing.T) {
	_, all := test.Seed(t)
	turns := 1
	if all {
		turns = 20
	}
	proveKilled(t, func(k *killedProof) {
		for turn := range 2 * turns {
			a := k.start(t)
			time.Sleep(time.Second)
			// Where a directory is, no file can be, and no file where there is no directory.
			name := filepath.Join(k.data, []string{"checkpoint", "journal"}[turn/2%2])
			if err := os.Rename(name, name+".away"); err != nil {
				t.Fatal(err)
			}
			if turn/2%2 == 0 {
				if err := os.MkdirAll(filepath.Join(name, "in the way"), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			failures := func() (n int) {
				for line := range strings.Lines(a.text("/metrics")) {
					var m int
					if fmt.Sscanf(line, "waybill_checkpoint_failures_total %d", &m); m == 0 {
						fmt.Sscanf(line, "waybill_store_journal_failures_total %d", &m)
					}
					n += m
				}
				return n
			}
			test.Eventually(t, "failing checkpoints or journals", func() bool { return failures() > 3 })
			if turn%2 == 0 { // some intervals of a second are over
				k.kill(a)
			}
			if err := errors.Join(os.RemoveAll(name), os.Rename(name+".away", name)); err != nil {
				t.Fatal(err)
			}
			if turn%2 == 1 {
				failed := failures()
				test.Eventually(t, "writing again", func() bool {
					before := failed
					time.Sleep(time.Second)
					failed = failures()
					return failed == before
				})
				k.kill(a)
			}
		}
	})
}
