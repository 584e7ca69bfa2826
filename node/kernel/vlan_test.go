//go:build linux

package kernel

import (
	"fmt"
	"os/exec"
	"slices"
	"testing"

	"github.com/waybill-int/waybill/telemetry"
)

// TestVLANs sends UDP and TCP through routers that are joined by VLANs: one with one tag, one with two. What the
// reports tell is the path, and the latency of each hop; packets of one VLAN are watched, and those of the other not.
func TestVLANs(t *testing.T) {
	const packets = 100
	n := newNetwork(t)
	try := "ip netns exec " + n.routers[0] + " ip link add link r name r.1 type vlan id 1"
	if out, err := exec.Command("sh", "-c", try).CombinedOutput(); err != nil {
		t.Skipf("not run: this kernel makes no VLAN interfaces: %s", out)
	}
	for i := range hostB {
		for side, name := range []string{"r", "l"} {
			n.run(i+side, "ethtool -K %s rxvlan off txvlan off", name)
			n.run(i+side, "ip link add link %s name %s.100 type vlan id 100", name, name)
			n.run(i+side, "ip link add link %s name %s.7 type vlan id 7", name, name)
			n.run(i+side, "ip link add link %s.7 name %s.7.8 type vlan id 8", name, name)
			for vlan, device := range []string{name + ".100", name + ".7.8"} {
				n.run(i+side, "ip addr add 10.%d.%d.%d/24 dev %s", 1+vlan, i, 1+side, device)
			}
			for _, device := range []string{name + ".100", name + ".7", name + ".7.8"} {
				n.run(i+side, "ip link set dev %s up", device)
			}
		}
	}
	for i := range n.routers {
		for vlan := 1; vlan <= 2; vlan++ {
			for subnet := range hostB {
				switch {
				case subnet > i:
					n.run(i, "ip route add 10.%d.%d.0/24 via 10.%d.%d.2", vlan, subnet, vlan, i)
				case subnet < i-1:
					n.run(i, "ip route add 10.%d.%d.0/24 via 10.%d.%d.1", vlan, subnet, vlan, i-1)
				}
			}
		}
	}
	hosts := []string{"10.1.3.2", "10.2.3.2"} // hostB
	for watched, id := range []int{100, 7} {
		t.Run(fmt.Sprint(id), func(t *testing.T) {
			n.t = t
			text := fmt.Sprintf("  watch: [{report_all: true, vlan: %d}]\n", id)
			c := newCollector(t, text)
			nodes, stop := n.start(text, c.conn.LocalAddr().String())
			for _, host := range hosts {
				n.udp(host, 6001, packets)
				n.tcp(host, 6002, 1<<18)
			}
			stop()
			for i, node := range nodes {
				t.Logf("s%d: %v", i+1, counters(t, node))
			}
			var reports []telemetry.Report
			for _, r := range c.reports(nodes) {
				if r.Flow.Dst == addr(hosts[1-watched]) {
					t.Fatalf("a report of the VLAN that is not watched: %v", r.Flow)
				}
				if r.Flow.Dst == addr(hosts[watched]) {
					r.Flow.Dst = addr(host4) // as check knows it
					reports = append(reports, r)
				}
			}
			check(t, "md", nodes, reports, packets)
			for i, node := range nodes {
				if all := counters(t, node); i == 1 && all["pushed"] < 2*packets {
					t.Errorf("s2 added %d records", all["pushed"])
				}
			}
		})
	}
}

func TestParseVLANs(t *testing.T) {
	const text = "VLAN Dev name    | VLAN ID\n" + // as net/8021q/vlanproc.c of Linux prints it
		"Name-Type: VLAN_NAME_TYPE_RAW_PLUS_VID_NO_PAD\n" +
		"eth0.7         | 7  | eth0\n" +
		"customer       | 4094  | eth0.7\n"
	want := []vlanDevice{{"eth0.7", "eth0", 7}, {"customer", "eth0.7", 4094}}
	if got := parseVLANs(text); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
