package api

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/internal/test"
)

// TestClients: others make clients of the OpenAPI document, for Go with oapi-codegen and for TypeScript with
// openapi-typescript and openapi-fetch; these compile, and ask a server a question of each kind (testdata/clients).
func TestClients(t *testing.T) {
	collector, events := happened(t)
	cfg := testConfig(collector)
	cfg.Events, cfg.Views = events, &viewsOfTest{}
	handler := New(cfg)
	server := httptest.NewServer(handler)
	defer server.Close()
	report := test.Report(test.Form20MD, 1, 7, 3)
	want := wantOfClients(t, handler, len(report))
	document := ask(handler, "GET", "/api/v1/openapi.json").Body.Bytes()
	arguments := []string{server.URL, base64.StdEncoding.EncodeToString(report)}

	t.Run("Go", func(t *testing.T) {
		dir := clientsDir(t, document)
		if err := os.Mkdir(filepath.Join(dir, "waybill"), 0o700); err != nil {
			t.Fatal(err)
		}
		inDir(t, dir, "go", "tool", "oapi-codegen", "-config", "oapi-codegen.yaml", "-o", "waybill/client.gen.go",
			"openapi.json")
		inDir(t, dir, "go", "vet", "./...")
		if got := inDir(t, dir, "go", append([]string{"run", "."}, arguments...)...); got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	})
	t.Run("TypeScript", func(t *testing.T) {
		packages, err := filepath.Abs("../console/node_modules")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(packages, "openapi-fetch")); err != nil {
			t.Skip("not run: no packages of npm. Run: scripts/setup test")
		}
		dir := clientsDir(t, document)
		if err := os.Symlink(packages, filepath.Join(dir, "node_modules")); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"type": "module"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		inDir(t, dir, "npx", "--no-install", "openapi-typescript", "openapi.json", "-o", "waybill.d.ts")
		inDir(t, dir, "npx", "--no-install", "tsc")
		if got := inDir(t, dir, "node", append([]string{"out/ask.js"}, arguments...)...); got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	})
}

// clientsDir returns a directory with the programs and the document.
func clientsDir(t *testing.T, document []byte) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/clients")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "openapi.json"), document, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// wantOfClients returns what the programs print, of answers that are read without any client.
func wantOfClients(t *testing.T, h http.Handler, reportLen int) string {
	t.Helper()
	type object = map[string]any
	get := func(target string) (v object) {
		if err := json.Unmarshal(ask(h, "GET", "/api/v1/"+target).Body.Bytes(), &v); err != nil {
			t.Fatalf("%s: %v", target, err)
		}
		return v
	}
	flows := get("flows?filter=packets+%3E+0")["flows"].([]any)
	packets := 0.0
	for _, f := range flows {
		packets += f.(object)["packets"].(float64)
	}
	if len(flows) == 0 || packets == 0 {
		t.Fatal("there is no flow to ask for")
	}
	first, topology := flows[0].(object), get("topology")
	problem := get("flows?filter=packets+%3E")
	return fmt.Sprintf(`list: %d flows, %.0f packets
one: true %s %s
document: %d nodes, %d links
table: %d lines of text/csv
problem: 400 filter %s
change: 201 drops drops of s1
removal: 204
bytes: %d telemetry_report_v2_0
stream: event
`, len(flows), packets, first["src"], first["dst"], len(topology["nodes"].([]any)), len(topology["links"].([]any)),
		len(flows)+1, problem["detail"], reportLen)
}

func inDir(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-trimpath", "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		exit := &exec.ExitError{}
		errors.As(err, &exit)
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, exit.Stderr)
	}
	return string(out)
}

// TestNotebook runs the notebook of the documentation cell by cell with plain Python. Its last cell needs pyarrow and
// pandas, and is left out where they are not installed: Debian has no pyarrow.
func TestNotebook(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("not run: no python3. Run: sudo scripts/setup test")
	}
	text, err := os.ReadFile("../docs/how-to/notebook.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	var notebook struct {
		Cells []struct {
			Type   string `json:"cell_type"`
			Source []string
		}
	}
	if err := json.Unmarshal(text, &notebook); err != nil {
		t.Fatal(err)
	}
	frames := exec.CommandContext(t.Context(), python, "-c", "import pyarrow, pandas").Run() == nil
	var program strings.Builder
	cells := 0
	for _, c := range notebook.Cells {
		source := strings.Join(c.Source, "")
		if c.Type != "code" || strings.Contains(source, "pyarrow") && !frames {
			continue
		}
		cells++
		program.WriteString(source + "\n")
	}
	if cells < 3 {
		t.Fatalf("%d cells", cells)
	}
	collector, _ := happened(t)
	handler := New(testConfig(collector))
	server := httptest.NewServer(handler)
	defer server.Close()
	cmd := exec.CommandContext(t.Context(), python, "-c", program.String())
	cmd.Env = append(os.Environ(), "WAYBILL_SERVER="+server.URL, "WAYBILL_TOKEN=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var list types.FlowList
	if err := json.Unmarshal(ask(handler, "GET", "/api/v1/flows?order=packets").Body.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	flows, drops := 0, uint64(0)
	for i, f := range list.Flows {
		if i < 5 {
			fmt.Fprintln(&want, f.Src, f.Dst, f.Packets)
		}
		if f.Drops > 0 {
			flows++
			drops += f.Drops
		}
	}
	fmt.Fprintf(&want, "%d flows\n%d flows with %d dropped packets\n", list.Total, flows, drops)
	if !strings.HasPrefix(string(out), want.String()) {
		t.Errorf("got\n%swant\n%s", out, want.String())
	}
}
