package inband

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// A vector is one file of testdata/vectors.
type vector struct {
	Name     string          `json:"name"`
	StartsAt string          `json:"starts_at"`
	Hex      string          `json:"hex"`
	Expect   json.RawMessage `json:"expect"`
	Config   struct {
		Version0    string                    `json:"int_format_for_version_0"`
		ProbeMarker string                    `json:"probe_marker"`
		DSLengths   map[string]map[string]any `json:"ds_lengths"`
	} `json:"config"`
}

// vectors returns the vectors of this package: int* and bad_int*.
func vectors(t testing.TB) []vector {
	t.Helper()
	var all []vector
	for _, pattern := range []string{"int*.json", "bad_int*.json"} {
		names, err := filepath.Glob(filepath.Join("../../testdata/vectors", pattern))
		if err != nil || len(names) == 0 {
			t.Fatalf("no vectors %s: %v", pattern, err)
		}
		for _, name := range names {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var v vector
			if err := json.Unmarshal(b, &v); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			all = append(all, v)
		}
	}
	return all
}

func (v *vector) bytes(t testing.TB) []byte {
	t.Helper()
	b, err := hex.DecodeString(v.Hex)
	if err != nil {
		t.Fatalf("%s: %v", v.Name, err)
	}
	return b
}

func (v *vector) walker(t testing.TB) *walker {
	t.Helper()
	w := &walker{sourceOnly: map[uint16]int{}}
	w.zero = map[string]Version0{"2016": ZeroIs2016, "v0.5": ZeroIs05, "v1.0": ZeroIs10}[v.Config.Version0]
	if v.Config.ProbeMarker != "" {
		marker, err := strconv.ParseUint(v.Config.ProbeMarker, 0, 64)
		if err != nil {
			t.Fatalf("%s: %v", v.Name, err)
		}
		w.probeMarker = marker
	}
	for domain, lengths := range v.Config.DSLengths {
		id, err := strconv.ParseUint(domain, 0, 16)
		if err != nil {
			t.Fatalf("%s: %v", v.Name, err)
		}
		w.sourceOnly[uint16(id)] = 0
		for _, length := range lengths {
			text, _ := length.(string)
			if n, ok := strings.CutPrefix(text, "source-only "); ok {
				so, err := strconv.Atoi(n)
				if err != nil {
					t.Fatalf("%s: %v", v.Name, err)
				}
				w.sourceOnly[uint16(id)] += so
			}
		}
	}
	return w
}

func TestVectors(t *testing.T) {
	for _, v := range vectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			w := v.walker(t)
			err := w.start(v.StartsAt, v.bytes(t))
			if strings.HasPrefix(v.Name, "bad_") {
				var want struct{ Error string }
				if err := json.Unmarshal(v.Expect, &want); err != nil {
					t.Fatal(err)
				}
				if err == nil || err.Error() != want.Error {
					t.Fatalf("got error %v, want %s", err, want.Error)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(w.layers)
			if err != nil {
				t.Fatal(err)
			}
			compareLayers(t, got, v.Expect)
		})
	}
}

// compareLayers compares the INT layers of want with got.
func compareLayers(t *testing.T, got, want []byte) {
	t.Helper()
	var gotLayers, allLayers, wantLayers []map[string]any
	if err := json.Unmarshal(got, &gotLayers); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(want, &allLayers); err != nil {
		t.Fatal(err)
	}
	for _, layer := range allLayers {
		name, _ := layer["layer"].(string)
		if !strings.HasPrefix(name, "int_") || name == "int_probe_marker" {
			continue
		}
		delete(layer, "ts_device_id") // the meaning of source-only metadata in one domain
		wantLayers = append(wantLayers, layer)
	}
	if len(gotLayers) != len(wantLayers) {
		t.Fatalf("got %d layers, want %d\ngot %s", len(gotLayers), len(wantLayers), got)
	}
	for i := range wantLayers {
		if !reflect.DeepEqual(gotLayers[i], wantLayers[i]) {
			t.Errorf("layer %d:\ngot  %v\nwant %v", i, gotLayers[i], wantLayers[i])
		}
	}
}

// TestVectorsDamaged: every prefix and every single bit flip of every vector is a value or an error, never a panic, and
// never a read behind the end.
func TestVectorsDamaged(t *testing.T) {
	for _, v := range vectors(t) {
		damage(v.bytes(t), func(b []byte) {
			_ = v.walker(t).start(v.StartsAt, b)
		})
	}
}

// damage calls read with every prefix of b and with every copy of b in which one bit is wrong. The slices have no spare
// capacity.
func damage(b []byte, read func([]byte)) {
	for i := range b {
		read(b[:i:i])
	}
	flipped := append(make([]byte, 0, len(b)), b...)
	for bit := range 8 * len(b) {
		flipped[bit/8] ^= 0x80 >> (bit % 8)
		read(flipped)
		flipped[bit/8] ^= 0x80 >> (bit % 8)
	}
}
