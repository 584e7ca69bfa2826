package docs

import (
	"cmp"
	"slices"
	"strings"
)

// A Hit is a section in which all words of a search are.
type Hit struct {
	Page    *Page
	Section *Section
	Excerpt string // around the first word that is found, about 160 bytes

	score int
}

// Search returns the sections in which all words are, in any case and also as parts of others, those first that are
// most about them; at most limit.
func Search(words string, limit int) ([]Hit, error) {
	all, err := All()
	terms := strings.Fields(strings.ToLower(words))
	if err != nil || len(terms) == 0 {
		return nil, err
	}
	var hits []Hit
	for i := range all {
		page := &all[i]
		title := strings.ToLower(page.Title)
		for j := range page.Sections {
			section := &page.Sections[j]
			if score := section.score(terms, title); score > 0 {
				hits = append(hits, Hit{Page: page, Section: section, score: score})
			}
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(b.score, a.score) })
	hits = hits[:min(limit, len(hits))]
	for i := range hits {
		hits[i].Excerpt = excerpt(hits[i].Section.Text, terms)
	}
	return hits, nil
}

// score says how much a section is about words: one in its heading or the title of the page counts for more than one in
// the text, and many in the text for little more than one. 0: one of them is not there.
func (s *Section) score(terms []string, title string) int {
	heading, body := strings.ToLower(s.Heading), strings.ToLower(s.Text)
	score := 0
	for _, term := range terms {
		n := min(strings.Count(body, term), 5)
		if strings.Contains(heading, term) {
			n += 20
		}
		if n > 0 && strings.Contains(title, term) {
			n += 10
		}
		if n == 0 {
			return 0
		}
		score += n
	}
	return score
}

// excerpt cuts out what stands around the first of the terms.
func excerpt(body string, terms []string) string {
	const before, after = 50, 110
	at := -1
	lower := strings.ToLower(body)
	if len(lower) != len(body) { // a letter whose lower case is longer: the places do not match
		lower = body
	}
	for _, term := range terms {
		if i := strings.Index(lower, term); i >= 0 && (at < 0 || i < at) {
			at = i
		}
	}
	from, to := max(0, at-before), min(len(body), max(0, at)+after)
	cut := strings.ToValidUTF8(body[from:to], "")
	if from > 0 {
		_, cut, _ = strings.Cut(cut, " ") // a part of a word
		cut = "… " + cut
	}
	if to < len(body) {
		if i := strings.LastIndexByte(cut, ' '); i > 0 {
			cut = cut[:i]
		}
		cut += " …"
	}
	return cut
}
