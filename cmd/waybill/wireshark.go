package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/wireshark"
)

func newWiresharkCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "wireshark",
		Short: "let Wireshark show telemetry reports and INT",
		Long: `Wireshark and tshark show reports and INT with a dissector in Lua, which is part of this program. It has the fields that
"waybill decode" has, under names that begin with "int.".`,
		Example: `  # put it where Wireshark looks for it
  waybill wireshark install

  # then: reports of drops, and packets that waited long at node 2
  tshark -r reports.pcap -Y int.report.d==1
  tshark -r reports.pcap -Y "int.hop.node_id == 2 && int.hop.hop_latency > 1000"`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newWiresharkInstallCommand())
	return cmd
}

func newWiresharkInstallCommand() *cobra.Command {
	var dir string
	var toOutput, force bool
	cmd := &cobra.Command{
		Use:   "install",
		Short: "put the dissector where Wireshark looks for it",
		Long: `Install writes waybill.lua into your folder of Lua plugins: the one that "tshark -G folders" names, or Wireshark's default
where there is no tshark yet. A file of that name which is not of Waybill stays as it is.`,
		Example: `  # for Wireshark of this user
  waybill wireshark install

  # for all users of this machine
  sudo waybill wireshark install --dir /usr/lib/x86_64-linux-gnu/wireshark/plugins

  # for another machine
  waybill wireshark install --print > waybill.lua`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if toOutput {
				_, err := cmd.OutOrStdout().Write(wireshark.Script)
				return command.Quiet(err)
			}
			return installDissector(cmd, dir, force)
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "folder to write to, instead of your folder of Lua plugins")
	cmd.Flags().BoolVar(&toOutput, "print", false, "print the dissector instead")
	cmd.Flags().BoolVar(&force, "force", false, "replace a file of that name that is not of Waybill")
	return cmd
}

func installDissector(cmd *cobra.Command, dir string, force bool) error {
	if dir == "" {
		var err error
		if dir, err = wireshark.PluginFolder(); err != nil {
			return err
		}
	}
	file := filepath.Join(dir, wireshark.FileName)
	old, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case bytes.Equal(old, wireshark.Script):
		_, err := fmt.Fprintln(cmd.OutOrStdout(), file, "is this version already")
		return command.Quiet(err)
	case !wireshark.IsOurs(old) && !force:
		return fmt.Errorf("%s is not of Waybill; --force replaces it, --dir writes to another folder", file)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(file, wireshark.Script, 0o644); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), `wrote %s
Start Wireshark again, or press Ctrl-Shift-L in it. Then:
  reports to UDP ports 556, 5900, 6000, 8090, 8555, 32766 and 54321 are shown; other ports, and the dialect of the senders:
    Edit > Preferences > Protocols > INT
  tshark: tshark -r reports.pcap -Y int.report -V
`, file)
	return command.Quiet(err)
}
