package api

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
)

// etag returns a weak entity tag (RFC 9110 §8.8.3) of an answer in a format. It is the same as long as the store knows the
// same; generated_at is no part of it.
func (a *answer) etag(f format) (string, error) {
	digest := sha256.New()
	digest.Write([]byte(f.name))
	encoder := json.NewEncoder(digest)
	for _, m := range a.more {
		if err := encoder.Encode(m.value); err != nil {
			return "", err
		}
	}
	for i := range a.count {
		if err := encoder.Encode(a.item(i)); err != nil {
			return "", err
		}
	}
	return `W/"` + base64.RawURLEncoding.EncodeToString(digest.Sum(nil)[:15]) + `"`, nil
}

// matches reports whether If-None-Match (RFC 9110 §13.1.2) has a tag.
func matches(r *http.Request, tag string) bool {
	for _, value := range r.Header.Values("If-None-Match") {
		for element := range strings.SplitSeq(value, ",") {
			element = strings.TrimSpace(element)
			if element == "*" || strings.TrimPrefix(element, "W/") == strings.TrimPrefix(tag, "W/") {
				return true
			}
		}
	}
	return false
}
