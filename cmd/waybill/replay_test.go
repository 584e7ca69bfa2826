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

	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/internal/test"
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
		arrived, _, _, code := replayTo(t, append([]string{capture("fabric_tna_xd_drop"), "--rate", "max", "--loop", "2", "-q"}, args...)...)
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
			t.Errorf("replay %v: got code %d and %q; want code %d, one line with %q", c.args, code, errs, c.code, c.want)
		}
	}
}
