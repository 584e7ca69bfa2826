package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/api/encode"
	"github.com/waybill-int/waybill/internal/command"
)

const (
	// followEvery is the time between two questions of --follow.
	followEvery = time.Second
	// followAll is how many items it asks for: the most that a server lists, which is more than it keeps of events.
	followAll = 10000
)

// followOn prints the latest items, the oldest first, and then what is new, until ctx is done or somebody interrupts.
func (c *queryCommand[L, T]) followOn(ctx context.Context) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	c.view.grows, c.view.alone = true, true
	ticker := time.NewTicker(followEvery)
	defer ticker.Stop()
	most, query := c.query.Limit, c.query
	query.Limit = followAll
	printed := map[string]bool{}
	said := ""
	for first := true; ; first = false {
		news, err := c.news(ctx, query, printed)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && first:
			return c.explain(err)
		case err != nil: // a server that restarts is no reason to stop
			if text := c.explain(err).Error(); text != said {
				fmt.Fprintln(c.stderr, text)
				said = text
			}
		default:
			said = ""
			if first {
				news = news[max(0, len(news)-most):]
			}
			if err := c.printNews(news); err != nil {
				return command.Quiet(err)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// news asks for all items and returns those in a state that was not printed before, the oldest first. It makes printed
// the states of now.
func (c *queryCommand[L, T]) news(ctx context.Context, query client.Query, printed map[string]bool) ([]T, error) {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	items, err := c.all(ctx, query)
	if err != nil {
		return nil, err
	}
	var news []T
	now := map[string]bool{}
	for i := range items {
		state := c.state(&items[i])
		now[state] = true
		if !printed[state] {
			news = append(news, items[i])
		}
	}
	clear(printed)
	maps.Copy(printed, now)
	return c.oldestFirst(news), nil
}

// all asks for all items, and says once if a server does not list so many.
func (c *queryCommand[L, T]) all(ctx context.Context, query client.Query) ([]T, error) {
	list, err := c.get(ctx, c.client, query)
	if err != nil {
		return nil, err
	}
	head, items := c.open(list)
	if head.Total > len(items) && !c.cut {
		fmt.Fprintf(c.stderr,
			"%d of %d %s are followed, since no server lists more; a flag that selects some of them makes it all\n",
			len(items), head.Total, cmp.Or(c.items, c.name))
		c.cut = true
	}
	return items, nil
}

// oldestFirst turns round items that are in the order of a list.
func (c *queryCommand[L, T]) oldestFirst(items []T) []T {
	slices.Reverse(items)
	if c.first != nil {
		slices.SortStableFunc(items, func(a, b T) int { return c.first(&a).Compare(c.first(&b)) })
	}
	return items
}

// printNews writes items below those that were written before.
func (c *queryCommand[L, T]) printNews(items []T) error {
	if len(items) == 0 {
		return nil
	}
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	switch c.output {
	case "json", "ndjson":
		if err := writeLines(w, c.object, items); err != nil {
			return err
		}
	case "csv":
		if err := encode.CSV(w, rowsOf(c.name, items), !c.again); err != nil {
			return err
		}
	default:
		writeTable(w, &c.view, c.shown, items)
	}
	c.again = true
	w.Flush()
	_, err := c.stdout.Write(b.Bytes())
	return err
}
