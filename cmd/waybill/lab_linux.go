package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/cli"
	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/lab"
	"github.com/waybill-int/waybill/serve"
)

func newLabCommand() *cobra.Command {
	var c labCommand
	cmd := &cobra.Command{
		Use:   "lab SCENARIO [flags]",
		Short: "run a scenario on real kernels: network namespaces of this machine",
		Long: `Lab makes the network of a scenario on this machine: every switch and host is a network namespace, links are veth pairs
with the rates of the scenario, switches route with the kernel and have an INT node in it, and hosts talk by real TCP
and UDP. What a kernel cannot do of the scenario is listed before it begins. It needs root and Linux 6.18.

The namespaces are called lab1-leaf1 and so on: "ip netns exec lab1-h1 ping 10.0.2.1". When lab ends, nothing is left
behind; what one that was killed left is removed by the next.

A SCENARIO is a file, - for standard input, or the name of one of waybill fabric --list.`,
		Example: `  # a scenario, for the collector on this machine
  waybill fabric incast --serve-config > serve.yaml
  waybill serve --config serve.yaml
  sudo waybill lab incast --duration 1m --reports 127.0.0.1:8555

  # what really happened, by captures at every interface
  sudo waybill lab link-failure --truth truth.ndjson

  # until Ctrl-C, and look into it
  sudo waybill lab my.yaml --duration 24h &
  sudo ip netns exec lab1-spine1 tcpdump -ni eth1
  sudo waybill node status --socket /run/waybill/lab1-leaf1.sock`,
		Args: command.OneArg("scenario"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c.out, c.log = cmd.OutOrStdout(), cmd.ErrOrStderr()
			c.in = cmd.InOrStdin()
			return c.run(cmd.Context(), args[0])
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.reports, "reports", "", "`HOST:PORT` of a collector to send the reports to; default none")
	f.StringVar(&c.truth, "truth", "",
		"`FILE` to write to, as NDJSON, what captures at all interfaces saw; - for standard output")
	f.StringVar(&c.control, "control", "",
		"`ADDRESS:PORT` of this machine that answers for the nodes, each at /nodes/ID, as they do at their sockets")
	f.Uint64Var(&c.seed, "seed", 0,
		"`N` that traffic and the choices among equal routes follow from (default that of the scenario)")
	cli.DurationVar(f, &c.duration, "duration", 0, "how long to run, as `TIME` (default that of the scenario)")
	cli.OutputVar(cmd, &c.format, "text", "json", "yaml")
	f.BoolVarP(&c.quiet, "quiet", "q", false, "only warnings, no progress, no summary")
	cli.LogLevelVar(cmd, &c.level)
	return cmd
}

// A labCommand is a run of waybill lab.
type labCommand struct {
	fabricCommand // what it shares with waybill fabric
	reports       string
	level         serve.LogLevel
}

func (c *labCommand) run(ctx context.Context, name string) error {
	s, file, err := c.scenario(name)
	if err != nil {
		return command.Usage(err)
	}
	if c.quiet {
		c.level.Level = max(c.level.Level, slog.LevelWarn)
	}
	options := lab.Options{Log: command.NewLogger(c.log, c.level.Level)}
	if c.control != "" {
		if err := checkControl(c.control); err != nil {
			return command.Usage(err)
		}
	}
	if c.reports != "" {
		to, err := net.ResolveUDPAddr("udp", c.reports)
		if err != nil || to.IP == nil || to.Port == 0 {
			return command.Usage(
				fmt.Errorf("--reports %s: want HOST:PORT of a collector, for example 127.0.0.1:8555", c.reports))
		}
		options.Reports = netip.AddrPortFrom(to.AddrPort().Addr().Unmap(), uint16(to.Port))
	}
	var files outputFiles
	defer files.close()
	if c.truth != "" {
		if options.Truth, err = files.create(c.truth, c.out); err != nil {
			return err
		}
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	l, err := lab.New(s, options)
	if err != nil {
		return inFile(file, err)
	}
	if c.control != "" {
		stop, err := serveControl(l.Handler(), c.control)
		if err != nil {
			return err
		}
		defer stop()
	}
	err = c.play(ctx, s, l, options.Log)
	if err = errors.Join(err, l.Close(), files.close()); err != nil || c.quiet {
		return err
	}
	return c.summarizeLab(s, l)
}

// play makes the network and runs the scenario.
func (c *labCommand) play(ctx context.Context, s *scenario.Scenario, l *lab.Lab, log *slog.Logger) error {
	for _, what := range l.Missing() {
		log.Info("not as in the scenario", "what", what)
	}
	switches, hosts := l.Size()
	log.Info("making the network", "switches", switches, "hosts", hosts)
	begun := time.Now()
	if err := l.Start(ctx); err != nil {
		if ctx.Err() != nil {
			return errors.New("interrupted before it began")
		}
		return err
	}
	log.Info("ready", "lab", l.Name(), "after", time.Since(begun).Round(time.Millisecond).String(), "duration",
		time.Duration(s.Duration).String())
	var progress func(time.Duration)
	if !c.quiet && command.IsTerminal(c.log) {
		bar := progressbar.NewOptions64(int64(s.Duration), progressbar.OptionSetWriter(c.log),
			progressbar.OptionSetWidth(10), progressbar.OptionSetElapsedTime(false),
			progressbar.OptionSetPredictTime(false), progressbar.OptionClearOnFinish())
		defer func() { _ = bar.Finish() }() // a terminal that cannot be written to is no reason to fail
		progress = func(at time.Duration) {
			bar.Describe(fmt.Sprintf("%s of %s", at.Round(time.Second), time.Duration(s.Duration)))
			_ = bar.Set64(min(int64(at), int64(s.Duration)))
		}
	}
	return l.Run(ctx, progress)
}

// summarizeLab says what became of packets, as far as somebody looked, and what the nodes did.
func (c *labCommand) summarizeLab(s *scenario.Scenario, l *lab.Lab) error {
	w := c.out
	if c.toStdout() {
		w = c.log
	}
	sum := l.Summary()
	if c.format != "text" {
		return command.Quiet(writeSummary(w, c.format, sum))
	}
	switches, hosts := l.Size()
	fmt.Fprintf(w, "scenario %s on %s: %d switches, %d hosts, %s\n", s.Name, l.Name(), switches, hosts,
		time.Duration(sum.RanNs).Round(time.Millisecond))
	if n := sum.Packets; n != nil {
		var reasons []string
		dropped := uint64(0)
		for _, d := range n.Dropped {
			reasons = append(reasons, fmt.Sprintf("%s %d", d.Reason, d.Packets))
			dropped += d.Packets
		}
		why := ""
		if dropped > 0 {
			why = " (" + strings.Join(reasons, ", ") + ")"
		}
		fmt.Fprintf(w, "packets: %d sent = %d delivered + %d dropped%s + %d in flight\n", n.Sent, n.Delivered, dropped,
			why, n.InFlight)
	}
	for _, text := range sum.Doubts {
		fmt.Fprintln(w, "doubt:", text)
	}
	return command.Quiet(writeCounters(w, sum.Nodes))
}

func writeCounters(w io.Writer, counters map[string]uint64) (err error) {
	fmt.Fprintln(w, "all nodes:")
	for _, name := range slices.Sorted(maps.Keys(counters)) {
		_, err = fmt.Fprintf(w, "  %-20s %d\n", name, counters[name])
	}
	return err
}
