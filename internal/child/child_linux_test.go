package child

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

const testName = "waybill-child-test"

func init() { Handle(testName, behave) }

// behave does what the first line of in says, and writes what came of it.
func behave(in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Scan()
	what, argument, _ := strings.Cut(lines.Text(), " ")
	switch what {
	case "echo":
		fmt.Fprintln(out, argument, len(os.Environ()))
	case "sleep":
		fmt.Fprintln(out, "sleeping")
		time.Sleep(time.Hour)
	case "parent": // of one that sleeps
		p, err := Start(testName)
		if err != nil {
			return err
		}
		fmt.Fprintln(p.In, "sleep")
		fmt.Fprintln(out, p.Pid)
		time.Sleep(time.Hour)
	case "confined":
		if err := errors.Join(Confine(Limits{Memory: 256 << 20, CPU: time.Second}), ReadOnly(argument)); err != nil {
			return err
		}
		_, small := unix.Mmap(-1, 0, 64<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
		_, large := unix.Mmap(-1, 0, 512<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
		_, inside := os.ReadFile(filepath.Join(argument, "file"))
		_, outside := os.ReadFile("/etc/passwd")
		_, written := os.Create(filepath.Join(argument, "new"))
		_, connected := net.DialTimeout("tcp", "127.0.0.1:1", time.Second)
		fmt.Fprintln(out, small, large != nil, inside, outside != nil, written != nil,
			errors.Is(connected, os.ErrPermission))
	case "spin":
		if err := Confine(Limits{Memory: 256 << 20, CPU: time.Second}); err != nil {
			return err
		}
		fmt.Fprintln(out, "spinning")
		for n := 0; n >= 0; n = (n + 1) % 7 { // until the limit
		}
	}
	return nil
}

// tell starts a process and returns the first line that it writes.
func tell(t *testing.T, what string) (*Process, string) {
	t.Helper()
	p, err := Start(testName)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Kill() })
	fmt.Fprintln(p.In, what)
	line, err := bufio.NewReader(p.Out).ReadString('\n')
	if err != nil {
		t.Fatalf("%s: %v, %v", what, err, p.Kill())
	}
	return p, strings.TrimSpace(line)
}

func TestStart(t *testing.T) {
	t.Setenv("WAYBILL_SECRET", "token")
	if _, got := tell(t, "echo hello"); got != "hello 2" {
		t.Errorf("got %s", got)
	}
	p, _ := tell(t, "sleep")
	if err := p.Kill(); err == nil || err.Error() != "signal: killed" || p.Kill() != err {
		t.Errorf("killed: %v", err)
	}
}

// A process that is killed takes those that it started with it.
func TestEndsWithParent(t *testing.T) {
	p, text := tell(t, "parent")
	pid, err := strconv.Atoi(text)
	if err != nil || unix.Kill(pid, 0) != nil {
		t.Fatalf("got %s", text)
	}
	_ = p.Kill()
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(stat), ") Z ") { // nobody may have taken note yet
			return
		}
		if time.Since(began) > 10*time.Second {
			t.Fatal("it lives on")
		}
	}
}

func TestConfined(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, got := tell(t, "confined "+dir)
	abi, err := syscall.LandlockGetABIVersion()
	if want := fmt.Sprintf("<nil> true <nil> %t %t %t", abi > 0, abi > 0, abi >= 4); got != want {
		t.Errorf("got %s, want %s: Landlock %d, %v", got, want, abi, err)
	}
	if err != nil {
		t.Skipf("the kernel has no Landlock: %v", err)
	}
}

func TestProcessorTime(t *testing.T) {
	p, _ := tell(t, "spin")
	_, _ = io.Copy(io.Discard, p.Out) // until it ends
	began := time.Now()
	if err := p.Kill(); err == nil || !strings.HasPrefix(err.Error(), "signal: ") || time.Since(began) > time.Second {
		t.Errorf("ended by %v", err)
	}
}
