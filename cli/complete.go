package cli

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
)

// completeTime is how long a server may take to complete a command line: somebody waits with a finger on the key.
const completeTime = time.Second

// complete returns a completion that asks the server. Without a server, or log-in, there are no candidates.
func (s *serverFlags) complete(candidates func(ctx context.Context, c *client.Client, word string) ([]cobra.Completion,
	error),
) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		c, err := s.client()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmp.Or(cmd.Context(), context.Background()), completeTime)
		defer cancel()
		list, err := candidates(ctx, c, word)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		for i := range list {
			list[i] = printableCompletion(list[i])
		}
		return list, cobra.ShellCompDirectiveNoFileComp
	}
}

// printableCompletion keeps the tab before the description, and replaces what a terminal would act on.
func printableCompletion(c cobra.Completion) cobra.Completion {
	text, description, described := strings.Cut(c, "\t")
	if !described {
		return printable(text)
	}
	return cobra.CompletionWithDesc(printable(text), printable(description))
}

// completeNodes completes the name of a node, or its id if it has none.
func (s *serverFlags) completeNodes() cobra.CompletionFunc {
	return s.complete(func(ctx context.Context, c *client.Client, word string) ([]cobra.Completion, error) {
		nodes, err := client.Get[client.NodeList](ctx, c, "nodes", client.Query{Limit: followAll})
		if err != nil {
			return nil, err
		}
		var list []cobra.Completion
		for i := range nodes.Nodes {
			n := &nodes.Nodes[i]
			if text := nodeText(&n.ID, n.Name); strings.HasPrefix(text, word) {
				list = append(list, cobra.CompletionWithDesc(text, "node "+uintText(n.ID)))
			}
		}
		return list, nil
	})
}

// completeReasons completes the reason of a drop.
func (s *serverFlags) completeReasons() cobra.CompletionFunc {
	return s.complete(func(ctx context.Context, c *client.Client, word string) ([]cobra.Completion, error) {
		drops, err := client.Get[client.DropList](ctx, c, "drops", client.Query{Limit: followAll})
		if err != nil {
			return nil, err
		}
		var list []cobra.Completion
		told := map[string]bool{}
		for _, d := range drops.Drops {
			if strings.HasPrefix(d.ReasonName, word) && !told[d.ReasonName] {
				told[d.ReasonName] = true
				list = append(list, cobra.CompletionWithDesc(d.ReasonName, d.Meaning))
			}
		}
		return list, nil
	})
}

// completeList completes the last of names that have commas between them, with those that are not there yet.
func completeList(names []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		before := word[:strings.LastIndexByte(word, ',')+1]
		var list []cobra.Completion
		for _, name := range names {
			if !slices.Contains(strings.Split(before, ","), name) {
				list = append(list, before+name)
			}
		}
		return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace // a comma may follow
	}
}

// completeFilter completes the last word of a filter of a list. The shell is given the whole filter, since that is one
// word to it.
func (s *serverFlags) completeFilter(schema string) cobra.CompletionFunc {
	ask := s.complete(func(ctx context.Context, c *client.Client, word string) ([]cobra.Completion, error) {
		candidates, err := c.CompleteFilter(ctx, schema, word)
		if err != nil {
			return nil, err
		}
		var list []cobra.Completion
		for _, c := range candidates {
			if c.Start < 0 || c.Start > len(word) {
				continue // not about this word
			}
			list = append(list, cobra.CompletionWithDesc(word[:c.Start]+c.Text, c.Doc))
		}
		return list, nil
	})
	return func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		list, directive := ask(cmd, args, word)
		return list, directive | cobra.ShellCompDirectiveNoSpace // a filter goes on
	}
}

// completeFlows completes the id of a flow.
func (s *serverFlags) completeFlows() cobra.CompletionFunc {
	return s.complete(func(ctx context.Context, c *client.Client, word string) ([]cobra.Completion, error) {
		flows, err := client.Get[client.FlowList](ctx, c, "flows", client.Query{})
		if err != nil {
			return nil, err
		}
		var list []cobra.Completion
		for i := range flows.Flows {
			if f := &flows.Flows[i]; strings.HasPrefix(f.ID, word) {
				list = append(list, cobra.CompletionWithDesc(f.ID, endpointsText(&f.Endpoints)))
			}
		}
		return list, nil
	})
}
