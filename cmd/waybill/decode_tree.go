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
		return t.UTC().Format("2006-01-02 15:04:05.000000 UTC")
	case "relative":
		return fmt.Sprintf("%.6f s", t.Sub(w.first).Seconds())
	case "none":
		return ""
	}
	return t.Local().Format("2006-01-02 15:04:05.000000 MST")
}

func (w *treeWriter) close() error { return nil }
