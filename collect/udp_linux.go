package collect

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// UDP_GRO makes the kernel queue a run of datagrams of equal length, from one sender, as one packet. Measured on Linux
// 6.18 with 2 processors over loopback, a million datagrams of 200 bytes sent 64 to a run by UDP_SEGMENT, medians of 5:
//
//	                                  off     on
//	received per second, million      1.7   13.5   all that the sender sends
//	processor time per datagram, ns   353     26
//	held by 32 MiB, thousand           73    315
//
// The price is that the kernel counts a dropped run as one drop. Where nothing counts the rest, UDP_GRO stays off.
// It is off, too, unless Config.Coalesce asks for it, as waybill serve does.

// Coalesced says that the kernel hands over runs of datagrams as one, which is several times faster. It needs Linux 5.7
// and root or CAP_BPF, to load the filter without which Drops could not be exact. Frames of an interface need no runs.
func (s *Socket) Coalesced() bool { return s.runs.offered != nil || s.frames != nil }

// canShare says that several sockets can share an address and split its senders among them.
const canShare = true

// setOptions prepares a socket that is not bound yet and returns the receive buffer that the kernel granted, in bytes.
func setOptions(fd, receiveBuffer int, share, stamp bool) (granted int, err error) {
	if stamp {
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1); err != nil {
			return 0, os.NewSyscallError("setsockopt SO_TIMESTAMPNS", err)
		}
	}
	if share {
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
			return 0, os.NewSyscallError("setsockopt SO_REUSEPORT", err)
		}
	}
	// SO_RCVBUFFORCE goes beyond net.core.rmem_max and needs CAP_NET_ADMIN; SO_RCVBUF takes what the limit allows.
	err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, receiveBuffer)
	if errors.Is(err, unix.EPERM) {
		err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, receiveBuffer)
	}
	if err != nil {
		return 0, os.NewSyscallError("setsockopt SO_RCVBUF", err)
	}
	doubled, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF)
	if err != nil {
		return 0, os.NewSyscallError("getsockopt SO_RCVBUF", err)
	}
	return doubled / 2, nil // socket(7): the kernel doubles the value, for its own bookkeeping
}

// allowSharing lets sockets opened later bind the address of s.
func (s *Socket) allowSharing() error {
	var err error
	controlErr := s.raw.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
	})
	return errors.Join(controlErr, os.NewSyscallError("setsockopt SO_REUSEPORT", err))
}

// spreadMultiplier spreads neighbouring addresses over sockets.
const spreadMultiplier = 0x9e3779b1

// SocketOf returns which of the n sockets of an address, as Listen returns them, gets the datagrams of a source.
func SocketOf(source netip.Addr, n int) int {
	if n <= 1 || !source.IsValid() {
		return 0
	}
	b := source.Unmap().AsSlice()
	return int(binary.BigEndian.Uint32(b[len(b)-4:]) * spreadMultiplier >> 16 % uint32(n))
}

// spreadBySource lets the kernel choose among the n sockets of s's address by the last four bytes of the source
// address.
func (s *Socket) spreadBySource(n int) error {
	const (
		ip      = 0xfff00000 // SKF_NET_OFF: offsets count from the IP header
		source4 = ip + 12
		source6 = ip + 8 + 12
	)
	program := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: ip},
		{Code: unix.BPF_ALU | unix.BPF_RSH | unix.BPF_K, K: 4},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: 6, Jt: 2},
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: source4},
		{Code: unix.BPF_JMP | unix.BPF_JA, K: 1},
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: source6},
		{Code: unix.BPF_ALU | unix.BPF_MUL | unix.BPF_K, K: spreadMultiplier},
		{Code: unix.BPF_ALU | unix.BPF_RSH | unix.BPF_K, K: 16},
		{Code: unix.BPF_ALU | unix.BPF_MOD | unix.BPF_K, K: uint32(n)},
		{Code: unix.BPF_RET | unix.BPF_A},
	}
	var err error
	controlErr := s.raw.Control(func(fd uintptr) {
		err = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_REUSEPORT_CBPF,
			&unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]})
	})
	return errors.Join(controlErr, os.NewSyscallError("setsockopt SO_ATTACH_REUSEPORT_CBPF", err))
}

// ReadBatch waits for at least one datagram and fills b with those that are there, as many as b holds. It returns their
// number; b.Datagram returns them. It does not allocate. If the kernel handed over more than b holds, the next
// ReadBatch returns the rest, whatever has become of the socket. The error is net.ErrClosed after Close,
// os.ErrDeadlineExceeded after the time of SetReadDeadline, or the kernel's.
func (s *Socket) ReadBatch(b *Batch) (int, error) {
	if s.frames != nil {
		return s.frames.read(b)
	}
	if n := b.cut(); n > 0 {
		return n, nil
	}
	b.runs, b.stamped = &s.runs, s.stamped
	b.filled, b.next, b.errno = 0, 0, 0
	err := s.raw.Read(b.wait)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		// Once the deadline has passed, Read no longer asks the socket. What is queued must not be lost for that.
		err = s.raw.Control(b.poll)
		if err == nil && b.filled == 0 && b.errno == 0 {
			err = os.ErrDeadlineExceeded
		}
	}
	switch {
	case errors.Is(err, net.ErrClosed):
		return 0, net.ErrClosed
	case err != nil:
		return 0, err
	case b.errno != 0:
		return 0, os.NewSyscallError("recvmmsg", b.errno)
	}
	return b.cut(), nil
}

// kernelDrops reads the kernel's count of drops since the socket was opened, modulo 2^32, and the datagrams that it
// leaves out because it counts a run as one.
func (s *Socket) kernelDrops() (drops uint32, extra uint64, err error) {
	return s.runs.update(s.memory)
}

// socketMemory is what the kernel says about the receive buffer.
type socketMemory struct {
	waiting uint32 // bytes of memory of the packets in it
	drops   uint32 // packets
}

// waits reports whether datagrams wait in the socket; false if the kernel does not say.
func (s *Socket) waits() bool {
	if s.frames != nil {
		return s.frames.waits()
	}
	return s.udpWaits()
}

func (s *Socket) udpWaits() bool {
	m, err := s.memory()
	return err == nil && m.waiting > 0
}

func (s *Socket) memory() (socketMemory, error) {
	var info [unix.SK_MEMINFO_VARS]uint32
	size := uint32(unsafe.Sizeof(info))
	var errno syscall.Errno
	err := s.raw.Control(func(fd uintptr) {
		_, _, errno = unix.Syscall6(unix.SYS_GETSOCKOPT, fd, unix.SOL_SOCKET, unix.SO_MEMINFO,
			uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
	})
	if err != nil {
		return socketMemory{}, err
	}
	if errno != 0 {
		return socketMemory{}, os.NewSyscallError("getsockopt SO_MEMINFO", errno)
	}
	return socketMemory{waiting: info[unix.SK_MEMINFO_RMEM_ALLOC], drops: info[unix.SK_MEMINFO_DROPS]}, nil
}
