package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/hinshun/vt10x"
	"golang.org/x/sys/unix"

	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/serve"
)

// A screen is waybill on a pseudo terminal, in a process of its own, and what one sees there.
type screen struct {
	t      *testing.T
	cmd    *exec.Cmd
	master *os.File
	seen   vt10x.Terminal
	before unix.Termios // settings of the terminal before
	raw    atomic.Pointer[string]
	ended  chan error
}

// onScreen runs waybill with args, which have no blanks in them, on a terminal of 30 lines and 120 columns.
func onScreen(t *testing.T, environment []string, args ...string) *screen {
	t.Helper()
	master, terminal := test.Terminal(t, 30, 120)
	before, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	s := &screen{
		t: t, master: master, seen: vt10x.New(vt10x.WithSize(120, 30)), before: *before,
		ended: make(chan error, 1),
	}
	s.raw.Store(new(string))
	s.cmd = runSelf(args...)
	s.cmd.Env = append(append(s.cmd.Environ(), "TERM=xterm-256color", "LC_ALL=C.UTF-8", "NO_COLOR="), environment...)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = terminal, terminal, terminal
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { s.ended <- s.cmd.Wait() }()
	t.Cleanup(func() {
		s.cmd.Process.Kill()
		terminal.Close()
		if t.Failed() {
			t.Logf("the screen:\n%s", s.text())
		}
	})
	go func() {
		b := make([]byte, 1<<16)
		for {
			n, err := master.Read(b)
			if err != nil {
				return
			}
			all := *s.raw.Load() + string(b[:n])
			s.raw.Store(&all)
			s.seen.Write(b[:n])
		}
	}()
	return s
}

// text is what one sees, without blanks at the ends of lines.
func (s *screen) text() string {
	lines := strings.Split(s.seen.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \x00")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// shows waits until the screen has a text that a regular expression matches, and returns it.
func (s *screen) shows(expression string) string {
	s.t.Helper()
	re := regexp.MustCompile("(?m)" + expression)
	found := ""
	test.Eventually(s.t, "showing "+expression, func() bool {
		found = re.FindString(s.text())
		return found != ""
	})
	return found
}

func (s *screen) press(keys string) {
	s.t.Helper()
	if _, err := s.master.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// end waits for the end of the program, and looks whether the terminal is as before.
func (s *screen) end() {
	s.t.Helper()
	if err := <-s.ended; err != nil {
		s.t.Errorf("it ended with %v", err)
	}
	s.restored()
}

// restored says what of the terminal is not as before.
func (s *screen) restored() {
	s.t.Helper()
	now, err := unix.IoctlGetTermios(int(s.master.Fd()), unix.TCGETS)
	if err != nil || *now != s.before {
		s.t.Errorf("settings of the terminal: %v, got %+v, want %+v", err, now, s.before)
	}
	test.Eventually(s.t, "leaving the alternate screen, with a cursor", func() bool {
		raw := *s.raw.Load()
		return strings.LastIndex(raw, "\x1b[?1049l") > strings.LastIndex(raw, "\x1b[?1049h") &&
			strings.LastIndex(raw, "\x1b[?25h") > strings.LastIndex(raw, "\x1b[?25l")
	})
}

// topServer is a real server that got captures, behind a proxy that can be away.
func topServer(t *testing.T) (s *running, address string, away *atomic.Bool) {
	t.Helper()
	first, second := test.FreePort(t, "udp"), test.FreePort(t, "udp")
	s = startServer(t, func(c *serve.Config) {
		c.Listen = []string{"udp://" + first, "udp://" + second}
		_, port, _ := net.SplitHostPort(first)
		if err := c.Points.Set("dialects", map[string]any{":" + port: "onos-int10-ver0"}); err != nil {
			t.Fatal(err)
		}
	})
	s.send(first, test.Captured(t, "onos_v10_udp"))
	s.send(second, test.Captured(t, "fabric_tna_xd_drop"))
	target, _ := url.Parse(s.URL())
	proxy := httputil.NewSingleHostReverseProxy(target)
	away = new(atomic.Bool)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if away.Load() {
			panic(http.ErrAbortHandler) // the connection breaks
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	return s, front.URL, away
}

const (
	keyRight, keyLeft   = "\x1b[C", "\x1b[D"
	keyEscape, keyEnter = "\x1b", "\r"
)

// Somebody at a terminal looks at each view, sorts, filters, looks closer, makes the window smaller, and loses the
// server.
func TestTop(t *testing.T) {
	_, address, away := topServer(t)
	s := onScreen(t, nil, "top", "--server", address, "--every", "100ms")
	s.shows(`^\[1 flows\] 2 hops`)
	s.shows(`SOURCE +DESTINATION +PROTOCOL +PACKETS▼`)
	s.shows(`^▶ 10\.0\.`)

	// Each view has its list.
	for i, want := range []string{"LATENCY P50", "PORT +QUEUE", "REASON", "SEVERITY", "RECEIVED"} {
		key := strconv.Itoa(i + 2)
		s.press(key)
		s.shows(`\[` + key + ` `)
		s.shows(want)
	}
	s.press("\t")
	s.shows(`\[1 flows\]`)

	// The column to the right, and the other way round.
	s.press(keyRight)
	s.shows(`BYTES▼`)
	s.press("r")
	s.shows(`BYTES▲`)
	s.press(keyLeft)
	s.shows(`PACKETS▼`)

	// A filter that is wrong says where; completed and right it selects.
	s.press("/protocoll = udp" + keyEnter)
	caret := s.shows(`^ +\^ .*did you mean protocol\?`)
	if column := strings.Index(caret, "^"); column != len("filter: ") {
		t.Errorf("the error is at column %d", column)
	}
	s.press("\x15dst_por\t")
	s.shows(`^filter: dst_port$`)
	s.press(" = 6001" + keyEnter)
	s.shows(`^1 flows  filter: dst_port = 6001`)
	s.shows(`^▶ 10\.0\.1\.1:\d+ +10\.0\.2\.2:6001`)

	// The flow, hop by hop, as waybill trace draws it.
	s.press(keyEnter)
	s.shows(`^flow [0-9a-f]{16}$`)
	s.shows(`^NODE +IN +OUT +QUEUE MAX +TIME P50`)
	s.shows(`│ link`)
	s.press(keyEscape)
	s.shows(`^1 flows  filter`)
	s.press(keyEscape) // takes the filter away
	s.shows(`^9 flows$`)

	// A node with its ports and queues, from the hops.
	s.press("2")
	s.shows(`\[2 hops\](?s:.*)^▶ `)
	s.press(keyEnter)
	s.shows(`^node \d$`)
	s.shows(`^links: \d+\n *FROM`)
	s.press(keyEscape)
	s.shows(`^6 hops$`) // before another key, which escape would make one of the alternative keyboard

	// A smaller window has fewer lines, and loses none of the keys.
	s.press("1")
	s.shows(`\[1 flows\]`)
	s.seen.Resize(60, 12)
	if err := unix.IoctlSetWinsize(int(s.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 12, Col: 60}); err != nil {
		t.Fatal(err)
	}
	test.Eventually(t, "a screen of 12 lines", func() bool {
		lines := strings.Split(s.text(), "\n")
		return len(lines) == 12 && strings.HasPrefix(lines[11], "enter more")
	})

	// Without the server it says so, goes on showing what it knows, and finds it again.
	away.Store(true)
	s.shows(`cannot reach http://`)
	s.shows(`^▶ 10\.0\.`)
	away.Store(false)
	test.Eventually(t, "being back", func() bool { return !strings.Contains(s.text(), "cannot reach") })

	s.press(" ")
	s.shows("paused")
	s.press("?")
	s.shows("1 to 6, tab, shift")
	s.press("?q")
	s.end()
}

// An event shows what it rests on.
func TestTopEvents(t *testing.T) {
	server, address, _ := topServer(t)
	var events []struct{ ID, Kind string }
	test.Eventually(t, "an event that is over", func() bool { // which no stream tells again
		server.get("/api/v1/events?filter=end%20is%20not%20null", "events", &events)
		return len(events) > 0
	})
	s := onScreen(t, []string{"NO_COLOR=1"}, "top", "events", "--server", address)
	s.shows(`^▶ .*(info|warning|critical)`)
	s.shows(`^\d\d:\d\d:\d\d over: [a-z_]+: `) // the latest
	s.press(keyEnter)
	s.shows(`^event [0-9a-f]{16}$`)
	s.shows(`^evidence$`)
	s.press("q")
	s.end()
	if raw := *s.raw.Load(); regexp.MustCompile(`\x1b\[[0-9;]*3[0-9][0-9;]*m`).MatchString(raw) {
		t.Error("colours in spite of NO_COLOR")
	}
}

// Whoever ends it with a signal gets the terminal back.
func TestTopSignals(t *testing.T) {
	_, address, _ := topServer(t)
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			s := onScreen(t, nil, "top", "--server", address)
			s.shows(`\[1 flows\]`)
			s.cmd.Process.Signal(signal)
			s.end()
		})
	}
}

// Where there is no terminal, or no server, it says so and what to do.
func TestTopRefuses(t *testing.T) {
	for line, want := range map[string]string{
		"top":             "standard output is no terminal; `waybill flows --watch 1s` and the other lists write anywhere",
		"top cables":      `there is no view "cables"; allowed: flows, hops, queues, drops, events, exporters`,
		"top --every 1ms": "--every is 1ms; it must be at least 100ms",
		"top flows hops":  `unexpected argument "hops"`,
	} {
		_, stderr, code := runWaybill(t, strings.Fields(line)...)
		if stderr != "waybill top: "+want+"\n" || code == 0 || (code == command.ExitUsage) == (line == "top") {
			t.Errorf("%s: code %d, %s", line, code, stderr)
		}
	}
	s := onScreen(t, nil, "top", "--server", "http://127.0.0.1:1")
	s.shows("waybill top: cannot reach http://127.0.0.1:1: connection refused; is `waybill serve` running")
	if err := <-s.ended; fmt.Sprint(err) != "exit status 1" {
		t.Errorf("it ended with %v", err)
	}
	s = onScreen(t, []string{"TERM=dumb"}, "top", "--server", "http://127.0.0.1:1")
	s.shows("waybill top: TERM is dumb")
}
