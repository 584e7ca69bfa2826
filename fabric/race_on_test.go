//go:build race

package fabric

// raceDetector says that the race detector slows the tests down.
const raceDetector = true
