package export

// A Batch keeps Datagrams. It is reused: Reset keeps its memory.
type Batch struct {
	datagrams []Datagram
	bytes     []byte
}

// Reset empties the batch. What was taken from it before is overwritten by what comes next.
func (b *Batch) Reset() { b.datagrams, b.bytes = b.datagrams[:0], b.bytes[:0] }

// Add appends a copy of d. It can be given to New as it is.
func (b *Batch) Add(d *Datagram) {
	if free := cap(b.bytes) - len(b.bytes); free < len(d.Payload) {
		// Payloads handed out before stay where they are; the new block serves from now on.
		b.bytes = make([]byte, 0, max(2*cap(b.bytes), 64<<10, len(d.Payload)))
	}
	start := len(b.bytes)
	b.bytes = append(b.bytes, d.Payload...)
	b.datagrams = append(b.datagrams, *d)
	b.datagrams[len(b.datagrams)-1].Payload = b.bytes[start:len(b.bytes):len(b.bytes)]
}

// Datagrams returns what was added since the last Reset.
func (b *Batch) Datagrams() []Datagram { return b.datagrams }
