package packaging_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What takes minutes is for make test-long. WAYBILL_TEST_DEBIAN is a tar of a bare Debian that is there already.

// A release that is built twice, in other directories and once without anything that was compiled before, has the same
// bytes.
func TestRelease(t *testing.T) {
	long(t)
	need(t, "rpm", "git")
	var sums [2]string
	from := "."
	for i, cache := range []string{"", filepath.Join(t.TempDir(), "cache")} {
		dir := filepath.Join(t.TempDir(), strings.Repeat("a", 1+20*i))
		run(t, nil, "git", "clone", "-q", from, dir)
		from = dir // the same commit, whoever commits meanwhile
		run(t, nil, "cp", "-r", "console/dist", filepath.Join(dir, "console"))
		environment := []string{"GOFLAGS="}
		if cache != "" {
			environment = append(environment, "GOCACHE="+cache)
		}
		t.Log(run(t, environment, filepath.Join(dir, "scripts/release")))
		text, err := os.ReadFile(filepath.Join(dir, "release/SHA256SUMS"))
		if err != nil {
			t.Fatal(err)
		}
		sums[i] = string(text)
	}
	if sums[0] != sums[1] || strings.Count(sums[0], "\n") < 4 {
		t.Errorf("got\n%sand\n%s", sums[0], sums[1])
	}
}

// onMachine is what somebody does on a machine of his own, with what must be so.
const onMachine = `
set -eux
ready() {
	for i in $(seq 120); do
		! curl -sf http://127.0.0.1:8080/readyz || return 0
		sleep 0.5
	done
	journalctl --no-pager -u waybill
	return 1
}
never() {
	if "$@"; then exit 1; fi
}
dpkg -i /one.deb >/said
cat /said
grep 'systemctl enable --now waybill' /said
never systemctl is-active waybill
systemctl enable --now waybill
ready
test "$(systemctl show -P User waybill)" = waybill
test "$(stat -c %U:%a /var/lib/waybill/checkpoint)" = waybill:600
test "$(stat -c %G:%a /etc/waybill/waybill.yaml)" = waybill:640
waybill exporters

# An upgrade starts it again, and keeps configuration and records.
echo '# mine' >>/etc/waybill/waybill.yaml
before=$(systemctl show -P MainPID waybill)
touch /var/lib/waybill/kept
dpkg -i /two.deb
ready
test "$(systemctl show -P MainPID waybill)" != "$before"
grep '# mine' /etc/waybill/waybill.yaml
test -e /var/lib/waybill/kept

# A node begins when it is configured.
systemctl enable --now waybill-node
never systemctl is-active waybill-node
cp /usr/share/doc/waybill/examples/node.yaml /etc/waybill/
chgrp waybill /etc/waybill/node.yaml
chmod 640 /etc/waybill/node.yaml
ip link add eth0 type veth peer name eth1
if systemctl restart waybill-node; then
	test "$(systemctl show -P Result waybill-node)" = success
	echo the node runs
else
	systemctl status --no-pager waybill-node || true
	echo the kernel takes no programs here
fi

dpkg -r waybill
never systemctl is-active waybill
test -e /var/lib/waybill/kept -a -e /etc/waybill/waybill.yaml
dpkg -P waybill
never test -e /var/lib/waybill
never test -e /etc/waybill
echo all is well
`

// debian returns a bare one.
func debian(t *testing.T) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "root")
	if tar := os.Getenv("WAYBILL_TEST_DEBIAN"); tar != "" {
		run(t, nil, "mkdir", root)
		run(t, nil, "tar", "-xf", tar, "-C", root)
	} else {
		need(t, "mmdebstrap")
		run(t, nil, "mmdebstrap", "--mode=root", "--variant=minbase",
			"--include=systemd,systemd-sysv,ca-certificates,curl,iproute2,passwd", "bookworm", root)
	}
	return root
}

// A bare Debian, booted in a container: the package is installed, started, brought up to date, removed and purged.
func TestInstall(t *testing.T) {
	long(t)
	need(t, "systemd-nspawn")
	if os.Geteuid() != 0 {
		t.Skip("not run: a container is for root. Run: sudo make test-long")
	}
	program := filepath.Join(t.TempDir(), "waybill")
	run(t, nil, "go", "build", "-pgo=off", "-o", program, "./cmd/waybill")
	m := newMaker(t, program)
	root := debian(t)
	run(t, nil, "cp", m.make("deb", "1.2.3", "waybill_1.2.3_amd64.deb"), filepath.Join(root, "one.deb"))
	later := m.make("deb", "1.2.3+4.gabc", "waybill_1.2.3+4.gabc_amd64.deb")
	run(t, nil, "cp", later, filepath.Join(root, "two.deb"))
	units := filepath.Join(root, "etc/systemd/system")
	run(t, nil, "ln", "-sf", "/etc/systemd/system/try.service", filepath.Join(units, "multi-user.target.wants"))
	for file, text := range map[string]string{
		filepath.Join(root, "try.sh"): onMachine,
		filepath.Join(units, "try.service"): "[Unit]\nAfter=multi-user.target\n[Service]\nType=oneshot\n" +
			"ExecStart=/bin/sh -c 'sh /try.sh >/try.log 2>&1'\nExecStopPost=/bin/systemctl poweroff --no-block\n",
	} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	boot := exec.CommandContext(ctx, "systemd-nspawn", "-D", root, "--boot", "--register=no", "--keep-unit",
		"--private-network", "--capability=CAP_NET_ADMIN,CAP_BPF,CAP_PERFMON",
		fmt.Sprintf("--machine=waybill-%d", os.Getpid()))
	out, err := boot.CombinedOutput()
	text, _ := os.ReadFile(filepath.Join(root, "try.log"))
	if !strings.HasSuffix(string(text), "+ echo all is well\nall is well\n") {
		t.Fatalf("%v: %s\n%s", err, text, out)
	}
	t.Logf("%s", text)
}

// What rpm does on a machine: an upgrade leaves what the server reads to its group, and a removal what was received.
func TestInstallRPM(t *testing.T) {
	long(t)
	need(t, "rpm")
	if os.Geteuid() != 0 {
		t.Skip("not run: rpm --root is for root. Run: sudo make test-long")
	}
	m, root := newMaker(t, "/bin/true"), debian(t)
	rpm := func(args ...string) string {
		return run(t, nil, "rpm", append([]string{"--root", root, "--nodeps"}, args...)...)
	}
	check := func() {
		t.Helper()
		const ask = "stat -c %G:%a /etc/waybill /etc/waybill/waybill.yaml"
		if got := run(t, nil, "chroot", root, "sh", "-c", ask); got != "waybill:750\nwaybill:640\n" {
			t.Errorf("got %s", got)
		}
	}
	out := rpm("-i", m.make("rpm", "1.2.3", "waybill-1.2.3-1.x86_64.rpm"))
	if !strings.Contains(out, "systemctl enable --now waybill") {
		t.Errorf("it says %s", out)
	}
	check()
	records := filepath.Join(root, "var/lib/waybill/kept")
	run(t, nil, "install", "-D", "/dev/null", records)
	out = rpm("-U", m.make("rpm", "1.2.3+4.gabc", "waybill-1.2.3+4.gabc-1.x86_64.rpm"))
	if strings.Contains(out, "nothing runs yet") {
		t.Errorf("an upgrade says %s", out)
	}
	check()
	rpm("-e", "waybill")
	if _, err := os.Stat(records); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(root, "usr/bin/waybill")); err == nil {
		t.Error("the program is still there")
	}
}
