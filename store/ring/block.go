package ring

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"net/netip"
)

const (
	blockMagic  = "WBRB"
	blockHeader = 64
	recordHead  = 32
	// maxBlock is the size of a block, in bytes. The largest datagram fits into it.
	maxBlock = 128 << 10
	// maxPayload is the length of the largest UDP payload.
	maxPayload = math.MaxUint16

	flagTruncated = 1
)

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	errDamaged = errors.New("damaged")
)

// A block is being filled.
type block struct {
	listener    netip.AddrPort
	bytes       []byte // with room for the header in front
	records     uint32
	first, last int64
}

func (b *block) reset(listener netip.AddrPort) {
	if b.bytes == nil {
		b.bytes = make([]byte, blockHeader, maxBlock)
	}
	b.listener, b.bytes, b.records, b.first, b.last = listener, b.bytes[:blockHeader], 0, math.MaxInt64, math.MinInt64
}

// fits reports whether there is room for a payload of n bytes.
func (b *block) fits(n int) bool { return len(b.bytes)+recordHead+n <= maxBlock }

// add appends a record. It fits.
func (b *block) add(nowNs int64, source netip.AddrPort, payload []byte, truncated bool) {
	n := len(b.bytes)
	b.bytes = b.bytes[:n+recordHead]
	head := b.bytes[n:]
	addr := source.Addr().As16()
	binary.LittleEndian.PutUint64(head, uint64(nowNs))
	copy(head[8:], addr[:])
	binary.LittleEndian.PutUint16(head[24:], source.Port())
	head[26], head[27] = 0, 0
	if truncated {
		head[26] = flagTruncated
	}
	binary.LittleEndian.PutUint32(head[28:], uint32(len(payload)))
	b.bytes = append(b.bytes, payload...)
	b.records++
	b.first, b.last = min(b.first, nowNs), max(b.last, nowNs)
}

// seal writes the header. The writer does that: a checksum takes time.
func (b *block) seal() {
	h := b.bytes[:blockHeader]
	clear(h)
	copy(h, blockMagic)
	binary.LittleEndian.PutUint32(h[4:], uint32(len(b.bytes)))
	binary.LittleEndian.PutUint32(h[12:], b.records)
	binary.LittleEndian.PutUint64(h[16:], uint64(b.first))
	binary.LittleEndian.PutUint64(h[24:], uint64(b.last))
	addr := b.listener.Addr().As16()
	copy(h[32:], addr[:])
	binary.LittleEndian.PutUint16(h[48:], b.listener.Port())
	binary.LittleEndian.PutUint32(h[8:], crc32.Checksum(b.bytes[12:], castagnoli))
}

// A blockHead is what the header of a block says.
type blockHead struct {
	length      int // of the block
	first, last int64
	listener    netip.AddrPort
	sum         uint32
}

// readHead reads the header of the block at the start of b; false if there is none.
func readHead(b []byte) (blockHead, bool) {
	if len(b) < blockHeader || string(b[:4]) != blockMagic {
		return blockHead{}, false
	}
	h := blockHead{
		length: int(binary.LittleEndian.Uint32(b[4:])), sum: binary.LittleEndian.Uint32(b[8:]),
		first: int64(binary.LittleEndian.Uint64(b[16:])), last: int64(binary.LittleEndian.Uint64(b[24:])),
		listener: addrPort(b[32:]),
	}
	return h, h.length >= blockHeader && h.length <= maxBlock
}

// addrPort reads an address of 16 bytes and a port.
func addrPort(b []byte) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom16([16]byte(b)).Unmap(), binary.LittleEndian.Uint16(b[16:]))
}

// appendPlaces appends the places of the records of the block b, whose header is h, to places.
func appendPlaces(places []int, b []byte, h *blockHead) ([]int, error) {
	if len(b) < h.length || crc32.Checksum(b[12:h.length], castagnoli) != h.sum {
		return places, errDamaged
	}
	for at := blockHeader; at < h.length; {
		if h.length-at < recordHead {
			return places, errDamaged
		}
		n := binary.LittleEndian.Uint32(b[at+28:])
		if uint64(n) > uint64(h.length-at-recordHead) {
			return places, errDamaged
		}
		places = append(places, at)
		at += recordHead + int(n)
	}
	return places, nil
}

// readRecord reads the record at b[at:], which appendPlaces has found. Its payload is a view.
func readRecord(b []byte, at int, h *blockHead, id ID) Record {
	n := at + recordHead + int(binary.LittleEndian.Uint32(b[at+28:]))
	return Record{
		ID: id, TimeNs: int64(binary.LittleEndian.Uint64(b[at:])), Source: addrPort(b[at+8:]), Listener: h.listener,
		Truncated: b[at+26]&flagTruncated != 0, Payload: b[at+recordHead : n : n],
	}
}
