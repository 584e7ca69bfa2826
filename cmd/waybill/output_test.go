package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/internal/test"
)

// A full disk is one clear line and a failure, whatever the command.
func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("no /dev/full: %v", err)
	}
	defer full.Close()
	reports := filepath.Join(test.Root(), "testdata/captures/tps_v21_udp6_reports.pcap")
	for _, args := range [][]string{
		{"decode", reports},
		{"decode", reports, "-o", "json"},
		{"decode", reports, "--stats"},
		{"decode", reports, "-e", "flow.src"},
		{"decode", "--list-dialects"},
		{"decode", "--hex", "20", "--start", "telemetry_report"},
		{"serve", "--dump"},
		{"serve", "--check"},
		{"serve", "--help"},
		{"--version"},
	} {
		root := newRootCommand()
		var errs bytes.Buffer
		root.SetArgs(args)
		root.SetOut(full)
		root.SetErr(&errs)
		if code := command.Execute(root); code != command.ExitFailed ||
			!strings.Contains(errs.String(), "no space left") || strings.Count(errs.String(), "\n") != 1 {
			t.Errorf("%v: code %d, %q", args, code, errs.String())
		}
	}
}
