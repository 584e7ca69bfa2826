//go:build linux

package kernel

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"

	"github.com/waybill-int/waybill/internal/test"
)

// TestHarmless sends TCP through three nodes, with INT in every packet, in one of 100, and with clones while checksums
// and segments are left to network cards: what arrives is what was sent, and no host sees a wrong checksum. With
// TEST_SEED=all it takes 30 seconds each time.
func TestHarmless(t *testing.T) {
	least := 500 * time.Millisecond
	if _, all := test.Seed(t); all {
		least = 30 * time.Second
	}
	for _, row := range []struct {
		name, text string
		offload    bool
	}{
		{"every packet", "  watch: [{}]\n", false},
		{"1 in 100", "  watch: [{sample: 100}]\n", false},
		{"clones", "  clone: true\n  watch: [{sample: 10}]\n", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			n := makeNetwork(t, row.offload)
			nodes, stop := n.start(row.text, "127.0.0.1:9")
			started, bytes := time.Now(), 0
			for port := 7000; time.Since(started) < least; port++ {
				n.tcp(host4, port, 4<<20)
				n.tcp(host6, port, 4<<20)
				bytes += 16 << 20 // there and back
			}
			t.Logf("%d MiB in %s", bytes>>20, time.Since(started).Round(time.Millisecond))
			stop()
			n.expectHarmless()
			all := map[string]uint64{}
			for _, node := range nodes {
				for name, count := range counters(t, node) {
					all[name] += count
				}
			}
			if all["inserted"] == 0 || all["pushed"] == 0 || all["stripped"] == 0 || all["kernel_not_stripped"] > 0 ||
				all["stripped_bad"] > 0 {
				t.Errorf("got %v", all)
			}
		})
	}
}

// TestKill kills the source and the transit node in the middle of a connection, by SIGKILL. The connection goes on, and
// nothing stays at the interfaces.
func TestKill(t *testing.T) {
	n := newNetwork(t)
	const text = "  watch: [{dst: 10.0.3.0/24}]\n" // s3 is no source, and s1 no sink
	var nodes [4]*exec.Cmd
	for i := 3; i >= 1; i-- {
		config := filepath.Join(t.TempDir(), "node.yaml")
		file := fmt.Sprintf("name: s%d\nid: %d\nports:\n  - {interface: l, edge: %v, clone: false}\n"+
			"  - {interface: r, edge: %v, clone: false}\nint:\n%s",
			i, i, i == 1, i == 3, text)
		if err := os.WriteFile(config, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		c := exec.Command("ip", "netns", "exec", n.routers[i], os.Args[0], "-test.run", "^TestNodeProcess$")
		c.Env = append(os.Environ(), "WAYBILL_TEST_NODE="+config)
		c.Stderr = os.Stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		nodes[i] = c
		t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
		n.await(func() bool { return strings.Contains(n.output(i, "ip link show dev r"), "xdp") })
	}
	done, enough := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		n.tcpUntil(host4, 7000, 1<<20, enough)
	}()
	before := n.counter(hostB, "Tcp", "InSegs")
	n.await(func() bool { return n.counter(hostB, "Tcp", "InSegs") > before+1000 })
	for i := 1; i <= 2; i++ { // a sink that is killed lets INT out: sources go first
		if got := n.attached(i); got != 4 {
			t.Errorf("got %d programs at s%d, want 2 for each port", got, i)
		}
		if err := nodes[i].Process.Kill(); err != nil {
			t.Fatal(err)
		}
		n.await(func() bool { return n.attached(i) == 0 })
	}
	close(enough)
	<-done
	n.expectHarmless()
}

// attached returns how many programs the kernel has at the interfaces of a machine.
func (n *network) attached(machine int) (programs int) {
	n.t.Helper()
	n.in(machine, func() error {
		all, err := net.Interfaces()
		if err != nil {
			return err
		}
		for _, i := range all {
			for _, at := range []ebpf.AttachType{ebpf.AttachTCXIngress, ebpf.AttachTCXEgress} {
				r, err := link.QueryPrograms(link.QueryOptions{Target: i.Index, Attach: at})
				if err != nil {
					return err
				}
				programs += len(r.Programs)
			}
		}
		return nil
	})
	return programs + strings.Count(n.output(machine, "ip -o link show"), "prog/xdp")
}

// TestNodeProcess is a node in a process of its own, for TestKill and those with pins.
func TestNodeProcess(t *testing.T) {
	file := os.Getenv("WAYBILL_TEST_NODE")
	if file == "" {
		return
	}
	if root := os.Getenv("WAYBILL_TEST_PINS"); root != "" {
		pinRoot = root
	}
	if hold := os.Getenv("WAYBILL_TEST_HOLD"); hold != "" {
		var err error
		if filtersHold, err = time.ParseDuration(hold); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Load(file)
	if err != nil {
		t.Fatal(err)
	}
	node, err := New(c)
	if err == nil {
		err = node.Attach()
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if socket := os.Getenv("WAYBILL_TEST_SOCKET"); socket != "" {
		l, err := ListenLocal(socket)
		if err != nil {
			t.Fatal(err)
		}
		go func() { _ = http.Serve(l, node.Handler()) }()
	}
	if ready := os.Getenv("WAYBILL_TEST_READY"); ready != "" {
		if err := os.WriteFile(ready, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(node.Run(ctx), node.Close()); err != nil {
		t.Error(err)
	}
}

// await waits until f says so.
func (n *network) await(f func() bool) {
	n.t.Helper()
	for start := time.Now(); !f(); time.Sleep(10 * time.Millisecond) {
		if time.Since(start) > time.Minute {
			n.t.Fatal("it did not happen within a minute")
		}
	}
}

// output returns what a command prints in the namespace of a machine.
func (n *network) output(machine int, command string) string {
	n.t.Helper()
	out, err := exec.Command("sh", "-c", "ip netns exec "+n.routers[machine]+" "+command).CombinedOutput()
	if err != nil {
		n.t.Fatalf("%s: %v\n%s", command, err, out)
	}
	return string(out)
}
