package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/collect"
	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/dissect"
	"github.com/waybill-int/waybill/wire/dissect/detect"
)

const decodeExamples = `  # What is in this capture? A tree of every packet, as a protocol analyser prints it.
  waybill decode reports.pcap

  # From another program, one JSON object per packet and line.
  tcpdump -i eth0 -U -w - udp port 32766 | waybill decode -o json -

  # Latency per hop as a table.
  waybill decode -T fields -e frame.number -e flow.src -e hop.node -e hop.latency -E header=y reports.pcap

  # Which dialect and code points read a file, and why.
  waybill decode --dialect auto reports.pcap

  # A sender that departs from the specifications: all of them are in --list-dialects.
  waybill decode --dialect 10.0.0.3:32766=onos-int10-ver0 reports.pcap

  # INT that is marked by DSCP 0x17, and by UDP port 5000.
  waybill decode --dscp 0x17 --int-port 5000 packets.pcap

  # The same capture for Wireshark, with what is in each packet as its comment.
  waybill decode --write explained.pcapng reports.pcap

  # How many of what, and which errors.
  waybill decode --stats --errors-only reports.pcap.gz

  # Bytes as text.
  waybill decode --hex "20 00 00 01 00 00 00 10" --start telemetry_report`

// A decodeCommand holds the flags of "waybill decode".
type decodeCommand struct {
	output     string
	columns    []string
	separators []string
	file       string // to write packets to
	count      int
	timeFormat string
	color      string
	hex        string
	start      string
	stats      bool
	errorsOnly bool
	hints      strings.Builder // for the end: which dialect would read more
	list       listFlags
	points     pointFlags

	stdout, stderr io.Writer
}

func newDecodeCommand() *cobra.Command {
	c := &decodeCommand{}
	cmd := &cobra.Command{
		Use:   "decode FILE...|-",
		Short: "print the telemetry in capture files",
		Long: `Decode reads pcap and pcapng files (also gzipped; - is the standard input) and prints every packet: telemetry
reports of all versions with the packets inside them, INT of all versions, IOAM and IFA.

Only telemetry that something announces is decoded as such. What the specifications leave to the operator, such as the
DSCP value that marks INT, is set by flags, by --set, or in a file.`,
		Example: decodeExamples,
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			c.stdout, c.stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return c.run(args)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&c.output, "output", "o", "tree", "output `FORMAT`: tree, json or fields")
	f.StringVarP(&c.output, "type", "T", "tree", "`FORMAT`, the same as --output")
	f.StringArrayVarP(&c.columns, "field", "e", nil, "print this `FIELD`; may be repeated, implies -o fields")
	f.StringArrayVarP(&c.separators, "format", "E", nil,
		"with -o fields, an `OPTION`: separator=TEXT (/t is a tab, /s a blank), aggregator=TEXT, header=y")
	f.StringVarP(&c.file, "write", "w", "",
		"`FILE` to write the packets to instead of printing them: pcapng, what is in each as its comment; - is the output")
	f.IntVarP(&c.count, "count", "c", 0, "stop after `N` packets of each file; 0: read all")
	f.StringVar(&c.timeFormat, "time", "absolute",
		"`FORM` of times in a tree: absolute, utc, relative to the first packet, or none")
	f.BoolVar(&c.errorsOnly, "errors-only", false, "only packets that break a rule")
	f.BoolVar(&c.stats, "stats", false, "instead of packets, print how many there are of each kind")
	f.StringVar(&c.color, "color", "auto", "`WHEN` to colour a tree: auto, always or never")
	f.StringVar(&c.hex, "hex", "", "decode these `BYTES` instead of a file; blanks and 0x are ignored")
	f.StringVar(&c.start, "start", "ethernet",
		"with --hex: `WHERE` the bytes start: ethernet, ipv4, telemetry_report, vxlan_gpe, int_shim_l4_v2, int_md or another layer")
	c.points.register(f)
	c.list.register(f)
	return cmd
}

func (c *decodeCommand) run(args []string) error {
	if printed, err := c.list.run(c.stdout); printed {
		return command.Quiet(err)
	}
	if err := c.check(args); err != nil {
		return command.Usage(err)
	}
	cfg, err := c.points.config()
	if err != nil {
		return command.Usage(err)
	}
	if c.points.auto {
		return command.Quiet(detectFiles(args, c.stdout, cfg))
	}
	out := bufio.NewWriterSize(c.stdout, 1<<16)
	w, err := c.writer(out, cfg)
	if err != nil {
		return command.Usage(err)
	}
	if c.hex != "" {
		err = c.decodeHex(w, cfg)
	} else {
		err = c.decodeFiles(args, w, out, cfg)
	}
	if err = errors.Join(err, w.close(), out.Flush()); err == nil {
		fmt.Fprint(c.stderr, c.hints.String())
	}
	return command.Quiet(err)
}

// check refuses command lines that do not make sense.
func (c *decodeCommand) check(args []string) error {
	if len(c.columns) > 0 && c.output == "tree" {
		c.output = "fields"
	}
	switch {
	case c.hex != "" && len(args) > 0:
		return fmt.Errorf("--hex and a file exclude each other, got %q", args[0])
	case c.hex == "" && len(args) == 0:
		return errors.New("name a capture file, or - for the standard input")
	case c.file != "" && (c.hex != "" || c.stats || c.points.auto):
		return errors.New("--write is of packets of files: it does not go with --hex, --stats and --dialect auto")
	case c.file != "-" && c.file != "" && isOneOf(c.file, args):
		return fmt.Errorf("--write: %s is read; want another file", c.file)
	case len(c.columns) > 0 && c.output != "fields":
		return fmt.Errorf("-e goes with -o fields, not with -o %s", c.output)
	case len(c.columns) == 0 && c.output == "fields" && !c.stats:
		return errors.New("-o fields needs at least one -e FIELD; see --list-fields")
	case c.count < 0:
		return fmt.Errorf("--count: got %d, want at least 0", c.count)
	}
	if err := oneOf("--output", c.output, "tree", "json", "fields"); err != nil {
		return err
	}
	if err := oneOf("--time", c.timeFormat, "absolute", "utc", "relative", "none"); err != nil {
		return err
	}
	return oneOf("--color", c.color, "auto", "always", "never")
}

func oneOf(flag, value string, values ...string) error {
	for _, v := range values {
		if v == value {
			return nil
		}
	}
	return fmt.Errorf("%s: got %q, want one of %s", flag, value, strings.Join(values, ", "))
}

// A decodedPacket is one packet with its layers.
type decodedPacket struct {
	Number   int       // in its file, from 1; 0: no file
	Time     time.Time // zero: unknown
	Length   int       // on the wire, in bytes
	Captured int       // bytes that the file holds
	Data     []byte    // these; valid until the next packet
	LinkType int       // that of the capture
	Layers   []dissect.Layer
}

// A packetWriter prints packets in one of the formats.
type packetWriter interface {
	write(p *decodedPacket) error
	close() error
}

func (c *decodeCommand) writer(out *bufio.Writer, cfg *codepoint.Config) (packetWriter, error) {
	switch {
	case c.file != "":
		return newCaptureWriter(c.file, out)
	case c.stats:
		return newStatsWriter(out, cfg, c.output == "json"), nil
	case c.output == "json":
		return &jsonWriter{out: out}, nil
	case c.output == "fields":
		return newFieldsWriter(out, c.columns, c.separators)
	}
	return &treeWriter{out: out, style: c.style(), time: c.timeFormat}, nil
}

// style returns colours if they are asked for, or if the output is a terminal that may have them (no-color.org).
func (c *decodeCommand) style() *dissect.Style {
	if c.color == "always" || c.color == "auto" && command.IsTerminal(c.stdout) && os.Getenv("NO_COLOR") == "" {
		return &dissect.Style{
			Layer: "\x1b[1;36m", Name: "\x1b[32m", Meaning: "\x1b[2m", Mark: "\x1b[33m", Error: "\x1b[1;31m",
			Reset: "\x1b[0m",
		}
	}
	return &dissect.Style{}
}

// decodeFiles prints the packets of all files.
func (c *decodeCommand) decodeFiles(names []string, w packetWriter, out *bufio.Writer, cfg *codepoint.Config) error {
	for _, name := range names {
		if err := c.decodeFile(name, w, out, cfg); err != nil {
			return err
		}
	}
	return nil
}

// decodeFile prints the packets of one file up to the place where it is damaged.
func (c *decodeCommand) decodeFile(name string, w packetWriter, out *bufio.Writer, cfg *codepoint.Config) error {
	capture, err := collect.OpenCapture(name)
	if err != nil {
		return err
	}
	defer capture.Close()
	progress := c.progress(capture)
	defer progress.finish()
	// Somebody may wait for what comes through a pipe, and the next packet may take long.
	live := command.IsTerminal(c.stdout) || capture.Size() == 0
	var foreign foreignPackets
	var sample []detect.Packet
	for c.count == 0 || foreign.read < c.count {
		p, err := capture.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		progress.update()
		start, ok := dissect.StartOfLinkType(p.LinkType)
		if foreign.add(&p, ok); !ok {
			continue
		}
		if len(sample) < hintPackets {
			sample = append(sample, detect.Packet{Time: p.Time, Bytes: slices.Clone(p.Data), Start: start})
		}
		d := decodedPacket{
			Number: p.Number, Time: p.Time, Length: p.Length, Captured: len(p.Data), Data: p.Data, LinkType: p.LinkType,
			Layers: dissect.Packet(p.Data, start, cfg),
		}
		if c.errorsOnly && !hasError(d.Layers) {
			continue
		}
		if err := w.write(&d); err != nil {
			return err
		}
		if live {
			if err := out.Flush(); err != nil {
				return err
			}
		}
	}
	c.hints.WriteString(hint(name, sample, cfg))
	return foreign.err(name)
}

func hasError(layers []dissect.Layer) bool {
	for range dissect.Errors(layers) {
		return true
	}
	return false
}

// foreignPackets counts packets of link types that are not read.
type foreignPackets struct {
	read, foreign   int
	first, linkType int // of the first foreign one
}

func (f *foreignPackets) add(p *collect.Packet, known bool) {
	f.read++
	if known {
		return
	}
	if f.foreign == 0 {
		f.first, f.linkType = p.Number, p.LinkType
	}
	f.foreign++
}

func (f *foreignPackets) err(name string) error {
	if f.foreign == 0 {
		return nil
	}
	return fmt.Errorf(
		"%s: %d of %d packets have a link type that is not read; the first is packet %d with LINKTYPE %d "+
			"(read are Ethernet, raw IP, Linux cooked and loopback)", name, f.foreign, f.read, f.first, f.linkType)
}
