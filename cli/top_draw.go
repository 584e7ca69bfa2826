package cli

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// What is not the list takes these lines of the screen: three above it, and its titles; two below it.
const topAround = 6

// room returns how many lines a list or a page has.
func (t *top) room() int { return max(t.lines-topAround, 1) }

// View draws the screen.
func (t *top) View() tea.View {
	lines := []string{t.title(), t.tabs(), t.chosen()}
	if t.edit != nil {
		lines = append(lines, t.hint())
	}
	switch {
	case t.help:
		lines = append(lines, "")
		for _, k := range topKeys {
			lines = append(lines, fmt.Sprintf("  %s  %s", t.bold(fmt.Sprintf("%-40s", k[0])), k[1]))
		}
	case len(t.pages) > 0:
		lines = append(lines, t.page()...)
	default:
		lines = append(lines, t.table()...)
	}
	for len(lines) < t.lines-2 {
		lines = append(lines, "")
	}
	lines = append(lines[:max(t.lines-2, 0)], t.status(), t.keys())
	v := tea.NewView(strings.Join(lines, "\n"))
	v.AltScreen = true
	if t.edit != nil {
		v.Cursor = tea.NewCursor(width(filterPrompt)+width(string(t.edit.text[:t.edit.at])), 2)
	}
	return v
}

func (t *top) bold(text string) string { return Cell{text, bold}.colored(&t.view) }

// title says which server it is, when it answered, and on how many of the reports that rests.
func (t *top) title() string {
	text := t.bold("waybill top") + "  " + printable(t.client.URL())
	if !t.answered.IsZero() {
		text += "  " + t.answered.Format(time.TimeOnly)
	}
	if t.paused {
		text += "  " + Cell{"paused", yellow}.colored(&t.view)
	}
	if t.list != nil {
		if lost := incomplete(t.list.head.Completeness); lost != "" {
			text += "  " + Cell{lost, yellow}.colored(&t.view)
		}
	}
	return text
}

// tabs are the names of the views; the one that is shown is in brackets, for terminals without colours.
func (t *top) tabs() string {
	var b strings.Builder
	for i, v := range t.views {
		text := fmt.Sprintf(" %d %s ", i+1, v.name)
		if i == t.at {
			text = t.bold(fmt.Sprintf("[%d %s]", i+1, v.name))
		}
		b.WriteString(text)
	}
	return b.String()
}

const filterPrompt = "filter: "

// chosen is the filter and the number of items, or the title of a page.
func (t *top) chosen() string {
	switch {
	case t.edit != nil:
		return filterPrompt + printable(string(t.edit.text))
	case len(t.pages) > 0:
		return t.bold(printable(t.pages[len(t.pages)-1].title))
	}
	text := ""
	if t.list != nil {
		text = fmt.Sprintf("%d %s", t.list.head.Total, t.views[t.at].name)
		if n := len(t.list.rows); n < t.list.head.Total {
			text = fmt.Sprintf("the first %d of %s", n, text)
		}
	}
	if f := t.state().filter; f != "" {
		text += "  " + filterPrompt + printable(f)
	}
	return text
}

// hint says, below a filter that is being typed, what is wrong with it and where, or what may stand there.
func (t *top) hint() string {
	switch {
	case t.wrong != nil:
		at := strings.Repeat(" ", width(filterPrompt)+max(t.wrong.Column-1, 0))
		return Cell{at + "^ " + printable(t.wrong.Error()), red}.colored(&t.view)
	case len(t.edit.candidates) > 1:
		var names []string
		for _, c := range t.edit.candidates {
			names = append(names, printable(c.Text))
		}
		return strings.Join(names, "  ")
	}
	return ""
}

// status says why there is no answer, else what happened last, whatever is on the screen.
func (t *top) status() string {
	if t.failed == nil || t.wrong != nil {
		return t.event()
	}
	text := explain(t.client, t.failed).Error()
	if !t.answered.IsZero() {
		text += fmt.Sprintf("; it answered last at %s, and is asked again every %v", t.answered.Format(time.TimeOnly),
			t.every)
	}
	return Cell{printable(text), red}.colored(&t.view)
}

// event is the latest event.
func (t *top) event() string {
	if t.latest == nil {
		return ""
	}
	e := topEvent{t.latest}
	what := " "
	if e.End != nil {
		what = " over: "
	}
	text := e.at().Local().Format(time.TimeOnly) + what + e.Kind.String() + ": " + e.Text
	if t.lost > 0 {
		text += fmt.Sprintf(" (%d events came too fast to be told)", t.lost)
	}
	c := severityCell(e.Severity)
	c.text = printable(text)
	return c.colored(&t.view)
}

func (t *top) keys() string {
	switch {
	case t.edit != nil:
		return "enter takes the filter, tab completes it, esc leaves it as it was"
	case len(t.pages) > 0:
		return "esc back  up/down scroll  space pause  ? help  q end"
	}
	return "enter more  / filter  left/right sort  r turn  1-6 view  space pause  ? help  q end"
}

// page returns the lines of the page on top that fit on the screen.
func (t *top) page() []string {
	lines := strings.Split(strings.TrimRight(t.text, "\n"), "\n")
	room := t.room() + 1 // a page has no titles
	t.first = max(min(t.first, len(lines)-room), 0)
	return lines[t.first:min(t.first+room, len(lines))]
}

// table returns the titles and the rows that fit on the screen.
func (t *top) table() []string {
	if t.list == nil {
		return nil
	}
	s, columns := t.state(), t.views[t.at].columns
	s.first = max(min(s.first, s.row), s.row-t.room()+1)
	s.first = max(min(s.first, len(t.list.rows)-t.room()), 0)
	rows := t.list.rows[s.first:min(s.first+t.room(), len(t.list.rows))]
	widths := make([]int, len(columns))
	titles := make([]Cell, len(columns))
	for i, c := range columns {
		titles[i] = Cell{c.title, bold}
		if i == s.order {
			titles[i].text += t.arrow(s.turned)
		}
		widths[i] = width(titles[i].text)
		for _, row := range rows {
			widths[i] = max(widths[i], width(row.cells[i].text))
		}
	}
	lines := []string{"  " + t.line(titles, widths)}
	for i, row := range rows {
		mark := "  "
		if s.first+i == s.row {
			mark = t.view.pick("▶ ", "> ")
		}
		lines = append(lines, mark+t.line(row.cells, widths))
	}
	return lines
}

// arrow says from which end a column is sorted.
func (t *top) arrow(turned bool) string {
	if turned {
		return t.view.pick("▲", "^")
	}
	return t.view.pick("▼", "v")
}

// line returns a row of the table. The terminal cuts what is too long.
func (t *top) line(cells []Cell, widths []int) string {
	var b strings.Builder
	for i, c := range cells {
		gap := strings.Repeat(" ", widths[i]-width(c.text))
		if t.views[t.at].columns[i].right {
			b.WriteString(gap + c.colored(&t.view) + "  ")
		} else {
			b.WriteString(c.colored(&t.view) + gap + "  ")
		}
	}
	return strings.TrimRight(b.String(), " ")
}
