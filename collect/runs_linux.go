package collect

import (
	"os"
	"sync"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// runs knows how many datagrams were in the runs that the kernel dropped. With UDP_GRO the kernel queues a run of
// datagrams as one packet, and counts it as one drop if there is no room for it. The filter counts the extra datagrams,
// those beyond the first of their run, of every packet on its way to the receive buffer, and ReadBatch counts those
// that it gets, so that
//
//	extra datagrams dropped = extra datagrams offered - read - waiting in the receive buffer
//
// and datagrams dropped = the kernel's drops + extra datagrams dropped. Nothing tells what waits but an empty buffer.
type runs struct {
	mu      sync.Mutex // held while packets leave the receive buffer, so that read and bytes agree with it
	offered *ebpf.Map  // nil if UDP_GRO is off
	read    uint64     // extra datagrams
	bytes   uint64     // of all datagrams read

	dropped uint64 // extra datagrams that are known to be dropped
	exactAt uint32 // at this value of the kernel's drops there were no more of them

	// A sample of the offered extra datagrams, to be compared with read once bytes is at until: then all that waited
	// when it was taken is read. 0 if there is none.
	sample, until uint64
}

// enable turns UDP_GRO on for the socket fd, if its drops can be counted: otherwise all stays as it is.
func (r *runs) enable(fd int) {
	if mask, _, errno := unix.Syscall(unix.SYS_MEMBARRIER, membarrierQuery, 0, 0); errno != 0 ||
		mask&membarrierGlobal == 0 {
		return
	}
	offered, err := attachRunFilter(fd)
	if err != nil {
		return
	}
	if unix.SetsockoptInt(fd, unix.SOL_UDP, unix.UDP_GRO, 1) != nil { // Linux before 5.0
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DETACH_BPF, 0)
		offered.Close()
		return
	}
	r.offered = offered
}

func (r *runs) close() { r.offered.Close() }

// took notes what was read. The caller holds the lock since before the system call.
func (r *runs) took(extra, bytes uint64) {
	r.read += extra
	r.bytes += bytes
	if r.sample != 0 && r.bytes >= r.until {
		r.settle(r.sample)
		r.sample = 0
	}
}

// settle learns from a number of offered extra datagrams of which none waits any more. Of the datagrams read some may
// have been offered later: then it learns too little, never too much.
func (r *runs) settle(offered uint64) {
	if offered > r.read {
		r.dropped = max(r.dropped, offered-r.read)
	}
}

// update returns the kernel's count of drops and the extra datagrams known to be dropped. memory reads the state of the
// socket. If there were drops since the numbers were exact, it waits for all processors, some 10 ms.
func (r *runs) update(memory func() (socketMemory, error)) (drops uint32, extra uint64, err error) {
	now, err := memory()
	if err != nil || r.offered == nil {
		return now.drops, 0, err
	}
	offered, err := r.load()
	if err != nil {
		return 0, 0, err
	}
	r.mu.Lock()
	known := now.drops == r.exactAt || offered == r.read+r.dropped
	extra = r.dropped
	r.mu.Unlock()
	if known {
		return now.drops, extra, nil
	}

	// The kernel handles a packet from the filter to its end in the receive buffer, or among the drops, in one
	// read-side critical section of RCU. After this wait no packet is between the two that is in offered.
	if _, _, errno := unix.Syscall(unix.SYS_MEMBARRIER, membarrierGlobal, 0, 0); errno != 0 {
		return 0, 0, os.NewSyscallError("membarrier", errno)
	}

	r.mu.Lock()
	defer r.mu.Unlock()
	now, err = memory()
	if err != nil {
		return 0, 0, err
	}
	if now.waiting > 0 {
		if r.sample == 0 {
			// The memory of a packet is never less than its bytes, so this is late, never early.
			r.sample, r.until = offered, r.bytes+uint64(now.waiting)
		}
		return now.drops, r.dropped, nil
	}
	r.settle(offered)
	r.sample = 0
	if again, err := r.load(); err == nil && again == offered {
		r.exactAt = now.drops
	}
	return now.drops, r.dropped, nil
}

// load returns the number of extra datagrams that were offered to the socket.
func (r *runs) load() (extra uint64, err error) {
	err = r.offered.Lookup(uint32(0), &extra)
	return extra, err
}

// Commands of membarrier(2).
const (
	membarrierQuery  = 0
	membarrierGlobal = 1
)
