// Package cli has the commands that ask a server: lists, drawings, statements in SQL, and what changes alerts.
package cli
