package cli

import (
	tea "charm.land/bubbletea/v2"
)

// topKeys is what help shows.
var topKeys = [][2]string{
	{"1 to 6, tab, shift+tab", "another view: flows, hops, queues, drops, events, exporters"},
	{"up, down, page up, page down, home, end", "choose a row; scroll a page (also k, j, g, G)"},
	{"left, right", "sort by the column to the left or right (also <, >)"},
	{"r", "the other way round: the smallest first"},
	{
		"enter",
		"more of the chosen row: a flow hop by hop, a node with its ports and queues, an event with its evidence",
	},
	{"esc, backspace", "back to the list; without a page, take the filter away"},
	{"/", "filter: what is typed then is a filter expression; tab completes it, enter takes it, esc leaves it as it was"},
	{"space, p", "pause, and go on"},
	{"?", "this help"},
	{"ctrl+z", "stop it, for the shell to continue (fg)"},
	{"q, ctrl+c", "end"},
}

// pressed does what a key says, while no filter is typed.
func (t *top) pressed(key string) tea.Cmd {
	if t.help {
		t.help = false
		if key == "?" || key == "esc" {
			return nil
		}
	}
	switch key {
	case "q", "ctrl+c":
		return tea.Quit
	case "ctrl+z":
		return tea.Suspend
	case "?", "h", "f1":
		t.help = true
	case "1", "2", "3", "4", "5", "6":
		return t.show(int(key[0] - '1'))
	case "tab":
		return t.show(t.at + 1)
	case "shift+tab":
		return t.show(t.at - 1)
	case "space", "p":
		t.paused = !t.paused
		if !t.paused {
			return t.again()
		}
	case "esc", "backspace":
		if len(t.pages) > 0 {
			return t.close()
		}
		if s := t.state(); s.filter != "" {
			s.filter = ""
			return t.again()
		}
	case "up", "k":
		t.move(-1)
	case "down", "j":
		t.move(1)
	case "pgup", "ctrl+b":
		t.move(-t.room())
	case "pgdown", "ctrl+f":
		t.move(t.room())
	case "home", "g":
		t.move(-1 << 30)
	case "end", "G", "shift+g":
		t.move(1 << 30)
	}
	if len(t.pages) > 0 {
		return nil
	}
	switch key {
	case "left", "<", ",":
		return t.sortBy(-1)
	case "right", ">", ".":
		return t.sortBy(1)
	case "r":
		t.state().turned = !t.state().turned
		return t.again()
	case "/":
		t.edit, t.wrong = newTopEdit(t.state().filter), nil
	case "enter":
		if s := t.state(); t.list != nil && s.row < len(t.list.rows) {
			return t.open(t.list.rows[s.row].page)
		}
	}
	return nil
}

// move chooses another row, or scrolls the page.
func (t *top) move(rows int) {
	if len(t.pages) > 0 {
		t.first += rows // draw keeps it on the page
		return
	}
	t.choose(t.state().row + rows)
}

// sortBy sorts by the next column to one side that one can sort by.
func (t *top) sortBy(step int) tea.Cmd {
	s, columns := t.state(), t.views[t.at].columns
	for i := s.order + step; i >= 0 && i < len(columns); i += step {
		if columns[i].order != "" {
			s.order, s.turned = i, false
			return t.again()
		}
	}
	return nil
}

// typed changes the filter that is being typed.
func (t *top) typed(key tea.KeyPressMsg) tea.Cmd {
	e := t.edit
	switch key.String() {
	case "ctrl+c":
		return tea.Quit
	case "esc":
		t.edit, t.wrong, t.state().filter = nil, nil, t.state().before
		return t.again()
	case "enter":
		t.state().filter = string(e.text)
		t.edit, t.wrong = nil, nil
		return t.again()
	case "tab":
		text, c, ctx, name := string(e.text[:e.at]), t.client, t.ctx, t.views[t.at].name
		return func() tea.Msg { return completed(ctx, c, name, text) }
	}
	t.wrong = nil
	e.key(key)
	return nil
}
