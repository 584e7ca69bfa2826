//go:build linux

package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/node"
)

// Options are what a run has besides its scenario.
type Options struct {
	Reports netip.AddrPort // that nodes report to; not valid: to nobody
	Truth   io.Writer      // nil: nobody wants it
	Log     *slog.Logger
}

// A Lab is the network of a scenario on this machine.
type Lab struct {
	scenario *scenario.Scenario
	options  Options
	run      truth.Run
	id       *identity
	epochNs  int64 // wall time at the beginning of Run
	closers  []io.Closer

	routers   []*router // number n is routers[n-1]
	hosts     []*host
	hostNamed map[string]*host
	links     []*link
	wires     *namespace
	overrides []override
	routing   sync.Mutex // held while faults and routes change

	talks   sync.WaitGroup
	packets atomic.Uint64 // numbers of packets that were taken
	tracker *tracker      // nil: nobody wants the truth

	mu        sync.Mutex
	flowCount uint32
	flows     map[uint32]*flow
	tuples    map[tuple]*flow
	failures  []string
	filters   []*askedFilter

	counters map[string]uint64 // of all nodes
	ranNs    int64
	late     time.Duration // by which faults began or ended, at most
}

// New reads what a lab is to be. It makes nothing yet.
func New(s *scenario.Scenario, o Options) (*Lab, error) {
	l := &Lab{
		scenario: s, options: o, hostNamed: map[string]*host{}, flows: map[uint32]*flow{}, tuples: map[tuple]*flow{},
		counters: map[string]uint64{},
	}
	if err := l.plan(s); err != nil {
		return nil, err
	}
	for _, r := range l.routers {
		if !r.INT {
			continue
		}
		var err error
		if r.config, err = l.nodeConfig(r); err != nil {
			return nil, err
		}
	}
	config, err := node.Load(s.INT.Text)
	if err != nil {
		return nil, fmt.Errorf("int: %w", err)
	}
	if o.Truth != nil {
		l.tracker = newTracker(l)
		if points, err := config.CodePoints(); err != nil {
			return nil, err
		} else if config.Mode != "xd" {
			l.tracker.dscp, l.tracker.mask = points.INTDSCP, points.INTDSCPMask
		}
	}
	return l, nil
}

// Missing lists what the scenario has that kernels do not do, or do otherwise.
func (l *Lab) Missing() []string { return missing(l.scenario) }

// Name is what namespaces of the lab begin with, with a hyphen behind it. It is known after Start.
func (l *Lab) Name() string { return l.id.name }

// Size returns how many switches and hosts there are.
func (l *Lab) Size() (switches, hosts int) { return len(l.routers), len(l.hosts) }

// tools are the programs that make networks.
var tools = map[string]string{"ip": "iproute2", "tc": "iproute2", "ethtool": "ethtool", "nft": "nftables"}

// Start makes the network and starts its nodes. Close must be called, also after an error.
func (l *Lab) Start(ctx context.Context) (err error) {
	if os.Geteuid() != 0 {
		return errors.New("network namespaces and programs in the kernel are for root: try sudo")
	}
	for tool, name := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("%s is missing. On Debian: apt-get install %s", tool, name)
		}
	}
	if l.id, err = newIdentity(); err != nil {
		return err
	}
	for _, step := range []func() error{
		l.build, l.converge, l.listen,
		func() error {
			return each(l.routers, func(r *router) error {
				if r.config == nil || ctx.Err() != nil {
					return ctx.Err()
				}
				return l.startNode(r)
			})
		},
		func() error {
			if l.tracker == nil {
				return nil
			}
			return l.tracker.open()
		},
	} {
		if err := cmp.Or(ctx.Err(), step()); err != nil {
			return err
		}
	}
	return nil
}

// now is the time of the scenario, in ns.
func (l *Lab) now() int64 { return time.Now().UnixNano() - l.epochNs }

// record writes a record of the truth, between two looks at the captures.
func (l *Lab) record(f *truth.Fault) {
	if l.tracker == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tracker.faults = append(l.tracker.faults, f)
}

// Run lets hosts talk and faults happen until the scenario ends, or ctx does. Progress is called now and then with the
// time of the scenario, if it is not nil.
func (l *Lab) Run(ctx context.Context, progress func(time.Duration)) error {
	l.epochNs = time.Now().UnixNano()
	l.run.EpochNs = uint64(l.epochNs)
	l.writeTopology()
	ctx, cancel := context.WithTimeout(ctx, time.Duration(l.scenario.Duration))
	defer cancel()
	watched := make(chan error)
	stop := make(chan struct{})
	go func() { watched <- l.watch(stop, progress) }()
	for i := range l.scenario.Traffic {
		l.talks.Go(func() { l.talk(ctx, i, &l.scenario.Traffic[i]) })
	}
	err := l.play(ctx)
	if err != nil {
		cancel()
	}
	<-ctx.Done()
	l.talks.Wait()
	l.ranNs = l.now()
	err = errors.Join(err, each(l.hosts, (*host).silence))
	time.Sleep(settle + l.longestQueue()) // what is in queues arrives
	close(stop)
	err = errors.Join(err, <-watched)
	for _, r := range l.routers {
		err = errors.Join(err, l.stopNode(r))
	}
	if l.tracker != nil {
		err = errors.Join(err, l.tracker.close())
	}
	return err
}

// play lets faults happen.
func (l *Lab) play(ctx context.Context) error {
	for _, a := range l.schedule() {
		if !l.wait(ctx, a.at) {
			return nil
		}
		if err := a.do(ctx); err != nil {
			return err
		}
		l.late = max(l.late, time.Duration(l.now())-a.at)
	}
	return nil
}

// tooLate is by how much faults may be late before it is said. Those that should follow each other may overlap then.
const tooLate = 400 * time.Millisecond

// watch looks at captures and nodes until stop is closed.
func (l *Lab) watch(stop chan struct{}, progress func(time.Duration)) error {
	for tick := time.NewTicker(100 * time.Millisecond); ; {
		select {
		case <-stop:
			tick.Stop()
			return nil
		case <-tick.C:
		}
		if progress != nil {
			progress(time.Duration(l.now()))
		}
		if l.tracker != nil {
			l.tracker.poll(false)
		}
	}
}

// writeTopology writes the first lines of the truth.
func (l *Lab) writeTopology() {
	if l.tracker == nil {
		return
	}
	w := l.tracker.writer
	w.Write(&l.run)
	for _, r := range l.routers {
		w.Write(&r.Switch)
	}
	for _, h := range l.hosts {
		w.Write(&h.Host)
	}
	for _, k := range l.links {
		w.Write(&k.Link)
	}
}

// A Summary is what became of a run.
type Summary struct {
	RanNs   int64      `json:"ran_ns"`
	Packets *truth.End `json:"packets,omitempty"` // by captures; nil: there were none
	// Doubts are why captures may not have told everything, or the network was not that of the scenario.
	Doubts []string          `json:"doubts,omitempty"`
	Nodes  map[string]uint64 `json:"nodes"` // counters of all nodes together, see docs/reference/node.md
}

// Summary is for use after Run.
func (l *Lab) Summary() *Summary {
	s := &Summary{RanNs: l.ranNs, Nodes: l.counters}
	if t := l.tracker; t != nil {
		s.Packets = &t.end
		for _, d := range []struct {
			count uint64
			what  string
		}{
			{t.lostFrames, "frames that captures had no room for"},
			{t.unreadable, "frames with more headers than captures keep"},
			{t.unmatched, "packets where they could not be"},
		} {
			if d.count > 0 {
				s.Doubts = append(s.Doubts, fmt.Sprintf("%d %s", d.count, d.what))
			}
		}
	}
	if l.late > tooLate {
		s.Doubts = append(s.Doubts, fmt.Sprintf("faults were up to %v late", l.late.Round(time.Millisecond)))
	}
	return s
}

// Close removes everything from the machine.
func (l *Lab) Close() error {
	var errs []error
	for _, r := range l.routers {
		errs = append(errs, l.stopNode(r))
	}
	for _, c := range l.closers {
		_ = c.Close()
	}
	if l.tracker != nil {
		for _, c := range l.tracker.captures {
			errs = append(errs, c.close())
		}
	}
	for _, k := range l.links {
		if k.gray != nil {
			errs = append(errs, k.gray.close())
		}
	}
	if l.id != nil {
		errs = append(errs, l.id.close())
	}
	return errors.Join(errs...)
}
