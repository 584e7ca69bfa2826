package collect

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gopacket/gopacket/layers"
)

const capturesFolder = "../testdata/captures"

// truthPackets returns how many packets a capture has by the truth file of its scenario, or false if that does not say.
func truthPackets(t *testing.T, capture string) (int, bool) {
	t.Helper()
	type counts struct {
		Packets *int
		Reports *int
		Kinds   map[string]int
	}
	var truth struct {
		WholeCapture map[string]counts `json:"statistics_whole_capture"`
		Statistics   map[string]counts
	}
	scenario, point, _ := cutLast(strings.TrimSuffix(filepath.Base(capture), ".pcap"), "_")
	text, err := os.ReadFile(filepath.Join(capturesFolder, scenario+".truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &truth); err != nil {
		t.Fatalf("%s: %v", scenario, err)
	}
	c := truth.WholeCapture[point]
	if truth.Statistics != nil {
		c = truth.Statistics[filepath.Base(capture)]
	}
	switch {
	case c.Packets != nil:
		return *c.Packets, true
	case c.Kinds != nil: // of reports, and of packets that are none
		n := 0
		for _, count := range c.Kinds {
			n += count
		}
		return n, true
	case c.Reports != nil:
		return *c.Reports, true
	}
	return 0, false
}

func cutLast(s, separator string) (before, after string, found bool) {
	if i := strings.LastIndex(s, separator); i >= 0 {
		return s[:i], s[i+len(separator):], true
	}
	return s, "", false
}

func TestCapturesMatchTruth(t *testing.T) {
	files, err := filepath.Glob(capturesFolder + "/*.pcap")
	if err != nil || len(files) == 0 {
		t.Fatalf("no captures: %v", err)
	}
	for _, file := range files {
		c, err := OpenCapture(file)
		if err != nil {
			t.Error(err)
			continue
		}
		packets, err := readAll(c)
		if err != io.EOF {
			t.Errorf("%s: %v", file, err)
		}
		want, known := truthPackets(t, file)
		if !known && !strings.HasSuffix(file, "montimage_fl_udp_reports.pcap") { // the only one without a count
			t.Errorf("%s: the truth file has no count", file)
		}
		if known && len(packets) != want {
			t.Errorf("%s: got %d packets, want %d", file, len(packets), want)
		}
		for i, p := range packets {
			if p.Number != i+1 || p.LinkType != int(layers.LinkTypeEthernet) || p.Length != len(p.Data) ||
				p.Time.Year() != 2026 {
				t.Errorf("%s: packet %d: %d, link type %d, %d of %d bytes, %v",
					file, i+1, p.Number, p.LinkType, len(p.Data), p.Length, p.Time)
			}
		}
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if c.Size() != info.Size() || c.BytesRead() != info.Size() {
			t.Errorf("%s: read %d of %d bytes, want %d", file, c.BytesRead(), c.Size(), info.Size())
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

func samePacket(a, b Packet) bool {
	return a.Number == b.Number && a.Time.Equal(b.Time) && bytes.Equal(a.Data, b.Data) && a.Length == b.Length &&
		a.LinkType == b.LinkType
}

func TestCaptureFormats(t *testing.T) {
	file := sample(t)
	want := parse(t, file)
	for i := range want {
		want[i].Length += 4 // as if the capture had been limited
	}
	precise := slices.Clone(want)
	for i := range precise {
		precise[i].Time = precise[i].Time.Add(time.Duration(i + 1))
	}
	twoLinks := slices.Clone(precise)
	for i := range twoLinks {
		if i%2 == 1 {
			twoLinks[i].LinkType = linkTypeSLL2
		}
	}
	nanos := nanoseconds(t, precise)
	micro := bytes.Clone(file)
	for b := micro[24:]; len(b) > 0; b = b[16+binary.LittleEndian.Uint32(b[8:]):] {
		binary.LittleEndian.PutUint32(b[12:], binary.LittleEndian.Uint32(b[12:])+4)
	}
	ng := pcapng(t, precise)

	f := func(name string, file []byte, want []Packet) {
		t.Helper()
		for _, compressed := range []bool{false, true} {
			if compressed {
				file = zip(file)
			}
			if got := parse(t, file); !slices.EqualFunc(got, want, samePacket) {
				t.Errorf("%s, compressed %v: got %d packets, want these %d", name, compressed, len(got), len(want))
			}
		}
	}
	f("pcap", micro, want)
	f("pcap, big endian", bigEndian(micro), want)
	f("pcap, nanoseconds", nanos, precise)
	f("pcap, nanoseconds, big endian", bigEndian(nanos), precise)
	f("pcapng, two interfaces", ng, twoLinks)
	again := slices.Clone(twoLinks)
	for i := range again {
		again[i].Number += len(twoLinks)
	}
	f("pcapng, two sections", append(bytes.Clone(ng), ng...), append(slices.Clone(twoLinks), again...))
}

// A file that is cut off anywhere gives the packets before the cut, and unless that is at the end of a packet an error
// that names the last one.
func TestCaptureCutOff(t *testing.T) {
	packets := parse(t, sample(t))[:3]
	for _, file := range [][]byte{nanoseconds(t, packets), pcapng(t, packets)} {
		ends := 0
		for n := 4; n < len(file); n++ {
			c, err := newCapture(bytes.NewReader(file[:n]), "cut.pcap", int64(n))
			if err != nil {
				if !errors.Is(err, io.ErrUnexpectedEOF) ||
					!strings.HasPrefix(err.Error(), "cut.pcap: cut off within the file header") {
					t.Fatalf("%d bytes: %v", n, err)
				}
				continue
			}
			got, err := readAll(c)
			if !slices.EqualFunc(got, packets[:len(got)],
				func(a, b Packet) bool { return bytes.Equal(a.Data, b.Data) }) {
				t.Fatalf("%d bytes: other packets", n)
			}
			want := "cut.pcap: cut off after packet " + string(rune('0'+len(got))) + ": unexpected EOF"
			switch {
			case err == io.EOF:
				ends++
			case !errors.Is(err, io.ErrUnexpectedEOF) || err.Error() != want:
				t.Fatalf("%d bytes: got %v, want %s", n, err, want)
			}
			if _, again := c.Next(); again != err {
				t.Fatalf("%d bytes: got %v and then %v", n, err, again)
			}
		}
		// Behind the file header or blocks, and behind all packets but the last.
		if ends < 3 || ends > 5 {
			t.Errorf("%d lengths are whole files", ends)
		}
		zipped := zip(file)
		for n := 2; n < len(zipped); n++ {
			c, err := newCapture(bytes.NewReader(zipped[:n]), "cut.pcap.gz", int64(n))
			if err == nil {
				_, err = readAll(c)
			}
			if err == io.EOF {
				t.Fatalf("%d bytes of a compressed file pass for a whole one", n)
			}
		}
	}
}

func TestCaptureDamaged(t *testing.T) {
	f := func(name string, file []byte, want string) {
		t.Helper()
		c, err := newCapture(bytes.NewReader(file), "bad.pcap", int64(len(file)))
		if err == nil {
			_, err = readAll(c)
		}
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want %s", name, err, want)
		}
	}
	file := sample(t)
	long := bytes.Clone(file)
	binary.LittleEndian.PutUint32(long[24+8:], 1<<30)
	binary.LittleEndian.PutUint32(long[24+12:], 1<<30)
	f("packet of a gigabyte", long, "bad.pcap: damaged after packet 0: capture length exceeds snap length")
	version := bytes.Clone(file)
	version[4] = 9
	f("version 9", version, "bad.pcap: cannot read the file header: Unknown major version 9")
	sum := zip(file)
	sum[len(sum)-5] ^= 1 // CRC-32, in front of 4 bytes of length
	f("checksum of the compressed file", sum, "bad.pcap: damaged after packet 24: gzip: invalid checksum")

	f("empty", nil, "bad.pcap is not a pcap or pcapng file")
	f("text", []byte("hello, world"), "bad.pcap is not a pcap or pcapng file")
	f("three bytes", []byte{0xa1, 0xb2, 0xc3}, "bad.pcap is not a pcap or pcapng file")
	f("compressed text", zip([]byte("hello, world")), "bad.pcap is not a pcap or pcapng file")
	f("gzip magic alone", []byte{0x1f, 0x8b, 8, 0}, "bad.pcap: cut off within the file header")
	f("text behind a gzip magic", []byte{0x1f, 0x8b, 'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x'},
		"bad.pcap: cannot read the file header: gzip")
}

func TestOpenCaptureErrors(t *testing.T) {
	if _, err := OpenCapture(filepath.Join(t.TempDir(), "none.pcap")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want os.ErrNotExist", err)
	}
	if _, err := OpenCapture(t.TempDir()); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("got %v, want: is a directory", err)
	}
}

func TestOpenCaptureStandardInput(t *testing.T) {
	file := sample(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdin := os.Stdin
	os.Stdin = r
	t.Cleanup(func() { os.Stdin = stdin; r.Close() })
	go func() {
		w.Write(file)
		w.Close()
	}()
	c, err := OpenCapture("-")
	if err != nil {
		t.Fatal(err)
	}
	packets, err := readAll(c)
	if err != io.EOF || len(packets) != 24 {
		t.Errorf("got %d packets, %v, want 24", len(packets), err)
	}
	if c.Size() != 0 || c.BytesRead() != int64(len(file)) {
		t.Errorf("read %d of %d, want %d of 0", c.BytesRead(), c.Size(), len(file))
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := r.Stat(); err != nil {
		t.Errorf("standard input is closed: %v", err)
	}
}

func FuzzCapture(f *testing.F) {
	file := sample(f)
	packets := parse(f, file)[:3]
	ng := pcapng(f, packets)
	for _, seed := range [][]byte{nanoseconds(f, packets), bigEndian(nanoseconds(f, packets)), ng, zip(ng), file[:30]} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		c, err := newCapture(bytes.NewReader(file), "fuzz", int64(len(file)))
		if err != nil {
			return
		}
		number := 0
		for {
			p, err := c.Next()
			if err != nil {
				if _, again := c.Next(); again != err {
					t.Errorf("error %v, then %v", err, again)
				}
				return
			}
			number++
			if p.Number != number {
				t.Errorf("packet %d has number %d", number, p.Number)
			}
		}
	})
}
