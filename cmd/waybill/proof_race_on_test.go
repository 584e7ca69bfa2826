//go:build race

package main

// raceDetector says that the race detector slows the tests down.
const raceDetector = true
