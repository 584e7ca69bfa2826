package cli

import (
	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
)

// addSelection adds the flags that select and sort items, to lists that can be selected from. Lists with a flag of that
// name say better what it means for them.
func (c *queryCommand[L, T]) addSelection(cmd *cobra.Command) {
	f := cmd.Flags()
	for _, flag := range []struct {
		name, usage string
		to          *string
	}{
		{"filter", "only " + c.name + " that this `EXPRESSION` selects", &c.query.Filter},
		{"since", "only " + c.name + " after this `TIME`, or so long ago: 2026-11-21T09:00:00Z, 10m", &c.query.Since},
		{"until", "only " + c.name + " before this `TIME`, or so long ago", &c.query.Until},
	} {
		if f.Lookup(flag.name) == nil {
			f.StringVar(flag.to, flag.name, "", flag.usage)
		}
	}
	switch {
	case c.grouped != nil:
		f.StringVar(&c.query.GroupBy, "group-by", "", "count by these `FIELDS`, with commas between them")
	case c.past != nil:
		f.StringVar(&c.query.GroupBy, "group-by", "",
			"with --since, add up by these `FIELDS`, with commas between them")
	}
	if c.grouped != nil || c.past != nil {
		if c.name != "loss" {
			f.StringVar(&c.query.Interval, "interval", "",
				"with --since, a record for each piece of this `DURATION`, such as 1m")
		}
		_ = cmd.RegisterFlagCompletionFunc("group-by", completeList(client.GroupFields(c.name)))
		_ = cmd.RegisterFlagCompletionFunc("interval", cobra.NoFileCompletions)
	}
	f.IntVar(&c.query.Limit, "top", c.query.Limit, "")
	_ = f.MarkDeprecated("top", "use --limit")
	if c.rows == "" {
		f.StringVar(&c.query.Order, "sort", "",
			"sort by this `FIELD`: numbers and times from the largest, texts from a; FIELD:asc and FIELD:desc say how")
		_ = cmd.RegisterFlagCompletionFunc("sort",
			func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
				names := c.orders
				if c.isPast() {
					names = client.OrderFields(c.name)
				} else if names == nil {
					names = orderNames[T]()
				}
				return names, cobra.ShellCompDirectiveNoFileComp
			})
	}
	if c.orders != nil {
		f.StringVar(&c.query.Order, "order", "", "")
		_ = f.MarkDeprecated("order", "use --sort")
	}
	_ = cmd.RegisterFlagCompletionFunc("filter",
		func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
			schema := c.name
			// whose records know no names of nodes
			if c.past != nil && c.isPast() || c.name == "bursts" && c.query.Since != "" {
				schema += ".records"
			}
			return c.server.completeFilter(schema)(cmd, args, word)
		})
	_ = cmd.RegisterFlagCompletionFunc("node", c.server.completeNodes())
	_ = cmd.RegisterFlagCompletionFunc("reason", c.server.completeReasons()) // an error where there is none
	_ = cmd.RegisterFlagCompletionFunc("since", cobra.NoFileCompletions)
	_ = cmd.RegisterFlagCompletionFunc("until", cobra.NoFileCompletions)
}

// addMoment adds the flags that ask for what there was in the past.
func (c *queryCommand[L, T]) addMoment(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Var((*timeFlag)(&c.query.At), "at", "what there was at this `TIME`, or so long ago: 2026-11-21T09:00:00Z, 10m")
	_ = cmd.RegisterFlagCompletionFunc("at", cobra.NoFileCompletions)
	if f.Lookup("since") == nil {
		f.Var((*timeFlag)(&c.query.Since), "since", "what there was after this `TIME`, or so long ago")
		f.Var((*timeFlag)(&c.query.Until), "until", "what there was before this `TIME`, or so long ago")
	}
}
