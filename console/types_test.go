package console_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/api"
)

var update = flag.Bool("update", false, "write src/api/types.gen.ts")

// bare takes the words away, which change more often than the types.
func bare(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, inner := range value {
			if _, words := inner.(string); words && (name == "description" || name == "format") {
				delete(value, name)
			} else {
				bare(inner)
			}
		}
	case []any:
		for _, inner := range value {
			bare(inner)
		}
	}
	return value
}

// TestTypes: the console's types of the API's answers are those that its OpenAPI document has ("npm run types" writes
// them).
func TestTypes(t *testing.T) {
	needPackages(t)
	w := httptest.NewRecorder()
	api.New(api.Config{Collector: &analyze.Collector{}}).ServeHTTP(w,
		httptest.NewRequest("GET", "/api/v1/openapi.json", nil))
	var document map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &document); err != nil {
		t.Fatalf("%v: %.200s", err, w.Body)
	}
	document["paths"] = struct{}{} // the answers are all that the console has types of
	text, err := json.Marshal(bare(document))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "openapi.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	current, err := exec.CommandContext(t.Context(), "npx", "--no-install", "openapi-typescript", file).Output()
	if err != nil {
		t.Fatalf("openapi-typescript: %v", err)
	}
	const generated = "src/api/types.gen.ts"
	if *update {
		if err := os.WriteFile(generated, current, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	committed, err := os.ReadFile(generated)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(committed, current) {
		t.Errorf("%s is not what the OpenAPI document says: run npm run types in console/", generated)
	}
}
