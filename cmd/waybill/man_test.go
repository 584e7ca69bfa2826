package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Each command that help lists has a man page, the same one each time, with the date that is asked for.
func TestMan(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	dirs := []string{filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "other")}
	for _, dir := range dirs {
		if _, errs, code := runWaybill(t, "man", dir); code != 0 {
			t.Fatal(errs)
		}
	}
	var want func(c *cobra.Command, name string)
	want = func(c *cobra.Command, name string) {
		text, err := os.ReadFile(filepath.Join(dirs[0], name+".1"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), `"Nov 2023"`) || !strings.Contains(string(text), "SYNOPSIS") {
			t.Errorf("%s: %.300s", name, text)
		}
		if again, _ := os.ReadFile(filepath.Join(dirs[1], name+".1")); string(again) != string(text) {
			t.Errorf("%s differs from time to time", name)
		}
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() && !sub.Hidden {
				want(sub, name+"-"+sub.Name())
			}
		}
	}
	want(newRootCommand(), "waybill")
}
