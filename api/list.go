package api

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"

	"github.com/waybill-int/waybill/api/encode"
	"github.com/waybill-int/waybill/api/types"
)

// answer is a list to be written.
type answer struct {
	rows  *encode.Rows
	total int
	more  []encode.Member
	next  string // cursor of the items that follow
	past  bool   // of a time range, from the store
}

// newAnswer returns the answer that lists items of total that match.
func newAnswer[T any](name string, items []T, total int) answer {
	return answer{
		rows:  encode.Items(name, reflect.TypeFor[T](), len(items), func(i int) any { return &items[i] }),
		total: total,
	}
}

// spanning says in which time range the items of a past answer are.
func (a answer) spanning(r span) answer {
	a.past = true
	a.more = append([]encode.Member{{Name: "since", Value: r.since.UTC()}, {Name: "until", Value: r.until.UTC()}},
		a.more...)
	return a
}

// members returns what the answer has beside its items.
func (a *answer) members() []encode.Member {
	members := append([]encode.Member{{Name: "total", Value: a.total}}, a.more...)
	if a.next != "" {
		members = append(members, encode.Member{Name: "next_cursor", Value: a.next})
	}
	return members
}

// find finds what p asks for: in the store, if a time range is given and it has such records.
func (h *handler) find(ctx context.Context, p *params) (answer, *types.Problem) {
	if _, kept := h.views().histories[p.list]; kept && p.isRange() {
		a, problem := h.past(ctx, p)
		if problem == nil {
			h.fillNames(a.rows)
		}
		return a, problem
	}
	p.stop = ctx.Done()
	a, problem := p.operation.find(h, ctx, p)
	if problem == nil && a.rows != nil {
		h.fillNames(a.rows)
	}
	if problem == nil && ctx.Err() != nil {
		return a, types.NewProblem(http.StatusServiceUnavailable, "the list took longer than %v; select less of it",
			queryTime)
	}
	return a, problem
}

// serveList answers with a list.
func (h *handler) serveList(w http.ResponseWriter, r *http.Request, p *params) {
	format := p.format(r.Header)
	gather := h.lists
	if asksPast(p) {
		gather = h.pasts
	}
	var a answer
	var problem *types.Problem
	var now time.Time
	// It is left before writing: a client that reads slowly must not keep others from asking.
	if !gather.during(r.Context(), func() {
		now = h.cfg.Now().UTC()
		ctx, cancel := context.WithTimeout(r.Context(), queryTime)
		defer cancel()
		a, problem = h.find(ctx, p)
		if problem == nil && !a.past {
			a.more = append([]encode.Member{{Name: "completeness", Value: h.cfg.Collector.Completeness()}}, a.more...)
		}
	}) {
		return
	}
	if problem != nil {
		problem.Write(w)
		return
	}
	w.Header().Set("Content-Type", format.Media)
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
	var err error
	if format.Write == nil {
		err = encode.List(w, append([]encode.Member{{Name: "generated_at", Value: now}}, a.members()...), a.rows)
	} else {
		err = format.Write(w, a.rows)
	}
	if err != nil {
		h.cfg.Logger.Debug("answer not delivered", "path", r.URL.Path, "error", err)
	}
}

// link says in a header (RFC 8288) where the items are that follow: files have no room for next_cursor. Nothing is said
// at the end of the list. The address is that of the question with another query, so that it holds below any path.
func (a *answer) link(header http.Header, p *params) {
	if a.next == "" {
		return
	}
	query := url.Values{}
	for name, values := range p.values {
		query[name] = values
	}
	query.Set("cursor", a.next)
	header.Set("Link", "<?"+query.Encode()+`>; rel="next"`)
}

// etag returns a weak entity tag (RFC 9110 §8.8.3) of an answer in a format. It is the same as long as the store knows
// the same; generated_at is no part of it.
func (a *answer) etag(f *encode.Format) (string, error) {
	digest := sha256.New()
	digest.Write([]byte(f.Name))
	if err := encode.List(digest, a.members(), a.rows); err != nil {
		return "", err
	}
	return `W/"` + base64.RawURLEncoding.EncodeToString(digest.Sum(nil)[:15]) + `"`, nil
}

// matches reports whether If-None-Match (RFC 9110 §13.1.2) has a tag.
func matches(r *http.Request, tag string) bool {
	for _, value := range r.Header.Values("If-None-Match") {
		for element := range strings.SplitSeq(value, ",") {
			element = strings.TrimSpace(element)
			if element == "*" || strings.TrimPrefix(element, "W/") == strings.TrimPrefix(tag, "W/") {
				return true
			}
		}
	}
	return false
}
