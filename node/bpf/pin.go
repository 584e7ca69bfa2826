//go:build linux

package bpf

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"
)

// ErrRunning says that somebody has the programs already.
var ErrRunning = errors.New("a node is running with these programs")

// Pins are files in the kernel's file system for programs (bpffs) that keep the programs of a node at their interfaces
// when the process has ended: a link for each place where one is attached, and the maps that the programs of the next
// process take over. Whoever comes next replaces program by program, so that no packet meets none.
type pins struct {
	dir    string
	keep   bool     // make them; otherwise only take over what is there
	lock   *os.File // nil: there are none
	layout string   // of what the maps hold
	old    map[string]bool
}

// shared are the maps that the next programs take over, if they lay out the same in them: what has not been reported
// yet, packets on their way, and counters.
var shared = []string{"events", "slots", "next_event", "counters", "told"}

// openPins opens the pins of a folder, or if keep makes it. Without dir there are none.
func openPins(dir string, keep bool, types *btf.Spec) (*pins, error) {
	p := &pins{dir: dir, keep: keep, old: map[string]bool{}}
	if dir == "" {
		return p, nil
	}
	if keep {
		if err := makeFolder(dir); err != nil {
			return nil, fmt.Errorf("pin: %w", err)
		}
	}
	var err error
	if p.lock, err = lockPins(dir); err != nil || p.lock == nil {
		return p, err
	}
	names, err := os.ReadDir(dir)
	if err == nil {
		p.layout, err = layoutOf(types)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("pin: %w", err), p.lock.Close())
	}
	for _, entry := range names {
		p.old[entry.Name()] = true
	}
	return p, nil
}

func makeFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	var of unix.Statfs_t
	if err := unix.Statfs(dir, &of); err != nil {
		return err
	}
	if of.Type != unix.BPF_FS_MAGIC {
		return fmt.Errorf("%s is not in a file system for programs; mount -t bpf bpf /sys/fs/bpf", dir)
	}
	return nil
}

// lockPins makes sure that one process at a time has the pins. It returns nil if there are none.
func lockPins(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("pin: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("%s: %w", dir, ErrRunning)
		}
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	return f, nil
}

// layoutOf returns a name for what programs lay out in maps that others take over.
func layoutOf(types *btf.Spec) (string, error) {
	h := sha256.New()
	for _, name := range []string{"event", "state"} {
		var s *btf.Struct
		if err := types.TypeByName(name, &s); err != nil {
			return "", err
		}
		for _, m := range s.Members {
			fmt.Fprintln(h, name, m.Name, m.Offset)
		}
		fmt.Fprintln(h, name, s.Size)
	}
	var counters *btf.Enum
	if err := types.TypeByName("counter", &counters); err != nil {
		return "", err
	}
	for _, v := range counters.Values {
		fmt.Fprintln(h, v.Name, v.Value)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:4]), nil
}

func (p *pins) path(name string) string { return filepath.Join(p.dir, name) }

func (p *pins) mapName(name string) string { return "map-" + name + "-" + p.layout }

// replacements returns the maps of the programs before that spec can go on with, all of them or none.
func (p *pins) replacements(spec *ebpf.CollectionSpec) map[string]*ebpf.Map {
	maps := map[string]*ebpf.Map{}
	for _, name := range shared {
		if !p.old[p.mapName(name)] {
			continue
		}
		m, err := ebpf.LoadPinnedMap(p.path(p.mapName(name)), nil)
		if err != nil {
			continue
		}
		if spec.Maps[name].Compatible(m) == nil {
			maps[name] = m
		} else {
			_ = m.Close()
		}
	}
	if len(maps) < len(shared) {
		for _, m := range maps {
			_ = m.Close()
		}
		return nil
	}
	return maps
}

// pinMaps pins the maps that the next programs take over. fresh says that they are none of the programs before: then
// packets get other numbers than theirs, of which some may be on their way.
func (p *pins) pinMaps(o *programsObjects, fresh bool) error {
	if p.lock == nil || !fresh {
		if !fresh {
			for _, name := range shared {
				delete(p.old, p.mapName(name))
			}
		}
		return nil
	}
	if err := o.NextEvent.Put(uint32(0), uint64(time.Now().UnixNano())); err != nil {
		return err
	}
	if !p.keep {
		return nil
	}
	maps := map[string]*ebpf.Map{
		"events": o.Events, "slots": o.Slots, "next_event": o.NextEvent, "counters": o.Counters,
		"told": o.Told,
	}
	for _, name := range shared {
		path := p.path(p.mapName(name))
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := maps[name].Pin(path); err != nil {
			return fmt.Errorf("pin %s: %w", name, err)
		}
		delete(p.old, p.mapName(name))
	}
	return nil
}

// attach attaches a program to an interface: in the place of that of a process before, between two packets, or else
// with f.
func (p *pins) attach(name string, ifindex int, program *ebpf.Program, f func() (link.Link, error)) (link.Link, error) {
	name = fmt.Sprintf("%s-%d", name, ifindex)
	path := p.path(name)
	if p.old[name] {
		l, err := link.LoadPinnedLink(path, nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if at, err := ifindexOf(l); err == nil && at == ifindex && l.Update(program) == nil {
			delete(p.old, name)
			return l, p.settle(l)
		}
		if err := errors.Join(l.Unpin(), l.Close()); err != nil { // that interface is gone
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		delete(p.old, name)
	}
	l, err := f()
	if err == nil && p.keep {
		if err = l.Pin(path); err != nil {
			return nil, errors.Join(fmt.Errorf("pin: %w", err), l.Close())
		}
	}
	return l, err
}

// settle leaves a link that was taken over pinned, or not.
func (p *pins) settle(l link.Link) error {
	if p.keep {
		return nil
	}
	return l.Unpin()
}

// ifindexOf returns the interface that a link is at; 0: it is gone.
func ifindexOf(l link.Link) (int, error) {
	info, err := l.Info()
	if err != nil {
		return 0, err
	}
	if x := info.XDP(); x != nil {
		return int(x.Ifindex), nil
	}
	if x := info.TCX(); x != nil {
		return int(x.Ifindex), nil
	}
	return 0, nil
}

// takeOff takes off what a process before has left under a name.
func (p *pins) takeOff(name string) error {
	path := p.path(name)
	delete(p.old, name)
	if strings.HasPrefix(name, "map-") {
		return os.Remove(path)
	}
	l, err := link.LoadPinnedLink(path, nil)
	if err != nil {
		return errors.Join(err, os.Remove(path))
	}
	if err := l.Unpin(); err != nil {
		return err
	}
	return errors.Join(detach(l), l.Close())
}

// detach takes a program off at once; closing a link, the kernel may do it a little later.
func detach(l link.Link) error {
	d, ok := l.(interface{ Detach() error })
	if !ok {
		return nil
	}
	err := d.Detach()
	if errors.Is(err, ebpf.ErrNotSupported) || errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOLINK) {
		return nil
	}
	return err
}

// finish takes off what of the process before has no place any more: ingress first.
func (p *pins) finish() error {
	if p.lock == nil {
		return nil
	}
	var errs []error
	for _, name := range sorted(p.old) {
		if err := p.takeOff(name); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", p.path(name), err))
		}
	}
	if !p.keep {
		if len(errs) == 0 {
			errs = append(errs, p.removeMaps(), os.Remove(p.dir))
		}
	}
	return errors.Join(errs...)
}

// removeMaps removes the maps that were taken over by programs that leave none behind.
func (p *pins) removeMaps() error {
	for _, name := range shared {
		if err := os.Remove(p.path(p.mapName(name))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// sorted returns names in the order in which programs are taken off: those at the ingress, which begin with an a,
// first.
func sorted(names map[string]bool) (list []string) {
	for name := range names {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

func (p *pins) close() error {
	if p == nil || p.lock == nil {
		return nil
	}
	return p.lock.Close()
}

// Unpin takes off the programs that a process has left, ingress first, and says how many there were. The error is
// ErrRunning if it has not ended.
func Unpin(dir string) (programs int, err error) {
	spec, err := loadPrograms()
	if err != nil {
		return 0, err
	}
	p, err := openPins(dir, false, spec.Types)
	if err != nil || p.lock == nil {
		return 0, err
	}
	for name := range p.old {
		if !strings.HasPrefix(name, "map-") {
			programs++
		}
	}
	return programs, errors.Join(p.finish(), p.close())
}
