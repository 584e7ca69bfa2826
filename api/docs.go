package api

import (
	"io/fs"
	"net/http"
	"strings"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/docs"
)

// docsPath is where the files of the documentation are: its pictures, and its pages as they are written.
const docsPath = "/docs/"

// docsIndex answers GET /api/v1/docs.
func (h *handler) docsIndex(w http.ResponseWriter, _ *http.Request, p *params) {
	if problem := p.problem(); problem != nil {
		problem.Write(w)
		return
	}
	all, err := docs.All()
	if err != nil {
		types.NewProblem(http.StatusInternalServerError, "the documentation cannot be read: %v", err).Write(w)
		return
	}
	answer := types.DocIndex{Version: h.cfg.Version, Pages: make([]types.DocLink, len(all))}
	for i := range all {
		answer.Pages[i] = types.DocLink{Page: all[i].Path, Title: all[i].Title}
	}
	writeDocs(w, answer)
}

// docsPage answers GET /api/v1/docs/page.
func (h *handler) docsPage(w http.ResponseWriter, _ *http.Request, p *params) {
	name, given := p.text("page")
	if !given {
		name = docs.Home
	}
	if problem := p.problem(); problem != nil {
		problem.Write(w)
		return
	}
	page, ok := docs.Find(name)
	if !ok {
		types.NewProblem(http.StatusNotFound, "the documentation has no page %.100q", name).Write(w)
		return
	}
	answer := types.DocPage{Page: page.Path, Title: page.Title, HTML: page.HTML, Headings: []types.DocLink{}}
	for _, s := range page.Sections {
		answer.Headings = append(answer.Headings,
			types.DocLink{Page: page.Path, Title: page.Title, Anchor: s.Anchor, Heading: s.Heading})
	}
	writeDocs(w, answer)
}

// docsSearch answers GET /api/v1/docs/search.
func (h *handler) docsSearch(w http.ResponseWriter, _ *http.Request, p *params) {
	limit, words := p.limit(), p.given("words")
	if problem := p.problem(); problem != nil {
		problem.Write(w)
		return
	}
	hits, err := docs.Search(words, limit)
	if err != nil {
		types.NewProblem(http.StatusInternalServerError, "the documentation cannot be read: %v", err).Write(w)
		return
	}
	answer := types.DocHits{Hits: make([]types.DocLink, len(hits))}
	for i, hit := range hits {
		answer.Hits[i] = types.DocLink{
			Page: hit.Page.Path, Title: hit.Page.Title, Anchor: hit.Section.Anchor,
			Heading: hit.Section.Heading, Excerpt: hit.Excerpt,
		}
	}
	writeDocs(w, answer)
}

// writeDocs writes an answer that is the same until the server is another version.
func writeDocs(w http.ResponseWriter, v any) {
	w.Header().Set("Cache-Control", "private, max-age=60")
	writeAnswer(w, v)
}

// serveDocs serves files of the documentation. Its root leads to its pages in the console, without an absolute path:
// this handler does not know below which it is.
func (h *handler) serveDocs(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, docsPath)
	if name == "" {
		w.Header().Set("Location", "../#/docs")
		w.WriteHeader(http.StatusFound)
		return
	}
	if info, err := fs.Stat(docs.Files(), name); err != nil || info.IsDir() {
		types.NewProblem(http.StatusNotFound, "the documentation has no file %.100q", name).Write(w)
		return
	}
	r.Header.Del("Range") // as in serveConsole
	w.Header().Set("Cache-Control", "no-cache")
	if strings.HasSuffix(name, ".md") {
		w.Header().Set("Content-Type", "text/markdown; charset=utf-8")
	}
	http.ServeFileFS(w, r, docs.Files(), name)
}
