package dissect

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/wire/codepoint"
)

// TestPeers reads packets as the generators and tests of other projects build them (testdata/peers), with the dialect
// of each: without an error, and with the values that were put in.
func TestPeers(t *testing.T) {
	files, err := filepath.Glob("../../testdata/peers/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no packets: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var v struct {
				vector
				Fields map[string]uint64
			}
			if err := json.Unmarshal(text, &v); err != nil {
				t.Fatal(err)
			}
			b, err := hex.DecodeString(v.Hex)
			if err != nil {
				t.Fatal(err)
			}
			cfg := codepoint.New()
			if err := cfg.Apply(v.Config); err != nil {
				t.Fatal(err)
			}
			cfg.Compile()
			layers := Packet(b, TelemetryReport, cfg)
			for e := range Errors(layers) {
				t.Errorf("error %v\n%s", e, AppendJSON(nil, layers))
			}
			for name, want := range v.Fields {
				layer, path, _ := strings.Cut(name, ".")
				l := layerNamed(layers, layer)
				if l == nil {
					t.Errorf("no layer %s\n%s", layer, AppendJSON(nil, layers))
					continue
				}
				o := Object(l.Fields)
				for {
					first, rest, more := strings.Cut(path, ".")
					f := o.Find(first)
					if f == nil || !more && f.Number() != want {
						t.Errorf("%s: got %+v, want %d", name, f, want)
					}
					if f == nil || !more {
						break
					}
					o, path = f.Value.(Object), rest
				}
			}
		})
	}
}
