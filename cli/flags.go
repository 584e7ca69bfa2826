package cli

import (
	"errors"
	"fmt"

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

// ExplainFlag says what is wrong with a flag, of one that there is not also why, or what may have been meant.
func ExplainFlag(cmd *cobra.Command, err error) error {
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
