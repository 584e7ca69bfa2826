package serve

import "time"

// Texts have the time of day. The zone is set before any test, as goroutines of servers look at it.
//
// The embedded server of NATS has a goroutine from its own init on, which reads a file once a second and with it, for
// nothing, time.Local: the race detector is not told of this one write, before which no test has begun.
//
//go:norace
func init() { time.Local = time.UTC }
