package test

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const module = "github.com/waybill-int/waybill"

// badImports lists the imports that may not be, with the reason. Both sides are patterns of matches, below. The order
// of the tree is
//
// wire <- telemetry <- {node, collect, analyze, mitigate, inventory, sonic, policy, filter, alert, store, bus} <-
// {tables, fabric, api} <- {cli, serve} <- cmd
//
// To add a package: 1. its row here, if it must not import something, 2. its name in the rows of those that may import
// it.
var badImports = []struct{ from, to, why string }{
	{"wire/...", "... -wire/...", "wire turns bytes into values; all others stand on it"},
	{"wire/...", "third-party", "wire needs the standard library only, so that other programs can import it"},
	{"wire", "wire/...", "the reasons why bytes break a rule stand below all formats"},
	{
		"wire/... -wire/codepoint/... -wire/dissect/...", "wire/codepoint/... wire/dissect/...",
		"a format is what its specification says; what is configured or walked through stands above it",
	},
	{
		"wire/codepoint/...", "wire/... -wire -wire/codepoint/... -wire/inband/...",
		"code points are read before any packet is",
	},

	{"telemetry/...", "... -telemetry/... -wire/...", "telemetry holds the words that all others share"},
	{"telemetry/...", "third-party", "the words of the domain need the standard library only"},
	{"telemetry/catalogue", "telemetry/...", "the catalogue reads the tags of any type, and knows none of them"},
	{"telemetry/... -telemetry/catalogue", "telemetry/catalogue", "a type declares its fields, whoever reads the tags"},

	{"node/...", "... -node/... -telemetry/... -wire/... -internal/...", "a node does not know who reads its reports"},
	{
		"node/... -node/bpf -node/kernel", "node/bpf node/kernel",
		"what a node does to a packet does not depend on the kernel; its programs follow it",
	},
	{"node/bpf", "node/kernel", "the programs do not know who loads them"},
	{"node/... -node/bpf -node/kernel", "third-party", "a node is plain code over bytes"},
	{"collect/...", "... -collect/... -telemetry/... -wire/... -internal/...", "who wants the datagrams calls collect"},
	{
		"analyze/...", "... -analyze/... -telemetry/... -wire/... -internal/...",
		"an analysis gets reports and gives records, wherever they come from and go",
	},
	{
		"analyze/... -analyze", "analyze",
		"the parts of the analyses do not know the shards; the core hands them values, or an interface that they declare",
	},
	{
		"analyze/... -analyze -analyze/scan -analyze/timing", "analyze/... -analyze/histogram -analyze/topology",
		"the parts of the analyses stand beside each other; only the histogram and the topology are below them, and " +
			"only the search for events above",
	},
	{
		"analyze/timing", "analyze/... -analyze/baseline -analyze/clock -analyze/histogram -analyze/topology",
		"what packets say of time is put together from clocks and baselines, and from nothing else",
	},
	{
		"analyze/join", "analyze/... -analyze/topology",
		"what is told of a packet is put together before anybody counts it",
	},
	{"analyze/histogram", "analyze/...", "a histogram counts numbers, whatever they are of"},
	{
		"analyze/topology", "analyze/...",
		"hops, links and ports have the same names in all analyses, whatever is counted there",
	},
	{"analyze/...", "third-party", "analyses are plain code over tables of their own"},
	{
		"policy/...", "... -policy/... -telemetry/... -internal/...",
		"a policy says what paths should look like, and knows neither bytes nor who looks",
	},
	{
		"filter/...", "... -filter/... -telemetry/... -wire/... -internal/...",
		"an expression knows the names of fields, not who holds them",
	},
	{"filter/...", "third-party", "a language that everybody asks in is no place for surprises"},
	{
		"alert/...", "... -alert/... -filter/... -telemetry/... -wire/... -internal/...",
		"an alert is about events, whoever found them, and its rules select by filters",
	},
	{
		"inventory/...", "... -inventory/... -telemetry/... -wire/... -internal/...",
		"an inventory is read, whoever shows what is in it",
	},
	{"sonic", "... -sonic -internal/...", "a switch is configured whoever reads its reports"},
	{
		"mitigate/...", "... -mitigate/... -telemetry/... -wire/... -internal/...",
		"what acts on attacks gets them as values, and its caller gives it what drops",
	},
	{"mitigate", "third-party", "what bounds an action is plain code; what speaks a protocol stands beside it"},
	{"store/...", "... -store/... -telemetry/... -wire/... -internal/...", "a store gets records, whoever made them"},
	{"store", "third-party", "what is kept and how it is asked for does not depend on the database"},
	{
		"export/...", "... -export/... -telemetry/... -wire/... -internal/... -api/types",
		"an export gets records, whoever made them, and knows who wants them; they look like answers of the API",
	},
	{"...", "export/grafana", "dashboards are made by a test, and no program needs the library that makes them"},
	{"bus/...", "... -bus/... -telemetry/... -wire/... -internal/...", "a bus carries records, whoever made them"},
	{
		"tables/...", "... -tables/... -analyze -bus -collect -telemetry/... -wire/... -internal/...",
		"tables take datagrams from an analyzer or from the bus, and know neither who asks for the answers nor stores them",
	},
	{"tables/...", "third-party", "connections, and values of one build, need the standard library only"},

	{"wireshark", "...", "a dissector is a file, and the place where it goes"},
	{"wireshark", "third-party", "a dissector is a file, and the place where it goes"},

	{"fabric/...", "api/...", "an emulated network ends at the wire, as a real one does"},
	{"api/...", "fabric/...", "the API shows what was received, and knows no other truth"},
	{"api/types", "... -telemetry", "the shapes of answers are shared by all who ask, whatever the server is made of"},
	{"api/types", "third-party", "the shapes of answers are plain JSON"},
	{"api/client", "... -api/types -telemetry", "a program that asks a server is not the server"},
	{"api/encode", "... -telemetry/catalogue", "an encoding knows fields and values, whatever they are about"},
	{"api/client", "third-party", "programs of others ask with it too"},

	{
		"cli/...", "... -cli/... -api/client -api/encode -api/auth -filter -telemetry/catalogue -internal/...",
		"a command that asks a server knows what the server answers, filters, what tables and CSV show of fields, and how to show a certificate, and nothing of how",
	},
	{"serve/...", "cli/... fabric/... node/...", "a server does not ask itself, and emulates nothing"},
	{
		"... -cmd/... -cli/... -serve/...", "cli/... serve/...",
		"what others need of the commands and the server belongs into a package below them",
	},
	{"... -cmd/...", "cmd/...", "cmd wires the packages together; what others need of it belongs into one of them"},
	{"... -internal/test/...", "internal/test/...", "internal/test is for tests"},
	{
		"... -internal/conf/...", "yaml",
		"internal/conf reads all YAML, so that all of it is read strictly and told of in the same words",
	},
	{"internal/... -internal/test/...", "... -internal/...", "internal holds helpers without domain words"},
}

// matches reports whether a package, by its path in this module, is in a list of patterns. The last pattern that fits
// decides: "a" is a itself, "a/..." also what is below it, "..." all of this module, "-" takes out again.
// "yaml" fits a library of YAML, "third-party" what else is neither in this module nor in the standard library.
func matches(patterns, path string) bool {
	in := false
	for pattern := range strings.FieldsSeq(patterns) {
		pattern, out := strings.CutPrefix(pattern, "-")
		top, below := strings.CutSuffix(pattern, "...")
		top = strings.TrimSuffix(top, "/")
		if path == top || below && strings.HasPrefix(path+"/", top+"/") || pattern == "..." && path != "third-party" &&
			path != "yaml" {
			in = !out
		}
	}
	return in
}

// short is the path of a package in this module, "third-party", or "" for the standard library.
func short(path string) string {
	if rest, ok := strings.CutPrefix(path, module); ok && (rest == "" || rest[0] == '/') {
		return strings.TrimPrefix(rest, "/")
	}
	if strings.Contains(path, "/yaml/") || strings.HasSuffix(path, "-yaml") {
		return "yaml"
	}
	if first, _, _ := strings.Cut(path, "/"); strings.Contains(first, ".") {
		return "third-party"
	}
	return ""
}

// reasons says why from may not import to; nothing if it may.
func reasons(from, to string) (why []string) {
	from, to = short(from), short(to)
	for _, bad := range badImports {
		if to != "" && matches(bad.from, from) && matches(bad.to, to) {
			why = append(why, bad.why)
		}
	}
	return why
}

// A listed is what go list says of a package.
type listed struct {
	ImportPath, Dir, Doc string
	GoFiles, Imports     []string // without the tests
}

func list(t *testing.T) []listed {
	t.Helper()
	// go test reuses a result as long as the directories that the test has read are the same.
	err := filepath.WalkDir(Root(), func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() && path != Root() && (d.Name()[0] == '.' || d.Name() == "node_modules") {
			return fs.SkipDir
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	// -e: that a package does not build is for its own tests to say.
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Dir,Doc,GoFiles,Imports", "./...")
	cmd.Dir = Root()
	out, err := cmd.Output()
	if err != nil {
		exit := &exec.ExitError{}
		errors.As(err, &exit)
		t.Fatalf("go list: %v\n%s", err, exit.Stderr)
	}
	var packages []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

func TestImports(t *testing.T) {
	packages := list(t)
	if len(packages) < 5 {
		t.Fatalf("go list found %d packages only", len(packages))
	}
	for _, p := range packages {
		for _, to := range p.Imports {
			for _, why := range reasons(p.ImportPath, to) {
				t.Errorf("%s imports %s: %s", p.ImportPath, to, why)
			}
		}
	}
}

func TestImportRules(t *testing.T) {
	const std, yaml = "encoding/binary", "go.yaml.in/yaml/v4"
	for _, edge := range []struct {
		from, to string
		bad      bool
	}{
		{"wire/packet", std, false},
		{"wire/packet", "wire", false},
		{"wire", "wire/packet", true},
		{"wire/inband", "wire/codepoint", true},
		{"wire/report", "wire/dissect", true},
		{"wire/codepoint", "wire/inband", false},
		{"wire/codepoint", "wire/report", true},
		{"wire/dissect", "wire/codepoint", false},
		{"wire/codepoint", yaml, true},
		{"wire/dissect", "telemetry", true},
		{"wire/dissect", "internal/ring", true},
		{"telemetry", "wire/report", false},
		{"telemetry", "collect", true},
		{"telemetry", yaml, true},
		{"collect", yaml, true},
		{"internal/conf", yaml, false},
		{"internal/conf/conftest", yaml, false},
		{"collect", "telemetry", false},
		{"collect", "internal/ring", false},
		{"collect", "internal/test", true},
		{"analyze", "collect", true},
		{"analyze", yaml, true},
		{"analyze", "policy", true},
		{"analyze", "analyze/burst", false},
		{"analyze/burst", "analyze", true},
		{"analyze/burst", "analyze/scan", true},
		{"analyze/scan", "analyze/burst", false},
		{"analyze/scan", "analyze", true},
		{"analyze/burst", "analyze/histogram", false},
		{"analyze/burst", "analyze/clock", true},
		{"analyze/finding", "policy", true},
		{"analyze/finding", "analyze/topology", false},
		{"analyze/checksum", "analyze/finding", true},
		{"analyze/loss", "analyze/topology", false},
		{"analyze/loss", "analyze", true},
		{"analyze/drop", "analyze/topology", false},
		{"analyze/join", "analyze/topology", false},
		{"analyze/join", "analyze/histogram", true},
		{"analyze/join", "analyze", true},
		{"analyze/drop", "analyze/eventlog", true},
		{"analyze/timing", "analyze/clock", false},
		{"analyze/timing", "analyze/burst", true},
		{"analyze/timing", "analyze", true},
		{"analyze/clock", "analyze/timing", true},
		{"analyze/histogram", "analyze/burst", true},
		{"analyze/burst", "analyze/topology", false},
		{"analyze/topology", "analyze/burst", true},
		{"analyze/topology", "analyze/histogram", true},
		{"policy", "telemetry", false},
		{"policy", yaml, true},
		{"policy", "analyze", true},
		{"policy", "wire/codepoint", true},
		{"alert", "filter", false},
		{"alert", yaml, true},
		{"alert", "analyze", true},
		{"filter", "alert", true},
		{"api", "alert", false},
		{"store/duckdb", "store", false},
		{"store/duckdb", "analyze", true},
		{"store", "analyze", true},
		{"store", yaml, true},
		{"store/duckdb", yaml, true},
		{"analyze", "store", true},
		{"node", "node/bpf", true},
		{"node/kernel", "node/bpf", false},
		{"node/bpf", "node/embed", false},
		{"node", "nodes", true},
		{"bus", "api", true},
		{"export/network", "telemetry", false},
		{"export/network", "analyze", true},
		{"serve", "export/network", false},
		{"cmd/waybill", "export/grafana", true},
		{"fabric", "node", false},
		{"fabric", "api", true},
		{"api", "fabric", true},
		{"api/types", "telemetry", false},
		{"api/types", "filter", true},
		{"api/client", "api/types", false},
		{"api/client", "api", true},
		{"api", "store/duckdb", false},
		{"api", "cmd/waybill", true},
		{"bench", "cmd/waybill", true},
		{"cmd/waybill", "api", false},
		{"cmd/waybill", "serve", false},
		{"cli", "api", true},
		{"cli", "api/client", false},
		{"cli", "store/duckdb", true},
		{"cli", "telemetry", true},
		{"cli", "telemetry/catalogue", false},
		{"cli", "analyze", true},
		{"cli", "serve", true},
		{"serve", "cli", true},
		{"serve", "store/duckdb", false},
		{"bench", "serve", true},
		{"cmd/waybill", "internal/test", true},
		{"internal/ring", "telemetry", true},
		{"internal/ring", "internal/bits", false},
		{"internal/test", "wire/report", false},
		{"internal/test/wiretest", "internal/test", false},
	} {
		to := edge.to
		if to != std && to != yaml {
			to = module + "/" + to
		}
		if why := reasons(module+"/"+edge.from, to); (len(why) > 0) != edge.bad {
			t.Errorf("%s imports %s: got reasons %q, want bad=%v", edge.from, edge.to, why, edge.bad)
		}
	}
}

func TestPackageComments(t *testing.T) {
	for _, p := range list(t) {
		if len(p.GoFiles) > 0 && p.Doc == "" {
			t.Errorf("%s has no package comment: say in doc.go what it is for", p.ImportPath)
		}
	}
}
