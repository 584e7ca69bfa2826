package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
		if code := execute(root); code != exitFailed || !strings.Contains(errs.String(), "no space left") || strings.Count(errs.String(), "\n") != 1 {
			t.Errorf("%v: code %d, %q", args, code, errs.String())
		}
	}
}

// A reader that went away, such as head, is no error, whatever is asked.
func TestClosedPipe(t *testing.T) {
	s := cannedServer(t, map[string]string{"flows": tracedFlows, "links": tracedLinks})
	_, kept := keptFlows(t, time.Now().UTC().Truncate(time.Hour))
	commands := [][]string{
		{"trace", "10.0.0.1", "10.0.0.2", "--server", s.URL},
		{"path", "10.0.0.1", "10.0.0.2", "--server", s.URL},
		{"drops", "--follow", "--server", s.URL},
		{"export", "flows_10s", "--server", kept},
		{"export", "flows_10s", "-o", "ndjson", "--server", kept},
		{"query", "SELECT * FROM flows_10s", "--server", kept},
		{"config", "--dump"},
		{"--help"},
	}
	for _, name := range queryCommands {
		for _, output := range outputs {
			commands = append(commands, []string{name, "-o", output, "--server", s.URL})
		}
	}
	for _, args := range commands {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		root := newRootCommand()
		var errs bytes.Buffer
		root.SetArgs(args)
		root.SetOut(w)
		root.SetErr(&errs)
		root.SetContext(t.Context())
		if code := execute(root); code != 0 || strings.Contains(errs.String(), "pipe") {
			t.Errorf("%v: code %d, %q", args, code, errs.String())
		}
		w.Close()
	}
}
