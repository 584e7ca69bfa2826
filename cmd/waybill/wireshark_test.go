package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/wireshark"
)

func TestWiresharkInstall(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "wireshark", "plugins")
	file := filepath.Join(dir, wireshark.FileName)
	install := func(want int, says string, flags ...string) {
		t.Helper()
		stdout, stderr, code := runWaybill(t, append([]string{"wireshark", "install", "--dir", dir}, flags...)...)
		if code != want || !strings.Contains(stdout+stderr, says) {
			t.Errorf("code %d, want %d; %q is not in\n%s%s", code, want, says, stdout, stderr)
		}
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	is := func(want []byte) {
		t.Helper()
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%v, %.60q", err, got)
		}
	}
	install(0, "wrote "+file)
	is(wireshark.Script)
	install(0, "is this version already")
	write("-- a dissector of somebody else\n")
	install(command.ExitFailed, "is not of Waybill; --force")
	is([]byte("-- a dissector of somebody else\n"))
	install(0, "wrote", "--force")
	is(wireshark.Script)
	write("-- Waybill's dissector of an older version\n")
	install(0, "wrote")
	is(wireshark.Script)

	stdout, _, code := runWaybill(t, "wireshark", "install", "--print")
	if code != 0 || stdout != string(wireshark.Script) {
		t.Errorf("--print: code %d, %d bytes", code, len(stdout))
	}
}

// Where the command writes to without --dir, tshark finds it: it knows the fields of the dissector then.
func TestWiresharkFinds(t *testing.T) {
	tshark, err := exec.LookPath("tshark")
	if err != nil {
		t.Skip("tshark is not installed")
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
	stdout, stderr, code := runWaybill(t, "wireshark", "install")
	if code != 0 || !strings.Contains(stdout, "wrote "+home) {
		t.Fatalf("code %d, %s%s", code, stdout, stderr)
	}
	out, err := exec.Command(tshark, "-r", "../../testdata/captures/tps_v21_udp_reports.pcap", "-c", "1", "-o",
		"int.dialect:tps", "-T", "fields", "-e", "int.report.node_id", "-e", "int.hop.node_id").Output()
	want, _, code := runWaybill(t, "decode", "--count", "1", "--dialect", "tps", "-T", "fields", "-e", "report.node",
		"-e", "hop.node", "../../testdata/captures/tps_v21_udp_reports.pcap")
	if err != nil || code != 0 || string(out) != want || len(strings.Fields(want)) != 2 {
		t.Errorf("tshark: %q, %v; waybill: %q", out, err, want)
	}
}
