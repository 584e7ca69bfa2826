//go:build linux

package kernel

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"github.com/waybill-int/waybill/internal/test"
)

// iperfRows are what nodes do while iperf3 sends TCP through them.
var iperfRows = []struct {
	name, text string
	offload    bool
}{
	{"every packet", "  watch: [{}]\n", false},
	{"1 in 100", "  watch: [{sample: 100}]\n", false},
	{"clones", "  watch: [{sample: 100}]\n", true}, // that nodes choose themselves
}

// TestIperf has iperf3 send TCP through three nodes. No host sees a wrong checksum, and none gets a packet with INT.
// With TEST_SEED=all it takes 30 seconds each time.
func TestIperf(t *testing.T) {
	amount := "-n 24M"
	if _, all := test.Seed(t); all {
		amount = "-t 30"
	}
	for _, row := range iperfRows {
		t.Run(row.name, func(t *testing.T) {
			n := makeNetwork(t, row.offload)
			for _, host := range []int{hostA, hostB} {
				n.run(host, "nft add table inet t")
				n.run(host, "nft 'add chain inet t c { type filter hook prerouting priority 0; }'")
				n.run(host, "nft add rule inet t c ip dscp 0x17 counter")
				n.run(host, "nft add rule inet t c ip6 dscp 0x17 counter")
			}
			nodes, stop := n.start(row.text, "127.0.0.1:9")
			for _, host := range []string{host4, host6} {
				r := n.iperf(host, amount)
				t.Logf("%s: %.0f Mbit/s, %d packets sent again", host, r.bits/1e6, r.retransmits)
			}
			stop()
			n.expectHarmless()
			for _, host := range []int{hostA, hostB} {
				if got := n.output(host, "nft list table inet t"); strings.Count(got, "packets 0 bytes 0") != 2 {
					t.Errorf("%s got packets with INT:\n%s", n.routers[host], got)
				}
			}
			all := map[string]uint64{}
			for _, node := range nodes {
				for name, count := range counters(t, node) {
					all[name] += count
				}
			}
			if all["inserted"] == 0 || all["pushed"] == 0 || all["stripped"] == 0 || all["kernel_not_stripped"] > 0 ||
				all["stripped_bad"] > 0 || all["kernel_partial"] > 0 || (all["copies"] > 0) != row.offload {
				t.Errorf("got %v", all)
			}
		})
	}
}

// A goodput is what iperf3 says of one connection.
type goodput struct {
	bits        float64 // a second, at the receiver
	retransmits int
}

// iperf sends TCP from hostA to hostB, by its address.
func (n *network) iperf(host, amount string) (g goodput) {
	n.t.Helper()
	if _, err := exec.LookPath("iperf3"); err != nil {
		n.t.Skip("not run: no iperf3. Run: sudo scripts/setup test")
	}
	server := exec.Command("ip", "netns", "exec", n.routers[hostB], "iperf3", "-s", "-1")
	if err := server.Start(); err != nil {
		n.t.Fatal(err)
	}
	defer func() { _ = server.Process.Kill(); _ = server.Wait() }()
	n.await(func() bool { return strings.Contains(n.output(hostB, "ss -ltnH"), ":5201") })
	text := n.output(hostA, fmt.Sprintf("iperf3 -c %s -J %s", host, amount))
	var answer struct {
		Error string `json:"error"`
		End   struct {
			Sent struct {
				Retransmits int `json:"retransmits"`
			} `json:"sum_sent"`
			Received struct {
				Bits float64 `json:"bits_per_second"`
			} `json:"sum_received"`
		} `json:"end"`
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil || answer.Error != "" || answer.End.Received.Bits == 0 {
		n.t.Fatalf("iperf3: %v\n%s", err, text)
	}
	return goodput{answer.End.Received.Bits, answer.End.Sent.Retransmits}
}

// BenchmarkGoodput compares what TCP gets through three nodes with what it gets through the same routers without any,
// and through programs at the same places that do nothing: medians of runs by turns.
func BenchmarkGoodput(b *testing.B) {
	for _, offload := range []bool{false, true} {
		b.Run(map[bool]string{false: "insertion", true: "offload"}[offload], func(b *testing.B) {
			n := makeNetwork(b, offload)
			rows := []string{"noops", "  watch: []\n"}
			names := []string{"noops", "unwatched"}
			for _, row := range iperfRows {
				if row.offload == offload {
					rows, names = append(rows, row.text), append(names, strings.ReplaceAll(row.name, " ", "-"))
				}
			}
			all := make([][]float64, len(rows))
			var bare []float64
			for b.Loop() {
				before := n.iperf(host4, "-t 1").bits
				bare = append(bare, before/1e6)
				for i, text := range rows {
					stop := n.startNoops
					if text != "noops" {
						stop = func() func() { _, stop := n.start(text, "127.0.0.1:9"); return stop }
					}
					end := stop()
					all[i] = append(all[i], n.iperf(host4, "-t 1").bits/before)
					end()
				}
			}
			slices.Sort(bare)
			b.ReportMetric(bare[len(bare)/2], "bare-Mbit/s")
			for i := range all {
				slices.Sort(all[i])
				b.ReportMetric(all[i][len(all[i])/2], names[i]+"-ratio")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// startNoops attaches programs that do nothing where those of nodes would be.
func (n *network) startNoops() (stop func()) {
	n.t.Helper()
	var closers []io.Closer
	add := func(c io.Closer, err error) error {
		if err == nil {
			closers = append(closers, c)
		}
		return err
	}
	for i := 1; i <= 3; i++ {
		n.in(i, func() error {
			for _, name := range []string{"l", "r"} {
				at, err := net.InterfaceByName(name)
				if err != nil {
					return err
				}
				for kind, code := range map[ebpf.ProgramType]int32{ebpf.XDP: 2, ebpf.SchedCLS: -1} {
					spec := ebpf.ProgramSpec{
						Type: kind, License: "GPL",
						Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, code), asm.Return()},
					}
					if kind == ebpf.XDP {
						spec.Flags = unix.BPF_F_XDP_HAS_FRAGS
					}
					p, err := ebpf.NewProgram(&spec)
					if err := add(p, err); err != nil {
						return err
					}
					if kind == ebpf.XDP {
						err = add(link.AttachXDP(link.XDPOptions{Program: p, Interface: at.Index}))
					} else {
						err = add(link.AttachTCX(link.TCXOptions{
							Program: p, Interface: at.Index, Attach: ebpf.AttachTCXEgress,
						}))
					}
					if err != nil {
						return err
					}
				}
			}
			return nil
		})
	}
	return func() {
		for _, c := range closers {
			if err := c.Close(); err != nil {
				n.t.Error(err)
			}
		}
	}
}
