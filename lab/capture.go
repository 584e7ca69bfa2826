//go:build linux

package lab

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A capture reads what passes an interface, both ways, as AF_PACKET has it: behind XDP at the ingress, behind the queue
// and tcx at the egress.
type capture struct {
	port  *port
	fd    int
	ring  []byte
	block int // that is read next
}

const (
	blockSize, blocks = 32 << 10, 64 // of the ring of an interface: 2 MiB
	retire            = 100          // ms until the kernel hands on a block that is not full
	snapshot          = 1024         // bytes that are kept of a frame: headers, in a tunnel too, and a full stack
)

// openCapture is for the namespace of the port.
func openCapture(p *port) (c *capture, err error) {
	index, err := net.InterfaceByName(p.veth())
	if err != nil {
		return nil, err
	}
	c = &capture{port: p}
	all := uint16(unix.ETH_P_ALL)<<8 | unix.ETH_P_ALL>>8
	if c.fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0); err != nil {
		return nil, fmt.Errorf("packet socket: %w", err)
	}
	cut := []unix.SockFilter{{Code: unix.BPF_RET | unix.BPF_K, K: snapshot}}
	err = errors.Join(
		unix.SetsockoptSockFprog(c.fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
			&unix.SockFprog{Len: 1, Filter: &cut[0]}),
		unix.SetsockoptInt(c.fd, unix.SOL_PACKET, unix.PACKET_VERSION, unix.TPACKET_V3),
		unix.SetsockoptTpacketReq3(c.fd, unix.SOL_PACKET, unix.PACKET_RX_RING, &unix.TpacketReq3{
			Block_size: blockSize, Block_nr: blocks, Frame_size: 2048, Frame_nr: blockSize / 2048 * blocks,
			Retire_blk_tov: retire,
		}),
	)
	if err == nil {
		c.ring, err = unix.Mmap(c.fd, 0, blockSize*blocks, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	}
	if err == nil {
		err = unix.Bind(c.fd, &unix.SockaddrLinklayer{Protocol: all, Ifindex: index.Index})
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("capture: %w", err), unix.Close(c.fd))
	}
	return c, nil
}

// read calls take for every frame that is there: when it passed, in ns since 1970, whether out of the machine, its
// front and its length.
func (c *capture) read(take func(ns int64, out bool, front []byte, length int)) {
	for {
		b := c.ring[c.block*blockSize:][:blockSize]
		status := (*uint32)(unsafe.Pointer(&b[8])) // struct tpacket_block_desc
		if atomic.LoadUint32(status)&unix.TP_STATUS_USER == 0 {
			return
		}
		count, at := binary.NativeEndian.Uint32(b[12:]), binary.NativeEndian.Uint32(b[16:])
		for range count { // struct tpacket3_hdr, and behind it struct sockaddr_ll
			h := b[at:]
			ns := int64(binary.NativeEndian.Uint32(h[4:]))*int64(time.Second) + int64(binary.NativeEndian.Uint32(h[8:]))
			kept, length := binary.NativeEndian.Uint32(h[12:]), binary.NativeEndian.Uint32(h[16:])
			mac := binary.NativeEndian.Uint16(h[24:])
			const address, kind = 48, 10
			take(ns, h[address+kind] == unix.PACKET_OUTGOING, h[mac:][:kept], int(length))
			at += binary.NativeEndian.Uint32(h)
		}
		atomic.StoreUint32(status, unix.TP_STATUS_KERNEL)
		c.block = (c.block + 1) % blocks
	}
}

// lost returns how many frames found no room, since the last call.
func (c *capture) lost() uint64 {
	s, err := unix.GetsockoptTpacketStatsV3(c.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS)
	if err != nil {
		return 0
	}
	return uint64(s.Drops)
}

func (c *capture) close() error { return errors.Join(unix.Munmap(c.ring), unix.Close(c.fd)) }

// A sighting is a packet at an interface.
type sighting struct {
	ns     int64
	port   *port
	out    bool // of the machine
	length int

	tuple  tuple
	flow   uint32 // that the payload says, of udp
	number uint64 // that the payload says, or of tcp what tells packets apart
	ttl    uint8
	clone  bool // has INT with D set: a probe
	bytes  int  // of payload, without INT
}

// parse reads a frame, for itself: Ethernet, IP, TCP or UDP, and how long INT behind that is, which dscp marks. It is
// false for what no flow of the lab sends.
func (s *sighting) parse(b []byte, length int, dscp, mask uint8) bool {
	s.length = length
	if len(b) < 14+20 {
		return false
	}
	b, end := b[14:], 0
	protocol, class, ident := byte(0), byte(0), uint16(0)
	switch b[0] >> 4 {
	case 4:
		header := int(b[0]&15) * 4
		end = int(binary.BigEndian.Uint16(b[2:])) - header
		protocol, class, s.ttl, ident = b[9], b[1], b[8], binary.BigEndian.Uint16(b[4:])
		if len(b) < header || binary.BigEndian.Uint16(b[6:])&0x3FFF != 0 { // fragments: nobody makes any
			return false
		}
		s.tuple.src, s.tuple.dst = addrPort(b[12:16]), addrPort(b[16:20])
		b = b[header:]
	case 6:
		if len(b) < 40 {
			return false
		}
		end = int(binary.BigEndian.Uint16(b[4:]))
		protocol, class, s.ttl = b[6], b[0]<<4|b[1]>>4, b[7]
		s.tuple.src, s.tuple.dst = addrPort(b[8:24]), addrPort(b[24:40])
		b = b[40:]
	default:
		return false
	}
	header := 8
	switch {
	case protocol == unix.IPPROTO_UDP && len(b) >= 8:
		s.tuple.udp = true
	case protocol == unix.IPPROTO_TCP && len(b) >= 20:
		header = int(b[12]>>4) * 4
	default:
		return false
	}
	if len(b) < header {
		return false
	}
	s.tuple.src = withPort(s.tuple.src, b)
	s.tuple.dst = withPort(s.tuple.dst, b[2:])
	payload := b[header:]
	s.bytes = end - header
	if mask != 0 && (class>>2)&mask == dscp&mask {
		if len(payload) < 8 {
			return false
		}
		n := 4 * int(payload[2]) // up to 1.0 the shim counts itself, and has no version
		if payload[0]>>4 != 0 {
			s.clone = payload[4]&0x08 != 0
			n = 4 + 4*int(payload[1])
		}
		s.bytes -= n
		if n > len(payload) {
			return false
		}
		payload = payload[n:]
	}
	if s.tuple.udp {
		if isTunnel(s.tuple.dst.Port()) {
			all, ok := len(payload), false
			if payload, ok = unwrap(s.tuple.dst.Port(), payload); !ok {
				return false
			}
			s.bytes -= all - len(payload)
		}
		if len(payload) < 12 {
			return false
		}
		s.flow, s.number = binary.BigEndian.Uint32(payload), binary.BigEndian.Uint64(payload[4:])
		return true
	}
	// FNV-1a over the header but for the checksum, which INT changes, and what IP numbers packets by
	h := uint64(14695981039346656037)
	mix := func(v byte) { h = (h ^ uint64(v)) * 1099511628211 }
	for i, v := range b[:header] {
		if i != 16 && i != 17 {
			mix(v)
		}
	}
	mix(byte(ident))
	mix(byte(ident >> 8))
	mix(byte(s.bytes))
	mix(byte(s.bytes >> 8))
	s.number = h
	return true
}

func addrPort(b []byte) netip.AddrPort {
	a, _ := netip.AddrFromSlice(b)
	return netip.AddrPortFrom(a, 0)
}

func withPort(a netip.AddrPort, b []byte) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr(), binary.BigEndian.Uint16(b))
}
