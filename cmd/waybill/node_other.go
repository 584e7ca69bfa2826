//go:build !linux

package main

import (
	"errors"

	"github.com/spf13/cobra"
)

func newNodeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "node --config FILE",
		Short: "make a Linux machine an INT node",
		RunE:  func(*cobra.Command, []string) error { return errors.New("a node needs Linux") },
	}
}

func newLabCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "lab SCENARIO",
		Short: "run a scenario on real kernels: network namespaces of this machine",
		RunE:  func(*cobra.Command, []string) error { return errors.New("a lab needs Linux") },
	}
}
