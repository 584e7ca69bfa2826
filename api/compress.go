package api

import (
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// newZstd returns an encoder that starts no goroutines and takes little memory: many answers are written at a time.
func newZstd() *zstd.Encoder {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<18), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		panic("api: zstd: " + err.Error()) // the options are constant
	}
	return z
}

// compress returns where to write the body of an answer to r, and what to call when it is complete.
func (h *handler) compress(w http.ResponseWriter, r *http.Request) (body io.Writer, end func() error) {
	w.Header().Add("Vary", "Accept-Encoding")
	if r.Method == http.MethodHead {
		return w, func() error { return nil }
	}
	switch {
	case accepts(r.Header, "zstd"):
		w.Header().Set("Content-Encoding", "zstd")
		z := h.zstds.Get().(*zstd.Encoder)
		z.Reset(w)
		return z, func() error {
			err := z.Close()
			h.zstds.Put(z)
			return err
		}
	case accepts(r.Header, "gzip"):
		w.Header().Set("Content-Encoding", "gzip")
		z := h.gzips.Get().(*gzip.Writer)
		z.Reset(w)
		return z, func() error {
			err := z.Close()
			h.gzips.Put(z)
			return err
		}
	}
	return w, func() error { return nil }
}

// accepts reports whether the Accept-Encoding of a request (RFC 9110 §12.5.3) allows a coding by its name.
func accepts(header http.Header, coding string) bool {
	for _, value := range header.Values("Accept-Encoding") {
		for element := range strings.SplitSeq(value, ",") {
			name, parameter, _ := strings.Cut(strings.TrimSpace(element), ";")
			if strings.EqualFold(strings.TrimSpace(name), coding) {
				return weight(parameter) > 0
			}
		}
	}
	return false
}

// weight returns the weight (RFC 9110 §12.4.2) that a parameter gives, by default 1.
func weight(parameter string) float64 {
	text, weighted := strings.CutPrefix(strings.ToLower(strings.TrimSpace(parameter)), "q=")
	if !weighted {
		return 1
	}
	q, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0
	}
	return q
}
