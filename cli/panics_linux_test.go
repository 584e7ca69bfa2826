package cli

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/internal/test"
	"golang.org/x/sys/unix"
)

// A defect ends it, and the terminal is as before.
func TestTopPanics(t *testing.T) {
	address := test.CannedServer(t, nil).URL
	if test.RaceDetector {
		t.Skip("Bubble Tea does not wait for its reader of keys after a panic, which is a race with the end of the test; it runs without -race")
	}
	master, terminal := test.Terminal(t, 30, 120)
	defer terminal.Close()
	before, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TERM", "xterm")
	c, err := client.New(address)
	if err != nil {
		t.Fatal(err)
	}
	shown := newTop(c, time.Second, 0, "")
	shown.views[1].ask = func(context.Context, *client.Client, view, client.Query) (*topList, error) {
		panic("a defect, for the test")
	}
	cmd := newTopCommand()
	cmd.SetIn(terminal)
	cmd.SetOut(terminal)
	ended := make(chan error)
	go func() { ended <- runTop(cmd, shown) }()
	go io.Copy(io.Discard, master)
	master.WriteString("2")
	if err := <-ended; err == nil || !strings.HasPrefix(err.Error(), "a defect ended it") {
		t.Errorf("it ended with %v", err)
	}
	if now, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS); err != nil || *now != *before {
		t.Errorf("settings of the terminal: %v, got %+v, want %+v", err, now, before)
	}
}
