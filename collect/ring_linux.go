package collect

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A frameRing is memory that the kernel puts frames into.
type frameRing interface {
	// take calls each with frames, as many as limit, that stay as they are until release.
	take(limit int, each func(frame []byte)) int
	release()
	waits() bool
	dropped() (uint64, error) // frames since it was opened, for which there was no room
	close()
}

// frames reads datagrams from rings, and from the UDP socket beside them, in one goroutine: whatever queue of the
// interface an exporter's datagrams come to, they are in one place.
type frames struct {
	name  string
	port  uint16
	udp   *Socket // nil: there is none
	rings []frameRing
	late  time.Duration // frames are seen so long after they came
	close func()        // what was attached

	file *os.File // of an epoll that has all of them
	raw  syscall.RawConn
	into *Batch
	wait func(fd uintptr) bool
	each func(frame []byte)

	bad    atomic.Uint64 // datagrams with wrong lengths
	mu     sync.Mutex
	ended  bool
	total  uint64
	failed error
}

// openFrames opens the rings of an interface; udp is read beside those of XDP.
func openFrames(network string, inter *net.Interface, port uint16, cfg Config, udp *Socket) (*frames, error) {
	f := &frames{name: cfg.Address, port: port, close: func() {}}
	f.wait, f.each = f.receive, f.add
	poll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	if err = unix.SetNonblock(poll, true); err == nil {
		f.file = os.NewFile(uintptr(poll), network)
		f.raw, err = f.file.SyscallConn()
	}
	watch := func(fd int) error {
		event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)}
		return os.NewSyscallError("epoll_ctl", unix.EpollCtl(poll, unix.EPOLL_CTL_ADD, fd, &event))
	}
	if err == nil && network == networkXDP {
		f.udp = udp
		controlErr := udp.raw.Control(func(fd uintptr) { err = watch(int(fd)) })
		if err = errors.Join(err, controlErr); err == nil {
			err = f.openXDP(inter, cfg.ReceiveBuffer, watch)
		}
	} else if err == nil {
		err = f.openPacket(inter, cfg.ReceiveBuffer, watch)
	}
	if err != nil {
		f.shut()
		return nil, err
	}
	return f, nil
}

func (f *frames) shut() {
	f.close()
	for _, r := range f.rings {
		r.close()
	}
	f.file.Close()
}

// addr has no address: frames to any are taken.
func (f *frames) addr() netip.AddrPort { return netip.AddrPortFrom(netip.IPv6Unspecified(), f.port) }

// read is ReadBatch. What the last one returned goes back to the kernel.
func (f *frames) read(b *Batch) (int, error) {
	for _, r := range f.rings {
		r.release()
	}
	if n := b.cut(); n > 0 {
		return n, nil
	}
	b.filled, b.next, b.errno, b.stamped = 0, 0, 0, false
	f.into = b
	if f.udp != nil {
		b.runs = &f.udp.runs
	}
	err := f.raw.Read(f.wait)
	if errors.Is(err, os.ErrDeadlineExceeded) { // what came until then must not be lost
		time.Sleep(f.late)
		if f.receive(0) {
			err = nil
		}
	}
	switch {
	case err == nil && b.errno != 0:
		return 0, os.NewSyscallError("recvmmsg", b.errno)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return 0, os.ErrDeadlineExceeded
	case errors.Is(err, os.ErrClosed):
		return 0, net.ErrClosed
	case err != nil:
		return 0, err
	}
	return len(b.datagrams), nil
}

// receive fills the batch with what is there. It returns false if that is nothing.
func (f *frames) receive(uintptr) bool {
	b := f.into
	for {
		room := b.size
		for _, r := range f.rings {
			room -= r.take(room, f.each)
		}
		if len(b.datagrams) > 0 {
			b.last = room > 0 && (f.udp == nil || !f.udp.udpWaits())
			return true
		}
		if room == b.size {
			break
		}
		for _, r := range f.rings { // nothing of it is used
			r.release()
		}
	}
	if f.udp == nil {
		return false
	}
	found := false
	_ = f.udp.raw.Control(func(fd uintptr) { found = b.receive(fd) })
	if found && b.errno == 0 {
		b.cut()
	}
	return found
}

func (f *frames) add(frame []byte) {
	if d, ok := datagramIn(frame, f.port); ok {
		f.into.datagrams = append(f.into.datagrams, d)
	} else {
		f.bad.Add(1)
	}
}

func (f *frames) waits() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended {
		return false
	}
	for _, r := range f.rings {
		if r.waits() {
			return true
		}
	}
	return f.udp != nil && f.udp.udpWaits()
}

// drops returns the frames that the kernel had no room for, those with wrong lengths, and what the UDP socket dropped.
func (f *frames) drops() (uint64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended {
		return f.total, f.failed
	}
	total := f.bad.Load()
	for _, r := range f.rings {
		n, err := r.dropped()
		if err != nil {
			return f.total, err
		}
		total += n
	}
	if f.udp != nil {
		n, err := f.udp.drops.update(f.udp.kernelDrops)
		if err != nil {
			return f.total, err
		}
		total += n
	}
	f.total = max(f.total, total)
	return f.total, nil
}

// end closes the rings after their drops were read for the last time. A reader must have stopped.
func (f *frames) end() {
	total, err := f.drops()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended {
		return
	}
	f.ended, f.total, f.failed = true, total, err
	f.shut()
}
