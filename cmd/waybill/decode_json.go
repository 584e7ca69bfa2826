package main

import (
	"bufio"
	"strconv"
	"time"

	"github.com/waybill-int/waybill/wire/dissect"
)

// A jsonWriter prints one JSON object per packet and line.
type jsonWriter struct {
	out *bufio.Writer
	buf []byte
}

func (w *jsonWriter) write(p *decodedPacket) error {
	b := append(w.buf[:0], '{')
	if !p.Time.IsZero() {
		b = append(b, `"time":"`...)
		b = p.Time.UTC().AppendFormat(b, time.RFC3339Nano)
		b = append(b, `",`...)
	}
	b = append(b, `"length":`...)
	b = strconv.AppendInt(b, int64(p.Length), 10)
	b = append(b, `,"layers":`...)
	b = dissect.AppendJSON(b, p.Layers)
	b = append(b, "}\n"...)
	w.buf = b
	_, err := w.out.Write(b)
	return err
}

func (w *jsonWriter) close() error { return nil }
