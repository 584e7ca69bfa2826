// Package auth knows who asks over HTTP, and what they may do: bearer tokens, sessions of browsers, client
// certificates, and how often a client may ask. It answers nothing itself; package api puts its checks in front of the
// handlers.
//
// Secrets are random and have 256 bits. Only their SHA-256 is kept: a slow hash makes guessing a short password
// expensive, and there is nothing to guess here.
package auth
