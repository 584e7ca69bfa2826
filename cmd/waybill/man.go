package main

import (
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/waybill-int/waybill/internal/command"
)

// newManCommand writes the man pages, for packages. Their date is that of SOURCE_DATE_EPOCH.
func newManCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "man DIR",
		Short:   "write a man page of each command into a directory",
		Example: "  waybill man /usr/local/share/man/man1",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return command.Usage(err)
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true
			return doc.GenManTree(root, &doc.GenManHeader{Source: "Waybill " + version, Manual: "Waybill"}, args[0])
		},
	}
}
