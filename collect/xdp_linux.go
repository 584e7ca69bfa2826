package collect

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"net"
	"os"
	"sync/atomic"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/rlimit"
	"golang.org/x/sys/unix"
)

const (
	xdpFrames   = 16384 // of each queue, 32 MiB, unless a receive buffer is set
	xdpMTU      = 1536  // with it a frame and the kernel's headroom fit into 2 KiB
	xdpMaxQueue = 256
)

// An xdpRing is an AF_XDP socket: the frames of one queue of an interface that the program redirects to it.
type xdpRing struct {
	fd     int
	memory []byte // of the frames
	size   uint64 // bytes for one of them, a power of two
	rx     xdpQueue
	fill   xdpQueue
	lent   []uint64
}

// An xdpQueue is a ring of descriptors that the kernel and this process share.
type xdpQueue struct {
	memory             []byte
	produced, consumed *uint32
	flags              *uint32
	entries            unsafe.Pointer
	mask               uint32
}

// openXDP opens a ring for each queue of the interface and attaches the program. It ends with this process, however
// that ends: the link of the program is an open file.
func (f *frames) openXDP(inter *net.Interface, bytes int, watch func(fd int) error) error {
	_ = rlimit.RemoveMemlock() // kernels before 5.11 count maps
	sockets, err := ebpf.NewMap(&ebpf.MapSpec{
		Name: "waybill_xsk", Type: ebpf.XSKMap, KeySize: 4, ValueSize: 4, MaxEntries: xdpMaxQueue,
	})
	if err != nil {
		return err
	}
	defer sockets.Close() // the program holds it
	program, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Name: "waybill_reports", Type: ebpf.XDP, Instructions: xdpProgram(sockets.FD(), f.port),
	})
	if err != nil {
		return err
	}
	defer program.Close() // the link holds it
	var attached link.Link
	for _, mode := range []link.XDPAttachFlags{link.XDPDriverMode, link.XDPGenericMode} {
		attached, err = link.AttachXDP(link.XDPOptions{Program: program, Interface: inter.Index, Flags: mode})
		if err == nil || errors.Is(err, unix.EBUSY) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("attach to %s: %w", inter.Name, err)
	}
	f.close = func() { attached.Close() }
	count := xdpFrames
	size := uint64(2048)
	if inter.MTU > xdpMTU {
		size = 4096
	}
	if bytes > 0 {
		count = 1 << bits.Len(uint(max(bytes/int(size), 64)-1))
	}
	for queue := range xdpMaxQueue {
		r, err := openXDPRing(inter.Index, queue, count, size)
		if queue > 0 && errors.Is(err, unix.EINVAL) {
			break // there are no more queues
		}
		if err != nil {
			return err
		}
		f.rings = append(f.rings, r)
		if err := errors.Join(watch(r.fd), sockets.Put(uint32(queue), uint32(r.fd))); err != nil {
			return err
		}
	}
	return nil
}

// openXDPRing opens the socket of a queue with room for count frames, a power of two.
func openXDPRing(ifindex, queue, count int, size uint64) (r *xdpRing, err error) {
	fd, err := unix.Socket(unix.AF_XDP, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket AF_XDP", err)
	}
	r = &xdpRing{fd: fd, size: size}
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	r.memory, err = unix.Mmap(-1, 0, count*int(size), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_POPULATE)
	if err != nil {
		return r, os.NewSyscallError("mmap", err)
	}
	memory := unix.XDPUmemReg{
		Addr: uint64(uintptr(unsafe.Pointer(&r.memory[0]))), Len: uint64(len(r.memory)), Size: uint32(size),
	}
	_, _, errno := unix.Syscall6(unix.SYS_SETSOCKOPT, uintptr(fd), unix.SOL_XDP, unix.XDP_UMEM_REG,
		uintptr(unsafe.Pointer(&memory)), unsafe.Sizeof(memory), 0)
	if errno != 0 {
		err = os.NewSyscallError("setsockopt XDP_UMEM_REG", errno)
		return r, err
	}
	for _, option := range []int{unix.XDP_UMEM_FILL_RING, unix.XDP_UMEM_COMPLETION_RING, unix.XDP_RX_RING} {
		if err = unix.SetsockoptInt(fd, unix.SOL_XDP, option, count); err != nil {
			return r, os.NewSyscallError("setsockopt XDP ring", err)
		}
	}
	var offsets unix.XDPMmapOffsets
	length := uint32(unsafe.Sizeof(offsets))
	_, _, errno = unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_XDP, unix.XDP_MMAP_OFFSETS,
		uintptr(unsafe.Pointer(&offsets)), uintptr(unsafe.Pointer(&length)), 0)
	if errno != 0 {
		err = os.NewSyscallError("getsockopt XDP_MMAP_OFFSETS", errno)
		return r, err
	}
	const descriptor, address = int(unsafe.Sizeof(unix.XDPDesc{})), 8
	if err = r.rx.open(fd, unix.XDP_PGOFF_RX_RING, &offsets.Rx, count, descriptor); err != nil {
		return r, err
	}
	if err = r.fill.open(fd, unix.XDP_UMEM_PGOFF_FILL_RING, &offsets.Fr, count, address); err != nil {
		return r, err
	}
	for i := range count {
		r.lent = append(r.lent, uint64(i)*size)
	}
	r.release()
	for _, mode := range []uint16{unix.XDP_ZEROCOPY, unix.XDP_COPY} {
		err = unix.Bind(fd, &unix.SockaddrXDP{
			Flags: mode | unix.XDP_USE_NEED_WAKEUP, Ifindex: uint32(ifindex), QueueID: uint32(queue),
		})
		if err == nil {
			return r, nil
		}
	}
	return r, os.NewSyscallError("bind AF_XDP", err)
}

func (q *xdpQueue) open(fd int, at int64, offsets *unix.XDPRingOffset, count, entry int) (err error) {
	q.memory, err = unix.Mmap(fd, at, int(offsets.Desc)+count*entry, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_SHARED|unix.MAP_POPULATE)
	if err != nil {
		return os.NewSyscallError("mmap XDP ring", err)
	}
	word := func(offset uint64) *uint32 { return (*uint32)(unsafe.Pointer(&q.memory[offset])) }
	q.produced, q.consumed, q.flags = word(offsets.Producer), word(offsets.Consumer), word(offsets.Flags)
	q.entries, q.mask = unsafe.Pointer(&q.memory[offsets.Desc]), uint32(count-1)
	return nil
}

func (r *xdpRing) waits() bool {
	return atomic.LoadUint32(r.rx.produced) != atomic.LoadUint32(r.rx.consumed)
}

func (r *xdpRing) take(limit int, each func(frame []byte)) int {
	at := *r.rx.consumed // only this process writes it
	n := min(int(atomic.LoadUint32(r.rx.produced)-at), limit)
	all := unsafe.Slice((*unix.XDPDesc)(r.rx.entries), int(r.rx.mask)+1)
	for i := range uint32(n) {
		d := &all[(at+i)&r.rx.mask]
		r.lent = append(r.lent, d.Addr&^(r.size-1))
		each(r.memory[d.Addr:][:d.Len])
	}
	atomic.StoreUint32(r.rx.consumed, at+uint32(n))
	return n
}

func (r *xdpRing) release() {
	if len(r.lent) == 0 {
		return
	}
	at := *r.fill.produced // only this process writes it
	all := unsafe.Slice((*uint64)(r.fill.entries), int(r.fill.mask)+1)
	for i, address := range r.lent { // as many as there are frames fit
		all[(at+uint32(i))&r.fill.mask] = address
	}
	atomic.StoreUint32(r.fill.produced, at+uint32(len(r.lent)))
	r.lent = r.lent[:0]
	if atomic.LoadUint32(r.fill.flags)&unix.XDP_RING_NEED_WAKEUP != 0 {
		_, _, _ = unix.Recvfrom(r.fd, nil, unix.MSG_DONTWAIT) // a driver waits for room
	}
}

func (r *xdpRing) dropped() (uint64, error) {
	var stats unix.XDPStatistics
	length := uint32(unsafe.Sizeof(stats))
	_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(r.fd), unix.SOL_XDP, unix.XDP_STATISTICS,
		uintptr(unsafe.Pointer(&stats)), uintptr(unsafe.Pointer(&length)), 0)
	if errno != 0 {
		return 0, os.NewSyscallError("getsockopt XDP_STATISTICS", errno)
	}
	return stats.Rx_dropped + stats.Rx_ring_full, nil
}

func (r *xdpRing) close() {
	for _, m := range [][]byte{r.rx.memory, r.fill.memory} {
		if m != nil {
			_ = unix.Munmap(m)
		}
	}
	unix.Close(r.fd)
	if r.memory != nil {
		_ = unix.Munmap(r.memory)
	}
}

// xdpProgram redirects UDP packets to a port to the socket of their queue. It passes all else: other ports, fragments,
// packets with VLAN tags or options, and those of a queue without a socket.
func xdpProgram(sockets int, port uint16) asm.Instructions {
	const (
		data, dataEnd, queue = 0, 4, 16 // in struct xdp_md
		pass                 = 2        // XDP_PASS
	)
	wire := func(v uint16) int32 { // as a load of two bytes sees it
		return int32(binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, v)))
	}
	return asm.Instructions{
		asm.Mov.Reg(asm.R6, asm.R1),
		asm.LoadMem(asm.R2, asm.R1, data, asm.Word),
		asm.LoadMem(asm.R3, asm.R1, dataEnd, asm.Word),
		asm.Mov.Reg(asm.R4, asm.R2),
		asm.Add.Imm(asm.R4, 14+20+8),
		asm.JGT.Reg(asm.R4, asm.R3, "pass"),
		asm.LoadMem(asm.R5, asm.R2, 12, asm.Half),
		asm.JEq.Imm(asm.R5, wire(unix.ETH_P_IP), "ipv4"),
		asm.JNE.Imm(asm.R5, wire(unix.ETH_P_IPV6), "pass"),
		asm.Add.Imm(asm.R4, 40-20),
		asm.JGT.Reg(asm.R4, asm.R3, "pass"),
		asm.LoadMem(asm.R5, asm.R2, 14+6, asm.Byte),
		asm.JNE.Imm(asm.R5, unix.IPPROTO_UDP, "pass"),
		asm.LoadMem(asm.R5, asm.R2, 14+40+2, asm.Half),
		asm.Ja.Label("port"),
		asm.LoadMem(asm.R5, asm.R2, 14, asm.Byte).WithSymbol("ipv4"),
		asm.JNE.Imm(asm.R5, 0x45, "pass"),
		asm.LoadMem(asm.R5, asm.R2, 14+6, asm.Half),
		asm.And.Imm(asm.R5, wire(0x3fff)), // more fragments, offset
		asm.JNE.Imm(asm.R5, 0, "pass"),
		asm.LoadMem(asm.R5, asm.R2, 14+9, asm.Byte),
		asm.JNE.Imm(asm.R5, unix.IPPROTO_UDP, "pass"),
		asm.LoadMem(asm.R5, asm.R2, 14+20+2, asm.Half),
		asm.JNE.Imm(asm.R5, wire(port), "pass").WithSymbol("port"),
		asm.LoadMapPtr(asm.R1, sockets),
		asm.LoadMem(asm.R2, asm.R6, queue, asm.Word),
		asm.Mov.Imm(asm.R3, pass), // where there is no socket
		asm.FnRedirectMap.Call(),
		asm.Return(),
		asm.Mov.Imm(asm.R0, pass).WithSymbol("pass"),
		asm.Return(),
	}
}
