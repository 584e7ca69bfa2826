package packaging_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/waybill-int/waybill/internal/test"
)

// The program takes what compose gives it, and its container may write to its volume only.
func TestCompose(t *testing.T) {
	var c struct {
		Services map[string]struct {
			Command  []string
			Volumes  []string
			Ports    []string
			ReadOnly bool     `yaml:"read_only"`
			CapDrop  []string `yaml:"cap_drop"`
		}
		Volumes map[string]any
	}
	if err := yaml.Unmarshal([]byte(read(t, "packaging/container/compose.yaml")), &c); err != nil {
		t.Fatal(err)
	}
	w := c.Services["waybill"]
	if !w.ReadOnly || len(c.Services) != 3 || len(w.Command) == 0 {
		t.Fatalf("got %+v", c)
	}
	for name, s := range c.Services {
		if !slices.Equal(s.CapDrop, []string{"ALL"}) {
			t.Errorf("%s has capabilities", name)
		}
		for _, p := range s.Ports {
			if !strings.HasSuffix(p, "/udp") && !strings.HasPrefix(p, "127.0.0.1:") {
				t.Errorf("%s: others reach port %s", name, p)
			}
		}
		for _, v := range s.Volumes {
			from, _, _ := strings.Cut(v, ":")
			if _, ok := c.Volumes[from]; ok {
				continue
			}
			if _, err := os.Stat(filepath.Join(test.Root(), "packaging/container", from)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	run(t, nil, test.Program(t), append(w.Command, "--check")...)
	if f := read(t, "packaging/container/prometheus.yaml"); !strings.Contains(f, "waybill:8080") {
		t.Errorf("prometheus asks %s", f)
	}
}

// An image is built on a bare Debian, and what it starts is ready as its user, with a root that nobody can write to.
func TestImage(t *testing.T) {
	long(t)
	need(t, "buildah", "systemd-nspawn")
	if os.Geteuid() != 0 {
		t.Skip("not run: a container is for root. Run: sudo make test-long")
	}
	context := t.TempDir()
	for _, name := range []string{"LICENSE", "packaging/container/ready", "packaging/container/Dockerfile"} {
		run(t, nil, "install", "-D", name, filepath.Join(context, name))
	}
	run(t, nil, "go", "build", "-pgo=off", "-o", filepath.Join(context, "bin/waybill"), "./cmd/waybill")
	root := debian(t)
	run(t, nil, "tar", "-cf", filepath.Join(context, "base.tar"), "-C", root, ".")
	policy := filepath.Join(context, "policy.json")
	if err := os.WriteFile(policy, []byte(`{"default": [{"type": "insecureAcceptAnything"}]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	base := []byte("FROM scratch\nADD base.tar /\n")
	if err := os.WriteFile(filepath.Join(context, "base"), base, 0o644); err != nil {
		t.Fatal(err)
	}
	storage := t.TempDir()
	buildah := func(args ...string) string {
		global := []string{
			"--storage-driver", "vfs", "--root", filepath.Join(storage, "root"),
			"--runroot", filepath.Join(storage, "run"),
		}
		out := run(t, []string{"BUILDAH_ISOLATION=chroot"}, "buildah", append(global, args...)...)
		return strings.TrimSpace(out)
	}
	bud := func(args ...string) {
		buildah(append([]string{
			"bud", "--network=none", "--format", "docker", "--signature-policy", policy,
		}, append(args, context)...)...)
	}
	bud("-f", filepath.Join(context, "base"), "-t", "localhost/bare")
	bud("-f", filepath.Join(context, "packaging/container/Dockerfile"), "--build-arg", "BASE=localhost/bare",
		"-t", "localhost/waybill")
	var image struct {
		Docker struct {
			Config struct {
				User        string
				Entrypoint  []string
				Healthcheck struct{ Test []string }
			} `json:"config"`
		}
	}
	if err := json.Unmarshal([]byte(buildah("inspect", "--type", "image", "localhost/waybill")), &image); err != nil {
		t.Fatal(err)
	}
	c := image.Docker.Config
	if c.User != "65532:65532" || len(c.Entrypoint) != 1 || len(c.Healthcheck.Test) != 2 {
		t.Fatalf("got %+v", c)
	}
	lines := strings.Split(buildah("from", "--pull-never", "--signature-policy", policy, "localhost/waybill"), "\n")
	mounted := buildah("mount", lines[len(lines)-1])
	defer buildah("umount", "--all")
	const inside = `
set -eu
"$1" serve --http 0.0.0.0:8080 --insecure &
if touch /etc/written 2>/dev/null; then exit 1; fi
for i in $(seq 120); do
	if "$2"; then
		test "$(stat -c %u /var/lib/waybill/checkpoint)" = 65532
		kill %1
		wait %1
		echo all is well
		exit 0
	fi
	sleep 0.5
done
exit 1`
	out := run(t, nil, "systemd-nspawn", "-D", mounted, "--register=no", "--keep-unit", "--private-network", "--quiet",
		"--read-only", "--tmpfs=/var/lib/waybill:mode=0777", "--pipe", "/usr/bin/setpriv", "--reuid=65532", "--regid=65532",
		"--clear-groups", "--no-new-privs", "--bounding-set=-all", "env", "WAYBILL_DATA=/var/lib/waybill",
		"bash", "-mc", inside, "bash", c.Entrypoint[0], c.Healthcheck.Test[1])
	if !strings.Contains(out, "\nall is well\n") {
		t.Fatal(out)
	}
}
