package node

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// A Word is text as it stands in the file, so that "version: 1.0" is not the number 1.
type Word string

// UnmarshalYAML reads a Word.
func (w *Word) UnmarshalYAML(n ast.Node) error {
	text, err := scalar(n, "a word or a number")
	*w = Word(text)
	return err
}

// A Duration is a time in nanoseconds, written with its unit: 500ns, 20us, 1.5ms, 1m30s. It is not negative.
type Duration uint64

// UnmarshalYAML reads a Duration.
func (d *Duration) UnmarshalYAML(n ast.Node) error {
	const want = "a duration with its unit, for example 20us, 1.5ms or 1m30s"
	text, err := scalar(n, want)
	if err != nil {
		return err
	}
	v, err := time.ParseDuration(text)
	if text != "0" && err != nil || v < 0 {
		return at(n, "got %q, want %s", text, want)
	}
	*d = Duration(v)
	return nil
}

// Bytes is a number of bytes: 1500, 64kB, 2MiB.
type Bytes uint32

var byteUnits = map[string]float64{"": 1, "B": 1, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1 << 10, "MiB": 1 << 20}

// UnmarshalYAML reads a number of Bytes.
func (v *Bytes) UnmarshalYAML(n ast.Node) error {
	const want = "a number of bytes below 4 GB, for example 1500, 64kB or 2MiB"
	text, err := scalar(n, want)
	if err != nil {
		return err
	}
	digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	unit, known := byteUnits[text[len(digits):]]
	number, err := strconv.ParseFloat(digits, 64)
	if size := number * unit; known && err == nil && size >= 0 && size < 1<<32 {
		*v = Bytes(size)
		return nil
	}
	return at(n, "got %q, want %s", text, want)
}

// scalar returns the text of a value that is neither a list nor a map.
func scalar(n ast.Node, want string) (string, error) {
	if _, ok := n.(ast.ScalarNode); !ok {
		return "", at(n, "got a %s, want %s", strings.ToLower(n.Type().String()), want)
	}
	return n.GetToken().Value, nil
}

// A lineError is an error in a line of a file.
type lineError struct {
	line int // from 1
	text string
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.text) }

// at returns an error in the line of n.
func at(n ast.Node, format string, args ...any) error {
	return &lineError{n.GetToken().Position.Line, fmt.Sprintf(format, args...)}
}
