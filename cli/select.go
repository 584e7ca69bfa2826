package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
)

// addSelection adds the flags that select and sort items, to lists that can be selected from. Lists with a flag of that name
// say better what it means for them.
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
		f.StringVar(&c.query.GroupBy, "group-by", "", "with --since, add up by these `FIELDS`, with commas between them")
	}
	if c.grouped != nil || c.past != nil {
		if c.name != "loss" {
			f.StringVar(&c.query.Interval, "interval", "", "with --since, a record for each piece of this `DURATION`, such as 1m")
		}
		_ = cmd.RegisterFlagCompletionFunc("group-by", completeList(client.GroupFields(c.name)))
		_ = cmd.RegisterFlagCompletionFunc("interval", cobra.NoFileCompletions)
	}
	f.StringVar(&c.sort, "sort", "", "sort by this `FIELD` of CSV: numbers and times from the largest, texts from a; FIELD:asc and FIELD:desc say how")
	f.IntVar(&c.top, "top", 0, "list the first `N` items only; with --sort of all")
	names := make([]string, len(c.fields))
	for i, field := range c.fields {
		names[i] = field.name
	}
	_ = cmd.RegisterFlagCompletionFunc("sort", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if c.isPast() {
			return client.OrderFields(c.name), cobra.ShellCompDirectiveNoFileComp
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	})
	_ = cmd.RegisterFlagCompletionFunc("filter", func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		schema := c.name
		if c.past != nil && c.isPast() || c.name == "bursts" && c.query.Since != "" { // whose records know no names of nodes
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
	f.StringVar(&c.query.At, "at", "", "what there was at this `TIME`, or so long ago: 2026-11-21T09:00:00Z, 10m")
	_ = cmd.RegisterFlagCompletionFunc("at", cobra.NoFileCompletions)
	if f.Lookup("since") == nil {
		f.StringVar(&c.query.Since, "since", "", "what there was after this `TIME`, or so long ago")
		f.StringVar(&c.query.Until, "until", "", "what there was before this `TIME`, or so long ago")
	}
}

// checkSelection says what is wrong with --sort and --top, and makes the limit what has to be asked for.
func (c *queryCommand[L, T]) checkSelection(limitGiven, topGiven bool) error {
	if c.top < 0 || c.top == 0 && topGiven {
		return fmt.Errorf("--top is %d; it must be at least 1", c.top)
	}
	if c.top > 0 {
		if limitGiven {
			return errors.New("--limit and --top do not go together")
		}
		c.query.Limit = c.top
	}
	c.show = c.query.Limit
	if c.sort == "" || c.isPast() {
		return nil
	}
	if c.follow {
		return errors.New("--sort and --follow do not go together")
	}
	if c.output == "json" {
		return errors.New("--sort does not go with -o json, which is what the server answers; -o ndjson can be sorted")
	}
	if _, _, err := c.sorting(); err != nil {
		return err
	}
	c.query.Limit = followAll
	return nil
}

// sorting returns the field of --sort, and its direction if one is given.
func (c *queryCommand[L, T]) sorting() (*csvField[T], string, error) {
	name, direction, given := strings.Cut(c.sort, ":")
	if given && direction != "asc" && direction != "desc" {
		return nil, "", fmt.Errorf("--sort is %q; behind the colon may be asc or desc", c.sort)
	}
	i := slices.IndexFunc(c.fields, func(f csvField[T]) bool { return f.name == name })
	if i < 0 {
		names := make([]string, len(c.fields))
		for i, f := range c.fields {
			names[i] = f.name
		}
		return nil, "", fmt.Errorf("--sort is %q; allowed: %s", name, strings.Join(names, ", "))
	}
	return &c.fields[i], direction, nil
}

// sorted returns the items in the order of --sort, and no more than are to be shown. What is not known comes last.
func (c *queryCommand[L, T]) sorted(items []T) []T {
	if c.sort != "" {
		field, direction, _ := c.sorting() // checked before
		type keyed struct {
			item T
			key  sortKey
		}
		all := make([]keyed, len(items))
		texts := false
		for i := range items {
			all[i] = keyed{items[i], newSortKey(field.text(&items[i]))}
			texts = texts || all[i].key.kind == sortText
		}
		for i := range all {
			if texts && all[i].key.kind != sortNothing { // a name or an id may look like a number
				all[i].key = sortKey{text: all[i].key.text, kind: sortText}
			}
		}
		slices.SortStableFunc(all, func(a, b keyed) int { return a.key.compare(&b.key, direction) })
		items = make([]T, len(all))
		for i := range all {
			items[i] = all[i].item
		}
	}
	return items[:min(len(items), c.show)]
}

// A sortKey is what a field says, as a number or a time if it is one.
type sortKey struct {
	text   string
	number float64
	at     time.Time
	kind   sortKind
}

type sortKind uint8

const (
	sortNumber sortKind = iota
	sortTime
	sortText
	sortNothing
)

func newSortKey(text string) sortKey {
	k := sortKey{text: text, kind: sortText}
	if text == "" {
		k.kind = sortNothing
	} else if n, err := strconv.ParseFloat(text, 64); err == nil {
		k.number, k.kind = n, sortNumber
	} else if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		k.at, k.kind = at, sortTime
	}
	return k
}

func (k *sortKey) compare(o *sortKey, direction string) int {
	if k.kind != o.kind || k.kind == sortNothing {
		return cmp.Compare(k.kind, o.kind)
	}
	order := cmp.Or(cmp.Compare(k.number, o.number), k.at.Compare(o.at), cmp.Compare(k.text, o.text)) // of equal numbers the texts are equal, or nearly
	if direction == "desc" || direction == "" && k.kind != sortText {
		return -order
	}
	return order
}
