package auth

import (
	"context"
	"time"
)

// An Identity is who asks.
type Identity struct {
	Name string `json:"name"`
	Role Role   `json:"role"`
	// By is how they are known: "token", "session", "certificate", "proxy", or "address" where nobody has to say who
	// they are.
	By string `json:"by"`
	// Expires is when the token or the session ends; nil if it does not.
	Expires *time.Time `json:"expires,omitempty"`
}

type identityKey struct{}

// With returns a context that carries id.
func With(ctx context.Context, id Identity) context.Context {
	return context.WithValue(ctx, identityKey{}, id)
}

// From returns who asks, as With put it there; nobody if it did not.
func From(ctx context.Context) Identity {
	id, _ := ctx.Value(identityKey{}).(Identity)
	return id
}
