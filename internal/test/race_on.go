//go:build race

package test

// RaceDetector reports whether the race detector is on, under which code is ten times slower.
const RaceDetector = true
