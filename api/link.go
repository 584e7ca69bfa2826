package api

import (
	"net/http"
	"net/url"
)

// link says in a header (RFC 8288) where the items are that follow: files have no room for next_cursor. Nothing is said at the end
// of the list. The address is that of the question with another query, so that it holds below any path.
func (a *answer) link(header http.Header, p *params) {
	for _, m := range a.more {
		next, _ := m.value.(string)
		if m.name != "next_cursor" || next == "" {
			continue
		}
		query := url.Values{}
		for name, values := range p.values {
			query[name] = values
		}
		query.Set("cursor", next)
		header.Set("Link", "<?"+query.Encode()+`>; rel="next"`)
	}
}
