package collect

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Limits of a run of datagrams that the kernel takes as one. Linux before 6.9 takes 64 in a run; all of them together
// must fit in one IPv4 packet.
const (
	maxRun      = 64
	maxRunBytes = 65507
)

// A transport sends by sendmmsg: many messages in one system call. With UDP_SEGMENT a message is a run of datagrams of
// equal length, which cross most of the kernel as one.
type transport struct {
	raw     syscall.RawConn
	segment bool // until the kernel refuses it

	messages []unix.Mmsghdr
	vectors  []unix.Iovec
	controls []segmentControl
	runs     []int // datagrams in each message

	used    int           // messages in use
	sent    int           // messages sent by the last call
	refused uint64        // ICMP errors met by the last call
	errno   syscall.Errno // why the last call failed
	write   func(fd uintptr) bool
}

// A segmentControl is the control message that tells the kernel the length of the datagrams of a run (udp(7)).
type segmentControl struct {
	header unix.Cmsghdr
	size   uint16
	_      [6]byte // unix.CmsgSpace(2) at least
}

func (t *transport) init(s *sender, segment bool) error {
	raw, err := s.conn.SyscallConn()
	if err != nil {
		return err
	}
	*t = transport{
		raw:      raw,
		segment:  segment,
		messages: make([]unix.Mmsghdr, maxQueued),
		vectors:  make([]unix.Iovec, maxQueued),
		controls: make([]segmentControl, maxQueued),
		runs:     make([]int, maxQueued),
	}
	t.write = t.sendMessages
	for i := range t.messages {
		t.messages[i].Hdr.Iov = &t.vectors[i]
		t.messages[i].Hdr.SetIovlen(1)
		t.controls[i].header.Level = unix.SOL_UDP
		t.controls[i].header.Type = unix.UDP_SEGMENT
		t.controls[i].header.SetLen(unix.CmsgLen(2))
	}
	return nil
}

// send sends queued payloads from number first on and returns how many of them it sent: fewer than there are if there
// is an error, or if the kernel refused a run and the rest must be sent one by one.
func (t *transport) send(s *sender, first int) (int, error) {
	t.build(s, first)
	t.sent, t.refused, t.errno = 0, 0, 0
	err := t.raw.Write(t.write)
	s.summary.Refused += t.refused
	n := 0
	for _, run := range t.runs[:t.sent] {
		n += run
	}
	if err == nil && t.errno != 0 {
		if t.runs[t.sent] > 1 {
			// The kernel, the route or the network card cannot cut runs up: EINVAL, EIO or EMSGSIZE, by version.
			t.segment = false
			return n, nil
		}
		err = os.NewSyscallError("sendmmsg", t.errno)
	}
	return n, err
}

// build makes messages of the queued payloads from number first on.
func (t *transport) build(s *sender, first int) {
	t.used = 0
	for first < len(s.ends) {
		run, size := 1, len(s.payload(first))
		if t.segment && size > 0 {
			for run < maxRun && (run+1)*size <= maxRunBytes &&
				first+run < len(s.ends) && len(s.payload(first+run)) == size {
				run++
			}
		}
		t.set(t.used, s.payload(first), run)
		t.used++
		first += run
	}
}

// set makes message i of a run of payloads that begins with payload.
func (t *transport) set(i int, payload []byte, run int) {
	t.runs[i] = run
	t.vectors[i].Base = unsafe.SliceData(payload)
	t.vectors[i].SetLen(run * len(payload))
	header := &t.messages[i].Hdr
	header.Control = nil
	header.SetControllen(0)
	if run > 1 {
		t.controls[i].size = uint16(len(payload))
		header.Control = (*byte)(unsafe.Pointer(&t.controls[i]))
		header.SetControllen(unix.CmsgSpace(2))
	}
}

// sendMessages sends the messages. It returns false if the send buffer is full, which makes the caller wait.
func (t *transport) sendMessages(fd uintptr) bool {
	for t.sent < t.used {
		n, _, errno := unix.Syscall6(unix.SYS_SENDMMSG, fd, uintptr(unsafe.Pointer(&t.messages[t.sent])),
			uintptr(t.used-t.sent), unix.MSG_DONTWAIT, 0, 0)
		switch errno {
		case 0:
			t.sent += int(n)
		case unix.EINTR:
		case unix.ECONNREFUSED:
			t.refused++ // the ICMP answer to an earlier datagram; this message was not sent yet
		case unix.EAGAIN:
			return false
		default:
			t.errno = errno
			return true
		}
	}
	return true
}

// finish counts an ICMP answer to the last datagrams, which no later call will report.
func (t *transport) finish(s *sender) {
	t.raw.Control(func(fd uintptr) {
		if errno, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_ERROR); err == nil &&
			syscall.Errno(errno) == unix.ECONNREFUSED {
			s.summary.Refused++
		}
	})
}
