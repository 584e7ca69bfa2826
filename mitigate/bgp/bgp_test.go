package bgp

import (
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/mitigate"
	"github.com/waybill-int/waybill/telemetry"
)

// A router is BIRD or the bgpd of FRR, on an address of the loopback interface.
type router struct {
	t       *testing.T
	address netip.Addr
	port    uint16
	as      uint32
	command []string // that runs it, in the foreground
	ask     []string // before a question
	running *exec.Cmd
}

func newRouter(t *testing.T, n byte) *router {
	t.Helper()
	r := &router{t: t, address: netip.AddrFrom4([4]byte{127, 0, 0, n}), as: 64512 + uint32(n)}
	l, err := net.Listen("tcp", netip.AddrPortFrom(r.address, 0).String())
	if err != nil {
		t.Fatal(err)
	}
	r.port = netip.MustParseAddrPort(l.Addr().String()).Port()
	l.Close()
	return r
}

func find(t *testing.T, program string) string {
	t.Helper()
	for _, dir := range []string{"/usr/sbin/", "/usr/lib/frr/", "/usr/bin/"} {
		if _, err := os.Stat(dir + program); err == nil {
			return dir + program
		}
	}
	t.Skipf("not run: no %s. Run: sudo scripts/setup test", program)
	return ""
}

// bird returns BIRD, which takes FlowSpec or not.
func bird(t *testing.T, n byte, flowSpec bool) *router {
	r := newRouter(t, n)
	dir := t.TempDir()
	channels := ""
	if flowSpec {
		channels = "flow4 { table f4; import all; export none; }; flow6 { table f6; import all; export none; };"
	}
	write(t, dir+"/bird.conf", fmt.Sprintf(`
router id %v;
flow4 table f4;
flow6 table f6;
protocol device {}
protocol static { ipv4; route 192.0.2.254/32 blackhole; }
protocol static { ipv6; route 100::1/128 blackhole; }
protocol bgp waybill {
	local %v port %d as %d;
	neighbor 127.0.0.1 as 64512;
	multihop 2; passive yes; strict bind yes;
	ipv4 { import all; export none; gateway recursive; };
	ipv6 { import all; export none; gateway recursive; };
	%s
}
`, r.address, r.address, r.port, r.as, channels))
	r.command = []string{find(t, "bird"), "-f", "-c", dir + "/bird.conf", "-s", dir + "/ctl", "-P", dir + "/pid"}
	r.ask = []string{find(t, "birdc"), "-s", dir + "/ctl"}
	r.start()
	return r
}

// frr returns the bgpd of FRR, which has no IPv6 in this session.
func frr(t *testing.T, n byte) *router {
	r := newRouter(t, n)
	if os.Geteuid() != 0 {
		t.Skip("not run: bgpd of FRR is for root. Run: sudo make test")
	}
	dir, err := os.MkdirTemp("", "frr") // whose path is short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	write(t, dir+"/bgpd.conf", fmt.Sprintf(`
router bgp %d
 bgp router-id %v
 no bgp ebgp-requires-policy
 no bgp default ipv4-unicast
 neighbor 127.0.0.1 remote-as 64512
 neighbor 127.0.0.1 passive
 neighbor 127.0.0.1 ebgp-multihop 2
 address-family ipv4 flowspec
  neighbor 127.0.0.1 activate
`, r.as, r.address))
	r.command = []string{
		find(t, "bgpd"), "-f", dir + "/bgpd.conf", "-i", dir + "/pid", "-z", dir + "/zebra", "-u", "root", "-g", "root",
		"-S", "-Z", "-l", r.address.String(), "-p", fmt.Sprint(r.port), "--vty_socket", dir, "-P", "0",
	}
	r.ask = []string{find(t, "vtysh"), "--vty_socket", dir, "-d", "bgpd", "-c"}
	r.start()
	return r
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (r *router) start() {
	r.t.Helper()
	r.running = exec.Command(r.command[0], r.command[1:]...)
	said := &strings.Builder{}
	r.running.Stdout, r.running.Stderr = said, said
	if err := r.running.Start(); err != nil {
		r.t.Fatal(err)
	}
	running := r.running
	r.t.Cleanup(func() {
		_ = running.Process.Kill()
		_ = running.Wait()
		if r.t.Failed() {
			r.t.Logf("%s: %s", filepath.Base(r.command[0]), said)
		}
	})
}

// stop ends the router as a power cut does.
func (r *router) stop() {
	_ = r.running.Process.Kill()
	_ = r.running.Wait()
}

// waits until a router answers a question with a text, or without it.
func (r *router) waits(question, text string, is bool) {
	r.t.Helper()
	answer := ""
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		args := append(append([]string{}, r.ask[1:]...), strings.Fields(question)...)
		if r.ask[len(r.ask)-1] == "-c" {
			args = append(append([]string{}, r.ask[1:]...), question)
		}
		out, err := exec.Command(r.ask[0], args...).CombinedOutput()
		if answer = string(out); err == nil && strings.Contains(answer, text) == is {
			return
		}
	}
	r.t.Fatalf("%s: %s: got %s, want %q %v", filepath.Base(r.command[0]), question, answer, text, is)
}

// speak opens sessions with routers.
func speak(t *testing.T, peers ...Peer) *Speaker {
	t.Helper()
	s, err := Open(Config{
		AS: 64512, RouterID: netip.MustParseAddr("127.0.0.1"), Local: netip.MustParseAddr("127.0.0.1"),
		Hold: 9 * time.Second, NextHop: netip.MustParseAddr("192.0.2.254"), NextHop6: netip.MustParseAddr("100::1"),
		Peers: peers,
	}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func (r *router) peer(flowSpec, rtbh bool) Peer {
	return Peer{Address: r.address, Port: r.port, AS: r.as, Multihop: 2, FlowSpec: flowSpec, RTBH: rtbh}
}

// eventually waits until an actor has a problem with a text in it; "": none.
func eventually(t *testing.T, a mitigate.Actor, text string) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		err = a.Problem()
		if text == "" && err == nil || text != "" && err != nil && strings.Contains(err.Error(), text) {
			return
		}
	}
	t.Fatalf("got problem %v, want %q", err, text)
}

var rules = []telemetry.MitigationRule{
	{ID: "1", Source: "10.0.0.1/32", Target: "192.0.2.80/32", Protocol: "udp", Port: 53, Text: "of IPv4"},
	{ID: "2", Source: "2001:db8:1::/64", Target: "2001:db8::80/128", Protocol: "tcp", Port: 443, Text: "of IPv6"},
}

// Rules arrive at a BIRD as flow routes that drop, and at an FRR, and are withdrawn. That a router is gone is told,
// and it gets the rules again when it is back.
func TestFlowSpec(t *testing.T) {
	t.Parallel()
	one, other := bird(t, 2, true), frr(t, 3)
	s := speak(t, one.peer(true, false), other.peer(true, false))
	a := s.FlowSpec()
	if s.RTBH() != nil {
		t.Error("RTBH, which nobody configured")
	}
	eventually(t, a, "")
	if err := a.Apply(t.Context(), rules); err == nil ||
		!strings.Contains(err.Error(), "127.0.0.3 does not take FlowSpec of IPv6") {
		t.Errorf("of IPv6 to a router that has none: %v", err)
	}
	if err := a.Apply(t.Context(), rules[:1]); err != nil {
		t.Fatal(err)
	}
	const flow = "flow4 { dst 192.0.2.80/32; src 10.0.0.1/32; proto 17; dport 53; }"
	one.waits("show route table f4 all", flow, true)
	one.waits("show route table f4 all", "(generic, 0x80060000, 0x0)", true)
	one.waits("show route table f6", "flow6", false)
	other.waits("show bgp ipv4 flowspec detail", "Destination Address 192.0.2.80/32", true)
	other.waits("show bgp ipv4 flowspec detail", "FS:rate 0.000000", true)
	one.stop()
	eventually(t, a, "router 127.0.0.2: the session is lost")
	one.start()
	eventually(t, a, "")
	one.waits("show route table f4", flow, true)
	if err := a.Withdraw(t.Context(), rules[:1]); err != nil {
		t.Fatal(err)
	}
	one.waits("show route table f4", "flow4", false)
	other.waits("show bgp ipv4 flowspec detail", "192.0.2.80", false)
}

// FlowSpec of IPv6, and blackholes, at a BIRD: the next hop is resolved to its blackhole route. A second router that
// refuses FlowSpec keeps the first from getting any, and is named.
func TestBlackhole(t *testing.T) {
	t.Parallel()
	one, other := bird(t, 4, true), bird(t, 5, false)
	s := speak(t, one.peer(true, true), other.peer(false, true))
	a := s.RTBH()
	eventually(t, a, "")
	all := []telemetry.MitigationRule{{Target: "192.0.2.80/32"}, {Target: "2001:db8::80/128"}}
	if err := a.Apply(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	for _, r := range []*router{one, other} {
		r.waits("show route 192.0.2.80/32 all", "blackhole", true)
		r.waits("show route 192.0.2.80/32 all", "(65535,666) (65535,65281)", true)
		r.waits("show route 2001:db8::80/128 all", "blackhole", true)
	}
	if err := s.FlowSpec().Apply(t.Context(), rules); err != nil {
		t.Fatal(err)
	}
	const flow = "flow6 { dst 2001:db8::80/128; src 2001:db8:1::/64; next header 6; dport 443; }"
	one.waits("show route table f6", flow, true)
	if err := a.Withdraw(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	for _, r := range []*router{one, other} {
		r.waits("show route table master4", "192.0.2.80", false)
		r.waits("show route table master6", "2001:db8::80", false)
	}
	_ = s.Close()

	s = speak(t, one.peer(true, false), other.peer(true, true))
	a = s.FlowSpec()
	eventually(t, a, "")
	if err := a.Apply(t.Context(), rules[:1]); err == nil ||
		!strings.Contains(err.Error(), "router 127.0.0.5 does not take FlowSpec of IPv4") {
		t.Errorf("a router that refuses: %v", err)
	}
	one.waits("show route table f4", "flow4", false)
}
