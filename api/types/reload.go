package types

// A Reload says what a server did with its configuration, which it read again.
type Reload struct {
	// Changed has a line for each key that is different, and how: it is in effect.
	Changed []string `json:"changed" doc:"keys that are different, and how: in effect now"`
	// NeedsRestart has the keys that are different and stay as they were at the start.
	NeedsRestart []string `json:"needs_restart" doc:"keys that are different, and stay as they are until the next start"`
}
