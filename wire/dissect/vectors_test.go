package dissect

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// A vector is one file of testdata/vectors.
type vector struct {
	Name     string          `json:"name"`
	StartsAt string          `json:"starts_at"`
	Config   map[string]any  `json:"config"`
	Hex      string          `json:"hex"`
	Expect   json.RawMessage `json:"expect"`

	bytes []byte
	start Start
	cfg   *codepoint.Config
}

func loadVectors(t testing.TB) []*vector {
	t.Helper()
	files, err := filepath.Glob("../../testdata/vectors/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	var vectors []*vector
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		v := &vector{cfg: codepoint.New()}
		if err := json.Unmarshal(text, v); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if v.bytes, err = hex.DecodeString(v.Hex); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if v.start, err = ParseStart(v.StartsAt); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if err := v.cfg.Apply(v.Config); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		v.cfg.Compile()
		vectors = append(vectors, v)
	}
	return vectors
}

// TestVectors compares the JSON of every good vector with what it expects, byte for byte except for blanks: the same
// names, values and order of keys. Every bad one must give its error and keep what it says.
func TestVectors(t *testing.T) {
	vectors := loadVectors(t)
	if len(vectors) != 71 {
		t.Errorf("got %d vectors, want 71", len(vectors))
	}
	for _, v := range vectors {
		t.Run(v.Name, func(t *testing.T) {
			layers := Packet(v.bytes, v.start, v.cfg)
			got := AppendJSON(nil, layers)
			if strings.HasPrefix(v.Name, "bad_") {
				checkBad(t, v, layers, got)
				return
			}
			var want bytes.Buffer
			if err := json.Compact(&want, v.Expect); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want.Bytes()) {
				t.Errorf("\ngot  %s\nwant %s", got, want.Bytes())
			}
			for e := range Errors(layers) {
				t.Errorf("error %v", e)
			}
		})
	}
}

func checkBad(t *testing.T, v *vector, layers []Layer, got []byte) {
	var want struct {
		Error string
		Keep  map[string]uint64
	}
	if err := json.Unmarshal(v.Expect, &want); err != nil {
		t.Fatal(err)
	}
	var errors []string
	for e := range Errors(layers) {
		errors = append(errors, wire.Error(e).Error())
	}
	if !slices.Equal(errors, []string{want.Error}) {
		t.Errorf("got errors %v, want %s alone\n%s", errors, want.Error, got)
	}
	for name, value := range want.Keep {
		if f := layers[0].Find(name); f == nil || f.Number() != value {
			t.Errorf("%s: got %+v, want %d", name, f, value)
		}
	}
}
