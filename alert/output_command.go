package alert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// maxSaid is how much of what a command says about its failure goes into the log, in bytes.
const maxSaid = 200

// A command runs a program for each notification: without a shell, in a process group of its own, with an environment
// that has nothing of Waybill's. An output runs one at a time.
type command struct {
	path string
	args []string
}

func newCommand(c *Command) (*command, error) {
	info, err := os.Stat(c.Path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return nil, fmt.Errorf("%s cannot be executed", c.Path)
	}
	return &command{c.Path, c.Args}, nil
}

func (c *command) send(ctx context.Context, n *Notification) error {
	cmd := exec.CommandContext(ctx, c.path, c.args...)
	cmd.Stdin = bytes.NewReader(n.json())
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"}
	cmd.Dir = "/"
	said := tail{}
	cmd.Stderr = &said
	cmd.WaitDelay = time.Second // for children that keep the pipes open
	killGroup(cmd)
	err := cmd.Run()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return errors.New("the command took too long and was killed")
	case len(said) > 0:
		return answered{fmt.Errorf("%w: %s", err, oneLine(strings.TrimSpace(string(said)))), 0}
	}
	return answered{err, 0}
}

// A tail keeps the last maxSaid bytes that are written to it.
type tail []byte

func (t *tail) Write(b []byte) (int, error) {
	*t = append(*t, b[max(0, len(b)-maxSaid):]...)
	*t = (*t)[max(0, len(*t)-maxSaid):]
	return len(b), nil
}
