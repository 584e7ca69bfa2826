//go:build !linux

package collect

// DefaultBatchSize is a good number of datagrams per batch.
const DefaultBatchSize = 1

// A Batch holds the datagram of one ReadBatch and the memory it is read into. It may be used with one socket after the
// other, by one goroutine at a time.
type Batch struct {
	datagrams []Datagram
	payload   []byte
}

// NewBatch returns a batch. Here it holds one datagram, whatever size is.
func NewBatch(size int) *Batch {
	return &Batch{datagrams: make([]Datagram, 1), payload: make([]byte, 1<<16)}
}

// emptied is true: whether there is more is not known.
func (b *Batch) emptied(nowNs int64) (bool, int64) { return true, nowNs }

// Datagram returns the datagram of the last ReadBatch; i is 0.
func (b *Batch) Datagram(i int) Datagram { return b.datagrams[i] }
