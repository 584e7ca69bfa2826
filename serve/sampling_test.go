package serve

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

func TestSampling(t *testing.T) {
	for text, want := range map[string]map[uint32]telemetry.SampleRate{
		"":                   {},
		"sampling: {1: 100}": {1: 100},
		"names: {7: s1}\nsampling: {s1: 8, 0x10: 2}": {7: 8, 16: 2},
		"names: {7: s1}\nsampling: {s1: 8, 7: 8}":    {7: 8},
		"sampling: {1: on_event, 2: every_packet, 3: 1}": {
			1: telemetry.SampleOnEvent, 2: telemetry.SampleEvery, 3: telemetry.SampleEvery,
		},
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
		dump, err := c.Dump()
		if err != nil {
			t.Fatal(err)
		}
		again := DefaultConfig()
		if err := os.WriteFile(file, []byte(dump), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := again.ReadFile(file); err != nil || !maps.Equal(again.Sampling, c.Sampling) {
			t.Errorf("%s: got %v, %v back", text, again.Sampling, err)
		}
	}
	for want, bad := range map[string]string{
		`"leaf1" is neither the id of a node nor one of names`: "leaf1: 2",
		"got 0, want N from 1 on":                              "1: 0",
		"got 4294967296, want":                                 "1: 4294967296",
		"got often, want":                                      "1: often",
		"node 1 has two rates":                                 "1: 2, 0x1: 3",
	} {
		file := filepath.Join(t.TempDir(), "waybill.yaml")
		if err := os.WriteFile(file, []byte("sampling: {"+bad+"}"), 0o600); err != nil {
			t.Fatal(err)
		}
		c := DefaultConfig()
		err := c.ReadFile(file)
		if err == nil {
			err = c.Check()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %s", bad, err, want)
		}
	}
}

func TestQueueUnit(t *testing.T) {
	file := filepath.Join(t.TempDir(), "waybill.yaml")
	read := func(text string) (map[uint32]telemetry.QueueUnit, error) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c := DefaultConfig()
		if err := c.ReadFile(file); err != nil {
			return nil, err
		}
		return c.queueUnits()
	}
	units, err := read("names: {7: s1}\nqueue_unit: {s1: packets, 0x10: \"cells:80\", 2: bytes}")
	want := map[uint32]telemetry.QueueUnit{7: codepoint.UnitPackets, 16: codepoint.CellsOf(80), 2: codepoint.UnitBytes}
	if err != nil || !maps.Equal(units, want) {
		t.Errorf("got %v, %v", units, err)
	}
	if _, err := read("utilization_unit: {1: \"share:255\", 2: unknown}"); err != nil {
		t.Error(err)
	}
	if _, err := read("utilization_unit: {1: percent}"); err == nil || !strings.Contains(err.Error(), "want share:N") {
		t.Error(err)
	}
	for want, bad := range map[string]string{
		"neither the id of a node": "leaf1: bytes", `got "words", want`: "1: words",
		"node 1 has two units, packets and bytes": "1: bytes, 0x1: packets",
	} {
		if _, err := read("queue_unit: {" + bad + "}"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", bad, err, want)
		}
	}
}
