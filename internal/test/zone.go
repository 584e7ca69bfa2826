package test

import "time"

// Texts have the time of day, so tests have one zone.
//
// It is set before any test, as goroutines of servers look at it. One is there from the init of a package on: the
// embedded server of NATS reads a file once a second and with it, for nothing, time.Local. The race detector is not
// told of this one write.
//
//go:norace
func init() { time.Local = time.UTC }
