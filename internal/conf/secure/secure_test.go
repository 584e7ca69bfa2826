package secure

import (
	"net/url"
	"testing"
)

func TestIsPrivate(t *testing.T) {
	for text, want := range map[string]bool{
		"https://192.0.2.1":        true,
		"http://192.0.2.1":         false,
		"http://netbox.example":    false,
		"http://localhost:1":       true,
		"http://127.0.0.2":         true,
		"http://[::1]:8080/":       true,
		"http://[::ffff:7f00:1]":   true,
		"http://localhost.example": false,
		"ftp://192.0.2.1":          false,
	} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := IsPrivate(u); got != want {
			t.Errorf("%s: got %v", text, got)
		}
	}
}
