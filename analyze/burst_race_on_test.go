//go:build race

package analyze

// burstRaceDetector says that the race detector slows the tests down.
const burstRaceDetector = true
