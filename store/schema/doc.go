// Package schema says which tables, columns and resolutions a store has, how records become rows of them, and how a
// question becomes SQL, whatever the engine: what differs between engines is a Dialect.
package schema
