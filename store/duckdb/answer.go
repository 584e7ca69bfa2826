package duckdb

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"time"

	"github.com/waybill-int/waybill/store"
)

// An answer crosses the pipe from the process of a statement as the names of its columns and then its rows, each value
// behind a letter for what it is. The end is an outcome. The reader believes no length: what it keeps is bounded.
//
//	answer  = 'c' n text*  ('r' value*)*  ('.' | '+' | outcome)     '+': there are more rows
//	outcome = 'Q' text (the question is wrong) | 'L' (store.ErrTooLarge) | 'T' (ErrTooLong) | 'U' (ErrUnavailable)
//	value   = '0' | 't' | 'f' | 'i' zigzag | 'u' varint | 'd' 8 bytes | 's' text | 'n' text (of a number)
//	        | '@' zigzag varint (seconds, nanoseconds) | '[' n value* | '{' n (text value)*
//	text    = n bytes                                        n: varint
const maxDepth = 100 // of lists in lists

// An answerWriter writes an answer. Its first error stays in w.
type answerWriter struct{ w *bufio.Writer }

func (a answerWriter) letter(b byte) { _ = a.w.WriteByte(b) }

func (a answerWriter) number(n uint64) { _, _ = a.w.Write(binary.AppendUvarint(nil, n)) }

func (a answerWriter) signed(n int64) { _, _ = a.w.Write(binary.AppendVarint(nil, n)) }

func (a answerWriter) text(s string) {
	a.number(uint64(len(s)))
	_, _ = a.w.WriteString(s)
}

func (a answerWriter) columns(names []string) {
	a.letter('c')
	a.number(uint64(len(names)))
	for _, name := range names {
		a.text(name)
	}
}

func (a answerWriter) row(row []any) {
	a.letter('r')
	for _, v := range row {
		a.value(v)
	}
}

func (a answerWriter) end(more bool) {
	if more {
		a.letter('+')
		return
	}
	a.letter('.')
}

// fail ends an answer with an error.
func (a answerWriter) fail(err error) {
	for letter, reason := range outcomes {
		if errors.Is(err, reason) {
			a.letter(letter)
			a.text(err.Error())
			return
		}
	}
	a.letter('Q')
	a.text(err.Error())
}

// outcomes are the reasons that are not in the question.
var outcomes = map[byte]error{'L': store.ErrTooLarge, 'T': store.ErrTooLong, 'U': store.ErrUnavailable}

// value writes a value that plain made.
func (a answerWriter) value(v any) {
	switch v := v.(type) {
	case nil:
		a.letter('0')
	case bool:
		a.letter(map[bool]byte{true: 't', false: 'f'}[v])
	case int8:
		a.value(int64(v))
	case int16:
		a.value(int64(v))
	case int32:
		a.value(int64(v))
	case int64:
		a.letter('i')
		a.signed(v)
	case uint8:
		a.value(uint64(v))
	case uint16:
		a.value(uint64(v))
	case uint32:
		a.value(uint64(v))
	case uint64:
		a.letter('u')
		a.number(v)
	case float64:
		a.letter('d')
		_, _ = a.w.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
	case string:
		a.letter('s')
		a.text(v)
	case *big.Int:
		a.value(json.Number(v.String()))
	case json.Number:
		a.letter('n')
		a.text(string(v))
	case time.Time:
		a.letter('@')
		a.signed(v.Unix())
		a.number(uint64(v.Nanosecond()))
	case []any:
		a.letter('[')
		a.number(uint64(len(v)))
		for _, e := range v {
			a.value(e)
		}
	case map[string]any:
		a.letter('{')
		a.number(uint64(len(v)))
		for name, e := range v {
			a.text(name)
			a.value(e)
		}
	default:
		a.value(fmt.Sprint(v))
	}
}

// errAnswer is what breaks the encoding.
var errAnswer = errors.New("an answer cannot be read")

// An answerReader reads an answer of up to limit rows.
type answerReader struct {
	r    *bufio.Reader
	left int // bytes that values may still take
}

// readAnswer returns an answer, the error that it ends with, or one of r.
func readAnswer(r io.Reader, limit int) (*store.Answer, error) {
	a := answerReader{bufio.NewReader(r), maxAnswer}
	answer := &store.Answer{Rows: [][]any{}}
	for {
		letter, err := a.r.ReadByte()
		if err != nil {
			return nil, err
		}
		switch {
		case letter == 'c' && answer.Columns == nil:
			n, err := a.length(maxColumns)
			if err != nil {
				return nil, err
			}
			answer.Columns = make([]string, n)
			for i := range answer.Columns {
				if answer.Columns[i], err = a.text(); err != nil {
					return nil, err
				}
			}
		case letter == 'r' && len(answer.Rows) < limit:
			row := make([]any, len(answer.Columns))
			for i := range row {
				if row[i], err = a.value(0); err != nil {
					return nil, err
				}
			}
			answer.Rows = append(answer.Rows, row)
		case letter == '.' || letter == '+':
			answer.More = letter == '+'
			return answer, nil
		case letter == 'Q' || outcomes[letter] != nil:
			text, err := a.text()
			if err != nil {
				return nil, err
			}
			return nil, &outcome{text, outcomes[letter]}
		default:
			return nil, errAnswer
		}
	}
}

// An outcome is an error of the process of a statement, as that said it.
type outcome struct {
	text   string
	reason error // nil: the question is wrong
}

func (o *outcome) Error() string { return o.text }
func (o *outcome) Unwrap() error { return o.reason }

// take takes n bytes off what is left.
func (a *answerReader) take(n int) error {
	if a.left -= n; a.left < 0 {
		return fmt.Errorf("%w: its rows have more than %d MiB", store.ErrTooLarge, maxAnswer>>20)
	}
	return nil
}

func (a *answerReader) length(most int) (int, error) {
	n, err := binary.ReadUvarint(a.r)
	if err != nil {
		return 0, err
	}
	if n > uint64(most) {
		return 0, errAnswer
	}
	return int(n), nil
}

func (a *answerReader) text() (string, error) {
	n, err := a.length(maxAnswer)
	if err != nil {
		return "", err
	}
	if err := a.take(n); err != nil {
		return "", err
	}
	// A text that is announced takes memory as it comes.
	if n <= a.r.Size() {
		b, err := a.r.Peek(n)
		if err != nil {
			return "", err
		}
		text := string(b)
		_, err = a.r.Discard(n)
		return text, err
	}
	b, err := io.ReadAll(io.LimitReader(a.r, int64(n)))
	if err == nil && len(b) < n {
		err = io.ErrUnexpectedEOF
	}
	return string(b), err
}

func (a *answerReader) value(depth int) (any, error) {
	letter, err := a.r.ReadByte()
	if err != nil {
		return nil, err
	}
	switch letter {
	case '0':
		return nil, nil
	case 't', 'f':
		return letter == 't', nil
	case 'i':
		return binary.ReadVarint(a.r)
	case 'u':
		return binary.ReadUvarint(a.r)
	case 'd':
		var b [8]byte
		_, err := io.ReadFull(a.r, b[:])
		return math.Float64frombits(binary.LittleEndian.Uint64(b[:])), err
	case 's':
		return a.text()
	case 'n':
		text, err := a.text()
		return json.Number(text), err
	case '@':
		seconds, err := binary.ReadVarint(a.r)
		if err != nil {
			return nil, err
		}
		n, err := a.length(1e9)
		return time.Unix(seconds, int64(n)).UTC(), err
	case '[', '{':
		return a.values(letter, depth+1)
	}
	return nil, errAnswer
}

// values reads a list or an object.
func (a *answerReader) values(letter byte, depth int) (any, error) {
	n, err := a.length(maxAnswer)
	if err != nil {
		return nil, err
	}
	if depth > maxDepth {
		return nil, errAnswer
	}
	if err := a.take(16 * n); err != nil {
		return nil, err
	}
	if letter == '[' {
		list := []any{}
		for range n {
			v, err := a.value(depth)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	}
	object := map[string]any{}
	for range n {
		name, err := a.text()
		if err != nil {
			return nil, err
		}
		if object[name], err = a.value(depth); err != nil {
			return nil, err
		}
	}
	return object, nil
}
