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
	zst, gz, plain := codingWeight(r.Header, "zstd"), codingWeight(r.Header, "gzip"), codingWeight(r.Header, "identity")
	switch {
	case plain > max(zst, gz), zst == 0 && gz == 0:
		return w, func() error { return nil }
	case zst >= gz:
		w.Header().Set("Content-Encoding", "zstd")
		z := h.zstds.Get().(*zstd.Encoder)
		z.Reset(w)
		return z, func() error {
			err := z.Close()
			h.zstds.Put(z)
			return err
		}
	default:
		w.Header().Set("Content-Encoding", "gzip")
		z := h.gzips.Get().(*gzip.Writer)
		z.Reset(w)
		return z, func() error {
			err := z.Close()
			h.gzips.Put(z)
			return err
		}
	}
}

// codingWeight returns how much the Accept-Encoding of a request (RFC 9110 §12.5.3) wants a coding by its name; 0 if it does not name it.
func codingWeight(header http.Header, coding string) float64 {
	for _, value := range header.Values("Accept-Encoding") {
		for element := range strings.SplitSeq(value, ",") {
			name, parameter, _ := strings.Cut(strings.TrimSpace(element), ";")
			if strings.EqualFold(strings.TrimSpace(name), coding) {
				return weight(parameter)
			}
		}
	}
	return 0
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
