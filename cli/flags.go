package cli

import (
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/internal/command"
)

// Flags that several commands have are declared here, each with one name, one letter and one text.

// OutputVar gives cmd the flag -o, which takes one of the formats; the first one is the default.
func OutputVar(cmd *cobra.Command, to *string, formats ...string) {
	*to = formats[0]
	cmd.Flags().VarP(&outputFlag{to, formats}, "output", "o", "`FORMAT`: "+strings.Join(formats, ", "))
	_ = cmd.RegisterFlagCompletionFunc("output",
		cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
}

// An outputFlag is one of the formats.
type outputFlag struct {
	to      *string
	formats []string
}

func (o *outputFlag) String() string {
	if o.to == nil { // pflag asks what no value looks like
		return ""
	}
	return *o.to
}

func (o *outputFlag) Type() string { return "string" }

// Set implements pflag.Value.
func (o *outputFlag) Set(text string) error {
	if !slices.Contains(o.formats, text) {
		return notAllowed(o.formats)
	}
	*o.to = text
	return nil
}

// notAllowed is the error of a value that is none of these.
type notAllowed []string

func (n notAllowed) Error() string { return "allowed: " + strings.Join(n, ", ") }

// NoHeadersVar adds the flag that leaves out titles.
func NoHeadersVar(f *pflag.FlagSet, to *bool) {
	f.BoolVar(to, "no-headers", false, "leave out the titles of tables and of CSV")
}

// A Listing is how a command shows a list that it has as a whole.
type Listing struct {
	output    string
	noHeaders bool
}

// Register gives cmd the flags of a listing.
func (l *Listing) Register(cmd *cobra.Command) {
	OutputVar(cmd, &l.output, "table", "json", "yaml")
	NoHeadersVar(cmd.Flags(), &l.noHeaders)
}

// Print writes a list as a document, or its rows as a table.
func (l *Listing) Print(w io.Writer, list any, titles []string, rows [][]Cell) error {
	if isDocument(l.output) {
		return command.Quiet(WriteDocument(w, l.output, list))
	}
	return command.Quiet(printTable(w, titles, rows, l.noHeaders))
}

// PlainCells are the cells of a row without colours.
func PlainCells(texts ...string) []Cell {
	cells := make([]Cell, len(texts))
	for i, text := range texts {
		cells[i] = PlainCell(text)
	}
	return cells
}

// limitVar adds the flag that says how many items of a kind are listed.
func limitVar(f *pflag.FlagSet, to *int, items string) {
	f.IntVarP(to, "limit", "n", 100, "list up to `N` "+items)
}

// ConfigVar adds the flag that names a configuration.
func ConfigVar(f *pflag.FlagSet, to *string, usage string) {
	f.StringVarP(to, "config", "c", "", usage)
}

// LogLevelVar gives cmd the flag that says what is logged.
func LogLevelVar(cmd *cobra.Command, to interface {
	encoding.TextMarshaler
	encoding.TextUnmarshaler
},
) {
	cmd.Flags().TextVar(to, "log-level", to, "`LEVEL` of what is logged: debug, info, warn or error")
	_ = cmd.RegisterFlagCompletionFunc("log-level",
		cobra.FixedCompletions([]string{"debug", "info", "warn", "error"}, cobra.ShellCompDirectiveNoFileComp))
}

// flagsOfOthers say of flags that many lists have why one does not.
var flagsOfOthers = map[string]string{
	"group-by": "flows, paths, hops, queues, links, drops and exporters have it, of which records add up, and events, bursts and loss, which are counted",
	"interval": "flows, paths, hops, queues, links, drops, exporters, events and bursts have it, of which records add up",
	"follow":   "it is of lists whose items begin, change or end; --watch 2s shows this again and again",
	"filter":   "this is shown as a whole; lists such as nodes, links and hosts have it",
	"sort":     "this is shown as a whole; lists such as nodes, links and hosts have it",
	"top":      "this is shown as a whole; lists such as nodes, links and hosts have it",
}

// A timeFlag is a time for a server, or how long ago. One without a zone is of the zone that tables print.
type timeFlag string

func (t *timeFlag) String() string { return string(*t) }
func (t *timeFlag) Type() string   { return "string" }

// Set implements pflag.Value. What is no time the server looks at.
func (t *timeFlag) Set(text string) error {
	*t = timeFlag(text)
	if at, err := filter.ParseTime(text, time.Local); err == nil {
		*t = timeFlag(at.UTC().Format(time.RFC3339Nano))
	}
	return nil
}

// wantedOf says what flags of a type take.
var wantedOf = map[string]string{
	"int": "a whole number", "uint": "a number of 0 or more", "bool": "true or false",
	"duration": "a duration such as 2s",
}

// ExplainFlag says what is wrong with a flag, of one that there is not also why, or what may have been meant.
func ExplainFlag(cmd *cobra.Command, err error) error {
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		if _, ok := errors.AsType[*strconv.NumError](err); ok {
			return command.Usage(fmt.Errorf("--%s is %q; want %s", invalid.GetFlag().Name, invalid.GetValue(),
				cmp.Or(wantedOf[invalid.GetFlag().Value.Type()], "a number")))
		}
		if allowed, ok := errors.AsType[notAllowed](err); ok {
			return command.Usage(fmt.Errorf("--%s is %q; %w", invalid.GetFlag().Name, invalid.GetValue(), allowed))
		}
		return command.Usage(fmt.Errorf("--%s is %q: %w", invalid.GetFlag().Name, invalid.GetValue(), invalid.Unwrap()))
	}
	missing, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return command.Usage(err)
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	name := missing.GetSpecifiedName()
	if why := flagsOfOthers[name]; why != "" && cmd.Flags().Lookup("server") != nil {
		return command.Usage(fmt.Errorf("%w: %s", err, why))
	}
	if meant := filter.Nearest(name, names); meant != "" {
		return command.Usage(fmt.Errorf("%w; did you mean --%s?", err, meant))
	}
	return command.Usage(err)
}
