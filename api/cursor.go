package api

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
)

// A cursor is a place in the answer to a question about a time range. It keeps the times: those that are relative mean
// something else when the items that follow are asked for.
type cursor struct {
	Since    time.Time `json:"since"`
	Until    time.Time `json:"until"`
	Offset   int       `json:"offset"`
	At       string    `json:"at,omitempty"` // of raw reports and events, instead of the offset: the last one
	Question string    `json:"question"`     // a digest of the list and the other parameters
}

// String is a cursor as clients see it, who must not look into it.
func (c *cursor) String() string {
	text, _ := json.Marshal(c)
	return base64.RawURLEncoding.EncodeToString(text)
}

// maxOffset bounds how far one can page: the store has to pass over all that lies before.
const maxOffset = 10_000_000

// cursor returns the place that the parameter cursor names, or the beginning of r.
func (p *params) cursor(r span) *cursor {
	c := &cursor{Since: r.since, Until: r.until, Question: p.question()}
	text, given := p.text("cursor")
	if !given {
		return c
	}
	var at cursor
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(raw, &at)
	}
	if err != nil || at.Offset < 0 || at.Offset > maxOffset || !at.Since.Before(at.Until) {
		p.reject("cursor", "next_cursor of an answer", "cursor is %.70q", text)
		return c
	}
	if at.Question != c.Question {
		p.reject("cursor", "next_cursor of an answer of the same list to the same question",
			"cursor is of another question, or of another list")
		return c
	}
	return &at
}

// question is a digest of the list and of what is asked, but for limit, format and cursor.
func (p *params) question() string {
	digest := sha256.New()
	digest.Write([]byte(p.path + "\x00"))
	for _, name := range slices.Sorted(maps.Keys(p.values)) {
		if name != "limit" && name != "format" && name != "cursor" {
			digest.Write([]byte(name + "\x00" + strings.Join(p.values[name], "\x00") + "\x00"))
		}
	}
	return base64.RawURLEncoding.EncodeToString(digest.Sum(nil)[:9])
}
