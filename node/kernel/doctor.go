//go:build linux

package kernel

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/cilium/ebpf/btf"
	"golang.org/x/sys/unix"

	"github.com/waybill-int/waybill/node/bpf"
	"github.com/waybill-int/waybill/node/watch"
)

// A Verdict says how good something is.
type Verdict string

// Verdicts. A node cannot work with Bad, and works with Poor, but not as it could.
const (
	Good Verdict = "ok"
	Poor Verdict = "warning"
	Bad  Verdict = "error"
)

// A Finding is something about this machine that a node needs.
type Finding struct {
	What    string  `json:"what"`
	Verdict Verdict `json:"verdict"`
	Found   string  `json:"found"`
	Do      string  `json:"do,omitempty"` // what to do about it; "" nothing
}

// A doctor looks at one machine.
type doctor struct {
	config   *Config // nil: only what every node needs
	findings []Finding
}

// Examine says whether this machine can be the node that c describes, or if c is nil any, and what to do. It changes
// nothing: to see whether the kernel takes the programs it loads them, and takes them out again.
func Examine(c *Config) []Finding {
	d := &doctor{config: c}
	d.kernel()
	d.capabilities()
	d.programs()
	d.clock()
	d.sysctls()
	if c != nil {
		for i := range c.Ports {
			d.port(&c.Ports[i])
		}
		d.room()
		d.pins()
	}
	return d.findings
}

func (d *doctor) say(what string, v Verdict, do, found string, args ...any) {
	if v == Good {
		do = ""
	}
	d.findings = append(d.findings, Finding{what, v, fmt.Sprintf(found, args...), do})
}

func verdict(good bool, otherwise Verdict) Verdict {
	if good {
		return Good
	}
	return otherwise
}

func (d *doctor) kernel() {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		d.say("kernel", Bad, "", "%v", err)
		return
	}
	release := unix.ByteSliceToString(name.Release[:])
	d.say("kernel", verdict(isNew(release), Bad), "install Linux 6.18 or later", "Linux %s", release)
	_, err := btf.LoadKernelSpec()
	d.say("types", verdict(err == nil, Bad), "use a kernel with CONFIG_DEBUG_INFO_BTF=y", "%s",
		either(err, "the kernel describes its types (BTF)"))
}

// isNew reports whether a release has what the programs need.
func isNew(release string) bool {
	major, rest, _ := strings.Cut(release, ".")
	minor := strings.FieldsFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	a, _ := strconv.Atoi(major)
	b := 0
	if len(minor) > 0 {
		b, _ = strconv.Atoi(minor[0])
	}
	return a > 6 || a == 6 && b >= 18
}

func either(err error, text string) string {
	if err != nil {
		return err.Error()
	}
	return text
}

func (d *doctor) capabilities() {
	text, err := os.ReadFile("/proc/thread-self/status")
	if err != nil {
		d.say("capabilities", Bad, "", "%v", err)
		return
	}
	_, rest, _ := strings.Cut(string(text), "CapEff:")
	line, _, _ := strings.Cut(strings.TrimSpace(rest), "\n")
	have, _ := strconv.ParseUint(line, 16, 64)
	var missing []string
	for _, c := range []struct {
		bit  int
		name string
	}{{unix.CAP_NET_ADMIN, "CAP_NET_ADMIN"}, {unix.CAP_PERFMON, "CAP_PERFMON"}, {unix.CAP_BPF, "CAP_BPF"}} {
		if have>>c.bit&1 == 0 {
			missing = append(missing, c.name)
		}
	}
	found := "CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON"
	if len(missing) > 0 {
		found = "without " + strings.Join(missing, ", ")
	}
	d.say("capabilities", verdict(len(missing) == 0, Bad), "run it as root, or with these capabilities", "%s", found)
}

// programs loads the programs.
func (d *doctor) programs() {
	p, err := bpf.Load(bpf.Config{NodeID: 1, Mode: watch.ModeMD, Slots: 1})
	if err == nil {
		err = p.Close()
	}
	d.say("programs", verdict(err == nil, Bad), "see kernel, types and capabilities above", "%s",
		either(err, "the kernel takes the programs"))
}

func (d *doctor) clock() {
	source := readLine("/sys/devices/system/clocksource/clocksource0/current_clocksource")
	d.say("clock source", verdict(source != "jiffies" && source != "refined-jiffies", Poor),
		"choose another one in /sys/devices/system/clocksource/clocksource0", "%s", source)
	var t unix.Timex
	state, err := unix.Adjtimex(&t)
	if err != nil {
		d.say("clock", Poor, "", "%v", err)
		return
	}
	worst := time.Duration(t.Maxerror) * time.Microsecond
	if held := state != unix.TIME_ERROR && t.Status&unix.STA_UNSYNC == 0; !held {
		d.say("clock", Poor, "run chronyd, ntpd or ptp4l with phc2sys: without them times of nodes cannot be compared",
			"nobody holds it")
	} else {
		d.say("clock", verdict(worst < 10*time.Millisecond, Poor), "look at the time server, or use PTP",
			"held, off by %s at most; TAI is %d s ahead", worst, t.Tai)
	}
}

func (d *doctor) sysctls() {
	for _, s := range []struct {
		name, want, why string
		v               Verdict
		router          bool
	}{
		{"net.core.bpf_jit_enable", "1", "programs are slow without", Poor, false},
		{"net.ipv4.ip_forward", "1", "without it nothing is forwarded", Poor, true},
		{"net.ipv6.conf.all.forwarding", "1", "without it no IPv6 is forwarded", Poor, true},
	} {
		if s.router && (d.config == nil || len(d.config.Ports) < 2) {
			continue // a host
		}
		got := readLine("/proc/sys/" + strings.ReplaceAll(s.name, ".", "/"))
		if got == "" {
			continue // this kernel has no such thing, or no IPv6
		}
		good := got == s.want || s.name == "net.core.bpf_jit_enable" && got == "2"
		d.say(s.name, verdict(good, s.v), fmt.Sprintf("sysctl -w %s=%s: %s", s.name, s.want, s.why), "%s", got)
	}
}

func readLine(name string) string {
	b, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// native are drivers that run XDP programs themselves.
var native = map[string]bool{
	"veth": true, "virtio_net": true, "tun": true, "bonding": true, "i40e": true, "ice": true, "ixgbe": true,
	"ixgbevf": true, "igb": true, "igc": true, "mlx4_en": true, "mlx5_core": true, "bnxt_en": true, "ena": true,
	"gve": true, "mana": true, "hv_netvsc": true, "vmxnet3": true, "nfp": true, "sfc": true, "qede": true,
	"thunder-nic": true, "fsl_dpaa2_eth": true, "mvneta": true, "mvpp2": true, "stmmac": true, "ti-cpsw-switch": true,
	"xen-netfront": true, "fbnic": true,
}

func (d *doctor) port(p *Port) {
	what := "port " + p.Interface
	i, err := net.InterfaceByName(p.Interface)
	if err != nil {
		d.say(what, Bad, "name an interface that ip link lists", "%v", err)
		return
	}
	up := i.Flags&net.FlagUp != 0
	d.say(what, verdict(up, Poor), "ip link set dev "+p.Interface+" up", "MTU %d, up: %v", i.MTU, up)
	name := driver(p.Interface)
	how := "runs programs itself"
	if !native[name] {
		how = "is not known to run programs itself: the kernel does it, more slowly"
	}
	d.say(what+" XDP", verdict(native[name], Poor),
		"take a card whose driver does", "driver %s %s", name, how)
	if flags, err := ethtool(p.Interface, ethtoolFlags); err == nil {
		lro := flags&flagLRO != 0
		d.say(what+" LRO", verdict(!lro, Bad), "ethtool -K "+p.Interface+" lro off", "on: %v", lro)
		d.say(what+" VLAN", verdict(flags&flagRxVLAN == 0 || !hasVLAN(p.Interface), Poor),
			"ethtool -K "+p.Interface+" rxvlan off: with it packets of VLANs look as if they had none",
			"tags are taken off by the card: %v, VLAN interfaces: %v", flags&flagRxVLAN != 0, hasVLAN(p.Interface))
	}
	d.joined(p)
	d.mode(p)
	if p.Queue != "" {
		ports, _ := filepath.Glob("/sys/class/net/" + p.Queue + "/brif/*")
		alone := len(ports) == 1 && filepath.Base(ports[0]) == p.Interface
		d.say(what+" queue", verdict(alone, Bad), "make a bridge with this interface only", "bridge %s with %d interfaces",
			p.Queue, len(ports))
	}
}

// joined looks whether packets are joined before they come to a port.
func (d *doctor) joined(p *Port) {
	below := joinedBelow(p.Interface)
	if below == "" {
		return
	}
	v := Bad
	if d.config.refuseJoined(p) == nil {
		v = Good
	}
	d.say("port "+p.Interface+" GRO", v, "ethtool -K "+below+" gro off",
		"%s joins packets before they come to it", below)
}

// mode says whether what a port does as a source is right for the packets that come by it.
func (d *doctor) mode(p *Port) {
	what := "port " + p.Interface + " mode"
	clone, why := d.config.sourceMode(p)
	switch name := driver(p.Interface); {
	case !p.Edge && d.config.Local:
		d.say(what, Good, "", "packets of this machine get clones, whatever the card does to them")
	case !p.Edge:
	case d.config.node.Mode == "xd":
		d.say(what, Good, "", "%s", why)
	case clone:
		d.say(what, Good, "", "probe clones, packets stay as they are (%s)", why)
	case virtual[name]:
		do := "ethtool -K DEVICE tx off inside of the container or virtual machine"
		if d.config.cannotClone() == "" {
			do = "leave clone: false out; or " + do
		}
		d.say(what, Poor, do, "INT in packets (%s); those of sockets behind %s that have no checksum yet get none",
			why, name)
	default:
		d.say(what, Good, "", "INT in packets (%s)", why)
	}
}

// hasVLAN reports whether there are VLAN interfaces on top of an interface.
func hasVLAN(name string) bool {
	text, _ := os.ReadFile("/proc/net/vlan/config")
	return strings.Contains(string(text), "| "+name+"\n")
}

// pins looks whether programs can stay, if they shall.
func (d *doctor) pins() {
	if !d.config.Pin {
		return
	}
	dir := pinRoot
	var of unix.Statfs_t
	err := unix.Statfs(dir, &of)
	for ; errors.Is(err, unix.ENOENT) && len(dir) > 1; err = unix.Statfs(dir, &of) { // a node makes what is missing
		dir = filepath.Dir(dir)
	}
	d.say("pin", verdict(err == nil && of.Type == unix.BPF_FS_MAGIC, Bad), "mount -t bpf bpf /sys/fs/bpf",
		"programs that stay: %s", either(err, fmt.Sprintf("%s is in a file system for programs: %v", dir,
			of.Type == unix.BPF_FS_MAGIC)))
}

// room compares the MTU inside of the domain with that of its edges.
func (d *doctor) room() {
	edge, inside := 0, 1<<16
	for _, p := range d.config.Ports {
		i, err := net.InterfaceByName(p.Interface)
		if err != nil {
			return
		}
		if p.Edge {
			edge = max(edge, i.MTU)
		} else {
			inside = min(inside, i.MTU)
		}
	}
	if edge == 0 || inside == 1<<16 || d.config.node.Mode == "xd" || d.config.node.Clone {
		return // nothing is put into packets between two of the ports
	}
	const fixed, record = 16, 32 // of the default instructions
	records := max(0, (inside-edge-fixed)/record)
	d.say("room for INT", verdict(records > 0, Poor), fmt.Sprintf(
		"ip link set dev PORT mtu %d at both ends of links between nodes: room for three", edge+fixed+3*record),
		"MTU %d inside, %d at the edges: the largest packets have room for %d records", inside, edge, records)
}

// Of linux/ethtool.h.
const (
	ethtoolFlags = 0x25
	ethtoolGRO   = 0x2b
	flagLRO      = 1 << 15
	flagRxVLAN   = 1 << 8
)

var errName = errors.New("the name of an interface is too long")

// driver returns the name of the driver of an interface.
func driver(name string) string {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return "unknown"
	}
	defer unix.Close(fd)
	info, err := unix.IoctlGetEthtoolDrvinfo(fd, name)
	if err != nil {
		return "unknown"
	}
	return unix.ByteSliceToString(info.Driver[:])
}

// ethtool returns a value that a driver says of an interface.
func ethtool(name string, command uint32) (uint32, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	value := struct{ command, data uint32 }{command, 0}
	var request struct {
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [16]byte
	}
	if len(name) >= len(request.name) {
		return 0, errName
	}
	copy(request.name[:], name)
	request.data = unsafe.Pointer(&value)
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL,
		uintptr(unsafe.Pointer(&request))); errno != 0 {
		return 0, errno
	}
	return value.data, nil
}
