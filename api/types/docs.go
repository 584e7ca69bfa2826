package types

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
