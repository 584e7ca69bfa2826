//go:build linux

package kernel

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/node"
	"github.com/waybill-int/waybill/node/bpf"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

const pinText = "  drops: []\n  watch: [{src: 10.0.0.0/24, dst: 10.0.3.0/24, protocol: udp, dst_port: 6001, report_all: true}]\n" +
	"  reports: {to: [\"10.0.3.2:8555\"]}\n"

// A pinned is a network whose nodes are processes with pin.
type pinned struct {
	*network
	nodes [4]*exec.Cmd
	env   []string // of nodes, besides that of this process
}

func newPinned(t *testing.T) *pinned {
	n := &pinned{network: newNetwork(t)}
	pinRoot = t.TempDir()
	t.Cleanup(func() { pinRoot = "/sys/fs/bpf/waybill" })
	if err := unix.Mount("bpf", pinRoot, "bpf", 0, ""); err != nil {
		t.Fatalf("a file system for programs: %v", err)
	}
	t.Cleanup(func() {
		for i := range n.nodes {
			n.kill(i)
		}
		if err := unix.Unmount(pinRoot, 0); err != nil {
			t.Error(err)
		}
	})
	return n
}

// begin starts the node of a router and waits until it has taken over.
func (n *pinned) begin(i int, pin bool) {
	n.t.Helper()
	config := filepath.Join(n.t.TempDir(), "node.yaml")
	file := fmt.Sprintf("name: s%d\nid: %d\npin: %v\nports:\n  - {interface: l, edge: %v, clone: false}\n"+
		"  - {interface: r, edge: %v, clone: false}\nint:\n%s",
		i, i, pin, i == 1, i == 3, pinText)
	if err := os.WriteFile(config, []byte(file), 0o600); err != nil {
		n.t.Fatal(err)
	}
	ready := filepath.Join(n.t.TempDir(), "ready")
	c := exec.Command("nsenter", "--net=/run/netns/"+n.routers[i], os.Args[0], "-test.run", "^TestNodeProcess$")
	c.Env = append(os.Environ(), "WAYBILL_TEST_NODE="+config, "WAYBILL_TEST_PINS="+pinRoot, "WAYBILL_TEST_READY="+ready)
	c.Env = append(c.Env, n.env...)
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		n.t.Fatal(err)
	}
	n.nodes[i] = c
	n.await(func() bool { _, err := os.Stat(ready); return err == nil })
}

func (n *pinned) kill(i int) { n.end(i, syscall.SIGKILL) }

// end ends a node and waits for that.
func (n *pinned) end(i int, how syscall.Signal) {
	if c := n.nodes[i]; c != nil {
		_ = c.Process.Signal(how)
		_ = c.Wait()
		n.nodes[i] = nil
	}
}

// A tap counts the packets that leave by interface r of a router, with INT and without, by their DSCP.
type tap struct{ fd int }

func (n *pinned) newTap(machine int) *tap {
	t := &tap{}
	n.in(machine, func() (err error) {
		all := binary.BigEndian.Uint16(binary.NativeEndian.AppendUint16(nil, unix.ETH_P_ALL))
		if t.fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_NONBLOCK, int(all)); err != nil {
			return err
		}
		r, err := net.InterfaceByName("r")
		if err != nil {
			return err
		}
		return errors.Join(unix.SetsockoptInt(t.fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 64<<20),
			unix.Bind(t.fd, &unix.SockaddrLinklayer{Protocol: all, Ifindex: r.Index}))
	})
	n.t.Cleanup(func() { _ = unix.Close(t.fd) })
	return t
}

// take returns how many packets to hostB there were since the last call.
func (t *tap) take() (with, without int) {
	b := make([]byte, 2000)
	for {
		size, _, err := unix.Recvfrom(t.fd, b, 0)
		if err != nil {
			return with, without
		}
		const ip, udp = 14, 34
		to := []byte{10, 0, 3, 2}
		if size < udp+8 || b[12] != 8 || b[13] != 0 || b[ip+9] != 17 || !bytes.Equal(b[ip+16:ip+20], to) ||
			binary.BigEndian.Uint16(b[udp+2:]) != 6001 {
			continue
		}
		if b[ip+1]>>2 == 0x17 {
			with++
		} else {
			without++
		}
	}
}

// A tally is of the reports of the sink that come to hostB, and the numbers that are missing between them.
type tally struct{ reports, missing, incomplete int }

// listen counts what comes; the function that it returns says what came until now.
func (n *pinned) listen() func() tally {
	n.t.Helper()
	var conn *net.UDPConn
	n.in(hostB, func() (err error) {
		conn, err = net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(10, 0, 3, 2), Port: 8555})
		return err
	})
	raw, err := conn.SyscallConn()
	if err != nil {
		n.t.Fatal(err)
	}
	_ = raw.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 64<<20)
	})
	if err != nil {
		n.t.Fatal(err)
	}
	domain, err := node.Load([]byte(strings.ReplaceAll(pinText, "\n  ", "\n")[2:]))
	if err != nil {
		n.t.Fatal(err)
	}
	config := codepoint.New()
	if config.Points, err = domain.CodePoints(); err != nil {
		n.t.Fatal(err)
	}
	config.Compile()
	decoder := telemetry.NewDecoder(config)
	var mu sync.Mutex
	var all tally
	ended := make(chan struct{})
	n.t.Cleanup(func() { _ = conn.Close(); <-ended })
	go func() {
		defer close(ended)
		b, next := make([]byte, 65536), uint32(0)
		for {
			size, from, err := conn.ReadFromUDPAddrPort(b)
			if err != nil {
				return
			}
			var batch telemetry.Batch
			var h telemetry.Header
			decoder.Decode(bytes.Clone(b[:size]), from, 8555, &batch, &h)
			if h.Outcome != telemetry.Decoded || h.NodeID != 3 {
				n.t.Errorf("report of node %d: %v", h.NodeID, h.Reason)
			}
			if h.Sequence == 0 { // the next process
				next = 0
			}
			mu.Lock()
			all.missing += int(h.Sequence - next)
			for i := range batch.Reports {
				all.reports++
				hops := batch.Reports[i].Hops
				if len(hops) != 2 || hops[0].NodeID != 1 || hops[1].NodeID != 2 ||
					hops[0].EgressNs <= hops[0].IngressNs || hops[1].EgressNs <= hops[1].IngressNs {
					all.incomplete++
				}
			}
			mu.Unlock()
			next = h.Sequence + 1
		}
	}()
	return func() tally { mu.Lock(); defer mu.Unlock(); return all }
}

// TestPin kills nodes with pin, and starts them again, while packets pass: each arrives as it was sent, has INT between
// the routers with the records of both, and is reported once, also if nobody was there to report it.
func TestPin(t *testing.T) {
	n := newPinned(t)
	from, to := n.dial(host4, 6001)
	defer from.Close()
	defer to.Close()
	reports := n.listen()
	for i := 3; i >= 1; i-- {
		n.begin(i, true)
	}
	wire := n.newTap(1)
	const packets, rounds = 100, 2
	with, without := 0, 0
	n.exchange(from, to, packets)
	n.await(func() bool { return reports().reports == packets })
	for i := 1; i <= 3; i++ {
		n.kill(i)
	}
	n.exchange(from, to, packets) // with nobody
	for i := 1; i <= 3; i++ {
		if got := n.attached(i); got != 4 {
			t.Errorf("got %d programs at s%d after the node was killed, want 2 for each port", got, i)
		}
	}
	sent := 2 * packets
	for range rounds {
		done := make(chan struct{})
		go func() {
			defer close(done)
			for i := 1; i <= 3; i++ {
				n.begin(i, true)
				if i == 3 { // what a process that is killed has in its hands is lost
					n.end(i, syscall.SIGTERM)
				} else {
					n.kill(i)
				}
			}
		}()
		for over := false; !over; {
			n.exchange(from, to, 10) // slowly enough for what nobody reports yet to have room
			time.Sleep(10 * time.Millisecond)
			sent += 10
			a, b := wire.take()
			with, without = with+a, without+b
			select {
			case <-done:
				over = true
			default:
			}
		}
	}
	a, b := wire.take()
	if with, without = with+a, without+b; with != sent || without != 0 {
		t.Errorf("got %d packets with INT and %d without, want %d with", with, without, sent)
	}
	n.begin(3, true)
	n.await(func() bool { return reports().reports >= sent })
	if got := reports(); got != (tally{reports: sent}) {
		t.Errorf("got %+v, want %d reports", got, sent)
	}
	n.end(3, syscall.SIGTERM)
	n.begin(1, true)
	if _, err := Unpin(1); !errors.Is(err, bpf.ErrRunning) {
		t.Errorf("got %v while the node runs", err)
	}
	n.end(1, syscall.SIGTERM)
	if got := n.attached(1); got != 4 {
		t.Errorf("got %d programs at s1 after it ended, want 2 for each port", got)
	}
	if got, err := Unpin(1); err != nil || got != 5 { // and what follows drops
		t.Errorf("got %d programs taken off and %v, want 5", got, err)
	}
	n.begin(2, false) // takes over, and leaves nothing
	n.kill(2)
	for i := 1; i <= 2; i++ {
		n.await(func() bool { return n.attached(i) == 0 })
		if _, err := os.Stat(pinDir(uint32(i))); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", pinDir(uint32(i)), err)
		}
	}
	wire.take()
	n.exchange(from, to, packets)
	if with, without := wire.take(); with != 0 || without != packets {
		t.Errorf("got %d packets with INT and %d without, want none and %d", with, without, packets)
	}
}

// TestPinLoss lets the programs of a killed sink have more to tell than there is room for: the next process says how
// much was lost, by the numbers of its reports and a counter.
func TestPinLoss(t *testing.T) {
	n := newPinned(t)
	from, to := n.dial(host4, 6001)
	defer from.Close()
	defer to.Close()
	for i := 3; i >= 1; i-- {
		n.begin(i, true)
	}
	n.kill(3)
	sent := 16000 // about 300 bytes each, in 4 MiB
	n.exchange(from, to, sent)
	reports := n.listen()
	n.begin(3, true)
	n.await(func() bool { // a gap is seen when something comes behind it
		n.exchange(from, to, 1)
		sent++
		return reports().missing > 0
	})
	n.await(func() bool { got := reports(); return got.reports+got.missing >= sent })
	n.end(3, syscall.SIGTERM)
	got := reports()
	n.begin(3, true) // tells nothing again
	n.exchange(from, to, 1)
	n.await(func() bool { return reports().reports > got.reports })
	n.end(3, syscall.SIGTERM)
	config := n.config(3, "", "10.0.3.2:8555")
	config.Pin = true
	next, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	all := counters(t, next)
	full, drops := int(all["kernel_ring_full"]), int(all["kernel_drops_untold"]) // of whatever the router drops besides
	if got.reports+full != sent || got.incomplete > 0 {
		t.Errorf("got %d reports, %d of them incomplete, and %d packets that the ring had no room for, want %d in all",
			got.reports, got.incomplete, full, sent)
	}
	if got.missing != full+drops || reports().missing != got.missing {
		t.Errorf("by numbers %d reports are missing, and in the end %d, want %d", got.missing, reports().missing,
			full+drops)
	}
}

// TestPinnedFilter kills a node whose programs stay and that drops what a filter says: nobody is left to end the
// filter, and so it ends by itself 30 seconds after the node last said that it holds, which is each second. It is a
// tenth of that unless TEST_SEED=all.
func TestPinnedFilter(t *testing.T) {
	n := newPinned(t)
	hold := 3 * time.Second
	if _, all := test.Seed(t); all {
		hold = 30 * time.Second
	} else {
		n.env = append(n.env, "WAYBILL_TEST_HOLD="+hold.String())
	}
	socket := filepath.Join(t.TempDir(), "s")
	n.env = append(n.env, "WAYBILL_TEST_SOCKET="+socket)
	const port = 7001
	passes := func() bool { return n.count(host4, port, 1) == 1 }
	if !passes() {
		t.Fatal("a packet is lost without a node")
	}
	began := time.Now()
	n.begin(1, true)
	client := http.Client{Transport: &http.Transport{
		DialContext: func(context.Context, string, string) (net.Conn, error) { return net.Dial("unix", socket) },
	}}
	filter := fmt.Sprintf(`{"id": "f", "target": "%s/32", "protocol": "udp", "port": %d, "until": %q}`, host4, port,
		began.Add(time.Hour).Format(time.RFC3339))
	answer, err := client.Post("http://node/filter", "application/json", strings.NewReader(filter))
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("got %s to %s", answer.Status, filter)
	}
	client.CloseIdleConnections()
	if passes() {
		t.Error("the filter drops nothing")
	}
	n.kill(1)
	ends := time.Now().Add(hold) // at the latest
	for dropped := 0; ; dropped++ {
		sent := time.Now()
		if passes() {
			if early := began.Add(hold); time.Now().Before(early) || dropped == 0 {
				t.Errorf("after %s, and %d packets since the kill, the filter had ended, want %s at least",
					time.Since(began), dropped, hold)
			}
			break
		}
		if sent.After(ends) {
			t.Fatalf("%s after the node was killed the filter holds", hold)
		}
	}
	n.begin(1, true) // whoever comes next knows no filter
	if !passes() {
		t.Error("the next process drops what a filter of the last one said")
	}
}

// TestExaminePins looks at a folder without, and then with, a file system for programs.
func TestExaminePins(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("not run: file systems are mounted by root only. Run: sudo make test")
	}
	dir := t.TempDir()
	pinRoot = dir + "/waybill"
	t.Cleanup(func() { pinRoot = "/sys/fs/bpf/waybill" })
	look := func(pin bool) []Finding {
		d := doctor{config: &Config{Pin: pin}}
		d.pins()
		return d.findings
	}
	if got := look(false); len(got) > 0 {
		t.Errorf("without pin: got %+v", got)
	}
	if got := look(true); len(got) != 1 || got[0].Verdict != Bad || !strings.Contains(got[0].Do, "mount -t bpf") {
		t.Errorf("got %+v, want what to mount", got)
	}
	if err := unix.Mount("bpf", dir, "bpf", 0, ""); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Unmount(dir, 0) }()
	if got := look(true); len(got) != 1 || got[0].Verdict != Good || got[0].Do != "" {
		t.Errorf("got %+v, want it to be good", got)
	}
	if _, err := os.Stat(pinRoot); !os.IsNotExist(err) {
		t.Errorf("the doctor has made %s: %v", pinRoot, err)
	}
}
