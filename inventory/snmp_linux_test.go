package inventory

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gosnmp/gosnmp"
	"golang.org/x/sys/unix"

	"github.com/waybill-int/waybill/telemetry"
)

// TestSNMP asks two machines that net-snmp's snmpd and lldpd speak for, with both versions and both ways to number
// ports: Ethernet6 of leaf1 is plugged into Ethernet1 of spine1.
func TestSNMP(t *testing.T) {
	m := newMachines(t)
	m.run("ip link add Ethernet6 netns %s type veth peer name Ethernet1 netns %s", m.names[0], m.names[1])
	m.run("ip -n %s link set Ethernet6 up", m.names[0])
	m.run("ip -n %s link set Ethernet1 up", m.names[1])
	m.run("ip link add Ethernet7 netns %s type veth peer name Ethernet2 netns %s", m.names[0], m.names[1]) // down
	indexOf := func(machine int, port string) uint32 {
		text := m.run("ip -n %s -o link show %s", m.names[machine], port)
		index, _, _ := strings.Cut(text, ":")
		n, err := strconv.ParseUint(index, 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		return uint32(n)
	}
	m.start(0, "leaf1")
	m.start(1, "spine1")
	secret := func(name, text string) string {
		name = filepath.Join(m.dir, name)
		if err := os.WriteFile(name, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	v2 := "community_file: " + secret("community", "secret")
	v3 := "user: waybill, auth: sha256, auth_password_file: " + secret("auth", "long enough") +
		", privacy: aes, privacy_password_file: " + secret("privacy", "quite so long")
	text := fmt.Sprintf("nodes:\n  1: {ports: {6: {speed: 40G}}}\n"+
		"snmp:\n- {%s, ports: name, devices: {1: 127.0.0.1}}\n"+
		"- {%s, devices: {5: 127.0.0.1:1161}}\n", v2, v3)
	c, err := Parse("i.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	m.in(0, func() { m.describe(indexOf(0, "Ethernet6"), "to the spine") })
	read := func(machine int) (known *Known) {
		m.in(machine, func() {
			for end := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Millisecond) {
				if known, err = c.Sources[machine].Read(ctx); err == nil && len(known.Neighbours) == 1 {
					return
				}
				if time.Now().After(end) {
					t.Errorf("%v: %v, %+v", c.Sources[machine], err, known)
					return
				}
			}
		})
		return known
	}
	answers := []Answer{{File, c.file}, {SNMP, read(0)}, {SNMP, read(1)}}
	if t.Failed() {
		return
	}
	v := Merge(answers)
	leaf, spine := v.Nodes[1], v.Nodes[5]
	ethernet1 := indexOf(1, "Ethernet1")
	if leaf.Name != "leaf1" || leaf.From.Name != SNMP || spine.Name != "spine1" || !leaf.Neighbours ||
		!spine.Neighbours {
		t.Errorf("got %+v, %+v", leaf, spine)
	}
	// A veth has 10 Gbit/s; the speed of the file wins.
	want := telemetry.InventoryPort{
		Name: "Ethernet6", Description: "to the spine", Speed: 40e9,
		From: telemetry.PortOrigins{Name: SNMP, Description: SNMP, Speed: File},
	}
	if leaf.Ports[6] != want || leaf.Ports[7].Name != "Ethernet7" || len(leaf.Ports) != 2 {
		t.Errorf("got %+v, want %+v at 6", leaf.Ports, want)
	}
	p := spine.Ports[ethernet1]
	if p.Name != "Ethernet1" || p.Speed != 10e9 || p.From.Speed != SNMP || len(spine.Ports) != 2 {
		t.Errorf("got %+v", spine.Ports)
	}
	five := uint32(5)
	cable := telemetry.InventoryCable{
		Node: 1, Port: 6, ToNode: &five, ToPort: &ethernet1, ToSystem: "spine1", ToPortName: "Ethernet1",
		BothEnds: true, From: SNMP,
	}
	if !reflect.DeepEqual(v.Cables, []telemetry.InventoryCable{cable}) {
		t.Errorf("got %+v, want %+v", v.Cables, cable)
	}
	// Without its password it says nothing, and the reason does not have it.
	secret("auth", "another one")
	m.in(1, func() {
		if known, err := c.Sources[1].Read(ctx); err == nil || strings.Contains(err.Error(), "another one") {
			t.Errorf("got %v, %v", known, err)
		}
	})
}

// machines are two network namespaces, and programs in them.
type machines struct {
	t     *testing.T
	dir   string
	names [2]string
}

func newMachines(t *testing.T) *machines {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("not run: network namespaces are for root. Run: sudo make test")
	}
	for _, tool := range []string{"ip", "snmpd", "lldpd"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("not run: no %s. Run: sudo scripts/setup test", tool)
		}
	}
	dir, err := os.MkdirTemp("", "waybill-snmp-") // short: paths of sockets are
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil { // lldpd asks as a user of its own
		t.Fatal(err)
	}
	m := &machines{t: t, dir: dir}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for i := range m.names {
		m.names[i] = fmt.Sprintf("snmp%d-%d", i, os.Getpid())
		m.run("ip netns add %s", m.names[i])
		t.Cleanup(func() { m.run("ip netns del %s", m.names[i]) })
		m.run("ip -n %s link set lo up", m.names[i])
	}
	return m
}

func (m *machines) run(format string, args ...any) string {
	m.t.Helper()
	line := fmt.Sprintf(format, args...)
	out, err := exec.Command("sh", "-c", line).CombinedOutput()
	if err != nil {
		m.t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}

// start starts snmpd and lldpd of a machine, which end with the test.
func (m *machines) start(machine int, name string) {
	m.t.Helper()
	at := func(file string) string { return filepath.Join(m.dir, strconv.Itoa(machine)+file) }
	config := fmt.Sprintf(`agentaddress udp:127.0.0.1:161,udp:127.0.0.1:1161
rwcommunity secret
createUser waybill SHA-256 "long enough" AES "quite so long"
rouser waybill authpriv
dontLogTCPWrappersConnects yes
sysName %s
master agentx
agentXSocket %s
`, name, at("x"))
	if err := os.WriteFile(at(".conf"), []byte(config), 0o600); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(at(".interval"), []byte("configure lldp tx-interval 1\n"), 0o644); err != nil {
		m.t.Fatal(err)
	}
	m.background(at(".log"), "ip", "netns", "exec", m.names[machine], "env", "MIBS=",
		"SNMP_PERSISTENT_DIR="+at("persist"), "snmpd", "-f", "-Lo", "-C", "-c", at(".conf"))
	m.wait(at("x"))
	m.background(at(".lldpd"), "ip", "netns", "exec", m.names[machine], "unshare", "--uts", "sh", "-c", fmt.Sprintf(
		"hostname %s; exec lldpd -d -x -X %s -u %s -O %s -I 'Ethernet*' -C 'Ethernet*'", name, at("x"), at("l"),
		at(".interval")))
}

// describe writes what people say of a port, which is in no file of snmpd.
func (m *machines) describe(index uint32, text string) {
	session := &gosnmp.GoSNMP{
		Target: "127.0.0.1", Port: 161, Community: "secret", Version: gosnmp.Version2c, Timeout: 2 * time.Second,
		Retries: 20,
	}
	if err := session.Connect(); err != nil {
		m.t.Error(err)
		return
	}
	defer session.Close()
	answer, err := session.Set([]gosnmp.SnmpPDU{
		{Name: fmt.Sprint(ifAlias, ".", index), Type: gosnmp.OctetString, Value: text},
	})
	if err != nil || answer.Error != gosnmp.NoError {
		m.t.Errorf("%v, %v", err, answer)
	}
}

func (m *machines) wait(socket string) {
	m.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(socket); err == nil {
			return
		}
		if time.Now().After(end) {
			m.t.Fatalf("no %s", socket)
		}
	}
}

// background runs a program until the end of the test.
func (m *machines) background(log string, command ...string) {
	m.t.Helper()
	out, err := os.Create(log)
	if err != nil {
		m.t.Fatal(err)
	}
	c := exec.CommandContext(context.Background(), command[0], command[1:]...)
	c.Stdout, c.Stderr = out, out
	if err := c.Start(); err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() {
		if err := c.Process.Signal(unix.SIGTERM); err != nil {
			m.t.Errorf("%s ended by itself", strings.Join(command, " "))
		}
		_ = c.Wait()
		out.Close()
		if text, _ := os.ReadFile(log); m.t.Failed() {
			m.t.Logf("%s:\n%s", command[0], text)
		}
	})
}

// in calls f in the namespace of a machine.
func (m *machines) in(machine int, f func()) {
	m.t.Helper()
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // the thread ends with this goroutine
		file, err := os.Open("/run/netns/" + m.names[machine])
		if err == nil {
			defer file.Close()
			if err = unix.Setns(int(file.Fd()), unix.CLONE_NEWNET); err == nil {
				f()
			}
		}
		done <- err
	}()
	if err := <-done; err != nil {
		m.t.Fatal(err)
	}
}
