package main

import (
	"bufio"
	"bytes"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/test"
)

// A reader that goes away ends a command that has more to say, and is no error.
func TestReaderGoesAway(t *testing.T) {
	if test.RaceDetector {
		t.Skip("nothing here runs side by side")
	}
	for _, args := range []string{
		"fabric steady --duration 2s --truth - -q",
		"fabric steady --duration 2s --pcap - -q",
	} {
		cmd := runSelf(strings.Fields(args)...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := bufio.NewReaderSize(stdout, 16).ReadByte(); err != nil {
			t.Errorf("%s: %v", args, err)
		}
		stdout.Close()
		if err := cmd.Wait(); err != nil || stderr.Len() > 0 {
			t.Errorf("%s: %v, %s", args, err, &stderr)
		}
	}
}
