package message

import (
	"encoding/hex"
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/export"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// TestReports: what is sent of a datagram is what the vectors expect, which were not made by this code.
func TestReports(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(test.Root(), "testdata/vectors/*.json"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var v struct {
			StartsAt string `json:"starts_at"`
			Config   map[string]any
			Hex      string
			Expect   any
		}
		if err := json.Unmarshal(text, &v); err != nil || v.StartsAt != "telemetry_report" ||
			strings.HasPrefix(filepath.Base(file), "bad_") { // which expect an error alone
			continue
		}
		points := codepoint.New()
		if err := points.Apply(v.Config); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		points.Compile()
		payload, err := hex.DecodeString(v.Hex)
		if err != nil {
			t.Fatal(err)
		}
		m, err := JSON.Encode(export.Record{Kind: export.Reports, Of: &export.Datagram{
			TimeNs: 1_700_000_000_000_000_001, Source: netip.MustParseAddrPort("[::ffff:10.0.0.1]:4000"), Port: 8555,
			Payload: payload, Points: points,
		}}, nil)
		var got struct {
			Time   time.Time
			Source netip.AddrPort
			Port   uint16
			Length int
			Layers any
		}
		if err := json.Unmarshal(m.Value, &got); err != nil {
			t.Fatalf("%s: %v: %s", file, err, m.Value)
		}
		if err != nil || m.Key != "10.0.0.1" || !reflect.DeepEqual(got.Layers, v.Expect) ||
			got.Length != len(payload) || got.Time.UnixNano() != 1_700_000_000_000_000_001 || got.Port != 8555 ||
			got.Source.String() != "10.0.0.1:4000" {
			t.Errorf("%s: %v, key %s, got %s", file, err, m.Key, m.Value)
		}
		n++
	}
	if n < 10 {
		t.Errorf("only %d vectors are of reports", n)
	}
	if all, _ := Protobuf.Takes(); slices.Contains(all, export.Reports) {
		t.Error("Protobuf has no message for reports")
	}
}
