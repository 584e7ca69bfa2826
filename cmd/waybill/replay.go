package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/collect"
	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/wire/codepoint"
)

func newReplayCommand() *cobra.Command {
	var r replayCommand
	cmd := &cobra.Command{
		Use:   "replay FILE... --to HOST:PORT",
		Short: "send the telemetry reports in captures to a collector",
		Long: `Replay reads pcap and pcapng files (also gzipped, - for standard input), takes the UDP payloads that were sent to a
telemetry report port, and sends them to a collector at a steady rate, or with the gaps that they had. Reports in tunnels
are found as decode finds them. Other packets in the files are left out and counted.`,
		Example: `  waybill replay reports.pcap --to 127.0.0.1:8555
  waybill replay reports.pcap.gz --to collector:8555 --rate 50000 --loop 10
  waybill replay a.pcap b.pcapng --to 127.0.0.1:8555 --rate max --loop 0 --renumber
  waybill replay reports.pcap --to 127.0.0.1:8555 --timing original --speed 10x
  waybill replay reports.pcap --report-port 9000 --to 127.0.0.1:8555`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return command.Usage(
					errors.New("no capture file; for example: waybill replay reports.pcap --to 127.0.0.1:8555"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("speed") && r.timing != "original" {
				return command.Usage(errors.New("--speed is for --timing original; --rate says how fast otherwise"))
			}
			if cmd.Flags().Changed("rate") && r.timing == "original" {
				return command.Usage(
					errors.New("--rate and --timing original exclude each other; --speed says how fast"))
			}
			r.files, r.out, r.log = args, cmd.OutOrStdout(), cmd.ErrOrStderr()
			r.in = cmd.InOrStdin()
			return r.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringVar(&r.to, "to", "", "`HOST:PORT` of the collector")
	f.StringVar(&r.rate, "rate", "1000", "`REPORTS` per second, or max")
	f.StringVar(&r.timing, "timing", "rate",
		"when to send: rate (steadily), or original (with the gaps of the captures)")
	f.StringVar(&r.speed, "speed", "1x", "with --timing original: how many `TIMES` as fast as the captures")
	f.IntVar(&r.loop, "loop", 1, "how many `TIMES` to send everything; 0: until interrupted")
	f.BoolVar(&r.renumber, "renumber", false,
		"let sequence numbers go on from one loop to the next, instead of starting again")
	f.StringVar(&r.ports, "report-port", "",
		"`PORT,...` that reports in the files were sent to (default 8555,556,32766,54321,5900,8090,6000)")
	f.BoolVarP(&r.quiet, "quiet", "q", false, "no progress, no summary")
	return cmd
}

// replayCommand is a run of waybill replay.
type replayCommand struct {
	files     []string
	to, rate  string
	ports     string
	timing    string
	speed     string
	loop      int
	renumber  bool
	quiet     bool
	in        io.Reader
	out, log  io.Writer
	collected reportsIn
}

func (r *replayCommand) run(ctx context.Context) error {
	if r.to == "" {
		return command.Usage(errors.New("--to HOST:PORT is missing: where to send the reports"))
	}
	if r.loop < 0 {
		return command.Usage(fmt.Errorf("--loop: got %d, want a number of times, or 0 for until interrupted", r.loop))
	}
	rate := 0.0
	if r.rate != "max" {
		var err error
		if rate, err = strconv.ParseFloat(r.rate, 64); err != nil || !(rate > 0) {
			return command.Usage(fmt.Errorf("--rate: got %q, want reports per second or max", r.rate))
		}
	}
	speed, err := r.speedFactor()
	if err != nil {
		return command.Usage(err)
	}
	points := codepoint.New()
	if r.ports != "" {
		if err := points.Set("report_port", r.ports); err != nil {
			return command.Usage(fmt.Errorf("--report-port: %w", err))
		}
	}
	points.Compile()
	if err := r.collected.read(r.files, points); err != nil {
		return err
	}
	if len(r.collected.payloads) == 0 {
		return fmt.Errorf(
			"no telemetry report in %d packets: none was sent to UDP port %s; name the port with --report-port",
			r.collected.packets, portList(points.ReportPorts))
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	loops := r.loop
	if loops == 0 {
		loops = -1
	}
	replay := collect.Replay{Address: r.to, Payloads: r.collected.all(), Rate: rate, Loops: loops}
	if r.timing == "original" {
		replay.Offsets = r.collected.offsets(speed)
	}
	if r.renumber {
		replay.Rewrite = r.collected.renumber
	}
	if command.IsTerminal(r.log) && !r.quiet {
		replay.Progress = r.progress()
	}
	summary, err := replay.Run(ctx)
	if replay.Progress != nil {
		fmt.Fprint(r.log, "\r\033[K")
	}
	if !r.quiet {
		fmt.Fprintf(r.out, "sent %d reports, %d bytes, in %.3f s: %.0f reports/s\n", summary.Sent, summary.Bytes,
			summary.Elapsed.Seconds(), summary.Rate())
		if r.collected.other > 0 {
			fmt.Fprintf(r.log, "%d of %d packets in the files are no telemetry reports and were left out\n",
				r.collected.other, r.collected.packets)
		}
		if summary.Refused > 0 {
			fmt.Fprintf(r.log, "nobody listens at %s, or not all the time: the host refused datagrams\n", r.to)
		}
	}
	if errors.Is(err, context.Canceled) {
		return nil // interrupted: that is how endless loops end
	}
	return err
}

// speedFactor reads --speed and checks --timing.
func (r *replayCommand) speedFactor() (float64, error) {
	if r.timing != "rate" && r.timing != "original" {
		return 0, fmt.Errorf("--timing: got %q, want rate or original", r.timing)
	}
	speed, err := strconv.ParseFloat(strings.TrimSuffix(r.speed, "x"), 64)
	if err != nil || !(speed > 0) || math.IsInf(speed, 0) {
		return 0, fmt.Errorf("--speed: got %q, want a factor, for example 10x or 0.5x", r.speed)
	}
	return speed, nil
}

// progress returns a function that shows how far the replay is, on one line.
func (r *replayCommand) progress() func(collect.Summary) {
	total := float64(len(r.collected.payloads)) * float64(r.loop)
	return func(s collect.Summary) {
		of := ""
		if r.loop > 0 {
			of = fmt.Sprintf(" of %.0f (%.0f %%)", total, 100*float64(s.Sent)/total)
		}
		fmt.Fprintf(r.log, "\r\033[Ksent %d%s, %.0f reports/s, %s", s.Sent, of, s.Rate(), s.Elapsed.Round(time.Second))
	}
}

// reportsIn holds the telemetry reports of captures.
type reportsIn struct {
	payloads       [][]byte
	times          []time.Time // of the payloads in their captures
	packets, other int
	spans          map[sequenceKey]*sequenceSpan
}

// read adds the reports in the files.
func (c *reportsIn) read(files []string, points *codepoint.Config) error {
	for _, name := range files {
		capture, err := collect.OpenCapture(name)
		if err != nil {
			return err
		}
		for {
			p, err := capture.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				capture.Close()
				return err
			}
			c.packets++
			payload, ok := reportPayload(&p, points)
			if !ok {
				c.other++
				continue
			}
			c.add(payload)
			c.times = append(c.times, p.Time)
		}
		if err := capture.Close(); err != nil {
			return err
		}
	}
	return nil
}

func (c *reportsIn) add(payload []byte) {
	c.payloads = append(c.payloads, append([]byte(nil), payload...))
	if key, n, ok := sequenceOf(payload); ok {
		if c.spans == nil {
			c.spans = map[sequenceKey]*sequenceSpan{}
		}
		s := c.spans[key]
		if s == nil {
			s = &sequenceSpan{low: n, high: n}
			c.spans[key] = s
		}
		s.low, s.high = min(s.low, n), max(s.high, n)
	}
}

// offsets returns when the reports were captured, from the first one on, at speed times that pace. A clock that was set
// back while the capture ran, or a file that is older than the one before it, makes no gap.
func (c *reportsIn) offsets(speed float64) []time.Duration {
	list := make([]time.Duration, len(c.times))
	at := time.Duration(0)
	for i := 1; i < len(c.times); i++ {
		at += max(c.times[i].Sub(c.times[i-1]), 0)
		list[i] = time.Duration(float64(at) / speed)
	}
	return list
}

func (c *reportsIn) all() iter.Seq2[[]byte, error] { return collect.Payloads(c.payloads) }

// renumber moves the sequence number of a report on as if the loops before had been other reports.
func (c *reportsIn) renumber(loop int, payload []byte) {
	key, n, ok := sequenceOf(payload)
	if !ok {
		return
	}
	if s := c.spans[key]; s != nil && s.high != s.low { // one that never moves is left as it is
		setSequence(payload, n+uint32(loop)*(s.high-s.low+1))
	}
}

func portList(ports []uint16) string {
	text := ""
	for i, port := range ports {
		if i > 0 {
			text += ", "
		}
		text += strconv.Itoa(int(port))
	}
	return text
}
