package test

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A Redis is a server of Debian's redis-server, which ends with the test.
type Redis struct {
	Socket string // where it listens
	t      testing.TB
}

// StartRedis starts one; without the program the test is skipped.
func StartRedis(t testing.TB) *Redis {
	t.Helper()
	for _, tool := range []string{"redis-server", "redis-cli"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("not run: no %s. Run: sudo scripts/setup test", tool)
		}
	}
	dir, err := os.MkdirTemp("", "waybill-redis-") // short: paths of sockets are
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	r := &Redis{filepath.Join(dir, "redis.sock"), t}
	cmd := exec.Command("redis-server", "--port", "0", "--unixsocket", r.Socket, "--save", "", "--dir", dir)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if c, err := net.Dial("unix", r.Socket); err == nil { // the socket is there before it listens
			c.Close()
			return r
		}
		if time.Now().After(end) {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			t.Fatalf("redis-server does not listen:\n%s", log.String())
		}
	}
}

// Command runs lines of redis-cli in a database, and returns what it prints.
func (r *Redis) Command(database string, lines ...string) string {
	r.t.Helper()
	cmd := exec.Command("redis-cli", "-e", "-s", r.Socket, "-n", database)
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("redis-cli: %v\n%s", err, out)
	}
	return string(out)
}
