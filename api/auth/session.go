package auth

import (
	"crypto/rand"
	"sync"
	"time"
)

const (
	// SessionLife is how long a browser stays logged in.
	SessionLife = 12 * time.Hour
	// maxSessions is how many there may be; one more ends the oldest.
	maxSessions = 1000
)

// Sessions are the browsers that are logged in. They are in memory: a restart logs everybody out.
type Sessions struct {
	mu       sync.Mutex
	sessions map[Digest]session // by the digest of their id
}

type session struct {
	token    Digest    // that was exchanged for it
	identity *Identity // of whom a provider knows; nil: the holder of token
	expires  time.Time
}

// NewSessions returns an empty list.
func NewSessions() *Sessions { return &Sessions{sessions: map[Digest]session{}} }

// Begin starts a session for the holder of a token, and returns its id, 256 random bits as text, and when it ends.
func (s *Sessions) Begin(token *Token, now time.Time) (id string, expires time.Time) {
	id = rand.Text() + rand.Text() // 2 x 130 bits
	expires = now.Add(SessionLife).UTC().Truncate(time.Second)
	if !token.Expires.IsZero() && token.Expires.Before(expires) {
		expires = token.Expires
	}
	s.add(id, session{token: token.SHA256, expires: expires}, now)
	return id, expires
}

// BeginFor starts a session for whom a provider knows, and returns its id and when it ends.
func (s *Sessions) BeginFor(who Identity, now time.Time) (id string, expires time.Time) {
	id = rand.Text() + rand.Text()
	expires = now.Add(SessionLife).UTC().Truncate(time.Second)
	s.add(id, session{identity: &who, expires: expires}, now)
	return id, expires
}

func (s *Sessions) add(id string, x session, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.sessions) >= maxSessions {
		s.makeRoom(now)
	}
	s.sessions[DigestOf(id)] = x
}

// makeRoom ends all sessions that are over, or else the one that is over first.
func (s *Sessions) makeRoom(now time.Time) {
	var first Digest
	var at time.Time
	for id, x := range s.sessions {
		if !now.Before(x.expires) {
			delete(s.sessions, id)
		} else if at.IsZero() || x.expires.Before(at) {
			first, at = id, x.expires
		}
	}
	if len(s.sessions) >= maxSessions {
		delete(s.sessions, first)
	}
}

// Find returns the token that the session with this id was begun with, or who it is of, and when it ends.
func (s *Sessions) Find(id string, now time.Time) (token Digest, who *Identity, expires time.Time, ok bool) {
	key := DigestOf(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	x, ok := s.sessions[key]
	if ok && !now.Before(x.expires) {
		delete(s.sessions, key)
		return Digest{}, nil, time.Time{}, false
	}
	return x.token, x.identity, x.expires, ok
}

// End ends a session.
func (s *Sessions) End(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, DigestOf(id))
}

// Len returns how many sessions there are, also those that are over and that nobody asked for since.
func (s *Sessions) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sessions)
}
