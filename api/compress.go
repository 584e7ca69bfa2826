package api

import (
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// compress returns where to write the body of an answer to r, and what to call when it is complete.
func (h *handler) compress(w http.ResponseWriter, r *http.Request) (body io.Writer, end func() error) {
	w.Header().Add("Vary", "Accept-Encoding")
	if r.Method == http.MethodHead || !acceptsGzip(r.Header) {
		return w, func() error { return nil }
	}
	w.Header().Set("Content-Encoding", "gzip")
	z := h.gzips.Get().(*gzip.Writer)
	z.Reset(w)
	return z, func() error {
		err := z.Close()
		h.gzips.Put(z)
		return err
	}
}

// acceptsGzip reports whether the Accept-Encoding of a request (RFC 9110 §12.5.3) allows gzip by its name.
func acceptsGzip(header http.Header) bool {
	for _, value := range header.Values("Accept-Encoding") {
		for coding := range strings.SplitSeq(value, ",") {
			name, parameter, _ := strings.Cut(strings.TrimSpace(coding), ";")
			if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
				continue
			}
			weight, weighted := strings.CutPrefix(strings.ToLower(strings.TrimSpace(parameter)), "q=")
			q, err := strconv.ParseFloat(weight, 64)
			return !weighted || err == nil && q > 0
		}
	}
	return false
}
