// Package types holds what the API answers and takes, as JSON: what servers and clients share. Items are types of
// package telemetry; durations are nanoseconds.
package types
