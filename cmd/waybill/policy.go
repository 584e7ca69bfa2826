package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/serve"
)

func newPolicyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "check files that say which nodes and paths are expected",
		Long: `Policy is about files that say which nodes there are and on which paths packets may go. waybill serve --policy compares the
paths that it sees with one.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return command.Usage(fmt.Errorf("unknown command %q; there is check", args[0]))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{
		Use:     "check FILE",
		Short:   "say whether a policy file is valid, and what is wrong with it",
		Example: `  waybill policy check policy.yaml`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return command.Usage(errors.New("want one policy file"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := serve.ReadPolicy(args[0])
			if err != nil {
				return command.Invalid(cmd.ErrOrStderr(), args[0], err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "the policy is valid: %d nodes, %d rules\n", p.Nodes(), p.Rules())
			return nil
		},
	})
	return cmd
}
