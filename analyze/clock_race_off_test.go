//go:build !race

package analyze

const clockRaceDetector = false
