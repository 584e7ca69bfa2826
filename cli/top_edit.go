package cli

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/filter"
)

// A topEdit is a filter that is being typed.
type topEdit struct {
	text       []rune
	at         int // where the next character goes
	candidates []filter.Candidate
}

func newTopEdit(text string) *topEdit {
	e := &topEdit{text: []rune(text)}
	e.at = len(e.text)
	return e
}

func (e *topEdit) insert(text string) {
	runes := []rune(text)
	e.text = slices.Insert(e.text, e.at, runes...)
	e.at += len(runes)
}

// remove takes the characters from one place to another away.
func (e *topEdit) remove(from, to int) {
	from, to = max(from, 0), min(to, len(e.text))
	e.text = slices.Delete(e.text, from, max(from, to))
	e.at = min(from, len(e.text))
}

// key does what a key says. They are those of a shell.
func (e *topEdit) key(key tea.KeyPressMsg) {
	e.candidates = nil
	switch key.String() {
	case "left", "ctrl+b":
		e.at = max(e.at-1, 0)
	case "right", "ctrl+f":
		e.at = min(e.at+1, len(e.text))
	case "home", "ctrl+a":
		e.at = 0
	case "end", "ctrl+e":
		e.at = len(e.text)
	case "backspace":
		if e.at > 0 {
			e.remove(e.at-1, e.at)
		}
	case "delete", "ctrl+d":
		e.remove(e.at, e.at+1)
	case "ctrl+u":
		e.remove(0, e.at)
	case "ctrl+k":
		e.remove(e.at, len(e.text))
	case "ctrl+w":
		text := strings.TrimRight(string(e.text[:e.at]), " ")
		e.remove(len([]rune(text[:strings.LastIndexByte(text, ' ')+1])), e.at)
	default:
		e.insert(key.Text) // none of a key that is no character
	}
}

// topCandidates are what may stand at the end of a text.
type topCandidates struct {
	text       string
	candidates []filter.Candidate
}

// completed asks what may stand at the end of a text. Without an answer nothing is completed.
func completed(ctx context.Context, c *client.Client, list, text string) tea.Msg {
	ctx, cancel := context.WithTimeout(ctx, completeTime)
	defer cancel()
	candidates, err := c.CompleteFilter(ctx, list, text)
	if err != nil {
		return topCandidates{text: text}
	}
	return topCandidates{text, candidates}
}

// take completes the text in front of the cursor if there is one candidate, and shows several. It is too late if the
// text is another one by now.
func (e *topEdit) take(c topCandidates) {
	if e == nil || string(e.text[:e.at]) != c.text {
		return
	}
	e.candidates = c.candidates
	if len(c.candidates) != 1 {
		return
	}
	one := c.candidates[0]
	if one.Start < 0 || one.Start > len(c.text) {
		return
	}
	before := c.text[:one.Start] + one.Text
	e.text = append([]rune(before), e.text[e.at:]...)
	e.at, e.candidates = len([]rune(before)), nil
}
