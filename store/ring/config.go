package ring

import "fmt"

const (
	// MinBytes is the smallest bound that makes sense.
	MinBytes = 16 << 20
	// maxSegment is how large a segment becomes. A question reads whole segments.
	maxSegment = 16 << 20
	// segments is how many there are at least when all room is taken: so much of it becomes free at a time.
	segments = 16
)

// A Config says where datagrams are kept, and how many.
type Config struct {
	Dir      string
	MaxBytes int64 // of all files together, at least MinBytes
	MinFree  int64 // bytes that stay free on the disk: with less, nothing is written
}

// Check says what is wrong with c.
func (c *Config) Check() error {
	if c.MaxBytes < MinBytes {
		return fmt.Errorf("got %d bytes, want at least %d MiB", c.MaxBytes, MinBytes>>20)
	}
	return nil
}

// segmentBytes is how large a segment becomes.
func (c *Config) segmentBytes() int64 { return min(c.MaxBytes/segments, maxSegment) }
