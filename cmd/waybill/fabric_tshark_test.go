package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/test"
)

// pcapHeader is the length in bytes of the header of a pcap file.
const pcapHeader = 24

// tshark opens the captures of all links, and finds nothing wrong with the outer headers: Ethernet, IP, TCP and UDP.
// What is behind them, it cannot know: INT.
func TestFabricTshark(t *testing.T) {
	if test.RaceDetector {
		t.Skip("nothing here runs side by side")
	}
	program, err := exec.LookPath("tshark")
	if err != nil {
		t.Skip("tshark is not installed")
	}
	scenarios := [][]string{{"steady", "--duration", "200ms"}, {"ddos", "--duration", "3500ms"}}
	for _, args := range test.Part(t, scenarios, 2) {
		t.Run(args[0], func(t *testing.T) {
			dir := t.TempDir()
			mustFabric(t, append(args, "--pcap-links", dir)...)
			links, err := filepath.Glob(filepath.Join(dir, "*.pcap"))
			if err != nil || len(links) < 10 {
				t.Fatalf("%d links, %v", len(links), err)
			}
			var all []byte // one file, for one run of tshark
			for _, link := range links {
				b, err := os.ReadFile(link)
				if err != nil {
					t.Fatal(err)
				}
				if all == nil {
					all = b[:pcapHeader:pcapHeader]
				}
				all = append(all, b[pcapHeader:]...)
			}
			if frames, bad := tsharkBad(t, program, all); frames < 1000 || bad != "" {
				t.Errorf("of %d frames tshark finds wrong:\n%.2000s", frames, bad)
			}
			// It does find what is wrong: the IP header of the first packet.
			const recordHeader, ethernet = 16, 14
			all[pcapHeader+recordHeader+ethernet+6] ^= 1
			if _, bad := tsharkBad(t, program, all); strings.Count(bad, "\n") != 1 {
				t.Errorf("tshark finds other frames wrong than the one that is:\n%.2000s", bad)
			}
		})
	}
}

// tsharkBad returns the number of frames in a capture, and a line for each that is malformed, or has a bad checksum or
// length.
func tsharkBad(t *testing.T, program string, capture []byte) (frames int, bad string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "all.pcap")
	if err := os.WriteFile(file, capture, 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"-r", file, "-d", "udp.port==1-65535,data", "-d", "tcp.port==1-65535,data"}
	for _, protocol := range []string{"ip", "tcp", "udp"} {
		args = append(args, "-o", protocol+".check_checksum:TRUE")
	}
	const wrong = `_ws.malformed || ip.checksum.status == "Bad" || udp.checksum.status == "Bad" || tcp.checksum.status == "Bad" || ` +
		`udp.length.bad || ip.bogus_ip_length || ip.bogus_header_length || tcp.bogus_header_length || ipv6.plen_exceeds_framing`
	args = append(args, "-T", "fields", "-e", "frame.number", "-e", "_ws.col.info", "-e", "_ws.expert.message")
	run := func(filter string) string {
		cmd := exec.Command(program, append(args, "-Y", filter)...)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %s", err, errs.String())
		}
		return string(out)
	}
	return strings.Count(run("ip || ipv6"), "\n"), run(wrong)
}
