package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/waybill-int/waybill/collect"
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/dissect"
	"github.com/waybill-int/waybill/wire/dissect/detect"
)

// autoDialect is the value of --dialect that asks which one it is.
const autoDialect = "auto"

// detectFiles prints which dialect and code points read the packets of the files, and why.
func detectFiles(names []string, w io.Writer, cfg *codepoint.Config) error {
	for i, name := range names {
		packets, err := samplePackets(name)
		if err != nil {
			return err
		}
		if i > 0 {
			fmt.Fprintln(w)
		}
		if len(packets) == 0 {
			fmt.Fprintf(w, "%s: no packets\n", name)
			continue
		}
		explain(w, name, detect.Detect(packets, cfg))
	}
	return nil
}

// explain prints a result for people.
func explain(w io.Writer, name string, r detect.Result) {
	fmt.Fprintf(w, "%s: %s\n", name, r.Best.Setting)
	fmt.Fprintf(w, "  %s\n", r.Best.Why())
	if d, err := codepoint.FindDialect(r.Best.Dialect); err == nil && d != codepoint.Specification {
		fmt.Fprintf(w, "  %s: %s\n", d.Name, d.Summary)
	}
	if len(r.Equals) > 0 {
		var others []string
		for i := range r.Equals {
			others = append(others, r.Equals[i].Setting.String())
		}
		fmt.Fprintf(w, "cannot be told apart from: %s\n", strings.Join(others, ", "))
	}
	if !r.Better() {
		switch {
		case r.Plain.Read == 0:
			fmt.Fprintln(w,
				"no dialect finds telemetry in it: if there is some, a code point is not known (--list-code-points)")
		default:
			fmt.Fprintln(w, "no dialect is needed")
		}
		return
	}
	fmt.Fprintf(w, "as configured: %s\n\n  waybill decode %s %s\n", r.Plain.Why(), strings.Join(r.Best.Flags(), " "),
		quoteArg(name))
}

// samplePackets reads the packets of a capture that are enough to tell.
func samplePackets(name string) ([]detect.Packet, error) {
	capture, err := collect.OpenCapture(name)
	if err != nil {
		return nil, err
	}
	defer capture.Close()
	var packets []detect.Packet
	for len(packets) < detect.MaxPackets {
		p, err := capture.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return packets, err
		}
		if start, ok := dissect.StartOfLinkType(p.LinkType); ok {
			packets = append(packets, detect.Packet{Time: p.Time, Bytes: slices.Clone(p.Data), Start: start})
		}
	}
	return packets, nil
}

// hintPackets is how many packets of a file are looked at for a hint.
const hintPackets = 100

// hint says in one line which other dialect or code points would read more of the packets of a file; empty if none
// would, or if the operator has named a dialect for all sources.
func hint(name string, packets []detect.Packet, cfg *codepoint.Config) string {
	if slices.ContainsFunc(cfg.Rules, func(r codepoint.Rule) bool { return !r.Prefix.IsValid() }) {
		return ""
	}
	r := detect.Detect(packets, cfg)
	if !r.Better() {
		return ""
	}
	return fmt.Sprintf("hint: %s reads %s better: %s: waybill decode %s %s\n",
		r.Best.Setting, name, r.Best.Why(), strings.Join(r.Best.Flags(), " "), quoteArg(name))
}

// quoteArg quotes a file name for a shell where it needs that.
func quoteArg(name string) string {
	if strings.ContainsAny(name, " '\"$&;()<>|*?[]#~`\\") {
		return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
	}
	return name
}
