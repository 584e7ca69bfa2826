package api

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"time"

	"github.com/waybill-int/waybill/api/types"
)

// answer is a list to be written.
type answer struct {
	name  string // of the resource
	total int
	count int
	item  func(i int) any
	kind  reflect.Type // of the items
	more  []member
	past  bool // of a time range, from the store
}

// A member is what an answer says beside its list.
type member struct {
	name  string
	value any
}

// listOf returns the answer that lists items, which are all that match, up to limit.
func listOf[T any](name string, items []T, limit int) answer {
	return listOfTotal(name, items[:min(limit, len(items))], len(items))
}

// listOfTotal returns the answer that lists items of total that match.
func listOfTotal[T any](name string, items []T, total int) answer {
	return answer{name: name, total: total, count: len(items), kind: reflect.TypeFor[T](), item: func(i int) any { return &items[i] }}
}

// A resource finds what a query asks for. It must not look for anything before it knows that the query has no problem.
type resource func(p *params) (answer, *types.Problem)

// A finder is a resource that may take long, which it does not when ctx is done.
type finder func(ctx context.Context, p *params) (answer, *types.Problem)

// timed returns what finds a resource: in the store, if a time range is given and it has such records.
func (h *handler) timed(name string, find resource) finder {
	y, kept := h.histories[name]
	return func(ctx context.Context, p *params) (answer, *types.Problem) {
		if kept && (p.values.Has("since") || p.values.Has("until")) {
			return h.past(ctx, name, p)
		}
		if kept {
			p.asked["since"], p.asked["until"] = true, true
			for _, of := range []string{"group_by", "interval"} {
				if y.record == nil {
					continue
				}
				p.knows(of)
				if p.values.Has(of) {
					p.reject(of, "together with since", "%s is about a time range, which since begins", of)
				}
			}
		}
		p.stop = ctx.Done()
		a, problem := find(p)
		if problem == nil && ctx.Err() != nil {
			return a, types.NewProblem(http.StatusServiceUnavailable, "the list took longer than %v; select less of it", queryTime)
		}
		return a, problem
	}
}

// list returns the handler of a resource.
func (h *handler) list(find finder) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		p := newParams(r.URL.RawQuery)
		p.list = r.URL.Path
		format := p.format(r.Header)
		places := h.lists
		if asksPast(p) {
			places = h.pasts
		}
		var a answer
		var problem *types.Problem
		var now time.Time
		// The place is left before writing: a client that reads slowly must not keep others from asking.
		if !places.during(r.Context(), func() {
			now = h.cfg.Now().UTC()
			ctx, cancel := context.WithTimeout(r.Context(), queryTime)
			defer cancel()
			a, problem = find(ctx, p)
			if problem == nil && !a.past {
				a.more = append([]member{{"completeness", h.cfg.Collector.Completeness()}}, a.more...)
			}
		}) {
			return
		}
		if problem != nil {
			problem.Write(w)
			return
		}
		w.Header().Set("Content-Type", format.media)
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Add("Vary", "Accept")
		a.link(w.Header(), p)
		if a.past {
			tag, err := a.etag(format)
			if err == nil {
				w.Header().Set("ETag", tag)
				w.Header().Set("Cache-Control", "private, no-cache") // to be kept, and asked for again with the tag
			}
			if err == nil && matches(r, tag) {
				w.Header().Del("Content-Type")
				w.WriteHeader(http.StatusNotModified)
				return
			}
		}
		body, end := h.compress(w, r)
		err := format.write(&a, body, now)
		if err == nil {
			err = end()
		}
		if err != nil {
			h.cfg.Logger.Debug("answer not delivered", "path", r.URL.Path, "error", err)
		}
	}
}

// write encodes item by item, each on a line of its own, so that no list is held in memory twice.
func (a *answer) write(to io.Writer, now time.Time) error {
	w := bufio.NewWriterSize(to, 32<<10)
	encoder := json.NewEncoder(w)
	fmt.Fprintf(w, "{\"generated_at\":%q,\"total\":%d,", now.Format(time.RFC3339Nano), a.total)
	for _, m := range a.more {
		fmt.Fprintf(w, "%q:", m.name)
		if err := encoder.Encode(m.value); err != nil {
			return err
		}
		w.WriteByte(',')
	}
	fmt.Fprintf(w, "%q:[\n", a.name)
	for i := range a.count {
		if i > 0 {
			w.WriteByte(',')
		}
		if err := encoder.Encode(a.item(i)); err != nil {
			return err
		}
	}
	w.WriteString("]}\n")
	return w.Flush() // returns the first error of all writes
}
