package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/internal/command"
)

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
