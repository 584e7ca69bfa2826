package cli

import (
	"testing"
	"time"

	"github.com/spf13/pflag"
)

func TestDurationsHaveDays(t *testing.T) {
	var got time.Duration
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	DurationVar(f, &got, "for", 0, "")
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
}
