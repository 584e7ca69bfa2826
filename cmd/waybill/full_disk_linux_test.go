package main

import (
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
)

// On a full disk a server starts, receives, and says what it does not write; when there is room it writes. The first
// process finds nothing, the second what the first one left.
func TestStartOnFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64m"); err != nil {
		t.Skipf("cannot mount a small disk: %v", err)
	}
	defer unix.Unmount(dir, unix.MNT_DETACH) //nolint:errcheck // the test is over
	config, rules := filepath.Join(t.TempDir(), "waybill.yaml"), filepath.Join(t.TempDir(), "alerts.yaml")
	for name, text := range map[string]string{
		config: "store: {min_free: 1MiB}\nint_udp_port: 17768\nraw_reports: 16MiB\nalerts: " + rules + "\n",
		rules:  "rules: [{name: all, filter: node = 1}]\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	data, ballast := filepath.Join(dir, "data"), filepath.Join(dir, "ballast")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	for start := range 2 {
		if err := os.WriteFile(ballast, make([]byte, 80<<20), 0o600); err == nil {
			t.Fatal("there is still room")
		}
		udp, web := test.FreePort(t, "udp"), test.FreePort(t, "tcp")
		p := startServe(t, udp, web, data, "--config", config)
		var ready struct {
			Status     string
			DiskFull   bool     `json:"disk_full"`
			NotWritten []string `json:"not_written"`
		}
		if err := p.ask("/readyz", &ready); err != nil || ready.Status != "ready" || !ready.DiskFull ||
			!strings.Contains(strings.Join(ready.NotWritten, " "), "checkpoint") {
			t.Errorf("start %d: readyz: %+v, %v", start, ready, err)
		}
		if text := p.text("/metrics"); !strings.Contains(text, "\nwaybill_disk_full 1\n") {
			t.Errorf("start %d: no metric of a full disk", start)
		}
		to, err := net.ResolveUDPAddr("udp", udp)
		if err != nil {
			t.Fatal(err)
		}
		c, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		sender := &switchOfTest{PacketConn: c, to: to, first: uint32(1000 * start)}
		var live struct{ Hops []telemetry.NodeHop }
		test.Eventually(t, "answers on a full disk", func() bool {
			sender.send(10)
			return p.ask("/api/v1/hops", &live) == nil && len(live.Hops) == 3
		})
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		var past struct{ Hops []struct{ Node uint32 } }
		test.Eventually(t, "records when there is room", func() bool {
			sender.send(10) // that raw reports can be kept again shows when one comes
			ready.DiskFull, ready.NotWritten = false, nil
			return p.ask("/api/v1/hops?since=1h", &past) == nil && len(past.Hops) > 0 &&
				p.ask("/readyz", &ready) == nil && !ready.DiskFull && len(ready.NotWritten) == 0
		})
		if text := p.text("/metrics"); !strings.Contains(text, "\nwaybill_disk_full 0\n") {
			t.Errorf("start %d: the metric still says that the disk is full", start)
		}
		for _, name := range []string{"checkpoint", "alerts.json"} {
			test.Eventually(t, name, func() bool {
				_, err := os.Stat(filepath.Join(data, name))
				return err == nil
			})
		}
		_ = p.Process.Signal(syscall.SIGTERM)
		_ = p.Wait()
	}
}

// text returns an answer as it is.
func (p *process) text(path string) string {
	p.t.Helper()
	response, err := http.Get("http://" + p.http + path)
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(body)
}
