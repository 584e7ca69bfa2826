package auth

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
)

func TestNewToken(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		token := NewToken()
		secret, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(token, "wb_"))
		if err != nil || len(secret) != 32 || seen[token] || token == strings.TrimPrefix(token, "wb_") {
			t.Fatalf("got %q, %d bytes, %v", token, len(secret), err)
		}
		seen[token] = true
		if got, err := ParseBearer("Bearer " + token); got != token || err != nil {
			t.Fatalf("%q: got %q, %v", token, got, err)
		}
	}
}

// Anybody can make the hash of a token: sha256sum.
func TestDigestOf(t *testing.T) {
	d := DigestOf("wb_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
	if got := hex.EncodeToString(d[:]); got != "176f40fd4e014af0676635e1c579f43a3939f5c16cd89461452da29b16aea8a1" {
		t.Errorf("got %s", got)
	}
}

func TestParseBearer(t *testing.T) {
	token := "wb_" + strings.Repeat("A", 43)
	for header, want := range map[string]error{
		"Bearer " + token:                  nil,
		"bearer " + token:                  nil, // the scheme has no case (RFC 9110 §11.1)
		"BEARER   " + token + " ":          nil,
		"":                                 ErrScheme,
		"Bearer":                           ErrScheme,
		"Bearer ":                          ErrScheme,
		token:                              ErrScheme,
		"Basic d2I6d2I=":                   ErrScheme,
		"Bearer " + token + ", " + token:   ErrScheme,
		"Bearer " + token + " x":           ErrScheme,
		"Bearer\t" + token:                 ErrScheme,
		"Bearer " + token[1:]:              ErrUnknown,
		"Bearer " + token + "A":            ErrUnknown,
		"Bearer WB_" + token[3:]:           ErrUnknown,
		"Bearer " + strings.Repeat("x", 9): ErrUnknown,
	} {
		if got, err := ParseBearer(header); !errors.Is(err, want) || (err == nil) != (got == token) {
			t.Errorf("%q: got %q, %v; want %v", header, got, err, want)
		}
	}
}

func FuzzParseBearer(f *testing.F) {
	f.Add("Bearer " + NewToken())
	f.Add("Bearer wb_")
	f.Add("Basic x")
	f.Fuzz(func(t *testing.T, header string) {
		token, err := ParseBearer(header)
		if err == nil && (len(token) != 46 || !strings.HasPrefix(token, "wb_") || !strings.Contains(header, token)) {
			t.Errorf("%q: got %q", header, token)
		}
		if err != nil && token != "" {
			t.Errorf("%q: got %q and %v", header, token, err)
		}
	})
}
