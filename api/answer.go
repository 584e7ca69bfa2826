package api

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/elnormous/contenttype"

	"github.com/waybill-int/waybill/api/encode"
	"github.com/waybill-int/waybill/api/types"
)

// format returns the format that the parameter format names, else the one that Accept (RFC 9110 §12.5.1) prefers. That
// none of them is accepted is a problem with status 406.
func (p *params) format(header http.Header) *encode.Format {
	if p.values.Has("format") {
		name := p.choice("format")
		for i := range encode.Formats {
			if encode.Formats[i].Name == name {
				return &encode.Formats[i]
			}
		}
		return &encode.Formats[0]
	}
	media := make([]string, len(encode.Formats))
	for i, f := range encode.Formats {
		media[i] = f.Media
	}
	return &encode.Formats[p.accepted(header, media...)]
}

// accepted returns the one of media types that a client prefers, the first one if it takes all.
func (p *params) accepted(header http.Header, media ...string) int {
	accept := strings.Join(header.Values("Accept"), ", ")
	if accept == "" {
		return 0
	}
	available := make([]contenttype.MediaType, len(media))
	for i, m := range media {
		available[i] = contenttype.NewMediaType(m)
	}
	found, _, err := contenttype.GetAcceptableMediaTypeFromHeader(accept, available)
	for i, m := range media {
		if err == nil && found.MIME() == m {
			return i
		}
	}
	if errors.Is(err, contenttype.ErrNoAcceptableTypeFound) && p.wrong == nil {
		p.wrong = types.NewProblem(http.StatusNotAcceptable, "Accept is %.200q, and there is nothing of this kind here",
			accept)
		p.wrong.Allowed = strings.Join(media, ", ")
	}
	return 0
}

// writeAnswer writes an answer that is no list.
func writeAnswer(w http.ResponseWriter, v any) { writeStatus(w, http.StatusOK, v) }

// writeStatus writes an answer with a status.
func writeStatus(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", types.MediaJSON)
	if w.Header().Get("Cache-Control") == "" {
		w.Header().Set("Cache-Control", "no-store")
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // an error means that the client is gone
}

// readBody reads a body of JSON into v: one value, without keys that are not known.
func readBody(r *http.Request, v any) *types.Problem {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != types.MediaJSON {
		return types.NewProblem(http.StatusUnsupportedMediaType, "want a body of application/json")
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("there is more than one value")
		}
	}
	if err != nil {
		return types.NewProblem(http.StatusBadRequest, "the body cannot be read: %v", err)
	}
	return nil
}
