package mitigate

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/waybill-int/waybill/telemetry"
)

// A line that a crash cut off is lost, and not those behind it.
func TestAuditGoesOnBehindTornLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), AuditFile)
	const kept = `{"attack":"a","action":"mitigate"}` + "\n"
	for name, content := range map[string]string{
		"torn": kept + `{"attack":"a","act`, "whole": kept, "empty": "",
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		a, err := OpenAudit(path)
		if err != nil {
			t.Fatal(err)
		}
		before := len(a.Of("a"))
		for range 2 {
			if err := a.Add(telemetry.MitigationAction{Attack: "a", Action: "release"}); err != nil {
				t.Fatal(err)
			}
		}
		if a, err = OpenAudit(path); err != nil {
			t.Fatal(err)
		}
		if got := len(a.Of("a")); got != before+2 {
			t.Errorf("%s: %d actions were kept, want %d", name, got, before+2)
		}
	}
}

// The trail takes no more room than two files have, the older of which is read again, too.
func TestAuditIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), AuditFile)
	a, err := OpenAudit(path)
	if err != nil {
		t.Fatal(err)
	}
	a.most = 1000
	for range 100 {
		if err := a.Add(telemetry.MitigationAction{Attack: "a", Action: "release"}); err != nil {
			t.Fatal(err)
		}
	}
	files, _ := filepath.Glob(path + "*")
	lines := 0
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil || len(content) > 1200 {
			t.Errorf("%s has %d bytes (%v)", file, len(content), err)
		}
		lines += bytes.Count(content, []byte("\n"))
	}
	if a, err = OpenAudit(path); err != nil {
		t.Fatal(err)
	}
	if got := len(a.Of("a")); len(files) != 2 || got != lines || got < 10 {
		t.Errorf("%d files with %d lines, of which %d are told", len(files), lines, got)
	}
}
