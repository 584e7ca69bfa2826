package ring

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/waybill-int/waybill/store"
)

var (
	listener = netip.MustParseAddrPort("0.0.0.0:8555")
	all      = Range{Until: math.MaxInt64}
)

// open opens a ring of 16 MiB in dir.
func open(t testing.TB, dir string) *Ring {
	t.Helper()
	r, err := Open(Config{Dir: dir, MaxBytes: MinBytes}, store.NewTroubles(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.close)
	return r
}

// datagram is number i: its payload says so and has any length, every third is of IPv6, every seventh was cut.
func datagram(i int) Record {
	source := netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), uint16(i))
	if i%3 == 0 {
		source = netip.MustParseAddrPort("[2001:db8::7]:9")
	}
	payload := bytes.Repeat([]byte{byte(i)}, 8+i*37%400)
	binary.BigEndian.PutUint64(payload, uint64(i))
	return Record{TimeNs: int64(i) * 1000, Source: source, Listener: listener, Payload: payload, Truncated: i%7 == 0}
}

// record hands over datagrams from first to before end, and writes them.
func record(r *Ring, a *Appender, first, end int) {
	for i := first; i < end; i++ {
		d := datagram(i)
		a.Record(d.TimeNs, d.Source, d.Payload, d.Truncated)
		if i%100 == 99 {
			r.flush()
		}
	}
	r.flush()
}

// same reports whether got is datagram i.
func same(got *Record, i int) bool {
	want := datagram(i)
	return got.TimeNs == want.TimeNs && got.Source == want.Source && got.Listener == want.Listener &&
		got.Truncated == want.Truncated &&
		bytes.Equal(got.Payload, want.Payload)
}

// numbers returns which datagrams a scan yields, which must be as they were handed over.
func numbers(t *testing.T, scan func(context.Context, Range, func(*Record) bool) error, in Range,
	limit int,
) (list []int, last ID) {
	t.Helper()
	err := scan(t.Context(), in, func(d *Record) bool {
		i := numberOf(d)
		if !same(d, i) {
			t.Fatalf("datagram %d is another: %+v", i, d)
		}
		list, last = append(list, i), d.ID
		return len(list) < limit
	})
	if err != nil {
		t.Fatal(err)
	}
	return list, last
}

// numberOf is which datagram it is.
func numberOf(d *Record) int { return int(binary.BigEndian.Uint64(d.Payload)) }

func upTo(first, end int) []int {
	list := make([]int, 0, end-first)
	for i := first; i < end; i++ {
		list = append(list, i)
	}
	return list
}

func reversed(list []int) []int {
	slices.Reverse(list)
	return list
}

// TestRing: what was handed over comes back in both directions, page by page, by time and by id, also after the ring
// was opened again.
func TestRing(t *testing.T) {
	dir := t.TempDir()
	const n = 20_000 // 4 MiB: several segments
	r := open(t, dir)
	a := r.Appender(listener)
	record(r, a, 0, n/2)
	r.close()
	r = open(t, dir)
	a = r.Appender(listener)
	record(r, a, n/2, n)
	for round := range 2 {
		if got, _ := numbers(t, r.Oldest, all, math.MaxInt); !slices.Equal(got, upTo(0, n)) {
			t.Fatalf("round %d: %d datagrams, oldest first", round, len(got))
		}
		var pages []int
		for at := (ID{}); ; {
			page, last := numbers(t, r.Newest, Range{Until: math.MaxInt64, At: at}, 777)
			if len(page) == 0 {
				break
			}
			pages, at = append(pages, page...), last
		}
		if !slices.Equal(pages, reversed(upTo(0, n))) {
			t.Fatalf("round %d: %d datagrams in pages, newest first", round, len(pages))
		}
		if got, _ := numbers(t, r.Newest, Range{Since: 3_000_000, Until: 3_500_000}, math.MaxInt); !slices.Equal(got,
			reversed(upTo(3000, 3500))) {
			t.Errorf("round %d: of a time range %d", round, len(got))
		}
		_, at := numbers(t, r.Newest, Range{Until: 5_001_000}, 1)
		if got, _ := numbers(t, r.Oldest, Range{Until: math.MaxInt64, At: at}, 3); !slices.Equal(got,
			upTo(5000, 5003)) {
			t.Errorf("round %d: from an id on %v", round, got)
		}
		id, err := ParseID(at.String())
		if err != nil {
			t.Fatal(err)
		}
		if got, err := r.Get(id); err != nil || got.ID != id || !same(&got, 5000) {
			t.Errorf("round %d: by id %+v, %v", round, got, err)
		}
		for _, id := range []ID{
			{},
			{at.Segment, at.Offset, 5000},
			{at.Segment, at.Offset + 1, 0},
			{at.Segment, 1 << 31, 0},
			{99, 16, 0},
			{at.Segment, 0, 0},
		} {
			if _, err := r.Get(id); !errors.Is(err, ErrGone) {
				t.Errorf("round %d: %v: %v", round, id, err)
			}
		}
		if s := r.Stats(); s.Dropped != 0 || s.Oldest.UnixNano() != 0 || s.Newest.UnixNano() != (n-1)*1000 ||
			s.Segments < 4 {
			t.Errorf("round %d: %+v", round, s)
		}
		r.close()
		r = open(t, dir)
	}
}

func TestParseID(t *testing.T) {
	for _, text := range []string{
		"", "1", "1-2", "1-2-3-4", "g-2-3", "1-2-100000000", "01-2-3", "1--3", "-1-2-3",
		"1-2-3 ",
	} {
		if id, err := ParseID(text); err == nil {
			t.Errorf("%q is %v", text, id)
		}
	}
}

// TestBound: the files never have more bytes than they may, what is newest stays, and what gave way is gone.
func TestBound(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir)
	a := r.Appender(listener)
	record(r, a, 0, 10)
	_, first := numbers(t, r.Oldest, all, 1)
	const n = 120_000 // 28 MiB
	for i := 10; i < n; i += 10_000 {
		record(r, a, i, min(i+10_000, n))
		size := int64(0)
		files, _ := filepath.Glob(filepath.Join(dir, "*"))
		for _, file := range files {
			info, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			size += info.Size()
		}
		if s := r.Stats(); size > MinBytes || s.Bytes != size || s.Segments != len(files) {
			t.Fatalf("%d bytes in %d files on disk, %+v", size, len(files), s)
		}
	}
	got, _ := numbers(t, r.Oldest, all, math.MaxInt)
	if len(got) < n/3 || !slices.Equal(got, upTo(got[0], n)) {
		t.Errorf("%d datagrams from %d on", len(got), got[0])
	}
	if _, err := r.Get(first); !errors.Is(err, ErrGone) {
		t.Errorf("the first: %v", err)
	}
	if s := r.Stats(); s.Removed == 0 || s.Kept != n || s.Dropped != 0 || s.Bytes < MinBytes*3/4 {
		t.Errorf("%+v", s)
	}
}

// TestCut: wherever the newest file ends, and whatever is behind, all whole blocks before are there, and the ring goes
// on.
func TestCut(t *testing.T) {
	from := t.TempDir()
	r := open(t, from)
	a := r.Appender(listener)
	ends := []int{segmentHeader} // of the blocks
	for i := range 4 {
		record(r, a, 10*i, 10*i+10)
		ends = append(ends, int(r.Stats().Bytes))
	}
	name := filepath.Base(r.newest().path(from))
	whole, err := os.ReadFile(filepath.Join(from, name))
	if err != nil || len(whole) != ends[4] {
		t.Fatal(len(whole), err)
	}
	blocksOf := func(n int) int { // whole blocks in the first n bytes
		blocks := 0
		for _, end := range ends[1:] {
			if end <= n {
				blocks++
			}
		}
		return blocks
	}
	try := func(content []byte, blocks int) {
		t.Helper()
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
		r := open(t, dir)
		record(r, r.Appender(listener), 100, 101)
		if got, _ := numbers(t, r.Oldest, all, math.MaxInt); !slices.Equal(got, append(upTo(0, 10*blocks), 100)) {
			t.Fatalf("%d bytes, %d whole blocks: %v", len(content), blocks, got)
		}
		r.close()
	}
	for n := range len(whole) {
		if n > 2*blockHeader && n < len(whole)-2*blockHeader && n%37 != 0 {
			continue
		}
		try(whole[:n], blocksOf(n))
		if n > segmentHeader {
			try(append(bytes.Clone(whole[:n]), make([]byte, 5000)...), blocksOf(n))
			flipped := bytes.Clone(whole)
			flipped[n] ^= 0x10
			if n >= ends[3] {
				try(flipped, 3)
			}
		}
	}
}

// TestDamage: a block that is damaged in the middle is left out.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir)
	a := r.Appender(listener)
	record(r, a, 0, 100)
	at := r.Stats().Bytes
	record(r, a, 100, 200)
	record(r, a, 200, 300)
	f, err := os.OpenFile(r.newest().path(dir), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteAt([]byte("damage"), at+500)
	f.Close()
	if got, _ := numbers(t, r.Newest, all, math.MaxInt); !slices.Equal(got,
		append(reversed(upTo(200, 300)), reversed(upTo(0, 100))...)) {
		t.Errorf("got %v", got)
	}
	if _, err := r.Get(ID{r.newest().number, uint32(at), 0}); !errors.Is(err, ErrGone) {
		t.Errorf("by id: %v", err)
	}
}

// TestOthersFiles: what another version or another program wrote is not touched.
func TestOthersFiles(t *testing.T) {
	for name, c := range map[string]struct{ content, want string }{
		"newer": {
			"waybill\x00\x02\x00\x00\x00\x00\x00\x00\x00",
			"is of version 2, this program knows 1: a newer one wrote it",
		},
		"foreign": {"something else entirely", "is not a file of raw reports"},
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "0000000001.reports")
		os.WriteFile(file, []byte(c.content), 0o600)
		_, err := Open(Config{Dir: dir, MaxBytes: MinBytes}, store.NewTroubles(slog.New(slog.DiscardHandler)))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
		if got, _ := os.ReadFile(file); string(got) != c.content {
			t.Errorf("%s: was changed", name)
		}
	}
	if _, err := Open(Config{Dir: t.TempDir(), MaxBytes: 1}, nil); err == nil {
		t.Error("a ring of one byte was opened")
	}
}

// TestSlowDisk: nobody waits when nothing is written: what does not fit is counted, and nothing is lost of what fits.
func TestSlowDisk(t *testing.T) {
	r := open(t, t.TempDir())
	appenders := []*Appender{r.Appender(listener), r.Appender(listener)}
	const n = 100_000
	for i := range n {
		d := datagram(i)
		appenders[i%2].Record(d.TimeNs, d.Source, d.Payload, d.Truncated)
	}
	dropped := r.Stats().Dropped
	r.flush()
	s := r.Stats()
	if s.Kept+s.Dropped != n || s.Dropped != dropped || dropped == 0 || s.Kept < 20_000 {
		t.Errorf("%+v", s)
	}
	if got, _ := numbers(t, r.Oldest, all, math.MaxInt); len(got) != int(s.Kept) {
		t.Errorf("%d are there", len(got))
	}
	// the payload that the test makes, a statfs
	if allocs := testing.AllocsPerRun(100, func() { record(r, appenders[0], 1, 2) }); allocs > 10 {
		t.Errorf("%v allocations", allocs)
	}
}

// TestFullDisk: a disk without room is told of once, what comes meanwhile is counted, and with room again it goes on by
// itself.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=8m"); err != nil {
		t.Skipf("cannot mount a small disk: %v", err)
	}
	defer unix.Unmount(dir, unix.MNT_DETACH) //nolint:errcheck // the test is over
	for _, minFree := range []int64{1 << 20, 0} {
		t.Run(fmt.Sprint(minFree), func(t *testing.T) {
			var log bytes.Buffer
			r, err := Open(Config{Dir: filepath.Join(dir, fmt.Sprint(minFree)), MaxBytes: MinBytes, MinFree: minFree},
				store.NewTroubles(slog.New(slog.NewTextHandler(&log, nil))))
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(r.config.Dir)
			defer r.close()
			now := time.Unix(0, 0)
			r.now = func() time.Time { return now }
			a := r.Appender(listener)
			record(r, a, 0, 1000)
			ballast := filepath.Join(dir, "ballast")
			os.WriteFile(ballast, make([]byte, 16<<20), 0o600) // as much as there is room for
			for i := 1000; i < 5000; i += 100 {
				record(r, a, i, i+100)
				now = now.Add(time.Second)
			}
			s := r.Stats()
			if s.Stopped == "" || s.Dropped == 0 || s.Kept+s.Dropped != 5000 {
				t.Errorf("on a full disk: %+v", s)
			}
			os.Remove(ballast)
			now = now.Add(time.Minute)
			record(r, a, 5000, 6000)
			if s := r.Stats(); s.Stopped != "" || s.Kept+s.Dropped != 6000 {
				t.Errorf("with room again: %+v", s)
			}
			got, _ := numbers(t, r.Oldest, all, math.MaxInt)
			if !slices.Equal(got[:1000], upTo(0, 1000)) || !slices.Equal(got[len(got)-1000:], upTo(5000, 6000)) ||
				len(got) != int(r.Stats().Kept) {
				t.Errorf("%d are there", len(got))
			}
			lines := strings.Split(strings.TrimSpace(log.String()), "\n")
			if len(lines) != 2 || !strings.Contains(lines[0], "the disk is full") ||
				!strings.Contains(lines[1], "the disk has room again") {
				t.Errorf("the log says\n%s", log.String())
			}
		})
	}
}

// TestReadWhileWritten: readers see whole records in order while segments come and give way.
func TestReadWhileWritten(t *testing.T) {
	r := open(t, t.TempDir())
	a := r.Appender(listener)
	ctx, cancel := context.WithCancel(t.Context())
	written, running := make(chan struct{}), make(chan struct{})
	go func() { r.Run(ctx); close(running) }()
	go func() {
		defer close(written)
		for i := range 150_000 {
			d := datagram(i)
			for len(r.free) == 0 { // the disk is slower than this loop
				time.Sleep(time.Millisecond)
			}
			a.Record(d.TimeNs, d.Source, d.Payload, d.Truncated)
		}
	}()
	g := rand.New(rand.NewPCG(1, 2))
	for done := false; !done; {
		select {
		case <-written:
			done = true
		default:
		}
		list, last := numbers(t, r.Newest, all, 1+g.IntN(3000))
		for i := 1; i < len(list); i++ {
			if list[i] >= list[i-1] {
				t.Fatalf("%d behind %d", list[i], list[i-1])
			}
		}
		if len(list) > 0 {
			if d, err := r.Get(last); err == nil && !same(&d, list[len(list)-1]) {
				t.Fatalf("%v is another now", last)
			}
		}
		r.Stats()
	}
	cancel()
	<-running
	if list, _ := numbers(t, r.Newest, all, 1); len(list) != 1 || list[0] != 149_999 {
		t.Errorf("the last is %v", list)
	}
}

// FuzzSegment reads any bytes as a segment: nothing breaks, and both directions see the same.
func FuzzSegment(f *testing.F) {
	r := open(f, f.TempDir())
	a := r.Appender(listener)
	record(r, a, 0, 30)
	record(r, a, 30, 40)
	whole, err := os.ReadFile(r.newest().path(r.config.Dir))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:len(whole)-5])
	f.Add([]byte(segmentMagic))
	f.Fuzz(func(t *testing.T, content []byte) {
		read := func(back bool) (ids []ID) {
			s := scanner{
				ctx: t.Context(), Range: Range{Since: math.MinInt64, Until: math.MaxInt64}, back: back, bytes: content,
				yield: func(d *Record) bool {
					ids = append(ids, d.ID)
					_ = bytes.Clone(d.Payload) // it lies within the content
					return true
				},
			}
			if _, err := s.segment(1); err != nil {
				t.Fatal(err)
			}
			return ids
		}
		forward, back := read(false), read(true)
		if !slices.IsSortedFunc(forward, ID.Compare) {
			t.Fatalf("ids %v", forward)
		}
		if slices.Reverse(back); !slices.Equal(forward, back) {
			t.Fatalf("%v from the front, %v from the back", forward, back)
		}
	})
}

// BenchmarkRecord is what a datagram of 193 bytes costs its receiver, and, with disk=true, the writer besides.
func BenchmarkRecord(b *testing.B) {
	for _, disk := range []bool{false, true} {
		b.Run(fmt.Sprintf("disk=%v", disk), func(b *testing.B) {
			r := open(b, b.TempDir())
			a := r.Appender(listener)
			d := datagram(5)
			b.ReportAllocs()
			b.SetBytes(int64(len(d.Payload)))
			for b.Loop() {
				a.Record(d.TimeNs, d.Source, d.Payload, false)
				select {
				case full := <-r.full:
					if disk {
						r.keep(full)
					} else {
						r.free <- full
					}
				default:
				}
			}
			if s := r.Stats(); s.Dropped > 0 {
				b.Errorf("%d were dropped", s.Dropped)
			}
		})
	}
}
