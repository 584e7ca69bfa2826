//go:build !linux

package collect

import "net/netip"

// DefaultBatchSize is a good number of datagrams per batch.
const DefaultBatchSize = 1

// A Batch holds the datagram of one ReadBatch and the memory it is read into. It may be used with one socket after the
// other, by one goroutine at a time.
type Batch struct {
	source  netip.AddrPort
	payload []byte
	length  int
}

// NewBatch returns a batch. Here it holds one datagram, whatever size is.
func NewBatch(size int) *Batch {
	return &Batch{payload: make([]byte, 1<<16)}
}

// emptied is true: whether there is more is not known.
func (b *Batch) emptied() bool { return true }

// Datagram returns the datagram of the last ReadBatch; i is 0.
func (b *Batch) Datagram(i int) Datagram {
	return Datagram{Source: b.source, Payload: b.payload[:b.length:b.length]}
}
