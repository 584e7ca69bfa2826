package main

import (
	"testing"

	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/internal/test"
)

// runWaybill runs the program in this process, in a UTF-8 locale.
func runWaybill(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	t.Setenv("LC_ALL", "C.UTF-8")
	return test.RunCommand(t, t.Context(), newRootCommand(), command.Execute, args...)
}
