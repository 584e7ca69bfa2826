package serve

import "time"

// Texts have the time of day. The zone is set before any test, as goroutines of servers look at it.
func init() { time.Local = time.UTC }
