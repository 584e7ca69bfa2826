package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/cli"
	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/node/kernel"
	"github.com/waybill-int/waybill/serve"
)

func newNodeCommand() *cobra.Command {
	var file, socket, address string
	var check, dump bool
	var level serve.LogLevel
	cmd := &cobra.Command{
		Use:   "node --config FILE",
		Short: "make this Linux machine an INT node",
		Long: `Node makes a Linux machine that routes a source, transit node and sink of INT: its interfaces are the ports of the switch.
Programs in the kernel (XDP and tcx) insert, extend and remove INT as packets pass; reports go to a collector.

SIGHUP reads the file again and replaces the watchlists. It needs Linux 6.18 and root, or CAP_BPF, CAP_NET_ADMIN and
CAP_PERFMON. When it ends, also when it is killed, the programs are gone from the interfaces; with pin in the file they stay,
the next start takes them over, and waybill node detach takes them off.`,
		Example: `  # say what is wrong with a file
  waybill node --config node.yaml --check

  # say which edges get INT in their packets, and which probe clones, and why
  waybill node --config node.yaml --dump

  # run, until Ctrl-C; then it prints its counters
  waybill node --config node.yaml

  # a file
  name: s1
  id: 1
  ports:
    - {interface: eth0, edge: true}   # behind it are hosts
    - {interface: eth1}
  int:
    reports: {to: ["192.0.2.9:8555"]}`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file == "" {
				return command.Usage(errors.New("no file; for example: waybill node --config node.yaml"))
			}
			c, err := kernel.Load(file)
			if err != nil {
				return command.Invalid(cmd.ErrOrStderr(), file, err)
			}
			if dump {
				text, err := c.Dump()
				if err == nil {
					_, err = cmd.OutOrStdout().Write(text)
				}
				return command.Quiet(err)
			}
			if check {
				fmt.Fprintf(cmd.OutOrStdout(), "the file is valid: node %d with %d ports\n", c.ID, len(c.Ports))
				return nil
			}
			if socket == "" {
				socket = socketOf(c)
			}
			r := nodeRun{file: file, config: c, socket: socket, address: address, level: level}
			return r.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cli.ConfigVar(cmd.Flags(), &file, "`FILE` that says what the node does; see docs/reference/node.md")
	cli.LogLevelVar(cmd, &level)
	cmd.Flags().BoolVar(&check, "check", false, "say whether the file is valid and exit")
	cmd.Flags().BoolVar(&dump, "dump", false,
		"print the configuration with what is chosen on this machine, and why, and exit")
	cmd.Flags().StringVar(&socket, "socket", "",
		"`PATH` of the socket for status and watch; default "+socketDir+"/node-ID.sock")
	cmd.Flags().StringVar(&address, "http", "", "`ADDRESS:PORT` that answers GET /metrics; default none")
	addNodeCommands(cmd)
	return cmd
}

// reloadNode reads the file again at each SIGHUP, for its watchlists.
func reloadNode(ctx context.Context, n *kernel.Node, file string, logger *slog.Logger) {
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	for {
		select {
		case <-ctx.Done():
			return
		case <-hup:
		}
		c, err := kernel.Load(file)
		if err == nil {
			err = n.Replace(ctx, c)
		}
		if err != nil {
			logger.Error("the old watchlists still count", "error", err)
		} else {
			logger.Info("watchlists replaced", "file", file)
		}
	}
}

// A nodeRun is one run of a node.
type nodeRun struct {
	file            string
	config          *kernel.Config
	socket, address string
	level           serve.LogLevel
}

// run runs a node until an interrupt, and then tells what it did.
func (r *nodeRun) run(ctx context.Context, out, log io.Writer) error {
	c := r.config
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	n, err := kernel.New(c)
	if err != nil {
		return err
	}
	logger := command.NewLogger(log, r.level.Level)
	err = serveNode(ctx, n, r.socket, r.address)
	if err == nil && c.API != nil {
		_, err = serveNodeAPI(ctx, c.API, n.Handler(), logger)
	}
	if err == nil {
		err = n.Attach()
	}
	if err == nil {
		logger.Info("node started", "name", c.Name, "id", c.ID, "ports", len(c.Ports))
		go reloadNode(ctx, n, r.file, logger)
		err = n.Run(ctx)
	}
	if last := n.LastError(); last != nil {
		logger.Warn("reports could not be sent", "last", last)
	}
	if err == nil {
		err = n.Each(func(name string, count uint64) { fmt.Fprintf(out, "%-20s %d\n", name, count) })
	}
	err = errors.Join(err, n.Close())
	if err == nil && n.Stays() {
		logger.Info("the programs stay at the interfaces (pin), and nobody reads what they report",
			"take them off with", fmt.Sprintf("waybill node detach %d", c.ID))
	}
	return err
}
