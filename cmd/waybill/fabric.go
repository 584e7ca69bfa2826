package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/cli"
	"github.com/waybill-int/waybill/fabric"
	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/internal/command"
)

func newFabricCommand() *cobra.Command {
	var c fabricCommand
	cmd := &cobra.Command{
		Use:   "fabric SCENARIO [flags]",
		Short: "emulate a network of INT switches, and write down the truth about it",
		Long: `Fabric emulates the network of a scenario: hosts that talk, switches with queues, links, and what goes wrong when. Every
packet is real bytes and passes an INT node in every switch; the telemetry reports go to a collector or into a capture. The
truth about every packet goes into a file.

A SCENARIO is a YAML file, - for standard input, or the name of one that comes with Waybill; --list prints those.`,
		Example: `  waybill fabric --list
  waybill fabric link-failure --reports 127.0.0.1:8555
  waybill fabric incast --pcap reports.pcap --truth truth.ndjson
  waybill fabric steady --pcap - | waybill decode --stats -
  waybill fabric my.yaml --pcap-links links --seed 7 --duration 10s
  waybill fabric demo --serve-config > demo.yaml`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return command.Usage(fmt.Errorf("unexpected argument %q: want one scenario", args[1]))
			case len(args) == 0 && !c.list:
				return command.Usage(
					errors.New("no scenario; for example: waybill fabric steady. --list prints those that there are"))
			case len(args) == 1 && c.list:
				return command.Usage(errors.New("--list takes no scenario"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			c.in, c.out, c.log = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
			if c.list {
				return listScenarios(c.out)
			}
			return c.run(cmd.Context(), args[0])
		},
	}
	f := cmd.Flags()
	f.BoolVar(&c.list, "list", false, "print the scenarios that come with Waybill and exit")
	f.BoolVar(&c.serveConfig, "serve-config", false,
		"print what waybill serve has to know of the network, as a file for its --config, and exit")
	f.StringArrayVar(&c.reports, "reports", nil,
		"`HOST:PORT` of a collector to send the reports to; may be repeated, and each flow then has one of them")
	f.StringVar(&c.pcap, "pcap", "", "`FILE` to write the reports to, as a capture; - for standard output")
	f.StringVar(&c.pcapLinks, "pcap-links", "", "`DIR` to write a capture for each link to, with all packets")
	f.StringVar(&c.truth, "truth", "", "`FILE` to write the truth to, as NDJSON; - for standard output")
	f.StringVar(&c.speed, "speed", "",
		"realtime or max: how `FAST` virtual time goes by (default realtime with --reports, else max)")
	f.Uint64Var(&c.seed, "seed", 0, "`N` that everything random follows from (default that of the scenario)")
	cli.DurationVar(f, &c.duration, "duration", 0, "how long to run, in virtual `TIME` (default that of the scenario)")
	cli.OutputVar(cmd, &c.format, "text", "json", "yaml")
	f.StringVar(&c.control, "control", "",
		"`ADDRESS:PORT` of this machine at which switches take filters while the network runs, each at /nodes/ID")
	f.BoolVarP(&c.quiet, "quiet", "q", false, "no progress, no summary")
	return cmd
}

// fabricCommand is a run of waybill fabric.
type fabricCommand struct {
	list, serveConfig      bool
	reports                []string
	pcap, pcapLinks, truth string
	speed, format, control string
	seed                   uint64
	duration               time.Duration
	quiet                  bool
	in                     io.Reader
	out, log               io.Writer
}

func (c *fabricCommand) run(ctx context.Context, name string) error {
	if err := c.check(); err != nil {
		return command.Usage(err)
	}
	s, file, err := c.scenario(name)
	if err != nil {
		return command.Usage(err)
	}
	if c.serveConfig {
		if err := writeServeConfig(c.out, s); err != nil {
			return inFile(file, err)
		}
		return nil
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	collectors, err := newCollectors(c.reports)
	if err != nil {
		return err
	}
	defer collectors.close()
	device, err := fabric.INTDevices(s, collectors.list...)
	if err != nil {
		return inFile(file, err)
	}
	options := fabric.Options{Device: device}
	var files outputFiles
	defer files.close()
	if err := c.open(&options, collectors, &files); err != nil {
		return err
	}
	f, err := fabric.New(s, options)
	if err != nil {
		return inFile(file, err)
	}
	if c.control != "" {
		stop, err := serveControl(f.FilterHandler(f.Do, time.Now), c.control)
		if err != nil {
			return err
		}
		defer stop()
	}
	summary, err := c.emulate(ctx, f, s, options.Pace)
	if err = errors.Join(err, files.close()); err != nil {
		return err
	}
	summary.addCollectors(collectors)
	if c.quiet {
		return nil
	}
	return c.summarize(summary)
}

// check refuses flags that cannot work.
func (c *fabricCommand) check() error {
	switch {
	case c.speed == "" && len(c.reports) > 0:
		c.speed = "realtime"
	case c.speed == "":
		c.speed = "max"
	case c.speed != "realtime" && c.speed != "max":
		return fmt.Errorf("--speed: got %q, want realtime or max", c.speed)
	}
	if c.control != "" {
		if err := checkControl(c.control); err != nil {
			return err
		}
		if c.speed != "realtime" {
			return errors.New("--control wants --speed realtime: otherwise it is over before anybody asks")
		}
	}
	if c.pcap != "" && c.pcap == c.truth {
		return fmt.Errorf("--pcap and --truth: both to %s, want two files", c.pcap)
	}
	return nil
}

// emulate runs f until the end of the scenario or an interrupt, and ends it.
func (c *fabricCommand) emulate(ctx context.Context, f *fabric.Fabric, s *scenario.Scenario,
	pace fabric.Pace,
) (*fabricSummary, error) {
	until, start := time.Duration(s.Duration), time.Now()
	err := c.newProgress(f, until).run(ctx)
	interrupted := errors.Is(err, context.Canceled)
	if interrupted {
		err = nil // that is how long runs end
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	summary := newFabricSummary(f, time.Since(start))
	summary.Scenario, summary.Seed, summary.Interrupted = s.Name, uint64(s.Seed), interrupted
	summary.late = pace != nil && summary.Speed < 0.95 && summary.WallNs-summary.VirtualNs > int64(time.Second)
	return summary, nil
}

func checkControl(address string) error {
	if at, err := netip.ParseAddrPort(address); err != nil || !at.Addr().IsLoopback() {
		return fmt.Errorf("--control: got %q, want a loopback address, such as 127.0.0.1:8556", address)
	}
	return nil
}

// serveControl answers the API of all switches, until stop.
func serveControl(handler http.Handler, address string) (stop func(), err error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--control: %w", err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(l) }()
	return func() { _ = server.Close() }, nil
}
