package packaging_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/test"
)

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(test.Root(), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// run runs a command in the top directory, and returns what it says.
func run(t *testing.T, environment []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = test.Root(), append(os.Environ(), environment...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// need skips where a program is not installed.
func need(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("not run: there is no %s", name)
		}
	}
}

// long skips what takes minutes.
func long(t *testing.T) {
	t.Helper()
	if os.Getenv("TEST_SEED") != "all" {
		t.Skip("not run: it takes minutes. Run: make test-long")
	}
}

// systemd finds nothing to complain about in the units, and they say what the pages say that a unit has, but for who
// runs it and where the program is.
func TestUnits(t *testing.T) {
	need(t, "systemd-analyze")
	for unit, page := range map[string]string{
		"waybill.service": "docs/how-to/run-it-safely.md", "waybill-node.service": "docs/how-to/run-a-node-on-linux.md",
	} {
		text := read(t, "packaging/systemd/"+unit)
		file := filepath.Join(t.TempDir(), unit)
		// the program, and the user of the package, need not be on this machine
		runs := strings.NewReplacer("/usr/bin/waybill", "/bin/true", "=waybill\n", "=root\n").Replace(text)
		if err := os.WriteFile(file, []byte(runs), 0o644); err != nil {
			t.Fatal(err)
		}
		if out := run(t, nil, "systemd-analyze", "verify", "--man=no", file); out != "" {
			t.Errorf("%s: %s", unit, out)
		}
		block := regexp.MustCompile("(?s)```ini\n(\\[Unit\\].*?)```").FindStringSubmatch(read(t, page))
		if block == nil {
			t.Fatalf("%s has no unit", page)
		}
		for line := range strings.Lines(strings.ReplaceAll(block[1], "/usr/local/bin", "/usr/bin")) {
			if strings.Contains(line, "=") && !strings.HasPrefix(line, "#") && !strings.Contains(text, "\n"+line) &&
				!(line == "DynamicUser=yes\n" && strings.Contains(text, "\nUser=waybill\n")) {
				t.Errorf("%s has no %q, which is in %s", unit, strings.TrimSpace(line), page)
			}
		}
	}
}

// The program takes the files of configuration that packages have.
func TestConfigs(t *testing.T) {
	program := test.Program(t)
	for file, command := range map[string]string{"waybill.yaml": "serve", "node.yaml": "node"} {
		run(t, nil, program, command, "--config", filepath.Join(test.Root(), "packaging/config", file), "--check")
	}
}

// A maker makes packages of a program.
type maker struct {
	t                *testing.T
	nfpm, dir, stage string
}

func newMaker(t *testing.T, program string) *maker {
	t.Helper()
	m := &maker{t: t, dir: t.TempDir()}
	m.nfpm, m.stage = filepath.Join(m.dir, "nfpm"), filepath.Join(m.dir, "stage")
	for _, name := range []string{
		"sbom.json", "man/waybill.1.gz", "man/waybill-serve.1.gz", "completion/waybill.bash", "completion/_waybill",
		"completion/waybill.fish",
	} {
		file := filepath.Join(m.stage, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run(t, nil, "cp", program, filepath.Join(m.stage, "waybill"))
	run(t, nil, "go", "build", "-C", "packaging/tools", "-o", m.nfpm, "github.com/goreleaser/nfpm/v2/cmd/nfpm")
	return m
}

// make returns the file of a package.
func (m *maker) make(form, version, name string) string {
	m.t.Helper()
	to, err := os.MkdirTemp(m.dir, form)
	if err != nil {
		m.t.Fatal(err)
	}
	run(m.t, []string{
		"STAGE=" + m.stage, "ARCH=amd64", "PACKAGE_VERSION=" + version, "GLIBC=2.34", "SOURCE_DATE_EPOCH=1700000000",
	}, m.nfpm, "package", "--config", "packaging/nfpm.yaml", "--packager", form, "--target", to+"/")
	return filepath.Join(to, name)
}

// nfpm makes a deb and an rpm, with the files where the two kinds of distributions have them, configuration that an
// upgrade keeps, and scripts that are shell.
func TestPackages(t *testing.T) {
	need(t, "dpkg-deb", "rpm")
	m := newMaker(t, "/bin/true")
	files := []string{
		"/usr/bin/waybill", "/usr/lib/systemd/system/waybill.service", "/usr/lib/systemd/system/waybill-node.service",
		"/etc/waybill/waybill.yaml", "/usr/share/doc/waybill/examples/node.yaml", "/usr/share/man/man1/waybill-serve.1.gz",
		"/usr/share/bash-completion/completions/waybill", "/usr/share/doc/waybill/sbom.cdx.json",
	}
	for form, name := range map[string]string{
		"deb": "waybill_1.2.3+4.gabc_amd64.deb", "rpm": "waybill-1.2.3+4.gabc-1.x86_64.rpm",
	} {
		file := m.make(form, "1.2.3+4.gabc", name)
		if again := m.make(form, "1.2.3+4.gabc", name); sum(t, file) != sum(t, again) {
			t.Errorf("the %s differs from time to time", form)
		}
		var list, kept, needs string
		if form == "deb" {
			list = run(t, nil, "dpkg-deb", "-c", file)
			kept = run(t, nil, "dpkg-deb", "-I", file, "conffiles")
			needs = run(t, nil, "dpkg-deb", "-f", file, "Depends")
		} else {
			list = run(t, nil, "rpm", "-qlvp", file)
			kept = run(t, nil, "rpm", "-qcp", file)
			needs = run(t, nil, "rpm", "-qRp", file)
		}
		for _, f := range files {
			if !strings.Contains(list, f) {
				t.Errorf("the %s has no %s:\n%s", form, f, list)
			}
		}
		if strings.TrimSpace(kept) != "/etc/waybill/waybill.yaml" || !strings.Contains(needs, "libc") {
			t.Errorf("the %s keeps %q and needs %q", form, kept, needs)
		}
	}
	for _, name := range []string{"postinst", "prerm", "postrm"} {
		run(t, nil, "sh", "-n", "packaging/scripts/"+name)
	}
}

// What a program consists of is what "go version -m" says, and packages of the console besides.
func TestSBOM(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var b struct {
		Format     string `json:"bomFormat"`
		Components []struct {
			PURL, Scope string
		}
	}
	out := run(t, nil, "go", "run", "./packaging/sbom", "v1.2.3", program, "console/package-lock.json")
	if err := json.Unmarshal([]byte(out), &b); err != nil || b.Format != "CycloneDX" {
		t.Fatalf("%v: %.200s", err, out)
	}
	got := map[string]bool{}
	for _, c := range b.Components {
		got[c.PURL] = c.Scope == ""
	}
	want := 0
	for line := range strings.Lines(run(t, nil, "go", "version", "-m", program)) {
		if f := strings.Fields(line); len(f) > 2 && f[0] == "dep" {
			want++
			if !got["pkg:golang/"+f[1]+"@"+f[2]] {
				t.Errorf("%s %s is missing", f[1], f[2])
			}
		}
	}
	for purl, linked := range got {
		if linked {
			want--
		} else if !strings.HasPrefix(purl, "pkg:npm/") {
			t.Errorf("%s is not linked", purl)
		}
	}
	if want != -1 || len(got) < 100 { // the standard library
		t.Errorf("%d more than there are, %d in all", -want, len(got))
	}
}

// sum returns the checksum of a file.
func sum(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(text))
}
