package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
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
	var listing cli.Listing
	cmd := &cobra.Command{
		Use: "list", Short: "list the filters, and how many packets they dropped",
		Example: "  waybill node filter list",
		Args:    command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := c.ask(cmd.Context(), http.MethodGet, "/filter", "")
			if err != nil {
				return err
			}
			var list []kernel.Filter
			if err := json.Unmarshal(text, &list); err != nil {
				return err
			}
			var rows [][]cli.Cell
			for i := range list {
				f := &list[i]
				rows = append(rows, cli.PlainCells(f.ID, orAny(f.Device), orAny(f.Source), f.Target, orAny(f.Protocol),
					fmt.Sprint(f.Port), f.Until.Local().Format(time.DateTime), fmt.Sprint(f.Packets)))
			}
			return listing.Print(cmd.OutOrStdout(), json.RawMessage(text), []string{
				"ID", "DEVICE", "SOURCE", "TARGET", "PROTOCOL", "PORT", "UNTIL", "DROPPED",
			}, rows)
		},
	}
	c.addFlag(cmd)
	listing.Register(cmd)
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
