package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/internal/conf"
	"github.com/waybill-int/waybill/policy"
)

func newPolicyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "check files that say which nodes and paths are expected",
		Long: `Policy is about files that say which nodes there are and on which paths packets may go. waybill serve --policy compares the
paths that it sees with one.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("unknown command %q; there is check", args[0])}
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
				return usageError{errors.New("want one policy file")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := readPolicy(args[0])
			if lines := strings.Split(fmt.Sprint(err), "\n"); err != nil && len(lines) > 1 {
				for _, line := range lines { // execute prints one line only
					fmt.Fprintln(cmd.ErrOrStderr(), line)
				}
				return fmt.Errorf("%s: %d mistakes", args[0], len(lines))
			}
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "the policy is valid: %d nodes, %d rules\n", p.Nodes(), p.Rules())
			return nil
		},
	})
	return cmd
}

// readPolicy reads a policy file; an error has a line for each thing that is wrong, with its place in the file.
func readPolicy(name string) (*policy.Policy, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	p, err := policy.Load(text)
	if err != nil {
		return nil, conf.InFile(name, err)
	}
	return p, nil
}

// nodeNames returns the names of nodes: those of the configuration, and of the policy where that has none.
func (c *serveConfig) nodeNames() map[uint32]string {
	names := maps.Clone(c.Names)
	if c.policy == nil {
		return names
	}
	for id, name := range c.policy.Names() {
		if names[id] == "" {
			names[id] = name
		}
	}
	return names
}
