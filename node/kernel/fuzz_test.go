//go:build linux

package kernel

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/internal/test/packets"
	"github.com/waybill-int/waybill/node"
)

// TestRandomFrames sends random and damaged frames to attached interfaces: of the edge, and from inside with INT that
// means nothing. The kernel has nothing to say of it, each frame is counted once, and what had INT inserted is either
// seen by the next node, or was dropped before, of which this node is told. Half a second; a minute in test-long.
func TestRandomFrames(t *testing.T) {
	n := newNetwork(t)
	lasts := time.Second / 2
	if _, all := test.Seed(t); all {
		lasts = time.Minute
	}
	const text = "  watch: [{report_all: true}]\n  drops: [{}]\n"
	nobody, err := net.ListenPacket("udp", "127.0.0.1:0") // what is reported of broken packets, others test
	if err != nil {
		t.Fatal(err)
	}
	defer nobody.Close()
	log := kernelLog(t)
	nodes, stop := n.start(text, nobody.LocalAddr().String())
	d := nodes[0].reporter.Node.Domain()
	upstream, err := n.config(1, text, nobody.LocalAddr().String()).newNode()
	if err != nil {
		t.Fatal(err)
	}
	var state node.State
	var out node.Output
	received := func(machine int, of string) (count int) {
		n.in(machine, func() error {
			b, err := os.ReadFile("/proc/thread-self/net/dev")
			if err != nil {
				return err
			}
			for line := range strings.Lines(string(b)) {
				if name, rest, _ := strings.Cut(strings.TrimSpace(line), ":"); name == of {
					count, err = strconv.Atoi(strings.Fields(rest)[1])
				}
			}
			return err
		})
		return count
	}
	// look returns how many frames came to s1 by its interfaces and by its node, while none comes.
	look := func() (interfaces int, counters map[string]uint64) {
		for {
			before, err := nodes[0].Status(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			interfaces = received(1, "l") + received(1, "r")
			behind, err := nodes[0].Status(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if counters = behind.Counters; counters["arrived"] == before.Counters["arrived"] {
				return interfaces, counters
			}
		}
	}
	came, first := look()
	var mac [2]net.HardwareAddr
	var sockets [2]int
	for at, machine := range []int{hostA, 2} { // to s1 from its edge, and from s2
		n.in(machine, func() error {
			name := []string{"r", "l"}[at]
			own, err := net.InterfaceByName(name)
			if err != nil {
				return err
			}
			sockets[at], err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, 0)
			return errors.Join(err, unix.Bind(sockets[at], &unix.SockaddrLinklayer{Ifindex: own.Index}))
		})
		defer unix.Close(sockets[at])
		n.in(1, func() error {
			other, err := net.InterfaceByName([]string{"l", "r"}[at])
			mac[at] = other.HardwareAddr
			return err
		})
	}
	r := rand.New(rand.NewPCG(1, 2))
	sent := 0
	for start := time.Now(); time.Since(start) < lasts; sent++ {
		s := packets.Random(r)
		if r.IntN(8) > 0 {
			s.Tags, s.Labels = 0, 0
		}
		if r.IntN(2) == 0 {
			s.Kind = []packets.Kind{packets.UDP, packets.TCP, packets.UDPNoChecksum}[r.IntN(3)]
		}
		if r.IntN(3) == 0 {
			s.DSCP = d.Points.INTDSCP
		}
		frame := s.Frame(r)
		at := r.IntN(2)
		if at == 1 && r.IntN(2) == 0 { // with INT, and a packet of TTL 1 makes no difference here
			upstream.Process(frame, node.Ingress{Port: 1, TimeNs: 1}, func(*node.State) node.Egress {
				return node.Egress{Port: 2, DepartedNs: 2}
			}, &state, &out)
			frame = append(make([]byte, 0, 2048), out.Frame...)
		}
		copy(frame, mac[at])
		if len(frame) > 34 && frame[12] == 8 && frame[13] == 0 {
			copy(frame[30:], []byte{10, 0, byte(3 * (1 - at)), byte(1 + r.IntN(4))}) // where there are routes
			fixHeader(frame[14:])
		}
		for range r.IntN(3) * r.IntN(6) { // where the INT is, most of all
			frame[12+r.IntN(min(len(frame), 160)-12)] ^= 1 << r.IntN(8)
		}
		if r.IntN(20) == 0 {
			frame = frame[:14+r.IntN(len(frame)-13)]
		}
		if len(frame) > 1514 {
			continue
		}
		if _, err := unix.Write(sockets[at], frame); err != nil && !errors.Is(err, unix.ENOBUFS) &&
			!errors.Is(err, unix.EINVAL) {
			t.Fatal(err)
		}
	}
	n.udp(host4, 6001, 1) // behind all that
	all, passed := look()
	stop()
	t.Logf("%d frames, %v", sent, passed)
	if got, want := passed["arrived"]-first["arrived"], uint64(all-came); sent < 100 || got != want {
		t.Errorf("s1 counted %d frames of %d that came", got, want)
	}
	second := counters(t, nodes[1])
	seen := second["pushed"] + second["not_pushed"] + second["marked_mtu"] + second["marked_hop_limit"] +
		second["stripped"]
	if all := seen + second["kernel_not_forwarded"] + passed["kernel_drops"]; passed["inserted"] < seen ||
		passed["inserted"] > all {
		t.Errorf("s1 inserted INT %d times, s2 saw it %d times, %d with what was dropped", passed["inserted"], seen,
			all)
	}
	if second["pushed"] == 0 {
		t.Errorf("s2 added no record: %v", second)
	}
	for _, name := range []string{
		"inserted", "not_inserted", "stripped", "stripped_bad", "kernel_not_read", "unreadable",
	} {
		if passed[name] == 0 {
			t.Errorf("no frame was %s", name)
		}
	}
	if passed["watched"] > passed["from_edge"] || passed["from_edge"] > passed["arrived"] ||
		passed["inserted"]+passed["not_inserted"] > passed["watched"] {
		t.Errorf("counters do not add up: %v", passed)
	}
	if said := log(); len(said) > 0 {
		t.Errorf("the kernel said %q", said)
	}
}

// fixHeader makes the checksum of an IPv4 header right.
func fixHeader(b []byte) {
	n := 4 * int(b[0]&15)
	if n > len(b) || n < 20 {
		return
	}
	b[10], b[11] = 0, 0
	sum := 0
	for i := 0; i < n; i += 2 {
		sum += int(b[i])<<8 | int(b[i+1])
	}
	for sum>>16 > 0 {
		sum = sum&0xFFFF + sum>>16
	}
	b[10], b[11] = byte(^sum>>8), byte(^sum)
}

// kernelLog returns what the kernel logs of programs and interfaces from now on.
func kernelLog(t *testing.T) func() []string {
	t.Helper()
	file, err := unix.Open("/dev/kmsg", unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return func() []string { return nil }
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := unix.Seek(file, 0, unix.SEEK_END); err != nil {
		t.Fatal(err)
	}
	return func() (said []string) {
		defer unix.Close(file)
		b := make([]byte, 8192)
		for {
			n, err := unix.Read(file, b)
			if err != nil {
				return said
			}
			line := b[:n]
			for _, word := range []string{"WARNING", "BUG", "Oops", "bad checksum", "hw csum", "rcu:", "bpf"} {
				if bytes.Contains(line, []byte(word)) {
					said = append(said, string(line))
					break
				}
			}
		}
	}
}
