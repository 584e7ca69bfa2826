package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/cli"
	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/node/kernel"
)

func newNodeFilterCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "filter",
		Short: "let a node on this machine drop packets, for a time",
		Long: `Filter lets a running node drop packets as they arrive, before anything else is done with them, until the time of the filter
is over or the node ends. What it drops is told by drop reports. waybill attacks mitigate does this for an attack.`,
	}
	cmd.AddCommand(newNodeFilterAddCommand(), newNodeFilterListCommand(), newNodeFilterRemoveCommand())
	return cmd
}

func newNodeFilterAddCommand() *cobra.Command {
	var c nodeClient
	var f kernel.Filter
	var lasts time.Duration
	cmd := &cobra.Command{
		Use: "add ID", Short: "drop packets that match all that is given",
		Example: "  waybill node filter add flood --device a6:1a:f6:b1:64:01 --target 192.0.2.80/32 --protocol udp --port 53 --for 1h",
		Args:    command.OneArg("the id of the filter, any text"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.ID, f.Until = args[0], time.Now().Add(lasts)
			body, err := json.Marshal(&f)
			if err != nil {
				return err
			}
			_, err = c.ask(cmd.Context(), http.MethodPost, "/filter", string(body))
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.Device, "device", "", "`MAC` address of the sender; default any")
	flags.StringVar(&f.Source, "source", "", "`PREFIX` or address that packets come from; default any")
	flags.StringVar(&f.Target, "target", "", "`PREFIX` or address that packets go to; needed")
	flags.StringVar(&f.Protocol, "protocol", "", "`PROTOCOL`: tcp, udp, icmp or a number; default any")
	flags.Uint16Var(&f.Port, "port", 0, "destination `PORT`; default any")
	cli.DurationVar(flags, &lasts, "for", time.Hour, "how long the filter holds, a `DURATION` such as 1h, at most 7d")
	c.addFlag(cmd)
	return cmd
}

func newNodeFilterListCommand() *cobra.Command {
	var c nodeClient
	var output string
	cmd := &cobra.Command{
		Use: "list", Short: "list the filters, and how many packets they dropped",
		Example: "  waybill node filter list",
		Args:    command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkOutput(output); err != nil {
				return err
			}
			text, err := c.ask(cmd.Context(), http.MethodGet, "/filter", "")
			if err != nil {
				return err
			}
			if output == "json" {
				_, err := cmd.OutOrStdout().Write(text)
				return command.Quiet(err)
			}
			var list []kernel.Filter
			if err := json.Unmarshal(text, &list); err != nil {
				return err
			}
			var b bytes.Buffer
			w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "ID\tDEVICE\tSOURCE\tTARGET\tPROTOCOL\tPORT\tUNTIL\tDROPPED")
			for i := range list {
				f := &list[i]
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d\t%s\t%d\n", f.ID, orAny(f.Device), orAny(f.Source), f.Target,
					orAny(f.Protocol), f.Port, f.Until.Local().Format(time.DateTime), f.Packets)
			}
			_ = w.Flush()
			_, err = cmd.OutOrStdout().Write(b.Bytes())
			return command.Quiet(err)
		},
	}
	c.addFlag(cmd)
	addOutput(cmd, &output)
	return cmd
}

func orAny(text string) string {
	if text == "" {
		return "any"
	}
	return text
}

func newNodeFilterRemoveCommand() *cobra.Command {
	var c nodeClient
	cmd := &cobra.Command{
		Use: "remove ID", Short: "let pass again what a filter drops",
		Example: "  waybill node filter remove flood",
		Args:    command.OneArg("the id of a filter; waybill node filter list tells it"),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := c.ask(cmd.Context(), http.MethodDelete, "/filter/"+url.PathEscape(args[0]), "")
			return err
		},
	}
	c.addFlag(cmd)
	return cmd
}
