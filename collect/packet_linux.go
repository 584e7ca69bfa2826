package collect

import (
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	packetBlock     = 1 << 18              // bytes; the kernel hands over whole blocks
	packetRetire    = 2 * time.Millisecond // or what is in one after so long
	packetRingBytes = 32 << 20
)

// A packetRing is a TPACKET_V3 receive ring: frames of an interface, copied by the kernel, which go on their way too.
type packetRing struct {
	fd     int
	memory []byte
	blocks int
	block  atomic.Uint32 // the one to be read
	left   uint32
	next   uint32 // offset of the next frame in it
	lent   []int  // blocks that were read to the end since the last release

	mu    sync.Mutex
	drops uint64
}

// openPacket opens a ring for all UDP packets to the port that the interface sees, other machines' packets too.
func (f *frames) openPacket(inter *net.Interface, bytes int, watch func(fd int) error) error {
	f.late = 2 * packetRetire
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return os.NewSyscallError("socket AF_PACKET", err)
	}
	if bytes <= 0 {
		bytes = packetRingBytes
	}
	r := &packetRing{fd: fd, blocks: max(bytes/packetBlock, 4)}
	f.rings = append(f.rings, r)
	filter := packetFilter(f.port)
	set := func(option string, err error) {
		if err != nil && f.failed == nil {
			f.failed = os.NewSyscallError("setsockopt "+option, err)
		}
	}
	set("SO_ATTACH_FILTER", unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
		&unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}))
	set("PACKET_VERSION", unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_VERSION, unix.TPACKET_V3))
	set("PACKET_IGNORE_OUTGOING", unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1))
	set("PACKET_RX_RING", unix.SetsockoptTpacketReq3(fd, unix.SOL_PACKET, unix.PACKET_RX_RING, &unix.TpacketReq3{
		Block_size: packetBlock, Block_nr: uint32(r.blocks), Frame_size: 1 << 11,
		Frame_nr: uint32(r.blocks * packetBlock >> 11), Retire_blk_tov: uint32(packetRetire.Milliseconds()),
	}))
	set("PACKET_ADD_MEMBERSHIP", unix.SetsockoptPacketMreq(fd, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP,
		&unix.PacketMreq{Ifindex: int32(inter.Index), Type: unix.PACKET_MR_PROMISC}))
	if f.failed != nil {
		return f.failed
	}
	r.memory, err = unix.Mmap(fd, 0, r.blocks*packetBlock, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return os.NewSyscallError("mmap PACKET_RX_RING", err)
	}
	const all = unix.ETH_P_ALL
	err = unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: all<<8 | all>>8, Ifindex: inter.Index})
	if err != nil {
		return os.NewSyscallError("bind AF_PACKET", err)
	}
	return watch(fd)
}

func (r *packetRing) header(block int) *unix.TpacketHdrV1 {
	const version = 8 // and the offset of private data come first
	return (*unix.TpacketHdrV1)(unsafe.Pointer(&r.memory[block*packetBlock+version]))
}

func (r *packetRing) waits() bool {
	return atomic.LoadUint32(&r.header(int(r.block.Load())).Block_status)&unix.TP_STATUS_USER != 0
}

func (r *packetRing) take(limit int, each func(frame []byte)) (n int) {
	for n < limit {
		if r.left == 0 {
			if len(r.lent) == r.blocks || !r.waits() {
				break
			}
			h := r.header(int(r.block.Load()))
			r.left, r.next = h.Num_pkts, h.Offset_to_first_pkt
		}
		at := int(r.block.Load())
		block := r.memory[at*packetBlock:][:packetBlock]
		for r.left > 0 && n < limit {
			h := (*unix.Tpacket3Hdr)(unsafe.Pointer(&block[r.next]))
			frame := block[r.next+uint32(h.Mac):][:h.Snaplen]
			r.next += h.Next_offset
			r.left--
			n++
			each(frame)
		}
		if r.left == 0 {
			r.lent = append(r.lent, at)
			r.block.Store(uint32((at + 1) % r.blocks))
		}
	}
	return n
}

func (r *packetRing) release() {
	for _, block := range r.lent {
		atomic.StoreUint32(&r.header(block).Block_status, unix.TP_STATUS_KERNEL)
	}
	r.lent = r.lent[:0]
}

func (r *packetRing) dropped() (uint64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	stats, err := unix.GetsockoptTpacketStatsV3(r.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS) // since the last call
	if err != nil {
		return 0, os.NewSyscallError("getsockopt PACKET_STATISTICS", err)
	}
	r.drops += uint64(stats.Drops)
	return r.drops, nil
}

func (r *packetRing) close() {
	if r.memory != nil {
		_ = unix.Munmap(r.memory)
	}
	unix.Close(r.fd)
}

// packetFilter passes UDP packets to a port, over IPv4 without being a fragment, or over IPv6 without other headers.
func packetFilter(port uint16) []unix.SockFilter {
	const ipv4, ipv6, test, drop, pass = 2, 10, 15, 16, 17
	load := func(size uint16, k uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | size, K: k}
	}
	// jump is the instruction at a place, which goes on at another one if A is k.
	jump := func(at int, k uint32, yes, no int) unix.SockFilter {
		return unix.SockFilter{
			Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k, Jt: uint8(yes - at - 1), Jf: uint8(no - at - 1),
		}
	}
	return []unix.SockFilter{
		load(unix.BPF_H|unix.BPF_ABS, 12),
		jump(1, unix.ETH_P_IP, ipv4, ipv6),
		ipv4: load(unix.BPF_B|unix.BPF_ABS, 14+9),
		jump(3, unix.IPPROTO_UDP, 4, drop),
		load(unix.BPF_H|unix.BPF_ABS, 14+6),
		{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: 0x3fff}, // more fragments, offset
		jump(6, 0, 7, drop),
		{Code: unix.BPF_LDX | unix.BPF_B | unix.BPF_MSH, K: 14},
		load(unix.BPF_H|unix.BPF_IND, 14+2),
		{Code: unix.BPF_JMP | unix.BPF_JA, K: test - 10},
		ipv6: jump(10, unix.ETH_P_IPV6, 11, drop),
		load(unix.BPF_B|unix.BPF_ABS, 14+6),
		jump(12, unix.IPPROTO_UDP, 13, drop),
		load(unix.BPF_H|unix.BPF_ABS, 14+40+2),
		{Code: unix.BPF_JMP | unix.BPF_JA},
		test: jump(15, uint32(port), pass, drop),
		drop: {Code: unix.BPF_RET | unix.BPF_K},
		pass: {Code: unix.BPF_RET | unix.BPF_K, K: 1 << 18},
	}
}
