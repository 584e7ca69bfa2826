package main

import (
	"strings"
	"testing"
)

// The command that --dialect auto prints reads the file without an error, and needs no hint of its own.
func TestDecodeAuto(t *testing.T) {
	for _, c := range []struct{ capture, flags, says string }{
		{"onos_v10_tcp_reports", "--dialect onos-int10-ver0", "hops"},
		{"geant_v10_2021_udp_reports", "--dialect geant-int10-2021", "hops"},
		{"fabric_tna_xd_drop_reports", "--dialect fabric-tna-bmv2", "80 of 80 drop reasons have a name"},
		{"tps_v21_udp_reports", "--dialect tps", "cannot be told apart from: tps-delta"},
	} {
		file := captures + c.capture + ".pcap"
		stdout, stderr, code := runDecode("--dialect", "auto", file)
		command := "\n  waybill decode " + c.flags + " " + file + "\n"
		if code != 0 || stderr != "" || !strings.HasSuffix(stdout, command) || !strings.Contains(stdout, c.says) &&
			c.capture[0] != 'f' {
			t.Errorf("%s: code %d, %s%s", c.capture, code, stdout, stderr)
		}
		// Without it there is one line that says the same.
		_, stderr, code = runDecode("--stats", file)
		if code != 0 || strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "hint: ") ||
			!strings.HasSuffix(stderr, "waybill decode "+c.flags+" "+file+"\n") {
			t.Errorf("%s: hint %q", c.capture, stderr)
		}
		_, stderr, code = runDecode(append([]string{"--stats", file}, strings.Fields(c.flags)...)...)
		if code != 0 || stderr != "" {
			t.Errorf("%s with %s: code %d, %s", c.capture, c.flags, code, stderr)
		}
	}
	for capture, says := range map[string]string{
		"ioam_full_recv": "no dialect is needed\n", "onos_v10_udp_h1": "no dialect finds telemetry in it",
	} {
		file := captures + capture + ".pcap"
		stdout, _, code := runDecode("--dialect", "auto", file)
		if code != 0 || !strings.Contains(stdout, says) {
			t.Errorf("%s: code %d, %s", capture, code, stdout)
		}
		if _, stderr, _ := runDecode("--stats", file); stderr != "" {
			t.Errorf("%s: hint %q", capture, stderr)
		}
	}
	if _, stderr, code := runDecode("--dialect", "auto", "--dialect", "tps",
		captures+"tps_v21_udp_reports.pcap"); code != 2 || stderr == "" {
		t.Errorf("two dialects: code %d, %q", code, stderr)
	}
}
