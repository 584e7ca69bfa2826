package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/waybill-int/waybill/cli"
	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/serve"
)

func newConfigCommand() *cobra.Command {
	var file string
	var check, dump bool
	cmd := &cobra.Command{
		Use:   "config",
		Short: "check or print the configuration of waybill serve",
		Long: `Config reads the configuration of waybill serve as serve does, without flags: --config FILE, then WAYBILL_* variables. It says
what is wrong with it, or prints what serve would run with, defaults and all. It opens no socket and starts nothing.`,
		Example: `  waybill config --check --config /etc/waybill/waybill.yaml
  waybill config --dump > waybill.yaml
  WAYBILL_MEMORY=2GiB waybill config --dump --config waybill.yaml`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !check && !dump {
				return command.Usage(errors.New("want --check or --dump"))
			}
			c, err := loadServeConfig(cmd, file, new(serve.Config), new(pointFlags))
			if err != nil {
				return command.Usage(err)
			}
			return show(c, cmd.OutOrStdout(), cmd.ErrOrStderr(), dump)
		},
	}
	f := cmd.Flags()
	cli.ConfigVar(f, &file, "configuration `FILE`, YAML")
	f.BoolVar(&check, "check", false, "say whether the configuration is valid")
	f.BoolVar(&dump, "dump", false, "print the configuration")
	return cmd
}

// show prints a configuration that is valid, or that it is and which variables it does not have.
func show(c *serve.Config, w, stderr io.Writer, dump bool) error {
	if others := serve.OtherVariables(os.Environ()); len(others) > 0 && !dump {
		fmt.Fprintf(stderr, "the configuration does not have %s\n", strings.Join(others, ", "))
	}
	text := "the configuration is valid\n"
	if dump {
		var err error
		if text, err = c.Dump(); err != nil {
			return err
		}
	}
	_, err := fmt.Fprint(w, text)
	return command.Quiet(err)
}
