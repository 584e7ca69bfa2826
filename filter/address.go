package filter

import (
	"math"
	"net/netip"

	"github.com/waybill-int/waybill/telemetry"
)

// A block is the addresses whose halves are both in a range. Every prefix is a few of them.
type block struct{ first, last telemetry.Addr }

func (b *block) contains(v Value) bool {
	return b.first.Hi <= v.hi && v.hi <= b.last.Hi && b.first.Lo <= v.lo && v.lo <= b.last.Lo
}

// lastMapped is the last half of an IPv4 address as telemetry.Addr has it, the first is firstMapped.
const firstMapped, lastMapped = 0xffff_0000_0000, 0xffff_ffff_ffff

// blocks returns the addresses of p. An IPv6 prefix never holds IPv4 addresses, although ::/0 and a few others hold the
// IPv6 addresses into which they are mapped.
func blocks(p netip.Prefix) []block {
	p = p.Masked()
	first := telemetry.AddrFrom(p.Addr())
	bits := p.Bits()
	if p.Addr().Is4() {
		bits += 96
	}
	last := telemetry.Addr{Hi: first.Hi | ones(64-bits), Lo: first.Lo | ones(min(128-bits, 64))}
	if p.Addr().Is4() || first.Hi > 0 || first.Lo > firstMapped || last.Lo < lastMapped {
		return []block{{first, last}}
	}
	var around []block
	if first.Lo < firstMapped {
		around = append(around, block{first, telemetry.Addr{Lo: firstMapped - 1}})
	}
	if last.Lo > lastMapped {
		around = append(around, block{telemetry.Addr{Lo: lastMapped + 1}, telemetry.Addr{Lo: last.Lo}})
	}
	if last.Hi > 0 {
		around = append(around, block{telemetry.Addr{Hi: 1}, last})
	}
	return around
}

// ones returns n low bits set; none if n is negative.
func ones(n int) uint64 {
	if n <= 0 {
		return 0
	}
	return math.MaxUint64 >> (64 - n)
}

// within passes addresses that are in one of some blocks.
type within struct {
	blocks []block
	texts  []string
	equal  bool // it was one address, compared with =
}

func (t *within) holds(v Value, _ int64) bool {
	for i := range t.blocks {
		if t.blocks[i].contains(v) {
			return true
		}
	}
	return false
}

func (t *within) sql(w *writer, f *Field, column string) {
	w.list(" OR ", len(t.blocks), func(i int) {
		b := &t.blocks[i]
		halfSQL(w, f, column+"_hi", b.first.Hi, b.last.Hi)
		if b.first.Lo > 0 || b.last.Lo < math.MaxUint64 {
			w.write(" AND ")
			halfSQL(w, f, column+"_lo", b.first.Lo, b.last.Lo)
		}
	})
}

func halfSQL(w *writer, f *Field, column string, first, last uint64) {
	if first == last {
		w.write(column, " = ")
		w.bind(f, FromUint(first))
		return
	}
	w.write(column, " BETWEEN ")
	w.bind(f, FromUint(first))
	w.write(" AND ")
	w.bind(f, FromUint(last))
}

func (t *within) print(b []byte, negate bool) []byte {
	switch {
	case !t.equal:
		return printList(append(b, not(negate, "in ")...), true, t.texts)
	case negate:
		return append(append(b, "!= "...), t.texts[0]...)
	}
	return append(append(b, "= "...), t.texts[0]...)
}
