package collect

import (
	"encoding/binary"
	"net/netip"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// DefaultBatchSize is a good number of datagrams per batch: one system call for each hundred of them.
const DefaultBatchSize = 128

// slotSize is the room for one datagram or one run of datagrams: UDP lengths have 16 bits.
const slotSize = 1 << 16

// A Batch holds the datagrams of one ReadBatch and the memory they are read into. It may be used with one socket after
// the other, by one goroutine at a time.
type Batch struct {
	datagrams []Datagram // of the last ReadBatch
	size      int        // how many there may be

	// What a system call filled. The kernel may put a run of datagrams into one slot, so that there may be more of them
	// than one ReadBatch returns.
	filled int // slots
	next   int // the first slot that was not returned in full
	offset int // how many of its bytes were

	slots int           // to offer to the next system call
	last  bool          // the socket held no more than the last one took
	errno syscall.Errno // why the last one failed
	runs  *runs         // of the socket

	stamped bool // the kernel says when datagrams came

	messages []unix.Mmsghdr
	vectors  []unix.Iovec
	sources  [][unix.SizeofSockaddrInet6]byte
	controls []control
	askedNs  int64 // when the last system call began, where datagrams are stamped

	// payloads has 64 KiB per slot. The memory that is never written to exists on paper only: with 128 datagrams of up
	// to 4 KiB each it is 512 KiB of 8 MiB.
	payloads []byte

	wait func(fd uintptr) bool // receive, made once because making a method value allocates
	poll func(fd uintptr)      // receive without waiting
}

// A control has the control messages of a slot: when it came (socket(7)), and the length of the datagrams of a run
// (udp(7)).
type control [controlWords]uint64

const controlWords = 7 // unix.CmsgSpace(16) + unix.CmsgSpace(4)

// find returns what the control message of a level and type says, of size bytes; nil: there is none.
func (c *control) find(length, level, kind, size int) unsafe.Pointer {
	for at := 0; at+unix.SizeofCmsghdr+size <= length; {
		header := (*unix.Cmsghdr)(unsafe.Add(unsafe.Pointer(c), at))
		if int(header.Level) == level && int(header.Type) == kind && int(header.Len) >= unix.SizeofCmsghdr+size {
			return unsafe.Add(unsafe.Pointer(header), unix.SizeofCmsghdr)
		}
		if header.Len < unix.SizeofCmsghdr {
			return nil
		}
		at += int(header.Len+7) &^ 7
	}
	return nil
}

// NewBatch returns a batch of size datagrams, at least 1.
func NewBatch(size int) *Batch {
	size = max(size, 1)
	b := &Batch{
		datagrams: make([]Datagram, 0, size),
		size:      size,
		slots:     size,
		messages:  make([]unix.Mmsghdr, size),
		vectors:   make([]unix.Iovec, size),
		sources:   make([][unix.SizeofSockaddrInet6]byte, size),
		controls:  make([]control, size),
		payloads:  make([]byte, size*slotSize),
	}
	for i := range b.messages {
		b.vectors[i].Base = &b.payloads[i*slotSize]
		b.vectors[i].SetLen(slotSize)
		header := &b.messages[i].Hdr
		header.Name = &b.sources[i][0]
		header.Iov = &b.vectors[i]
		header.SetIovlen(1)
		header.Control = (*byte)(unsafe.Pointer(&b.controls[i]))
	}
	b.wait = b.receive
	b.poll = func(fd uintptr) { b.receive(fd) }
	return b
}

// Datagram returns datagram i of the last ReadBatch; i is below the number that it returned.
func (b *Batch) Datagram(i int) Datagram { return b.datagrams[i] }

// emptied reports whether the last ReadBatch returned the last of what the socket held when it was read, and up to when
// all that came was returned then; nowNs is now, behind it.
func (b *Batch) emptied(nowNs int64) (bool, int64) {
	if b.stamped {
		nowNs = b.askedNs
	}
	return b.last && b.next == b.filled, nowNs
}

// receive fills slots with what the socket holds. It returns false if that is nothing, which makes the caller wait.
func (b *Batch) receive(fd uintptr) bool {
	for i := range b.messages[:b.slots] {
		header := &b.messages[i].Hdr
		header.Namelen = unix.SizeofSockaddrInet6 // the kernel leaves the length of the address here
		header.SetControllen(int(unsafe.Sizeof(b.controls[i])))
	}
	b.runs.mu.Lock()
	defer b.runs.mu.Unlock()
	for {
		if b.stamped {
			b.askedNs = time.Now().UnixNano()
		}
		n, _, errno := unix.Syscall6(unix.SYS_RECVMMSG, fd, uintptr(unsafe.Pointer(&b.messages[0])),
			uintptr(b.slots), unix.MSG_DONTWAIT, 0, 0)
		switch errno {
		case 0:
			b.filled, b.last = int(n), int(n) < b.slots
			b.account()
			return true
		case unix.EINTR:
		case unix.EAGAIN:
			return false
		default:
			b.errno = errno
			return true
		}
	}
}

// account counts what the slots were filled with. The next system call gets as many slots as will give a full batch if
// its runs are as long: more of them were not faster, but write to more memory.
func (b *Batch) account() {
	extra, bytes := 0, 0
	for i := range b.messages[:b.filled] {
		length := int(b.messages[i].Len)
		if segment := b.segment(i); segment > 0 {
			extra += (length - 1) / segment
		}
		bytes += length
	}
	b.runs.took(uint64(extra), uint64(bytes))
	b.slots = max(1, b.size*b.filled/(b.filled+extra))
}

// segment returns the length of the datagrams in slot i; the last one may be shorter. It is 0 if there is one, which is
// empty.
func (b *Batch) segment(i int) int {
	length := int(b.messages[i].Len)
	size := (*int32)(b.controls[i].find(int(b.messages[i].Hdr.Controllen), unix.SOL_UDP, unix.UDP_GRO, 4))
	if size == nil || *size <= 0 {
		return length
	}
	return min(int(*size), length)
}

// arrivedNs returns when slot i came; 0: the kernel does not say.
func (b *Batch) arrivedNs(i int) int64 {
	if !b.stamped {
		return 0
	}
	at := (*unix.Timespec)(b.controls[i].find(int(b.messages[i].Hdr.Controllen), unix.SOL_SOCKET,
		unix.SCM_TIMESTAMPNS, int(unsafe.Sizeof(unix.Timespec{}))))
	if at == nil {
		return 0
	}
	return at.Nano()
}

// cut makes the datagrams that the next ReadBatch returns of what the slots still have.
func (b *Batch) cut() int {
	b.datagrams = b.datagrams[:0]
	for ; b.next < b.filled; b.next++ {
		message := &b.messages[b.next]
		slot := b.payloads[b.next*slotSize:][:message.Len]
		segment := b.segment(b.next)
		datagram := Datagram{
			Source:    sourceAddress(&b.sources[b.next]),
			ArrivedNs: b.arrivedNs(b.next), Truncated: message.Hdr.Flags&unix.MSG_TRUNC != 0,
		}
		for first := true; first || b.offset < len(slot); first = false {
			if len(b.datagrams) == b.size {
				return b.size
			}
			end := min(b.offset+segment, len(slot))
			datagram.Payload = slot[b.offset:end:end]
			b.datagrams = append(b.datagrams, datagram)
			b.offset = end
		}
		b.offset = 0
	}
	return len(b.datagrams)
}

// sourceAddress reads a sockaddr_in or sockaddr_in6: family, port and then the address, in both.
func sourceAddress(b *[unix.SizeofSockaddrInet6]byte) netip.AddrPort {
	var address netip.Addr
	switch binary.NativeEndian.Uint16(b[:]) {
	case unix.AF_INET:
		address = netip.AddrFrom4([4]byte(b[4:8]))
	case unix.AF_INET6: // 4 bytes of flow label come first
		address = netip.AddrFrom16([16]byte(b[8:24])).Unmap()
	}
	return netip.AddrPortFrom(address, binary.BigEndian.Uint16(b[2:]))
}
