package collect

import (
	"encoding/binary"
	"net/netip"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// DefaultBatchSize is a good number of datagrams per batch: one system call for each hundred of them.
const DefaultBatchSize = 128

// slotSize is the room for one payload: UDP lengths have 16 bits.
const slotSize = 1 << 16

// A Batch holds the datagrams of one ReadBatch and the memory they are read into. It may be used with one socket after
// the other, by one goroutine at a time.
type Batch struct {
	count int           // datagrams that the last read returned
	errno syscall.Errno // why the last read failed

	messages []unix.Mmsghdr
	vectors  []unix.Iovec
	sources  [][unix.SizeofSockaddrInet6]byte

	// payloads has a slot of 64 KiB per datagram. The memory that is never written to exists on paper only: with 128
	// datagrams of up to 4 KiB each it is 512 KiB of 8 MiB.
	payloads []byte

	wait func(fd uintptr) bool // receive, made once because making a method value allocates
	poll func(fd uintptr)      // receive without waiting
}

// NewBatch returns a batch of size datagrams, at least 1.
func NewBatch(size int) *Batch {
	size = max(size, 1)
	b := &Batch{
		messages: make([]unix.Mmsghdr, size),
		vectors:  make([]unix.Iovec, size),
		sources:  make([][unix.SizeofSockaddrInet6]byte, size),
		payloads: make([]byte, size*slotSize),
	}
	for i := range b.messages {
		b.vectors[i].Base = &b.payloads[i*slotSize]
		b.vectors[i].SetLen(slotSize)
		header := &b.messages[i].Hdr
		header.Name = &b.sources[i][0]
		header.Iov = &b.vectors[i]
		header.SetIovlen(1)
	}
	b.wait = b.receive
	b.poll = func(fd uintptr) { b.receive(fd) }
	return b
}

// Datagram returns datagram i of the last ReadBatch; i is below the number that it returned.
func (b *Batch) Datagram(i int) Datagram {
	message := &b.messages[i]
	start := i * slotSize
	end := start + int(message.Len)
	return Datagram{
		Source:    sourceAddress(&b.sources[i]),
		Payload:   b.payloads[start:end:end],
		Truncated: message.Hdr.Flags&unix.MSG_TRUNC != 0,
	}
}

// receive fills the batch with what the socket holds. It returns false if that is nothing, which makes the caller wait.
func (b *Batch) receive(fd uintptr) bool {
	for i := range b.messages {
		b.messages[i].Hdr.Namelen = unix.SizeofSockaddrInet6 // the kernel leaves the length of the address here
	}
	for {
		n, _, errno := unix.Syscall6(unix.SYS_RECVMMSG, fd, uintptr(unsafe.Pointer(&b.messages[0])),
			uintptr(len(b.messages)), unix.MSG_DONTWAIT, 0, 0)
		switch errno {
		case 0:
			b.count = int(n)
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
