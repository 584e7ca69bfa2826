// Package test gives tests the bytes that Waybill did not make: the vectors and captures in testdata.
package test

import (
	"encoding/hex"
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/gopacket/gopacket/pcapgo"
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/packet"
)

// Root is the top of the source tree: where this file is or, in a build with -trimpath, which keeps no paths, the first
// folder with a go.mod from the package's own upwards.
func Root() string {
	if _, file, _, _ := runtime.Caller(0); filepath.IsAbs(file) {
		return filepath.Dir(filepath.Dir(filepath.Dir(file)))
	}
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			panic("no go.mod above the working directory")
		}
		dir = filepath.Dir(dir)
	}
}

// A Vector is one file of testdata/vectors.
type Vector struct {
	Name     string         `json:"name"`
	StartsAt string         `json:"starts_at"`
	Config   map[string]any `json:"config"`
	Hex      string         `json:"hex"`
	Expect   any            `json:"expect"` // list of layers; of a bad_* vector {error, keep}
	Bytes    []byte         `json:"-"`
}

// Vectors returns all vectors whose name matches the pattern of path/filepath, for example "tr20_*".
func Vectors(t testing.TB, pattern string) []Vector {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(Root(), "testdata/vectors", pattern+".json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors match %q (%v)", pattern, err)
	}
	vectors := make([]Vector, len(files))
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		v := &vectors[i]
		if err := json.Unmarshal(text, v); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if v.Bytes, err = hex.DecodeString(v.Hex); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	return vectors
}

// Points returns the code points that v asks for, compiled.
func (v *Vector) Points(t testing.TB) *codepoint.Config {
	t.Helper()
	c := codepoint.New()
	if err := c.Apply(v.Config); err != nil {
		t.Fatalf("%s: %v", v.Name, err)
	}
	c.Compile()
	return c
}

// Dialect returns code points with one dialect for every source, compiled.
func Dialect(t testing.TB, name string) *codepoint.Config {
	t.Helper()
	c := codepoint.New()
	if err := c.Set("profile", name); err != nil {
		t.Fatal(err)
	}
	c.Compile()
	return c
}

// Packets returns the frames of a file of testdata/captures.
func Packets(t testing.TB, name string) [][]byte {
	t.Helper()
	file, err := os.Open(filepath.Join(Root(), "testdata/captures", name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := pcapgo.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var frames [][]byte
	for {
		frame, _, err := r.ReadPacketData()
		if err != nil {
			return frames
		}
		frames = append(frames, frame)
	}
}

// Truth decodes a truth file of testdata/captures into v.
func Truth(t testing.TB, name string, v any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(Root(), "testdata/captures", name+".truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// A Datagram is the UDP payload of a frame.
type Datagram struct {
	Src     netip.AddrPort
	DstPort uint16
	Payload []byte
}

// UDP returns the UDP payload of an Ethernet frame with IPv4 or IPv6 without options; ok is false for other frames.
func UDP(frame []byte) (d Datagram, ok bool) {
	var eth packet.Ethernet
	n, err := eth.Decode(frame)
	if err != nil {
		return d, false
	}
	b := frame[n:]
	var src netip.Addr
	switch eth.EtherType {
	case packet.EtherTypeIPv4:
		var ip packet.IPv4
		if n, err = ip.Decode(b); err != nil || ip.Protocol != packet.ProtoUDP {
			return d, false
		}
		src = netip.AddrFrom4(ip.Src)
	case packet.EtherTypeIPv6:
		var ip packet.IPv6
		if n, err = ip.Decode(b); err != nil || ip.NextHeader != packet.ProtoUDP {
			return d, false
		}
		src = netip.AddrFrom16(ip.Src)
	default:
		return d, false
	}
	b = b[n:]
	var udp packet.UDP
	if n, err = udp.Decode(b); err != nil {
		return d, false
	}
	end := min(max(int(udp.Length), n), len(b))
	return Datagram{Src: netip.AddrPortFrom(src, udp.SrcPort), DstPort: udp.DstPort, Payload: b[n:end]}, true
}
