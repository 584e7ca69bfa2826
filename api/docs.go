package api

import (
	"encoding/json"
	"io/fs"
	"net/http"
	"strings"

	"github.com/waybill-int/waybill/docs"
)

// docsPath is where the files of the documentation are: its pictures, and its pages as they are written.
const docsPath = "/docs/"

// A DocIndex answers GET /api/v1/docs.
type DocIndex struct {
	Version string    `json:"version"`
	Pages   []DocLink `json:"pages"` // in the order in which one reads them
}

// A DocLink leads to a page of the documentation, or to a section of one.
type DocLink struct {
	Page    string `json:"page"`
	Title   string `json:"title"`
	Anchor  string `json:"anchor,omitempty"`
	Heading string `json:"heading,omitempty"`
	Excerpt string `json:"excerpt,omitempty"`
}

// A DocPage answers GET /api/v1/docs/page.
type DocPage struct {
	Page     string    `json:"page"`
	Title    string    `json:"title"`
	HTML     string    `json:"html"`     // without scripts, styles and raw HTML; links are for the console
	Headings []DocLink `json:"headings"` // anchors in it
}

// DocHits answer GET /api/v1/docs/search.
type DocHits struct {
	Hits []DocLink `json:"hits"` // the best first
}

// docsIndex answers GET /api/v1/docs.
func (h *handler) docsIndex(w http.ResponseWriter, r *http.Request) {
	if problem := newParams(r.URL.RawQuery).problem(); problem != nil {
		problem.write(w)
		return
	}
	all, err := docs.All()
	if err != nil {
		newProblem(http.StatusInternalServerError, "the documentation cannot be read: %v", err).write(w)
		return
	}
	answer := DocIndex{Version: h.cfg.Version, Pages: make([]DocLink, len(all))}
	for i := range all {
		answer.Pages[i] = DocLink{Page: all[i].Path, Title: all[i].Title}
	}
	h.writeDocs(w, r, answer)
}

// docsPage answers GET /api/v1/docs/page.
func (h *handler) docsPage(w http.ResponseWriter, r *http.Request) {
	p := newParams(r.URL.RawQuery)
	name, given := p.text("page")
	if !given {
		name = docs.Home
	}
	if problem := p.problem(); problem != nil {
		problem.write(w)
		return
	}
	page, ok := docs.Find(name)
	if !ok {
		newProblem(http.StatusNotFound, "the documentation has no page %.100q", name).write(w)
		return
	}
	answer := DocPage{Page: page.Path, Title: page.Title, HTML: page.HTML, Headings: []DocLink{}}
	for _, s := range page.Sections {
		answer.Headings = append(answer.Headings, DocLink{Page: page.Path, Title: page.Title, Anchor: s.Anchor, Heading: s.Heading})
	}
	h.writeDocs(w, r, answer)
}

// docsSearch answers GET /api/v1/docs/search.
func (h *handler) docsSearch(w http.ResponseWriter, r *http.Request) {
	p := newParams(r.URL.RawQuery)
	limit := p.limit()
	words, given := p.text("words")
	if !given {
		p.reject("words", "words of which a section has all", "words is missing")
	}
	if problem := p.problem(); problem != nil {
		problem.write(w)
		return
	}
	hits, err := docs.Search(words, limit)
	if err != nil {
		newProblem(http.StatusInternalServerError, "the documentation cannot be read: %v", err).write(w)
		return
	}
	answer := DocHits{Hits: make([]DocLink, len(hits))}
	for i, hit := range hits {
		answer.Hits[i] = DocLink{Page: hit.Page.Path, Title: hit.Page.Title, Anchor: hit.Section.Anchor, Heading: hit.Section.Heading, Excerpt: hit.Excerpt}
	}
	h.writeDocs(w, r, answer)
}

// writeDocs writes an answer that is the same until the server is another version.
func (h *handler) writeDocs(w http.ResponseWriter, r *http.Request, v any) {
	w.Header().Set("Content-Type", mediaJSON)
	w.Header().Set("Cache-Control", "private, max-age=60")
	body, end := h.compress(w, r)
	if err := json.NewEncoder(body).Encode(v); err == nil {
		_ = end() // an error means that who asked is gone
	}
}

// serveDocs serves files of the documentation. Its root leads to its pages in the console, without an absolute path: this
// handler does not know below which it is.
func (h *handler) serveDocs(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, docsPath)
	if name == "" {
		w.Header().Set("Location", "../#/docs")
		w.WriteHeader(http.StatusFound)
		return
	}
	if info, err := fs.Stat(docs.Files(), name); err != nil || info.IsDir() {
		newProblem(http.StatusNotFound, "the documentation has no file %.100q", name).write(w)
		return
	}
	r.Header.Del("Range") // as in serveConsole
	w.Header().Set("Cache-Control", "no-cache")
	if strings.HasSuffix(name, ".md") {
		w.Header().Set("Content-Type", "text/markdown; charset=utf-8")
	}
	http.ServeFileFS(w, r, docs.Files(), name)
}
