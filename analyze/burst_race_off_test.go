//go:build !race

package analyze

const burstRaceDetector = false
