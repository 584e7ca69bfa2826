package dissect

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/wire/codepoint"
)

const captures = "../../testdata/captures/"

// dialectOf is the dialect of the programs in testdata/captures, by the first words of the scenario.
var dialectOf = map[string]string{
	"onos_v10":        "onos-int10-ver0",
	"onos_fabric_v04": "onos-int04",
	"geant_v04":       "geant-int04",
	"geant_v10_head":  "geant-int10",
	"geant_v10_2021":  "geant-int10-2021",
	"tps":             "tps",
	"fabric_tna":      "fabric-tna-bmv2",
	"montimage":       "montimage-int10",
	"ioam":            "spec",
}

// scenarioConfig returns the configuration that a scenario is read with.
func scenarioConfig(t testing.TB, scenario string) *codepoint.Config {
	t.Helper()
	cfg := codepoint.New()
	for prefix, dialect := range dialectOf {
		if strings.HasPrefix(scenario, prefix) {
			if err := cfg.Set("profile", dialect); err != nil {
				t.Fatal(err)
			}
			cfg.Compile()
			return cfg
		}
	}
	t.Fatalf("no dialect for %s", scenario)
	return nil
}

// A truth is one file *.truth.json.
type truth struct {
	Scenario   string                      `json:"scenario"`
	Statistics map[string]statistics       `json:"statistics_whole_capture"`
	IOAM       map[string]map[string]int   `json:"statistics"`
	Samples    map[string][]map[string]any `json:"samples"`
	SwitchIDs  map[string]int              `json:"switch_ids"`
}

func loadTruths(t testing.TB) []*truth {
	t.Helper()
	files, err := filepath.Glob(captures + "*.truth.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no truth files: %v", err)
	}
	var truths []*truth
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber() // timestamps do not fit a float64
		tr := &truth{}
		if err := d.Decode(tr); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		truths = append(truths, tr)
	}
	return truths
}

// readPcap returns the packets of a capture of testdata: pcap, little endian, microseconds.
func readPcap(t testing.TB, name string) [][]byte {
	t.Helper()
	b, err := os.ReadFile(captures + name)
	if err != nil {
		t.Fatal(err)
	}
	if len(b) < 24 || binary.LittleEndian.Uint32(b) != 0xa1b2c3d4 ||
		binary.LittleEndian.Uint32(b[20:]) != linkEthernet {
		t.Fatalf("%s is no little endian Ethernet pcap", name)
	}
	var packets [][]byte
	for b = b[24:]; len(b) >= 16; {
		n := int(binary.LittleEndian.Uint32(b[8:]))
		packets = append(packets, b[16:16+n:16+n])
		b = b[16+n:]
	}
	return packets
}

// truthNumber reads a number of a truth file, which may be text in hex.
func truthNumber(v any) (uint64, bool) {
	switch v := v.(type) {
	case json.Number:
		n, err := strconv.ParseUint(v.String(), 10, 64)
		return n, err == nil
	case string:
		if digits, ok := strings.CutPrefix(v, "0x"); ok {
			n, err := strconv.ParseUint(digits, 16, 64)
			return n, err == nil
		}
		n, err := strconv.ParseUint(v, 16, 64) // the words of IOAM have no 0x
		return n, err == nil && len(v) == 8
	}
	return 0, false
}

// checkFields compares the values of truth with the fields of the same meaning: names gives the name of the field for
// each key, "-" for a key that is not compared. Keys that names does not know fail.
func checkFields(t *testing.T, where string, truth map[string]any, fields Object, names map[string]string) {
	t.Helper()
	for key, value := range truth {
		name, known := names[key]
		if !known {
			t.Errorf("%s: the truth has %s, which nothing is compared with", where, key)
			continue
		}
		if name == "-" {
			continue
		}
		f := fields.Find(name)
		if f == nil {
			t.Errorf("%s: no field %s for %s = %v", where, name, key, value)
			continue
		}
		if text, ok := value.(string); ok && strings.HasSuffix(text, "(unavailable)") {
			if f.Meaning != NotAvailable {
				t.Errorf("%s: %s: got %+v, want that it is not available", where, key, f)
			}
			continue
		}
		want, isNumber := truthNumber(value)
		var got any
		switch v := f.Value.(type) {
		case bool:
			got = uint64(0)
			if v {
				got = uint64(1)
			}
		default:
			got = v
		}
		if isNumber && got != any(want) || !isNumber && fmt.Sprint(got) != fmt.Sprint(value) {
			t.Errorf("%s: %s: got %v, want %v", where, key, got, value)
		}
	}
}

// flatten writes nested objects of a truth as "outer.inner".
func flatten(v map[string]any) map[string]any {
	flat := map[string]any{}
	for key, value := range v {
		if nested, ok := value.(map[string]any); ok {
			for k, v := range flatten(nested) {
				flat[key+"."+k] = v
			}
			continue
		}
		flat[key] = value
	}
	return flat
}

func layerNamed(layers []Layer, prefix string) *Layer {
	for i := range layers {
		if strings.HasPrefix(layers[i].Name, prefix) {
			return &layers[i]
		}
	}
	return nil
}

// userLayers splits the layers of a packet: those of a report and of the packet that it is about. Without a report all
// are the packet's.
func userLayers(layers []Layer) (report *Layer, user []Layer) {
	for i := range layers {
		switch layers[i].Name {
		case "telemetry_report_v0_5", "telemetry_report_v1_0":
			return &layers[i], layers[i+1:]
		case "telemetry_report_v2_0":
			if reports := layers[i].Find("reports").Objects(); len(reports) > 0 {
				return &layers[i], reports[0].Find("inner").Layers()
			}
			return &layers[i], nil
		}
	}
	return nil, layers
}
