package test

import (
	"bytes"
	"context"
	"testing"

	"github.com/spf13/cobra"
)

// RunCommand runs a command line in this process, and returns what it wrote and its exit code.
func RunCommand(t testing.TB, ctx context.Context, root *cobra.Command, execute func(*cobra.Command) int,
	args ...string,
) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	root.SetArgs(args)
	root.SetOut(&out)
	root.SetErr(&errs)
	root.SetContext(ctx)
	code = execute(root)
	return out.String(), errs.String(), code
}
