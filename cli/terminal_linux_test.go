package cli

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/internal/test"
)

// onTerminal runs waybill on a pseudo terminal that is so many columns wide, and returns what it wrote there.
func onTerminal(t *testing.T, columns uint16, args ...string) string {
	t.Helper()
	master, terminal := test.Terminal(t, 24, columns)
	read := make(chan []byte)
	go func() {
		content, _ := io.ReadAll(master) // ends with an error when the terminal is closed
		read <- content
	}()
	root := newTestRoot()
	root.SetArgs(args)
	root.SetOut(terminal)
	root.SetErr(io.Discard)
	root.SetContext(t.Context())
	if code := command.Execute(root); code != 0 {
		t.Errorf("%v: code %d", args, code)
	}
	terminal.Close()
	return string(bytes.ReplaceAll(<-read, []byte("\r\n"), []byte("\n")))
}

// A terminal has colours, unless somebody does not want them, and drawings are as wide as it is.
func TestTerminal(t *testing.T) {
	t.Setenv("LC_ALL", "C.UTF-8")
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	s := test.CannedServer(t, map[string]string{"flows": tracedFlows, "links": tracedLinks})
	colored := onTerminal(t, 100, "nodes", "--server", s.URL)
	if !strings.HasPrefix(colored, "\x1b[1mNODE\x1b[0m") {
		t.Errorf("no colours in\n%q", colored)
	}
	t.Setenv("NO_COLOR", "1")
	if got := onTerminal(t, 100, "nodes", "--server", s.URL); strings.Contains(got, "\x1b") ||
		!strings.HasPrefix(got, "NODE") {
		t.Errorf("colours in spite of NO_COLOR in\n%q", got)
	}
	for _, columns := range []int{40, 60, 80, 120} {
		drawn := onTerminal(t, uint16(columns), "trace", "10.0.0.1", "10.0.0.2", "--server", s.URL)
		_, table, _ := strings.Cut(drawn, "\n\n")
		table, _, _ = strings.Cut(table, "\n\n")
		head, _, _ := strings.Cut(table, "\n")
		if bars := strings.HasSuffix(head, "100µs"); bars != (columns >= 80) || bars && width(head) != columns {
			t.Errorf("%d columns: the table has %d\n%s", columns, width(head), table)
		}
	}
}
