package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/filter"
)

// topLimit is how many items top asks for: more than anybody scrolls through; the server sorts, so they are the first.
const topLimit = 500

// A top is what waybill top shows. Its methods run on one goroutine, but for what ask returns, which reads nothing of
// it.
type top struct {
	client *client.Client
	ctx    context.Context
	every  time.Duration
	view   view
	lines  int // of the terminal; its columns are those of view

	views  []topView
	states []topState // of each view
	at     int        // the view that is shown
	pages  []*topPage // what is shown instead of it; the last one is on top
	first  int        // line of that page which is shown first
	help   bool
	edit   *topEdit // the filter that is being typed; nil: none is

	question int // the number of the latest; answers to others are too late
	waiting  bool
	paused   bool
	list     *topList // the latest answer to the question of this view; nil: none yet
	text     string   // the latest content of the page on top
	answered time.Time
	failed   error // why the latest question has no answer; nil: it has one
	wrong    *filter.Error

	latest *client.Event // that began or ended; nil: none is known
	lost   uint64        // events that could not be told in time
}

// A topState is what somebody chose in a view.
type topState struct {
	filter string
	before string // the latest filter that the server understood
	order  int    // a column
	turned bool
	row    int // the place of the chosen row
	// what it is about, which may be elsewhere in the next answer; "": the first row is chosen, whatever it is
	key   string
	first int // the place of the first row on the screen
}

func newTop(c *client.Client, every time.Duration, at int, filter string) *top {
	t := &top{client: c, ctx: context.Background(), every: every, views: topViews(), at: at}
	for _, v := range t.views {
		t.states = append(t.states, topState{order: v.order})
	}
	t.states[at].filter = filter
	return t
}

// A topAnswer answers a question: with a list or the content of a page.
type topAnswer struct {
	question int
	list     *topList
	text     string
	err      error
}

// A topTick asks again.
type topTick struct{}

// A topEvent has begun, changed or ended, and topLost events could not be told.
type (
	topEvent struct{ *client.Event }
	topLost  uint64
)

// at returns when an event began or, if it is over, ended.
func (e topEvent) at() time.Time {
	if e.End != nil {
		return *e.End
	}
	return e.Start
}

func (t *top) state() *topState { return &t.states[t.at] }

// Init asks the first question.
func (t *top) Init() tea.Cmd { return tea.Batch(t.again(), t.tick()) }

func (t *top) tick() tea.Cmd {
	return tea.Tick(t.every, func(time.Time) tea.Msg { return topTick{} })
}

// again asks about what is shown now. What was asked before is not waited for any more.
func (t *top) again() tea.Cmd {
	t.question++
	t.waiting = true
	return func(ask func() topAnswer) tea.Cmd { return func() tea.Msg { return ask() } }(t.asking())
}

// ask waits for the answer.
func (t *top) ask() topAnswer { return t.asking()() }

// asking returns what asks about what is shown now. It may be called on another goroutine.
func (t *top) asking() func() topAnswer {
	answer, c, v := topAnswer{question: t.question}, t.client, t.view
	shown, s := t.views[t.at], *t.state()
	q := client.Query{Limit: topLimit, Filter: s.filter, Order: s.orderOf(&shown)}
	var page *topPage
	if len(t.pages) > 0 {
		page = t.pages[len(t.pages)-1]
	}
	parent := t.ctx
	return func() topAnswer {
		ctx, cancel := context.WithTimeout(parent, queryTimeout)
		defer cancel()
		if page == nil {
			answer.list, answer.err = shown.ask(ctx, c, v, q)
			return answer
		}
		var b bytes.Buffer
		w := bufio.NewWriter(&b)
		answer.err = page.draw(ctx, c, &v, w)
		w.Flush()
		answer.text = b.String()
		return answer
	}
}

// orderOf returns the order as the API has it.
func (s *topState) orderOf(v *topView) string {
	direction := ":desc"
	if s.turned {
		direction = ":asc"
	}
	return v.columns[s.order].order + direction
}

// Update takes a key, an answer, or another size of the terminal.
func (t *top) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		t.view.columns, t.lines = msg.Width, msg.Height
		if len(t.pages) > 0 {
			return t, t.again() // it is drawn as wide as the terminal
		}
	case topTick:
		if t.paused || t.waiting {
			return t, t.tick()
		}
		return t, tea.Batch(t.again(), t.tick())
	case topAnswer:
		return t, t.take(msg)
	case topEvent:
		if t.latest == nil || !msg.at().Before(topEvent{t.latest}.at()) {
			t.latest = msg.Event
		}
	case topLost:
		t.lost += uint64(msg)
	case topCandidates:
		t.edit.take(msg)
	case tea.PasteMsg:
		if t.edit != nil {
			t.edit.insert(strings.Join(strings.Fields(msg.Content), " "))
		}
	case tea.KeyPressMsg:
		if t.edit != nil {
			return t, t.typed(msg)
		}
		return t, t.pressed(msg.String())
	}
	return t, nil
}

// take shows an answer. A filter that the server does not understand is given back to who typed it.
func (t *top) take(a topAnswer) tea.Cmd {
	if a.question != t.question {
		return nil
	}
	t.waiting = false
	if t.failed = a.err; a.err != nil {
		if p, ok := errors.AsType[*client.Problem](a.err); ok && p.Filter != nil && len(t.pages) == 0 {
			t.wrong = p.Filter
			if t.edit == nil {
				t.edit = newTopEdit(t.state().filter)
			}
		}
		return nil
	}
	t.wrong, t.answered = nil, time.Now()
	if a.list == nil {
		t.text = a.text
		return nil
	}
	t.list = a.list
	s := t.state()
	s.before = s.filter
	for i := range t.list.rows {
		if t.list.rows[i].page.key == s.key {
			s.row = i
		}
	}
	if s.key != "" {
		t.choose(s.row)
	}
	return nil
}

// choose makes a row the chosen one, or the one next to it that there is.
func (t *top) choose(row int) {
	s := t.state()
	if t.list == nil || len(t.list.rows) == 0 {
		s.row, s.key, s.first = 0, "", 0
		return
	}
	s.row = min(max(row, 0), len(t.list.rows)-1)
	s.key = t.list.rows[s.row].page.key
	if s.row == 0 {
		s.key = ""
	}
}

// show shows another view, from which pages were not opened.
func (t *top) show(at int) tea.Cmd {
	t.at = (at + len(t.views)) % len(t.views)
	t.pages, t.list, t.failed, t.wrong, t.help = nil, nil, nil, nil, false
	return t.again()
}

// open opens a page, close closes the one on top.
func (t *top) open(page *topPage) tea.Cmd {
	t.pages, t.first, t.text = append(t.pages, page), 0, ""
	return t.again()
}

func (t *top) close() tea.Cmd {
	if len(t.pages) == 0 {
		return nil
	}
	t.pages, t.first, t.text = t.pages[:len(t.pages)-1], 0, ""
	return t.again()
}
