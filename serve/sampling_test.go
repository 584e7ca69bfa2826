package serve

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSampling(t *testing.T) {
	for text, want := range map[string]map[uint32]uint64{
		"":                   {},
		"sampling: {1: 100}": {1: 100},
		"names: {7: s1}\nsampling: {s1: 8, 0x10: 2}": {7: 8, 16: 2},
		"names: {7: s1}\nsampling: {s1: 8, 7: 8}":    {7: 8},
	} {
		file := filepath.Join(t.TempDir(), "waybill.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c := DefaultConfig()
		if err := c.ReadFile(file); err != nil {
			t.Fatal(err)
		}
		if got, err := c.samplingByNode(); err != nil || !maps.Equal(got, want) {
			t.Errorf("%s: got %v, %v, want %v", text, got, err, want)
		}
	}
	for want, bad := range map[string]map[string]uint64{
		`"leaf1" is neither the id of a node nor one of names`: {"leaf1": 2},
		"got 0 for 1, want N from 1 on":                        {"1": 0},
		"got 4294967296 for 1":                                 {"1": 1 << 32},
		"node 1 has two rates":                                 {"1": 2, "0x1": 3},
	} {
		c := DefaultConfig()
		c.Sampling = bad
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %s", bad, err, want)
		}
	}
}
