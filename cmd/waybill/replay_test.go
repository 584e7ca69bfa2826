package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"github.com/waybill-int/waybill/collect"
	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/packet"
	"github.com/waybill-int/waybill/wire/report"
)

// replayTo runs waybill replay and returns what arrived, its output and exit code.
func replayTo(t *testing.T, args ...string) (arrived [][]byte, out, errs string, code int) {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	root := newRootCommand()
	var outBuffer, errBuffer bytes.Buffer
	root.SetArgs(append([]string{"replay", "--to", conn.LocalAddr().String()}, args...))
	root.SetOut(&outBuffer)
	root.SetErr(&errBuffer)
	code = command.Execute(root)
	conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	for b := make([]byte, 65536); ; {
		n, _, err := conn.ReadFrom(b)
		if err != nil {
			return arrived, outBuffer.String(), errBuffer.String(), code
		}
		arrived = append(arrived, bytes.Clone(b[:n]))
	}
}

func capture(name string) string {
	return filepath.Join(test.Root(), "testdata/captures", name+"_reports.pcap")
}

// What arrives are the payloads of the capture, in order and unchanged.
func TestReplaySendsReports(t *testing.T) {
	arrived, out, _, code := replayTo(t, capture("fabric_tna_xd_drop"), "--rate", "5000")
	var want [][]byte
	for _, frame := range test.Packets(t, "fabric_tna_xd_drop_reports.pcap") {
		d, _ := test.UDP(frame)
		want = append(want, d.Payload)
	}
	if code != 0 || len(arrived) != len(want) {
		t.Fatalf("code %d, got %d datagrams, want %d", code, len(arrived), len(want))
	}
	for i := range want {
		if !bytes.Equal(arrived[i], want[i]) {
			t.Fatalf("datagram %d differs:\n% x\n% x", i, arrived[i], want[i])
		}
	}
	if !regexp.MustCompile(`^sent 80 reports, \d+ bytes, in [\d.]+ s: \d+ reports/s\n$`).MatchString(out) {
		t.Errorf("summary: got %q", out)
	}
}

// Reports are found behind the link layers that captures of one machine have.
func TestReplayLinkTypes(t *testing.T) {
	b, err := os.ReadFile(capture("fabric_tna_xd_drop"))
	if err != nil {
		t.Fatal(err)
	}
	const fileHeader, recordHeader, ethernet = 24, 16, 14
	first := b[fileHeader : fileHeader+recordHeader+int(binary.LittleEndian.Uint32(b[fileHeader+8:]))]
	ip := first[recordHeader+ethernet:]
	want, _ := test.UDP(first[recordHeader:])
	for _, c := range []struct {
		linkType uint32
		header   string
	}{
		{0, "\x02\x00\x00\x00"},   // NULL, of a little-endian machine
		{108, "\x00\x00\x00\x02"}, // LOOP
		{12, ""},
		{101, ""},
		{228, ""}, // raw IP, IPv4
		{113, "\x00\x04\x00\x01\x00\x06\x02\x00\x00\x00\x00\x01\x00\x00\x08\x00"},
		{276, "\x08\x00\x00\x00\x00\x00\x00\x01\x00\x01\x04\x06\x02\x00\x00\x00\x00\x01\x00\x00"},
	} {
		file := bytes.Clone(b[:fileHeader+8])
		binary.LittleEndian.PutUint32(file[20:], c.linkType)
		file = binary.LittleEndian.AppendUint32(file, uint32(len(c.header)+len(ip)))
		file = binary.LittleEndian.AppendUint32(file, uint32(len(c.header)+len(ip)))
		file = append(append(file, c.header...), ip...)
		name := filepath.Join(t.TempDir(), fmt.Sprint(c.linkType))
		if err := os.WriteFile(name, file, 0o600); err != nil {
			t.Fatal(err)
		}
		arrived, _, errs, code := replayTo(t, name)
		if code != 0 || len(arrived) != 1 || !bytes.Equal(arrived[0], want.Payload) {
			t.Errorf("link type %d: got code %d, %d datagrams, %q", c.linkType, code, len(arrived), errs)
		}
	}
}

// Reports are found in the tunnels in which decode finds them.
func TestReplayTunnels(t *testing.T) {
	frame := test.Packets(t, "fabric_tna_xd_drop_reports.pcap")[0]
	want, _ := test.UDP(frame)
	const ethernet = 14
	ip := frame[ethernet:]
	outer := func(protocol uint8, inner []byte) []byte {
		h := packet.IPv4{
			IHL: 5, TTL: 64, Protocol: protocol, TotalLength: uint16(20 + len(inner)),
			Src: [4]byte{192, 0, 2, 1}, Dst: [4]byte{192, 0, 2, 2},
		}
		return append(h.Append(append([]byte(nil), frame[:ethernet]...)), inner...)
	}
	vxlan := append(binary.BigEndian.AppendUint64(nil, 50000<<48|4789<<32|uint64(16+len(frame))<<16), 8, 0, 0, 0, 0, 0,
		7, 0)
	mpls := append(append([]byte(nil), frame[:12]...), 0x88, 0x47, 0, 0, 0x11, 64)
	var file bytes.Buffer
	w := pcapgo.NewWriter(&file)
	if err := w.WriteFileHeader(65535, layers.LinkTypeEthernet); err != nil {
		t.Fatal(err)
	}
	frames := [][]byte{
		outer(4, ip), outer(47, append([]byte{0, 0, 8, 0}, ip...)), outer(17, append(vxlan, frame...)),
		append(mpls, ip...),
	}
	for _, b := range frames {
		if err := w.WritePacket(gopacket.CaptureInfo{CaptureLength: len(b), Length: len(b)}, b); err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join(t.TempDir(), "tunnels.pcap")
	if err := os.WriteFile(name, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	arrived, _, errs, code := replayTo(t, name)
	if code != 0 || len(arrived) != len(frames) {
		t.Fatalf("code %d, got %d datagrams, want %d; %s", code, len(arrived), len(frames), errs)
	}
	for i := range arrived {
		if !bytes.Equal(arrived[i], want.Payload) {
			t.Errorf("datagram %d: got % x, want % x", i, arrived[i], want.Payload)
		}
	}
}

// With the timing of the capture no report leaves before its time, which is that of the capture.
func TestReplayOriginalTiming(t *testing.T) {
	points := codepoint.New()
	points.Compile()
	var in reportsIn
	if err := in.read([]string{capture("geant_v10_2021_udp")}, points); err != nil {
		t.Fatal(err)
	}
	file, err := collect.OpenCapture(capture("geant_v10_2021_udp"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	first, err := file.Next()
	if err != nil {
		t.Fatal(err)
	}
	offsets := in.offsets(10)
	for i, last := 1, first.Time; i < len(offsets); i++ {
		p, err := file.Next()
		if err != nil {
			t.Fatal(err)
		}
		if got, want := offsets[i]-offsets[i-1], p.Time.Sub(last)/10; (got - want).Abs() > time.Microsecond {
			t.Fatalf("report %d: gap %v, want %v", i, got, want)
		}
		last = p.Time
	}
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	times := make(chan time.Time, 100)
	go func() {
		defer close(times)
		for b := make([]byte, 2048); ; {
			if _, _, err := conn.ReadFrom(b); err != nil {
				return
			}
			times <- time.Now()
		}
	}()
	begin := time.Now()
	root := newRootCommand()
	root.SetArgs([]string{
		"replay", "--to", conn.LocalAddr().String(), "--timing", "original", "--speed", "10x", "-q",
		capture("geant_v10_2021_udp"),
	})
	if code := command.Execute(root); code != 0 {
		t.Fatalf("code %d", code)
	}
	for i := range offsets {
		if at := (<-times).Sub(begin); at < offsets[i] {
			t.Errorf("report %d came after %v, before its time %v", i, at, offsets[i])
		}
	}
}

// User packets among the reports are left out and counted.
func TestReplayLeavesOutOtherPackets(t *testing.T) {
	arrived, _, errs, code := replayTo(t, capture("onos_fabric_v04_udp"), "--rate", "max")
	if code != 0 || len(arrived) != 80 || !strings.Contains(errs, "20 of 100 packets") {
		t.Errorf("code %d, %d datagrams, %q", code, len(arrived), errs)
	}
}

// Looping starts the sequence numbers again, unless they are asked to go on.
func TestReplayRenumbers(t *testing.T) {
	sequences := func(args ...string) string {
		arrived, _, _,
			code := replayTo(t,
			append([]string{capture("fabric_tna_xd_drop"), "--rate", "max", "--loop", "2", "-q"}, args...)...)
		if code != 0 || len(arrived) != 160 {
			t.Fatalf("code %d, %d datagrams", code, len(arrived))
		}
		low, high := map[uint32]uint32{}, map[uint32]uint32{}
		for _, b := range arrived {
			var r report.V05
			if _, err := r.Decode(b); err != nil {
				t.Fatal(err)
			}
			node := r.Drop.SwitchID | r.Local.SwitchID
			if n, ok := low[node]; !ok || r.Sequence < n {
				low[node] = r.Sequence
			}
			high[node] = max(high[node], r.Sequence)
		}
		return fmt.Sprint(high[1]-low[1], " ", high[2]-low[2])
	}
	once, twice := sequences(), sequences("--renumber")
	if once != "39 29" && once != "38 28" { // s1 reported 40 times, s2 30
		t.Logf("spans of one loop: %s", once)
	}
	var a1, a2, b1, b2 int
	fmt.Sscan(once, &a1, &a2)
	fmt.Sscan(twice, &b1, &b2)
	if b1 != 2*a1+1 || b2 != 2*a2+1 {
		t.Errorf("one loop spans %s, two loops %s", once, twice)
	}
}

func TestReplayRefuses(t *testing.T) {
	cut := filepath.Join(t.TempDir(), "cut.pcap")
	whole, err := os.ReadFile(capture("fabric_tna_xd_drop"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(cut, whole[:len(whole)-10], 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{nil, 2, "no capture file"},
		{[]string{"/nonexistent.pcap"}, 1, "no such file"},
		{[]string{filepath.Join(test.Root(), "go.mod")}, 1, "not a pcap"},
		{[]string{cut}, 1, "packet 79"},
		{[]string{capture("fabric_tna_xd_drop"), "--rate", "fast"}, 2, "max"},
		{[]string{capture("fabric_tna_xd_drop"), "--rate", "-1"}, 2, "--rate"},
		{[]string{capture("fabric_tna_xd_drop"), "--loop", "-1"}, 2, "--loop"},
		{[]string{capture("fabric_tna_xd_drop"), "--report-port", "99999"}, 2, "--report-port"},
		{[]string{capture("fabric_tna_xd_drop"), "--report-port", "9"}, 1, "no telemetry report"},
		{[]string{capture("fabric_tna_xd_drop"), "--to", "nowhere"}, 1, "nowhere"},
	} {
		_, _, errs, code := replayTo(t, c.args...)
		if code != c.code || !strings.Contains(errs, c.want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("replay %v: got code %d and %q; want code %d, one line with %q", c.args, code, errs, c.code,
				c.want)
		}
	}
}
