package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/collect"
	"github.com/waybill-int/waybill/internal/test"
)

// framesOf are the bytes and times of the packets of a capture.
func framesOf(t *testing.T, file string) (list []string) {
	t.Helper()
	c, err := collect.OpenCapture(file)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for {
		p, err := c.Next()
		if err != nil {
			return list
		}
		list = append(list, p.Time.UTC().String()+" "+string(p.Data))
	}
}

// What is written has the packets as they were, and each has what is in it as a comment that tshark shows.
func TestDecodeWrite(t *testing.T) {
	source := filepath.Join(test.Root(), "testdata/captures/tps_v21_udp6_reports.pcap")
	file := filepath.Join(t.TempDir(), "explained.pcapng")
	if _, stderr, code := runDecode("--write", file, source); code != 0 {
		t.Fatalf("code %d, %s", code, stderr)
	}
	before, after := framesOf(t, source), framesOf(t, file)
	if len(before) == 0 || !slices.Equal(before, after) {
		t.Errorf("wrote %d packets, which differ from the %d that were read", len(after), len(before))
	}
	stdout, _, code := runDecode("-w", "-", "-c", "1", source)
	if code != 0 || !strings.HasPrefix(stdout, "\x0a\x0d\x0d\x0a") {
		t.Errorf("code %d, wrote %.8q", code, stdout)
	}
	copied := filepath.Join(t.TempDir(), "same.pcap")
	text, _ := os.ReadFile(source)
	if err := os.WriteFile(copied, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"-w", copied, copied}, {"-w", file, "--stats", source}, {"-w", file, "--hex", "20"},
	} {
		if _, _, code := runDecode(args...); code != 2 {
			t.Errorf("%v: code %d", args, code)
		}
	}
	if now, _ := os.ReadFile(copied); !bytes.Equal(now, text) {
		t.Error("what was read was overwritten")
	}

	program, err := exec.LookPath("tshark")
	if err != nil {
		t.Skip("tshark is not installed")
	}
	shown, err := exec.Command(
		program, "-r", file, "-T", "fields", "-e", "frame.number", "-e", "frame.comment").Output()
	if err != nil {
		t.Fatal(err)
	}
	tree, _, _ := runDecode("-e", "frame.number", "-e", "report.node", "-e", "hop.node", source)
	lines := strings.Split(strings.TrimSpace(string(shown)), "\n")
	if len(strings.Split(strings.TrimSpace(tree), "\n")) != len(before) {
		t.Fatalf("got %s", tree)
	}
	comments := 0
	for _, line := range lines {
		if strings.Contains(line, "telemetry_report") || strings.Contains(line, "Telemetry Report") {
			comments++
		}
	}
	if comments != len(before) {
		t.Errorf("tshark shows %d comments about a report of %d:\n%.1000s", comments, len(before), shown)
	}
}
