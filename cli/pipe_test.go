package cli

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/internal/test"
)

// A reader that went away, such as head, is no error, whatever is asked.
func TestClosedPipe(t *testing.T) {
	s := test.CannedServer(t, map[string]string{"flows": tracedFlows, "links": tracedLinks})
	_, kept := keptFlows(t, time.Now().UTC().Truncate(time.Hour))
	commands := [][]string{
		{"trace", "10.0.0.1", "10.0.0.2", "--server", s.URL},
		{"path", "10.0.0.1", "10.0.0.2", "--server", s.URL},
		{"drops", "--follow", "--server", s.URL},
		{"export", "flows_10s", "--server", kept},
		{"export", "flows_10s", "-o", "ndjson", "--server", kept},
		{"query", "SELECT * FROM flows_10s", "--server", kept},
	}
	for _, name := range queryCommands {
		for _, output := range outputs {
			commands = append(commands, []string{name, "-o", output, "--server", s.URL})
		}
	}
	for _, args := range commands {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		root := newTestRoot()
		var errs bytes.Buffer
		root.SetArgs(args)
		root.SetOut(w)
		root.SetErr(&errs)
		root.SetContext(t.Context())
		if code := command.Execute(root); code != 0 || strings.Contains(errs.String(), "pipe") {
			t.Errorf("%v: code %d, %q", args, code, errs.String())
		}
		w.Close()
	}
}
