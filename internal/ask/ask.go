// Package ask lets one process ask another one, which was built from the same source, what a value there answers: a
// question is a method of the value, with whatever types its arguments and its answer have.
package ask

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/waybill-int/waybill/internal/flat"
)

// ErrUnknown is the error of Answer about a question that nobody answers.
var ErrUnknown = errors.New("there is no such question")

// A Transport carries questions to the other process.
type Transport interface {
	// Ask hands the answer to read. What is asked in order is answered behind all that the other process was given
	// before. If that is gone, or read cannot read what it says, Ask does not return: nobody can go on without the
	// answer.
	Ask(question string, inOrder bool, args []byte, read func(answer []byte) error)
}

// Questions are those that a value of type S answers.
type Questions[S any] struct {
	answers map[string]func(of S, args []byte) ([]byte, error)
	types   []reflect.Type
}

// New returns no questions.
func New[S any]() *Questions[S] {
	return &Questions[S]{answers: map[string]func(S, []byte) ([]byte, error){}}
}

// Types returns a number that two processes have in common if each can read what the other one says.
func (q *Questions[S]) Types() uint64 { return flat.Types(q.types...) }

// Answer returns what a value answers, for the one who asks to read.
func (q *Questions[S]) Answer(of S, question string, args []byte) (answer []byte, err error) {
	f := q.answers[question]
	if f == nil {
		return nil, fmt.Errorf("%q: %w", question, ErrUnknown)
	}
	if answer, err = f(of, args); err != nil {
		err = fmt.Errorf("%q: %w", question, err)
	}
	return answer, err
}

// question is what all questions have in common.
type question[A, R any] struct {
	name    string
	inOrder bool
}

func add[S, A, R any](q *Questions[S], name string, answer func(S, *A) R) question[A, R] {
	q.answers[name] = func(of S, b []byte) ([]byte, error) {
		var args A
		if err := read(b, &args); err != nil {
			return nil, err
		}
		r := answer(of, &args)
		return flat.Append(nil, &r), nil
	}
	q.types = append(q.types, reflect.TypeFor[A](), reflect.TypeFor[R]())
	return question[A, R]{name: name}
}

func (q *question[A, R]) ask(t Transport, args A) (answer R) {
	t.Ask(q.name, q.inOrder, flat.Append(nil, &args), func(b []byte) error { return read(b, &answer) })
	return answer
}

func read[T any](b []byte, v *T) error {
	rest, err := flat.Read(b, v)
	if err == nil && len(rest) > 0 {
		err = flat.ErrMalformed
	}
	return err
}

type (
	none          struct{}
	two[A, B any] struct {
		a A
		b B
	}
	three[A, B, C any] struct {
		a A
		b B
		c C
	}
)

// A Get is a question without arguments.
type Get[R any] struct{ question[none, R] }

// NewGet makes one of a method.
func NewGet[S, R any](q *Questions[S], name string, answer func(S) R) Get[R] {
	return Get[R]{add(q, name, func(of S, _ *none) R { return answer(of) })}
}

// Of asks.
func (q *Get[R]) Of(t Transport) R { return q.ask(t, none{}) }

// InOrder returns q, to be asked in order.
func (q Get[R]) InOrder() Get[R] {
	q.inOrder = true
	return q
}

// A Tell is a question whose answer is nothing.
type Tell[A any] struct{ question[A, none] }

// NewTell makes one of a method.
func NewTell[S, A any](q *Questions[S], name string, take func(S, A)) Tell[A] {
	return Tell[A]{add(q, name, func(of S, a *A) (_ none) {
		take(of, *a)
		return
	})}
}

// To tells, and returns when it is done.
func (q *Tell[A]) To(t Transport, a A) { q.ask(t, a) }

// InOrder returns q, to be told in order.
func (q Tell[A]) InOrder() Tell[A] {
	q.inOrder = true
	return q
}

// A Tell2 is a Tell with two arguments.
type Tell2[A, B any] struct{ question[two[A, B], none] }

// NewTell2 makes one of a method.
func NewTell2[S, A, B any](q *Questions[S], name string, take func(S, A, B)) Tell2[A, B] {
	return Tell2[A, B]{add(q, name, func(of S, args *two[A, B]) (_ none) {
		take(of, args.a, args.b)
		return
	})}
}

// To tells, and returns when it is done.
func (q *Tell2[A, B]) To(t Transport, a A, b B) { q.ask(t, two[A, B]{a, b}) }

// InOrder returns q, to be told in order.
func (q Tell2[A, B]) InOrder() Tell2[A, B] {
	q.inOrder = true
	return q
}

// A Get1 is a question with an argument.
type Get1[A, R any] struct{ question[A, R] }

// NewGet1 makes one of a method.
func NewGet1[S, A, R any](q *Questions[S], name string, answer func(S, A) R) Get1[A, R] {
	return Get1[A, R]{add(q, name, func(of S, a *A) R { return answer(of, *a) })}
}

// Of asks.
func (q *Get1[A, R]) Of(t Transport, a A) R { return q.ask(t, a) }

// InOrder returns q, to be asked in order.
func (q Get1[A, R]) InOrder() Get1[A, R] {
	q.inOrder = true
	return q
}

// A Get2 is a question with two arguments.
type Get2[A, B, R any] struct{ question[two[A, B], R] }

// NewGet2 makes one of a method.
func NewGet2[S, A, B, R any](q *Questions[S], name string, answer func(S, A, B) R) Get2[A, B, R] {
	return Get2[A, B, R]{add(q, name, func(of S, args *two[A, B]) R { return answer(of, args.a, args.b) })}
}

// Of asks.
func (q *Get2[A, B, R]) Of(t Transport, a A, b B) R { return q.ask(t, two[A, B]{a, b}) }

// InOrder returns q, to be asked in order.
func (q Get2[A, B, R]) InOrder() Get2[A, B, R] {
	q.inOrder = true
	return q
}

// A Get3 is a question with three arguments.
type Get3[A, B, C, R any] struct{ question[three[A, B, C], R] }

// NewGet3 makes one of a method.
func NewGet3[S, A, B, C, R any](q *Questions[S], name string, answer func(S, A, B, C) R) Get3[A, B, C, R] {
	return Get3[A, B, C, R]{add(q, name, func(of S, args *three[A, B, C]) R {
		return answer(of, args.a, args.b, args.c)
	})}
}

// Of asks.
func (q *Get3[A, B, C, R]) Of(t Transport, a A, b B, c C) R { return q.ask(t, three[A, B, C]{a, b, c}) }
