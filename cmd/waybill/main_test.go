package main

import (
	"testing"
	"time"

	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/internal/test"
)

// Texts have the time of day. The zone is set before any test, as goroutines of servers look at it.
//
// The embedded server of NATS has a goroutine from its own init on, which reads a file once a second and with it, for
// nothing, time.Local: the race detector is not told of this one write, before which no test has begun.
//
//go:norace
func init() { time.Local = time.UTC }

// runWaybill runs the program in this process, in a UTF-8 locale.
func runWaybill(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	t.Setenv("LC_ALL", "C.UTF-8")
	return test.RunCommand(t, t.Context(), newRootCommand(), command.Execute, args...)
}
