// Package child runs functions of this program in processes of their own, which have limits, see no files but those
// they are given, and are killed without harm to the program.
package child

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// Handle makes this process run f instead of the program, if it was started by Start with that name. f reads what
// Start's caller writes, and the other way round. Call it in an init function, so that it works in tests too.
func Handle(name string, f func(in io.Reader, out io.Writer) error) {
	if len(os.Args) == 0 || os.Args[0] != name {
		return
	}
	if err := f(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// A Process was started by Start. It ends with this process.
type Process struct {
	In  io.WriteCloser
	Out io.ReadCloser
	// Kill ends the process, if it has not ended, and returns how it ended.
	Kill func() error
	Pid  int
}

// Start starts the function that Handle has under a name.
func Start(name string) (*Process, error) {
	self, err := executable()
	if err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{
		Path: self, Args: []string{name}, Env: []string{"GOMAXPROCS=2", "GOTRACEBACK=none"}, Dir: "/",
		SysProcAttr: endWithParent(),
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a process for %s: %w", name, err)
	}
	kill := sync.OnceValue(func() error {
		_ = cmd.Process.Kill()
		return cmd.Wait()
	})
	return &Process{In: in, Out: out, Kill: kill, Pid: cmd.Process.Pid}, nil
}

// Limits are those of a process.
type Limits struct {
	Memory int64         // of addresses beyond what it has already, in bytes
	CPU    time.Duration // of all its threads
}
