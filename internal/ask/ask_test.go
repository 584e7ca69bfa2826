package ask

import (
	"errors"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/flat"
)

// A counter answers questions.
type counter struct{ n int }

func (c *counter) get() int { return c.n }

func (c *counter) add(n int) { c.n += n }

func (c *counter) addOf(n int, of map[string]int) { c.n += n * len(of) }

func (c *counter) times(n int) (product int) { return c.n * n }

func (c *counter) between(low, high int) []bool { return []bool{low <= c.n, c.n <= high} }

func (c *counter) name(before, behind string, n *int) (s *string) {
	text := before + strings.Repeat("x", *n+c.n) + behind
	return &text
}

// A direct transport asks a counter, and notes what was asked in order.
type direct struct {
	questions *Questions[*counter]
	of        counter
	ordered   []string
	err       error
}

func (d *direct) Ask(question string, inOrder bool, args []byte, read func(answer []byte) error) {
	if inOrder {
		d.ordered = append(d.ordered, question)
	}
	answer, err := d.questions.Answer(&d.of, question, args)
	if err == nil {
		err = read(answer)
	}
	d.err = err
}

// A question with whatever arguments is answered as the method would, and in order if it says so.
func TestQuestions(t *testing.T) {
	q := New[*counter]()
	get, add := NewGet(q, "get", (*counter).get), NewTell(q, "add", (*counter).add).InOrder()
	addOf := NewTell2(q, "add of", (*counter).addOf).InOrder()
	times, between := NewGet1(q, "times", (*counter).times), NewGet2(q, "between", (*counter).between).InOrder()
	name := NewGet3(q, "name", (*counter).name)
	d := &direct{questions: q, of: counter{1}}
	add.To(d, 2)
	addOf.To(d, 2, map[string]int{"a": 1, "b": 2})
	n := 1
	if get.Of(d) != 7 || times.Of(d, 3) != 21 || !between.Of(d, 7, 8)[1] || *name.Of(d, "<", ">", &n) != "<xxxxxxxx>" ||
		d.err != nil {
		t.Errorf("got %d, %d, %v, %q, %v", get.Of(d), times.Of(d, 3), between.Of(d, 7, 8), *name.Of(d, "<", ">", &n),
			d.err)
	}
	if got := strings.Join(d.ordered, ","); got != "add,add of,between" {
		t.Errorf("in order: got %s", got)
	}
	if one := get.InOrder(); one.Of(d) != 7 || d.ordered[len(d.ordered)-1] != "get" {
		t.Error("get is not asked in order")
	}
}

// What is no question, has other arguments or another answer is an error of who asks.
func TestWrong(t *testing.T) {
	q, others := New[*counter](), New[*counter]()
	NewGet(q, "get", (*counter).get)
	other := NewGet1(others, "get", func(*counter, string) string { return "" })
	if q.Types() == others.Types() {
		t.Error("other questions have the same types")
	}
	d := &direct{questions: q}
	if other.Of(d, "x"); !errors.Is(d.err, flat.ErrMalformed) || !strings.Contains(d.err.Error(), `"get"`) {
		t.Errorf("other arguments: got %v", d.err)
	}
	d.questions = New[*counter]()
	if other.Of(d, "x"); !errors.Is(d.err, ErrUnknown) {
		t.Errorf("no question: got %v", d.err)
	}
	NewGet1(d.questions, "get", func(*counter, string) []string { return []string{"x"} })
	if other.Of(d, "x"); d.err == nil {
		t.Error("another answer was read")
	}
}
