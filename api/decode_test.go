package api

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// post sends bytes and returns the answer.
func post(h http.Handler, target string, body []byte) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("POST", target, bytes.NewReader(body)))
	return w
}

// TestDecodePositions: in every vector, the bits that a field is said to be in hold its value.
func TestDecodePositions(t *testing.T) {
	checked := 0
	for _, v := range test.Vectors(t, "*") {
		cfg := testConfig(newFeed().Collector)
		cfg.Points = func() *codepoint.Config { return v.Points(t) }
		w := post(New(cfg), "/api/v1/decode?start="+v.StartsAt, v.Bytes)
		var got types.DecodeAnswer
		decoder := json.NewDecoder(w.Body)
		decoder.UseNumber()
		if err := decoder.Decode(&got); err != nil || w.Code != 200 || got.Length != len(v.Bytes) {
			t.Fatalf("%s: %d, %v, %d bytes", v.Name, w.Code, err, got.Length)
		}
		checked += checkPositions(t, v.Name, v.Bytes, got.Layers)
	}
	if checked < 1000 {
		t.Errorf("%d values were checked", checked)
	}
}

func checkPositions(t *testing.T, name string, packet []byte, layers []types.DecodedLayer) int {
	t.Helper()
	n := 0
	for _, l := range layers {
		if l.Offset < 0 || l.Length < 0 || l.Offset+l.Length > len(packet) {
			t.Errorf("%s: layer %s at %d+%d of %d", name, l.Name, l.Offset, l.Length, len(packet))
		}
		n += checkFields(t, name+" "+l.Name, packet, l.Fields)
	}
	return n
}

func checkFields(t *testing.T, name string, packet []byte, fields []types.DecodedField) int {
	t.Helper()
	n := 0
	for _, f := range fields {
		at := name + "." + f.Name
		n += checkFields(t, at, packet, f.Fields) + checkPositions(t, at, packet, f.Layers)
		if f.Offset < 0 || f.Length < 0 || f.Offset+f.Length > len(packet) {
			t.Errorf("%s at %d+%d of %d", at, f.Offset, f.Length, len(packet))
			continue
		}
		if f.Length == 0 || f.Length > 8 {
			continue
		}
		bits := new(big.Int).SetBytes(packet[f.Offset : f.Offset+f.Length])
		if f.Bits != nil {
			bits.Rsh(bits, uint(8*f.Length-f.Bits.First-f.Bits.Count))
			bits.And(bits, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(f.Bits.Count)), big.NewInt(1)))
		}
		want := ""
		switch v := f.Value.(type) {
		case json.Number:
			want = v.String()
		case bool:
			want = map[bool]string{true: "1", false: "0"}[v]
		case string:
			number, err := strconv.ParseUint(v, 0, 64)
			if err != nil || !strings.HasPrefix(v, "0x") {
				continue
			}
			want = strconv.FormatUint(number, 10)
		default:
			continue
		}
		if bits.String() != want {
			t.Errorf("%s: %v is not at %d+%d (%v): %s", at, f.Value, f.Offset, f.Length, f.Bits,
				hex.EncodeToString(packet[f.Offset:f.Offset+f.Length]))
		}
		n++
	}
	return n
}

// Errors stand in the tree with their code and in words, numbers have units and meanings.
func TestDecodeTexts(t *testing.T) {
	h := New(testConfig(newFeed().Collector))
	golden(t, "decode", post(h, "/api/v1/decode", test.Report(test.Form20MD, 1, 7, 3)[:60]).Body.Bytes())
}

// The dialect decides what bits mean.
func TestDecodeDialect(t *testing.T) {
	d, _ := test.UDP(test.Packets(t, "onos_v10_udp_reports.pcap")[0])
	h := New(testConfig(newFeed().Collector))
	for target, quirk := range map[string]bool{
		"/api/v1/decode": false,
		"/api/v1/decode?start=telemetry_report&dialect=onos-int10-ver0": true,
	} {
		if got := post(h, target, d.Payload).Body.String(); strings.Contains(got, `"flags_first"`) != quirk {
			t.Errorf("%s: %.300s", target, got)
		}
	}
}

func TestDecodeProblems(t *testing.T) {
	h := New(testConfig(newFeed().Collector))
	for _, c := range []struct {
		method, target string
		body           []byte
		status         int
		parameter      string
	}{
		{"POST", "/api/v1/decode", nil, 400, ""},
		{"POST", "/api/v1/decode?start=middle", []byte{1}, 400, "start"},
		{"POST", "/api/v1/decode?dialect=latin", []byte{1}, 400, "dialect"},
		{"POST", "/api/v1/decode?limit=1", []byte{1}, 400, "limit"},
		{"POST", "/api/v1/decode", make([]byte, maxBody+1), 413, ""},
		{"GET", "/api/v1/decode", nil, 405, ""},
		{"PUT", "/api/v1/decode", []byte{1}, 405, ""},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(c.method, c.target, bytes.NewReader(c.body)))
		var p types.Problem
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || p.Status != c.status || p.Parameter != c.parameter {
			t.Errorf("%s %s: %d %+v", c.method, c.target, w.Code, p)
		}
	}
	if w := post(h, "/api/v1/decode", make([]byte, maxBody)); w.Code != 200 {
		t.Errorf("the largest body: %d", w.Code)
	}
}
