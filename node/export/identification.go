package export

// datagramLifetimeNs is how long a datagram can be on its way at most (RFC 6864 §4.3).
const datagramLifetimeNs = 120e9

const (
	idBlocks   = 64
	idBlockLen = 1 << 16 / idBlocks
)

// An identification hands out the IPv4 identifications of the datagrams to one destination, one after the other. They
// go in blocks: when a block begins again, its last use must be a datagram lifetime ago.
type identification struct {
	next   uint16
	begun  bool             // the block of next is in use
	usedNs [idBlocks]uint64 // when the last one of a block was handed out
	used   [idBlocks]bool   // whether one ever was
}

// take returns the next identification, or false if every one of the next block may still be on its way.
func (i *identification) take(nowNs uint64) (id uint16, ok bool) {
	block := i.next / idBlockLen
	if !i.begun && i.used[block] && elapsed(i.usedNs[block], nowNs) < datagramLifetimeNs {
		return 0, false
	}
	id = i.next
	i.next++
	i.begun = i.next%idBlockLen != 0
	i.used[block], i.usedNs[block] = true, nowNs
	return id, true
}

// elapsed returns how long now is after before, 0 if it is not.
func elapsed(before, now uint64) uint64 { return max(before, now) - before }
