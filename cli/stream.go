package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/internal/command"
)

// A live list is one of which a server tells by itself what changes.
type live[T any] struct {
	open  func(*client.Client, context.Context, client.Query, client.Stream[T]) error
	id    func(*T) string
	wants func(*client.Query, *T) bool // what the stream cannot select by itself; nil: it can
}

// missedEvery is how often --follow says at most that items are missing.
const missedEvery = 10 * time.Second

// A follower prints what a stream tells. The list is asked for whenever the stream opens: before it begins there was
// something too, and a server that restarted knows more than what goes on.
type follower[L, T any] struct {
	*queryCommand[L, T]
	ctx  context.Context
	stop context.CancelFunc
	err  error // why it ended

	// told is what was printed last of an item by its id, before is the same of items of earlier. Both are bounded.
	told, before map[string]string
	opened       bool
	said         string // why the stream is away
	missed       uint64
	missedSaid   time.Time
}

// followStream prints the latest items, the oldest first, and then what the server tells, until ctx is done or somebody
// interrupts.
func (c *queryCommand[L, T]) followStream(ctx context.Context) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	c.view.grows = true
	f := follower[L, T]{queryCommand: c, ctx: ctx, stop: stop, told: map[string]string{}}
	query := c.query
	query.Limit, query.Order = 0, ""
	err := c.live.open(c.client, ctx, query, client.Stream[T]{Item: f.item, Lost: f.lost, Open: f.open, Away: f.away})
	f.sayMissed()
	switch {
	case f.err != nil:
		return command.Quiet(f.err)
	case ctx.Err() != nil || errors.Is(err, syscall.EPIPE):
		return nil
	}
	return c.explain(err)
}

// open prints what is in the list and was not printed. At first that is no more than --limit.
func (f *follower[L, T]) open() {
	query := f.query
	query.Limit = followAll
	ctx, cancel := context.WithTimeout(f.ctx, queryTimeout)
	defer cancel()
	items, err := f.all(ctx, query)
	switch {
	case err != nil && !f.opened:
		f.end(f.explain(err))
		return
	case err != nil: // the stream is there
		fmt.Fprintln(f.stderr, f.explain(err))
		return
	}
	if f.said != "" {
		fmt.Fprintf(f.stderr, "%s are followed again\n", cmp.Or(f.items, f.name))
		f.said = ""
	}
	var news []T
	for i := range items {
		if f.isNews(&items[i]) {
			news = append(news, items[i])
		}
	}
	news = f.oldestFirst(news)
	if !f.opened {
		f.opened = true
		news = news[max(0, len(news)-f.query.Limit):]
	}
	if err := f.printNews(news); err != nil {
		f.end(err)
	}
}

// item prints an item that the stream tells of, unless it says what was said.
func (f *follower[L, T]) item(item *T) error {
	if f.err != nil || f.live.wants != nil && !f.live.wants(&f.query, item) || !f.isNews(item) {
		return f.err
	}
	return f.printNews([]T{*item})
}

// isNews reports whether nothing was printed of an item in the state that it is in, and remembers that state.
func (f *follower[L, T]) isNews(item *T) bool {
	id, state := f.live.id(item), f.state(item)
	last, known := f.told[id]
	if !known {
		last, known = f.before[id]
	}
	if known && last == state {
		return false
	}
	if len(f.told) >= followAll {
		f.told, f.before = map[string]string{}, f.told
	}
	f.told[id] = state
	return true
}

// lost counts what the server did not send.
func (f *follower[L, T]) lost(n uint64) {
	f.missed += n
	if time.Since(f.missedSaid) >= missedEvery {
		f.sayMissed()
	}
}

// sayMissed says how many items are missing, if that was not said.
func (f *follower[L, T]) sayMissed() {
	if f.missed > 0 {
		fmt.Fprintf(f.stderr, "%d %s are missing here: the server did not send them\n", f.missed,
			cmp.Or(f.items, f.name))
		f.missed, f.missedSaid = 0, time.Now()
	}
}

// away says once why the stream broke. One that was never there is an error.
func (f *follower[L, T]) away(err error) {
	if !f.opened {
		f.end(f.explain(err))
		return
	}
	if text := "the stream broke: " + f.explain(err).Error(); text != f.said && f.ctx.Err() == nil {
		fmt.Fprintln(f.stderr, text)
		f.said = text
	}
}

// end ends following with an error.
func (f *follower[L, T]) end(err error) {
	if f.err == nil && f.ctx.Err() == nil {
		f.err = err
	}
	f.stop()
}
