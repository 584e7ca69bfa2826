package main

import (
	"bufio"
	"fmt"
	"strconv"
	"time"

	"github.com/waybill-int/waybill/wire/dissect"
)

// A treeWriter prints a line about each packet and its layers as a tree below it.
type treeWriter struct {
	out   *bufio.Writer
	style *dissect.Style
	time  string
	first time.Time
	buf   []byte
}

func (w *treeWriter) write(p *decodedPacket) error {
	b := w.buf[:0]
	if p.Number > 0 {
		b = append(b, w.style.Layer...)
		b = strconv.AppendInt(b, int64(p.Number), 10)
		b = append(b, w.style.Reset...)
		b = append(b, "  "...)
		if w.first.IsZero() {
			w.first = p.Time
		}
		if text := w.timeText(p.Time); text != "" {
			b = append(b, text...)
			b = append(b, "  "...)
		}
	}
	b = append(b, dissect.Summary(p.Layers)...)
	b = append(b, '\n')
	b = dissect.AppendTree(b, p.Layers, w.style)
	b = append(b, '\n')
	w.buf = b
	_, err := w.out.Write(b)
	return err
}

func (w *treeWriter) timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	switch w.time {
	case "utc":
		return t.UTC().Format(clockLayout(t) + " UTC")
	case "relative":
		since := t.Sub(w.first)
		return fmt.Sprintf("%.*f s", digits(since), since.Seconds())
	case "none":
		return ""
	}
	return t.Local().Format(clockLayout(t) + " MST")
}

// clockLayout has microseconds, as most captures do, and nanoseconds where t has some.
func clockLayout(t time.Time) string {
	return "2006-01-02 15:04:05." + "000000000"[:digits(time.Duration(t.Nanosecond()))]
}

// digits returns how many digits behind the point are needed to show d.
func digits(d time.Duration) int {
	if d%time.Microsecond != 0 {
		return 9
	}
	return 6
}

func (w *treeWriter) close() error { return nil }
