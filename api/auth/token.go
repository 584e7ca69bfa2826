package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
)

// tokenPrefix begins every token, so that people and scanners of repositories know one when they see it.
const tokenPrefix = "wb_"

// tokenLength is the length of a token: the prefix and 32 bytes in base64 without padding.
const tokenLength = len(tokenPrefix) + 43

// NewToken returns a token of 256 random bits.
func NewToken() string {
	var secret [32]byte
	rand.Read(secret[:]) // never fails: it ends the program instead
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(secret[:])
}

// A Digest is the SHA-256 of a token or of the id of a session.
type Digest [sha256.Size]byte

// DigestOf returns the Digest of a secret.
func DigestOf(secret string) Digest { return sha256.Sum256([]byte(secret)) }

// MarshalText implements encoding.TextMarshaler.
func (d Digest) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(d[:])), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Digest) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	if err != nil || len(b) != len(d) {
		return fmt.Errorf("got %d characters, want %d hexadecimal digits", len(text), 2*len(d))
	}
	copy(d[:], b)
	return nil
}

// A Token is what is kept of a token.
type Token struct {
	Name    string    `yaml:"name"`
	Role    Role      `yaml:"role"`
	SHA256  Digest    `yaml:"sha256"`
	Created time.Time `yaml:"created,omitempty"`
	Expires time.Time `yaml:"expires,omitempty"` // zero: never
}

// Valid reports whether the token has not expired.
func (t *Token) Valid(now time.Time) bool { return t.Expires.IsZero() || now.Before(t.Expires) }

// Why somebody is not known. What a client is told is their text.
var (
	ErrMissing     = errors.New("it is not known who asks") // Identify says more
	ErrScheme      = errors.New("the Authorization header is not Bearer and one token")
	ErrUnknown     = errors.New("the token is not known here, or was revoked")
	ErrExpired     = errors.New("the token has expired")
	ErrCertificate = errors.New("the client certificate is valid, but tls.clients gives its common name no role")
)

// ParseBearer returns the token in an Authorization header (RFC 6750 §2.1). What cannot be a token of Waybill is
// ErrUnknown without further ado.
func ParseBearer(header string) (string, error) {
	scheme, token, found := strings.Cut(header, " ")
	token = strings.Trim(token, " ")
	if !found || !strings.EqualFold(scheme, "Bearer") || token == "" || strings.ContainsAny(token, " \t,") {
		return "", ErrScheme
	}
	if len(token) != tokenLength || !strings.HasPrefix(token, tokenPrefix) {
		return "", ErrUnknown
	}
	return token, nil
}
