package auth

import (
	"crypto/subtle"
	"time"
)

// Tokens are the tokens of a file, which is read again when it changes.
type Tokens struct{ list *fresh[[]Token] }

// OpenTokens reads a tokens file. told hears of each time that it is read again, with the error if that failed; the
// tokens that were there then stay valid.
func OpenTokens(file string, told func(error)) (*Tokens, error) {
	list, err := newFresh(func() ([]Token, error) { return ReadTokens(file) }, told, file)
	if err != nil {
		return nil, err
	}
	return &Tokens{list}, nil
}

// Len returns how many tokens there are.
func (t *Tokens) Len() int { return len(t.list.get()) }

// Reload reads the file now.
func (t *Tokens) Reload() { t.list.reload() }

// Find returns the token with this digest, or ErrUnknown or ErrExpired. It takes equally long wherever in the list the
// token is, and however much of a digest fits.
func (t *Tokens) Find(digest Digest, now time.Time) (Token, error) {
	list := t.list.get()
	found := -1
	for i := range list {
		same := subtle.ConstantTimeCompare(list[i].SHA256[:], digest[:])
		found = subtle.ConstantTimeSelect(same, i, found)
	}
	switch {
	case found < 0:
		return Token{}, ErrUnknown
	case !list[found].Valid(now):
		return Token{}, ErrExpired
	}
	return list[found], nil
}
