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
	"github.com/waybill-int/waybill/serve"
)

func newServeCommand() *cobra.Command {
	var file string
	var check, dump bool
	var points pointFlags
	flags := serve.DefaultConfig()
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "receive telemetry reports and answer questions about them",
		Long: `Serve receives telemetry reports of every version on UDP ports, or past the kernel's network in frames of an interface
(xdp://eth0:8555), reconstructs flows and paths, finds events, and serves the
console, the API and metrics over HTTP. The configuration comes from --config FILE, WAYBILL_* variables and flags; later ones win.`,
		Example: `  waybill serve
  waybill serve --listen udp://:8555 --listen udp://:32766 --dialect :32766=onos-int10-ver0
  waybill serve --int-port 17768 --memory 2GiB --workers 2
  waybill serve --listen xdp://eth0:8555 --listen packet://tap0:8555
  waybill serve --data /var/lib/waybill
  waybill serve --role collect --config collector.yaml
  waybill serve --role tables --config tables.yaml
  waybill serve --role query --config query.yaml
  waybill serve --config waybill.yaml --check`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := loadServeConfig(cmd, file, &flags, &points)
			if err != nil {
				return command.Usage(err)
			}
			if dump || check {
				return show(c, cmd.OutOrStdout(), cmd.ErrOrStderr(), dump)
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			if c.Role == "collect" || c.Role == "tables" { // they have nothing to read again
				signal.Ignore(syscall.SIGHUP)
			}
			switch c.Role {
			case "collect":
				k, err := serve.NewCollector(c, cmd.ErrOrStderr())
				if err != nil {
					return err
				}
				return k.Run(ctx)
			case "tables":
				t, err := serve.NewTables(c, cmd.ErrOrStderr())
				if err != nil {
					return err
				}
				return t.Run(ctx)
			case "query":
				q, err := serve.NewQuery(ctx, c, cmd.ErrOrStderr())
				if err != nil {
					return err
				}
				return q.Run(ctx)
			}
			s, err := serve.New(ctx, c, cmd.ErrOrStderr())
			if ctx.Err() != nil && errors.Is(err, context.Canceled) { // it stood by, or waited for tables
				return nil
			}
			if err != nil {
				return err
			}
			if err = s.Run(ctx); errors.Is(err, serve.ErrBeginAnew) && ctx.Err() == nil {
				return beginAnew(cmd.ErrOrStderr(), err)
			}
			return err
		},
	}
	f := cmd.Flags()
	cli.ConfigVar(f, &file, "configuration `FILE`, YAML")
	f.BoolVar(&check, "check", false, "check the configuration and exit")
	f.BoolVar(&dump, "dump", false, "print the configuration and exit")
	f.StringArrayVar(&flags.Listen, "listen", flags.Listen, "`ADDRESS` to receive reports on: udp://HOST:PORT, xdp://INTERFACE:PORT or packet://INTERFACE:PORT; may be repeated")
	f.StringVar(&flags.Role, "role", flags.Role,
		"`ROLE`: all; collect, which gives what it receives to the bus; analyze, which takes it from there; tables, which has tables for that; query, which answers for that")
	_ = cmd.RegisterFlagCompletionFunc("role",
		cobra.FixedCompletions([]string{"all", "collect", "analyze", "tables", "query"},
			cobra.ShellCompDirectiveNoFileComp))
	f.StringVar(&flags.HTTP, "http", flags.HTTP,
		"`ADDRESS` of console, API and metrics; without a host only this machine")
	f.BoolVar(&flags.Insecure, "insecure", false,
		"allow --http on an address that other machines can reach without log-in, or without TLS")
	f.StringVar(&flags.Tokens, "tokens", "",
		"`FILE` with the hashes of tokens that one has to log in with; see waybill token")
	f.StringVar(&flags.TLS.Cert, "tls-cert", "", "`FILE` with the certificate for HTTPS and its chain, PEM")
	f.StringVar(&flags.TLS.Key, "tls-key", "", "`FILE` with its key, PEM")
	f.StringVar(&flags.TLS.ClientCA, "tls-client-ca", "",
		"`FILE` with the authorities that sign client certificates, PEM; their roles are tls.clients of the configuration")
	f.StringArrayVar(&flags.Hosts, "host", nil,
		"`NAME` under which browsers reach the console, besides localhost; may be repeated")
	f.StringVar(&flags.Memory, "memory", flags.Memory, "`SIZE` that the tables may grow to")
	f.IntVar(&flags.Workers, "workers", flags.Workers,
		"`NUMBER` of receivers for each address, and of shards of the tables")
	f.StringVar(&flags.ReceiveBuffer, "receive-buffer", flags.ReceiveBuffer,
		"`SIZE` of kernel memory for each receiver, or auto: a share of the memory, up to 1GiB, or 4MiB with --coalesce=false")
	f.StringVar(&flags.Policy, "policy", "", "`FILE` that says which nodes and paths are expected")
	f.StringVar(&flags.Inventory, "inventory", "", "`FILE` with names of ports and hosts, speeds, roles and sites")
	f.StringVar(&flags.Data, "data", flags.Data,
		"`DIRECTORY` to keep records in, and what has to outlive a restart; without it nothing is kept")
	f.StringVar(&flags.RawReports, "raw-reports", flags.RawReports,
		"`SIZE` of the latest datagrams to keep in --data as they came; without it none are kept")
	f.BoolVar(&flags.Coalesce, "coalesce", flags.Coalesce,
		"take runs of datagrams from the kernel in one piece (UDP_GRO) where it can: a third of the processor time; needs root or CAP_BPF")
	f.StringVar(&flags.Alerts, "alerts", "", "`FILE` of alert rules, YAML")
	cli.LogLevelVar(cmd, &flags.Log.Level)
	points.register(f)
	return cmd
}

// beginAnew runs the program again in this process, as whoever starts it would.
func beginAnew(logTo io.Writer, why error) error {
	command.NewLogger(logTo, new(slog.LevelVar)).Warn("restarting at the latest checkpoint", "error", why)
	program, err := os.Executable()
	if err == nil {
		err = syscall.Exec(program, os.Args, os.Environ())
	}
	return errors.Join(why, err)
}

// loadServeConfig puts file, environment and flags together.
func loadServeConfig(cmd *cobra.Command, file string, flags *serve.Config, points *pointFlags) (*serve.Config, error) {
	c := serve.DefaultConfig()
	c.Version = version
	if file != "" {
		if err := c.ReadFile(file); err != nil {
			return nil, fmt.Errorf("--config: %w", err)
		}
	}
	if err := c.ReadEnvironment(); err != nil {
		return nil, err
	}
	set := cmd.Flags().Changed
	for name, take := range map[string]func(){
		"listen": func() { c.Listen = flags.Listen }, "http": func() { c.HTTP = flags.HTTP },
		"coalesce": func() { c.Coalesce = flags.Coalesce }, "insecure": func() { c.Insecure = flags.Insecure },
		"host": func() { c.Hosts = flags.Hosts }, "memory": func() { c.Memory = flags.Memory },
		"role":    func() { c.Role = flags.Role },
		"workers": func() { c.Workers = flags.Workers },
		"tokens":  func() { c.Tokens = flags.Tokens }, "tls-cert": func() { c.TLS.Cert = flags.TLS.Cert },
		"tls-key":        func() { c.TLS.Key = flags.TLS.Key },
		"tls-client-ca":  func() { c.TLS.ClientCA = flags.TLS.ClientCA },
		"receive-buffer": func() { c.ReceiveBuffer = flags.ReceiveBuffer },
		"policy":         func() { c.Policy = flags.Policy }, "data": func() { c.Data = flags.Data },
		"inventory": func() { c.Inventory = flags.Inventory },
		"log-level": func() { c.Log.Level = flags.Log.Level },
		"alerts":    func() { c.Alerts = flags.Alerts }, "raw-reports": func() { c.RawReports = flags.RawReports },
	} {
		if set(name) {
			take()
		}
	}
	if err := points.apply(c.Points); err != nil {
		return nil, err
	}
	if points.auto {
		return nil,
			errors.New("--dialect auto is for waybill decode: a server does not guess; name the dialect of each source")
	}
	c.Points.Compile()
	c.Again = func() (*serve.Config, error) { return loadServeConfig(cmd, file, flags, points) }
	return &c, c.Check()
}
