//go:build linux

package lab

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	netnsDir = "/run/netns"   // where ip has namespaces by name
	lockDir  = "/run/waybill" // of the locks of labs that run
)

// A namespace is one of a lab. Its name is that of the lab, a hyphen and that of the switch or host.
type namespace struct{ name string }

// do calls f in the namespace, on a thread of its own.
func (n *namespace) do(f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with this goroutine
		done <- func() error {
			file, err := os.Open(filepath.Join(netnsDir, n.name))
			if err != nil {
				return err
			}
			defer file.Close()
			if err := unix.Setns(int(file.Fd()), unix.CLONE_NEWNET); err != nil {
				return fmt.Errorf("enter the network namespace %s: %w", n.name, err)
			}
			return f()
		}()
	}()
	return <-done
}

// set writes sysctls.
func (n *namespace) set(values ...string) error {
	return n.do(func() error {
		for _, v := range values {
			key, value, _ := strings.Cut(v, "=")
			if err := os.WriteFile("/proc/sys/net/"+key, []byte(value), 0); err != nil {
				return fmt.Errorf("%s: sysctl: %w", n.name, err)
			}
		}
		return nil
	})
}

// batch has ip or tc do all lines of a script in the namespace; nil is the one of this process.
func (n *namespace) batch(tool string, script *strings.Builder) error {
	if script.Len() == 0 {
		return nil
	}
	args := []string{"-batch", "-"}
	if n != nil {
		args = append([]string{"-n", n.name}, args...)
	}
	return run(script.String(), tool, args...)
}

// command runs a program in the namespace.
func (n *namespace) command(input, name string, args ...string) error {
	return n.do(func() error { return run(input, name, args...) })
}

func run(input, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Stdin = strings.NewReader(input)
	cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true} // a ^C of the terminal is for this process
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}

// An identity is the name of a lab that runs, which no other has: lab1, lab2 and so on. The lock on its file goes with
// the process.
type identity struct {
	name string
	lock *os.File
}

// newIdentity takes the first name that is free, and removes what labs have left that were killed.
func newIdentity() (*identity, error) {
	if err := os.MkdirAll(lockDir, 0o755); err != nil {
		return nil, err
	}
	files, _ := filepath.Glob(lockDir + "/lab*.lock")
	for _, file := range files {
		id, err := lock(file)
		if err != nil || id == nil {
			continue // it runs
		}
		if err := id.close(); err != nil {
			return nil, fmt.Errorf("remove what %s left behind: %w", id.name, err)
		}
	}
	for i := 1; ; i++ {
		if id, err := lock(fmt.Sprintf("%s/lab%d.lock", lockDir, i)); id != nil || err != nil {
			return id, err
		}
	}
}

// lock returns nil if another process has the lock.
func lock(file string) (*identity, error) {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, f.Close()
	}
	var now, then unix.Stat_t // another one may have removed the file meanwhile
	if unix.Fstat(int(f.Fd()), &now) != nil || unix.Stat(file, &then) != nil || now.Ino != then.Ino {
		return nil, f.Close()
	}
	return &identity{strings.TrimSuffix(filepath.Base(file), ".lock"), f}, nil
}

// namespace returns the one of a switch or host.
func (id *identity) namespace(name string) *namespace { return &namespace{id.name + "-" + name} }

// close removes all namespaces of the lab, with everything that is in them, its sockets, and the name.
func (id *identity) close() error {
	var script strings.Builder
	names, _ := filepath.Glob(filepath.Join(netnsDir, id.name+"-*"))
	for _, name := range names {
		fmt.Fprintf(&script, "netns del %s\n", filepath.Base(name))
	}
	err := (*namespace)(nil).batch("ip", &script)
	sockets, _ := filepath.Glob(filepath.Join(lockDir, id.name+"-*.sock"))
	for _, socket := range sockets {
		err = errors.Join(err, os.Remove(socket))
	}
	if err == nil {
		err = os.Remove(id.lock.Name())
	}
	return errors.Join(err, id.lock.Close())
}
