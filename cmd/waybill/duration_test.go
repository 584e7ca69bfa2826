package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

func TestDurationsHaveDays(t *testing.T) {
	var got time.Duration
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	durationVar(f, &got, "for", 0, "")
	if err := f.Parse([]string{"--for", "1w2d"}); err != nil || got != 9*24*time.Hour {
		t.Errorf("got %v, %v", got, err)
	}
	if err := f.Parse([]string{"--for", "-1d"}); err == nil {
		t.Error("a duration below 0 is taken")
	}
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	if at, err := timeOrAge("--since", "7d", now, now); err != nil || !at.Equal(now.AddDate(0, 0, -7)) {
		t.Errorf("got %v, %v", at, err)
	}
	if at, err := expiry("2w", now); err != nil || !at.Equal(now.AddDate(0, 0, 14)) {
		t.Errorf("got %v, %v", at, err)
	}
}

func TestKeepForDays(t *testing.T) {
	file := filepath.Join(t.TempDir(), "waybill.yaml")
	os.WriteFile(file, []byte("store:\n  keep_seconds: 7d\n  keep_minutes: 1w2d12h\n  keep_hours: 9600h\n"), 0o600)
	t.Setenv("WAYBILL_STORE", "{keep_hours: 500d}")
	out, errs, code := runQuery(t, "config", "--dump", "--config", file)
	for _, want := range []string{"keep_seconds: 168h0m0s", "keep_minutes: 228h0m0s", "keep_hours: 12000h0m0s"} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("got %s%s, want %s", out, errs, want)
		}
	}
	// What is dumped can be read.
	t.Setenv("WAYBILL_STORE", "")
	os.WriteFile(file, []byte(out), 0o600)
	if again, errs, code := runQuery(t, "config", "--dump", "--config", file); code != 0 || again != out {
		t.Errorf("got %s%s, want %s", again, errs, out)
	}
	tables := "store:\n  tables:\n    hops: {keep_seconds: 1d, max_size: 2GiB}\n"
	os.WriteFile(file, []byte(tables), 0o600)
	if out, errs, code := runQuery(t, "config", "--dump", "--config", file); code != 0 || !strings.Contains(out, "hops:") || !strings.Contains(out, "keep_seconds: 24h0m0s") {
		t.Errorf("got %d %s%s", code, out, errs)
	}
	for text, want := range map[string]string{
		strings.Replace(tables, "hops", "hop", 1): "there is no table hop", strings.Replace(tables, "2GiB", "much", 1): "hops: max_size", strings.Replace(tables, "1d", "9d", 1): "longer than",
	} {
		os.WriteFile(file, []byte("data: /tmp/x\n"+text), 0o600)
		if _, errs, code := runQuery(t, "config", "--check", "--config", file); code != 2 || !strings.Contains(errs, want) {
			t.Errorf("%s: got %d %s, want %s", text, code, errs, want)
		}
	}
	os.WriteFile(file, []byte("store:\n  keep_seconds: 7 years\n"), 0o600)
	if _, errs, code := runQuery(t, "config", "--check", "--config", file); code != 2 || !strings.Contains(errs, "years") {
		t.Errorf("got %d %s", code, errs)
	}
}
