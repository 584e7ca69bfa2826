package api

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/api/types"
)

// Exporters that a filter selects are forgotten, and the log says so; a filter that is wrong, or none, forgets nobody.
func TestForgetExporters(t *testing.T) {
	collector, _ := happened(t)
	cfg := testConfig(collector)
	var log bytes.Buffer
	cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
	h := New(cfg)
	forget := func(text string) (int, types.ForgottenExporters, string) {
		wanted, err := json.Marshal(types.ForgetExporters{Filter: text})
		if err != nil {
			t.Fatal(err)
		}
		w := ask(h, "POST", "/api/v1/exporters/forget", body(string(wanted)))
		var a types.ForgottenExporters
		if w.Code == http.StatusOK {
			if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
				t.Fatal(err)
			}
		}
		return w.Code, a, w.Body.String()
	}
	before := len(collector.ExporterList())
	for _, wrong := range []string{"", " ", "nodes = 7", "source = "} {
		if code, _, text := forget(wrong); code != http.StatusBadRequest || !strings.Contains(text, "filter") {
			t.Errorf("%q: %d, %s", wrong, code, text)
		}
	}
	if code, a, text := forget("source = 10.99.0.1"); code != http.StatusOK || len(a.Exporters) != 0 {
		t.Errorf("nobody: %d, %s", code, text)
	}
	if after := len(collector.ExporterList()); before < 2 || after != before {
		t.Fatalf("%d exporters, %d before", after, before)
	}
	code, a, text := forget("source = 192.0.2.66")
	if code != http.StatusOK || len(a.Exporters) == 0 || a.Exporters[0].Source.String() != "192.0.2.66" {
		t.Fatalf("%d, %s", code, text)
	}
	if after := len(collector.ExporterList()); after != before-len(a.Exporters) {
		t.Errorf("%d exporters are left of %d", after, before)
	}
	if !strings.Contains(log.String(), "exporters were forgotten") || !strings.Contains(log.String(), "192.0.2.66") {
		t.Errorf("the log lacks it: %s", log.String())
	}
}
