package dissect

import (
	"encoding/hex"
	"encoding/json"
	"testing"

	"github.com/waybill-int/waybill/wire/codepoint"
)

// A sample is a packet with the configuration that it is read with.
type sample struct {
	name  string
	bytes []byte
	start Start
	cfg   *codepoint.Config
}

// samples returns all vectors and all frames of the truth files.
func samples(t testing.TB) []sample {
	var list []sample
	for _, v := range loadVectors(t) {
		list = append(list, sample{v.Name, v.bytes, v.start, v.cfg})
	}
	for _, tr := range loadTruths(t) {
		cfg := scenarioConfig(t, tr.Scenario)
		for _, frames := range tr.Samples {
			for _, frame := range frames {
				b, err := hex.DecodeString(frame["hex"].(string))
				if err != nil {
					t.Fatal(err)
				}
				list = append(list, sample{tr.Scenario, b, Ethernet, cfg})
			}
		}
	}
	return list
}

// check reads b and holds what is true for any bytes: fields that lie in the packet, names that are known, and text
// that is well formed.
func check(t *testing.T, b []byte, start Start, cfg *codepoint.Config) {
	t.Helper()
	layers := checkLayers(t, b, start, cfg)
	if text := AppendJSON(nil, layers); !json.Valid(text) {
		t.Fatalf("invalid JSON: %s", text)
	}
	AppendTree(nil, layers, &Style{})
	Summary(layers)
}

func checkLayers(t *testing.T, b []byte, start Start, cfg *codepoint.Config) []Layer {
	t.Helper()
	layers := Packet(b[:len(b):len(b)], start, cfg)
	checkPositions(t, layers, 8*len(b))
	checkNames(t, layers)
	return layers
}

// known are all names of fields, which check fills once.
var known = func() map[string]bool {
	m := map[string]bool{}
	for _, name := range FieldNames() {
		m[name] = true
	}
	return m
}()

// checkNames holds that every field is in the list of names.
func checkNames(t *testing.T, layers []Layer) {
	t.Helper()
	for _, l := range layers {
		if l.Name != "" {
			checkFieldNames(t, l.Name, l.Fields)
		}
	}
}

func checkFieldNames(t *testing.T, prefix string, fields []Field) {
	t.Helper()
	for _, f := range fields {
		name := prefix + "." + f.Name
		switch v := f.Value.(type) {
		case Object:
			checkFieldNames(t, name, v)
		case []Object:
			for _, o := range v {
				checkFieldNames(t, name, o)
			}
		case []Layer:
			checkNames(t, v)
		default:
			if !known[name] {
				t.Fatalf("field %s is in no list of names", name)
			}
		}
	}
}

func checkPositions(t *testing.T, layers []Layer, end int) {
	t.Helper()
	for _, l := range layers {
		if l.Bit < 0 || l.Width < 0 || l.Bit+l.Width > end {
			t.Fatalf("layer %s: bits %d to %d of %d", l.Name, l.Bit, l.Bit+l.Width, end)
		}
		checkFieldPositions(t, l.Name, l.Fields, end)
	}
}

func checkFieldPositions(t *testing.T, where string, fields []Field, end int) {
	t.Helper()
	for _, f := range fields {
		if f.Bit < 0 || f.Width < 0 || f.Bit+f.Width > end {
			t.Fatalf("%s.%s: bits %d to %d of %d", where, f.Name, f.Bit, f.Bit+f.Width, end)
		}
		switch v := f.Value.(type) {
		case Object:
			checkFieldPositions(t, where+"."+f.Name, v, end)
		case []Object:
			for _, o := range v {
				checkFieldPositions(t, where+"."+f.Name, o, end)
			}
		case []Layer:
			checkPositions(t, v, end)
		}
	}
}

// TestPrefixes reads every prefix of every sample.
func TestPrefixes(t *testing.T) {
	for _, s := range samples(t) {
		for n := range s.bytes {
			check(t, s.bytes[:n], s.start, s.cfg)
		}
	}
}

// TestBitFlips reads every sample with each bit changed.
func TestBitFlips(t *testing.T) {
	const text = 16 // one flip in so many is written as text, too
	for _, s := range samples(t) {
		b := append([]byte(nil), s.bytes...)
		for i := range 8 * len(b) {
			b[i/8] ^= 0x80 >> (i % 8)
			if i%text == i/8%text {
				check(t, b, s.start, s.cfg)
			} else {
				checkLayers(t, b, s.start, s.cfg)
			}
			b[i/8] ^= 0x80 >> (i % 8)
		}
	}
}

// TestPositions reads the bits at the position of every number of every vector: they must be the number. That is what
// the highlighting of bytes relies on.
func TestPositions(t *testing.T) {
	for _, s := range samples(t) {
		layers := Packet(s.bytes, s.start, s.cfg)
		comparePositions(t, s, layers)
	}
}

func comparePositions(t *testing.T, s sample, layers []Layer) {
	t.Helper()
	for _, l := range layers {
		compareFieldPositions(t, s, l.Name, l.Fields)
	}
}

func compareFieldPositions(t *testing.T, s sample, where string, fields []Field) {
	t.Helper()
	for _, f := range fields {
		var want uint64
		switch v := f.Value.(type) {
		case uint64:
			want = v
		case bool:
			if v {
				want = 1
			}
		case Object:
			compareFieldPositions(t, s, where+"."+f.Name, v)
			continue
		case []Object:
			for _, o := range v {
				compareFieldPositions(t, s, where+"."+f.Name, o)
			}
			continue
		case []Layer:
			comparePositions(t, s, v)
			continue
		default:
			continue
		}
		if f.Width == 0 {
			continue
		}
		var got uint64
		for i := f.Bit; i < f.Bit+f.Width; i++ {
			got = got<<1 | uint64(s.bytes[i/8]>>(7-i%8)&1)
		}
		if got != want {
			t.Errorf("%s: %s.%s: %d at bits %d to %d, want %d", s.name, where, f.Name, got, f.Bit, f.Bit+f.Width, want)
		}
	}
}

// FuzzDissect reads random bytes with any start and dialect. It must not panic, and what comes out must hold together.
func FuzzDissect(f *testing.F) {
	configs := []*codepoint.Config{}
	for _, d := range codepoint.Dialects {
		cfg := codepoint.New()
		if err := cfg.Apply(map[string]any{
			"profile": d.Name, "int_udp_port": 17768, "int_dscp": 23, "gre_int_protocol": 0x4569,
			"ifa_ip_protocol": 253,
			"probe_marker":    "0xaabbccddeeff0011", "geneve_int_class": 171, "vxlan_gpe_ioam_next_protocol": 131,
			"ds_lengths": map[string]any{"0xabcd": map[string]any{"2": 8, "0": "source-only 4"}},
		}); err != nil {
			f.Fatal(err)
		}
		for _, gpe5 := range []codepoint.GPE5{
			codepoint.GPE5INT2016, codepoint.GPE5INT05, codepoint.GPE5IOAM,
			codepoint.GPE5MPLS,
		} {
			c := *cfg
			c.GPENextProtocol5 = gpe5
			c.FormatVersion0 = codepoint.Version0(gpe5 % 4)
			c.Compile()
			configs = append(configs, &c)
		}
	}
	for i, s := range samples(f) {
		f.Add(uint8(s.start), uint8(i), s.bytes)
	}
	f.Fuzz(func(t *testing.T, start, config uint8, b []byte) {
		check(t, b, Start(start%uint8(numStarts)), configs[int(config)%len(configs)])
	})
}
