package ioam

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/ioam"
	"github.com/waybill-int/waybill/wire/packet"
)

// hopByHop returns the hop-by-hop header of a frame.
func hopByHop(t *testing.T, frame []byte) []byte {
	t.Helper()
	p := parse(t, frame)
	return frame[p.HopByHop:p.HopByHopEnd]
}

func TestIncrementalKeepsLengths(t *testing.T) {
	d := testDomain()
	q := &Request{Type: ioam.TypeIncremental, NamespaceID: ours, TraceType: ioam.BitQueueDepth, RemainingLen: 3}
	frame := encapsulate(t, d, shape{payload: 4}.frame(), q, nil)
	for i, want := range []string{
		`11 01 0100 310a 0001 007b 0803 020000 00`,
		`11 02 0100 310e 0001 007b 0802 020000 00 00000005          01 02 0000`,
		`11 02 0100 3112 0001 007b 0801 020000 00 00000005 00000005`,
		`11 03 0100 3116 0001 007b 0800 020000 00 00000005 00000005 00000005 01 02 0000`,
	} {
		if i > 0 {
			frame = transit(t, d, frame, node(1), 0, Added, Done)
		}
		wantSame(t, "hop-by-hop header", hopByHop(t, frame), wiretest.Hex(t, want))
		if got, want := binary.BigEndian.Uint16(frame[18:]), len(frame)-54; int(got) != want {
			t.Errorf("Payload Length: got %d, want %d", got, want)
		}
	}
	wantSame(t, "at the end", decapsulate(t, d, frame), shape{payload: 4}.frame())
}

func TestMTU(t *testing.T) {
	d := testDomain()
	plain := shape{payload: 20}.frame()
	size := parse(t, plain).TotalLength
	q := request(ioam.TypeIncremental, ours) // 16 bytes without record, 24 with one

	out, r := d.Encapsulate(nil, parse(t, plain), q, node(1), size+15)
	if r.Why != MTU || !bytes.Equal(out, plain) {
		t.Errorf("the option does not fit: got %+v", r)
	}
	out, r = d.Encapsulate(nil, parse(t, plain), q, node(1), size+16)
	if r.Action != Inserted || r.Why != MTU || !r.SetO || r.Records != 0 || !found(t, out)[0].Trace.Overflow {
		t.Errorf("the record does not fit: got %+v", r)
	}
	out, r = d.Encapsulate(nil, parse(t, plain), q, node(1), size+24)
	if r.Why != Done || r.Records != 1 || r.Grown != 24 || len(out) != len(plain)+24 {
		t.Errorf("all fits: got %+v", r)
	}
	transit(t, d, out, node(2), size+31, Marked, MTU)
	transit(t, d, out, node(2), size+32, Added, Done)

	// A record that takes the place of padding is no reason, even if the packet exceeds the MTU already.
	q = &Request{Type: ioam.TypeIncremental, NamespaceID: ours, TraceType: ioam.BitQueueDepth, RemainingLen: 3}
	out = transit(t, d, encapsulate(t, d, plain, q, node(1)), node(2), size, Added, Done)
	transit(t, d, out, node(3), size, Marked, MTU)
}

func TestNamespacesSideBySide(t *testing.T) {
	d, plain := testDomain(), shape{payload: 20}.frame()
	for _, optionType := range traces {
		one := encapsulate(t, d, plain, request(optionType, ours), nil)
		if _, r := d.Encapsulate(nil, parse(t, one), request(optionType, ours), nil, 0); r.Why != AlreadyIOAM {
			t.Errorf("the same namespace: got %+v", r)
		}
		both := encapsulate(t, d, one, request(optionType, ours2), nil)
		out, r := d.Transit(nil, parse(t, both), node(1), 0)
		if r.Action != Added || r.Why != Done || r.Records != 2 {
			t.Errorf("two namespaces: got %+v", r)
		}
		wantSame(t, "without the second", decapsulate(t, &Domain{Namespaces: []uint16{ours2}}, out),
			transit(t, d, one, node(1), 0, Added, Done))
		wantSame(t, "without both", decapsulate(t, d, out), plain)
	}
}

// What is wrong with an option is named, and nothing is added to it.
func TestMalformedOptions(t *testing.T) {
	d := testDomain()
	for want, options := range map[wire.Error]string{
		wire.ErrTruncatedIOAM:        `0100 3101 00 00 0104 00000000 0100`,
		wire.ErrIOAMNodeLenZero:      `0100 310a 0001 007b 0000 020000 00`,
		wire.ErrIOAMNodeLenMismatch:  `0100 310a 0001 007b 1000 020000 00`,
		wire.ErrIOAMRemainingLen:     `0100 310a 0000 007b 0801 020000 00`,
		wire.ErrIOAMNodesNotMultiple: `0100 310b 0001 007b 0804 020000 00 00 0105 0000000000`,
	} {
		frame := shape{options: wiretest.Hex(t, options)}.frame()
		list := found(t, frame)
		if len(list) != 1 || list[0].Malformed != want || list[0].IsTrace() != (want != wire.ErrTruncatedIOAM) {
			t.Errorf("%v: got %+v", want, list)
		}
		why := MalformedIOAM
		if want == wire.ErrTruncatedIOAM {
			why = NoIOAM // nobody knows that this was to be a trace
		}
		wantSame(t, want.Error(), transit(t, d, frame, node(1), 0, Forwarded, why), frame)
	}
}

func TestCarrierFull(t *testing.T) {
	d := testDomain()
	plain := shape{payload: 65535 - 8 - 23}.frame()
	out, r := d.Encapsulate(nil, parse(t, plain), request(ioam.TypeIncremental, ours), node(1), 0)
	if r.Action != Inserted || r.Why != CarrierFull || !r.SetO || r.Grown != 16 {
		t.Errorf("Payload Length: got %+v", r)
	}
	wantSame(t, "behind", decapsulate(t, d, out), plain)
	if _, r = d.Encapsulate(nil, parse(t, shape{payload: 65535 - 8 - 15}.frame()), request(ioam.TypeIncremental, ours),
		nil, 0); r.Why != CarrierFull {
		t.Errorf("Payload Length at the source: got %+v", r)
	}

	// The option is full although RemainingLen, which another source has written, allows more.
	q := request(ioam.TypeIncremental, ours)
	q.RemainingLen = MaxWords
	frame := encapsulate(t, d, shape{}.frame(), q, nil)
	o := found(t, frame)[0]
	frame[o.End-len(o.Data)+3] = 127
	for range MaxWords / 2 {
		frame = transit(t, d, frame, node(1), 0, Added, Done)
	}
	transit(t, d, frame, node(1), 0, Marked, CarrierFull)

	header := bytes.Repeat([]byte{0x1E, 6, 0, 0, 0, 0, 0, 0}, 254) // 8 bytes more would fit, but not 16
	header = append(header, 1, 4, 0, 0, 0, 0)
	if _, r = d.Encapsulate(nil, parse(t, shape{options: header}.frame()), q, nil, 0); r.Why != CarrierFull {
		t.Errorf("Hdr Ext Len: got %+v", r)
	}
}

// Options that another program has put between others are removed without moving those from their alignment.
func TestDecapsulateBetweenOptions(t *testing.T) {
	d := testDomain()
	for _, c := range []struct{ name, options, want string }{
		{
			"in front", `0100 310a 0001 007b 0800 020000 00 1e06 010203040506 01020000`,
			`11 01 0104 00000000 1e06 010203040506 0102 0000`,
		},
		{
			"next to", `1e00 310a 0001 007b 0800 020000 00 1e06 010203040506 01020000`,
			`11 01 1e00 0102 0000 1e06 010203040506 0102 0000`,
		},
		{
			"behind 8 bytes", `1e04 01020304 310a 0001 007b 0800 020000 00 1e02 0102`,
			`11 01 1e04 01020304 0102 0000 1e02 0102`,
		},
		{"all else is padding", `0000 310a 0001 007b 0800 020000 00`, ``},
		{"two", `0100 310a 0001 007b 0800 020000 00 310a 0001 007b 0800 020000 00 0102 0000`, ``},
		{"too short for more than its namespace", `1104 0003 007b`, ``},
		{"too short for its namespace", `1102 0003 0100`, `11 00 1102 0003 0100`},
		{"a host's padding", `0104 00000000 310a 0001 007b 0800 020000 00 0102 0000`, `11 00 0104 00000000`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := shape{options: wiretest.Hex(t, c.options), payload: 9}
			want := shape{payload: 9}.frame()
			if c.want != "" {
				want = shape{options: wiretest.Hex(t, c.want)[2:], payload: 9}.frame()
			}
			out, _ := d.Decapsulate(nil, parse(t, s.frame()))
			wantSame(t, "packet", out, want)
		})
	}
}

func TestNothingToDo(t *testing.T) {
	d := testDomain()
	ipv4 := append(make([]byte, 12), 0x08, 0, 0x45)
	overrun := shape{options: []byte{5, 9, 0, 0, 1, 0}}.frame()
	plain := shape{payload: 3}.frame()
	once := encapsulate(t, d, plain, request(0, ours), nil)
	wrong := bytes.Clone(once)
	o := found(t, once)[0]
	wrong[o.End-len(o.Data)+2] = 3 << 3 // NodeLen
	fixed := bytes.Clone(once)
	fixed[o.Start] = ioam.OptionFixed
	for _, c := range []struct {
		name                              string
		frame                             []byte
		encapsulate, transit, decapsulate Why
	}{
		{"IPv4", ipv4, NotIPv6, NotIPv6, NotIPv6},
		{"option overrun", overrun, MalformedIOAM, MalformedIOAM, MalformedIOAM},
		{"no IOAM", plain, Done, NoIOAM, NoIOAM},
		{"NodeLen", wrong, AlreadyIOAM, MalformedIOAM, Done},
		{"a trace that nodes may not change", fixed, AlreadyIOAM, MalformedIOAM, Done},
	} {
		var p Packet
		if err := p.Parse(c.frame); err != nil {
			t.Fatal(err)
		}
		if _, r := d.Encapsulate(nil, &p, request(0, ours), nil, 0); r.Why != c.encapsulate {
			t.Errorf("%s: Encapsulate: got %v, want %v", c.name, r.Why, c.encapsulate)
		}
		out, r := d.Transit(nil, &p, node(1), 0)
		if r.Why != c.transit || !bytes.Equal(out, c.frame) {
			t.Errorf("%s: Transit: got %v, want %v", c.name, r.Why, c.transit)
		}
		if out, r = d.Decapsulate(nil, &p); r.Why != c.decapsulate || r.Why != Done && !bytes.Equal(out, c.frame) {
			t.Errorf("%s: Decapsulate: got %v, want %v", c.name, r.Why, c.decapsulate)
		}
	}
	if _, r := d.Transit(nil, parse(t, once), nil, 0); r.Why != NoRecord {
		t.Errorf("without record: got %+v", r)
	}
	if _, r := d.Encapsulate(nil, parse(t, plain), request(0, foreign), nil, 0); r.Why != BadRequest {
		t.Errorf("a namespace of another domain: got %+v", r)
	}
}

func TestParseErrors(t *testing.T) {
	whole := shape{tags: 1, options: []byte{5, 2, 0, 0, 1, 0}}.frame()
	for n := range whole {
		var p Packet
		if err := p.Parse(whole[:n]); err == nil || p.L3 != 0 {
			t.Fatalf("%d bytes: got %v, %+v", n, err, p)
		}
	}
	jumbo := bytes.Clone(whole)
	jumbo[18+4], jumbo[18+5] = 0, 0
	var p Packet
	if err := p.Parse(jumbo); err != wire.ErrTruncatedIPv6Extension || p.L3 != 0 {
		t.Errorf("jumbogram: got %v", err)
	}
	if err := p.Parse(append(make([]byte, 12), 0x08, 0)); err != nil || p.L3 != 0 {
		t.Errorf("IPv4: got %v", err)
	}
}

func TestRequestCheck(t *testing.T) {
	for want, q := range map[error]Request{
		errType:         {Type: ioam.TypeE2E, TraceType: ioam.BitTsSec, RemainingLen: 9},
		errTraceType:    {TraceType: ioam.BitsUndefined | ioam.BitSnapshot | 1, RemainingLen: 9},
		errRemainingLen: {TraceType: ioam.BitNSDataWide, RemainingLen: 1},
		errMaxWords:     {TraceType: ioam.BitNSDataWide, RemainingLen: MaxWords + 1},
	} {
		if got := q.Check(); !errors.Is(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	if MaxWords != 61 {
		t.Errorf("MaxWords is %d", MaxWords)
	}
}

func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for w := Done; w <= BadRequest; w++ {
		if s := w.String(); s == "" || seen[s] {
			t.Errorf("reason %d: %q", w, s)
		}
		seen[w.String()] = true
	}
	if Exported.String() != "exported" || len(actionTexts) != int(Exported)+1 || len(whyTexts) != int(BadRequest)+1 {
		t.Error("a name is missing")
	}
}

func TestNoAllocs(t *testing.T) {
	d, q, own := testDomain(), request(ioam.TypeIncremental, ours), node(1)
	plain := shape{payload: 100, options: []byte{5, 2, 0, 0, 1, packet.IPv6OptionPad1}}.frame()
	one, two, dst := make([]byte, 0, 500), make([]byte, 0, 500), make([]byte, 0, 500)
	dex := encapsulate(t, d, plain, &Request{Type: ioam.TypeDEX, NamespaceID: ours, TraceType: ioam.BitTsSec}, nil)
	var p Packet
	allocs := testing.AllocsPerRun(100, func() {
		if p.Parse(plain) != nil {
			t.Fatal("Parse")
		}
		one, _ = d.Encapsulate(one[:0], &p, q, own, 0)
		_ = p.Parse(one)
		two, _ = d.Transit(two[:0], &p, own, 0)
		_ = p.Parse(two)
		dst, _ = d.Decapsulate(dst[:0], &p)
		_ = p.Parse(dex)
		dst, _, _ = d.Export(dst[:0], &p, own)
	})
	if allocs != 0 {
		t.Errorf("got %v allocations, want 0", allocs)
	}
}

func BenchmarkTransit(b *testing.B) {
	d, own := testDomain(), node(1)
	for name, optionType := range map[string]uint8{
		"preallocated": ioam.TypePreallocated,
		"incremental":  ioam.TypeIncremental,
	} {
		b.Run(name, func(b *testing.B) {
			frame := encapsulate(b, d, shape{payload: 1000}.frame(), request(optionType, ours), own)
			dst := make([]byte, 0, 2000)
			var p Packet
			b.ReportAllocs()
			b.SetBytes(int64(len(frame)))
			for b.Loop() {
				_ = p.Parse(frame)
				dst, _ = d.Transit(dst[:0], &p, own, 0)
			}
		})
	}
}
