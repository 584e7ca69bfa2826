package fabric

import (
	"errors"
	"time"

	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/fabric/truth"
)

// A Fabric is an emulated network. It is not for concurrent use.
type Fabric struct {
	name    string
	seed    uint64
	epochNs uint64
	nowNs   int64 // virtual time
	agenda  agenda
	stats   Stats
	err     error // the first of writing
	closed  bool

	nodes    []*node // switches, then hosts
	switches []*node // number n is switches[n-1]
	hosts    []*host
	ports    []*port
	links    []*link
	names    map[string]*node

	ttl           uint8
	overrides     []override
	faults        []*fault
	reportLosses  []*reportLoss
	sources       []source
	conversations []*conversation
	idle          []*conversation // that can be used again
	flows         uint32          // begun
	pool          pool

	reconvergenceNs int64
	reportDelayNs   int64
	tcpWindow       uint64 // bytes
	windowShift     uint8  // that makes tcpWindow fit 16 bits
	minRTONs        int64

	truth      *truth.Writer // nil: nobody wants it
	sample     uint64        // one packet in so many has hop records
	burstAbove uint64        // bytes
	burstBelow uint64        // bytes
	do         chan func()   // for Run, between two events
	sink       Sink
	tap        Tap
	pace       Pace
	scratch    scratch
}

// scratch holds values that would otherwise be allocated for each packet, because they go through an interface.
type scratch struct {
	queued    Queued
	departure Departure
	others    []Other
	dropped   Dropped
	drop      truth.Drop
	hop       truth.Hop
	path      truth.Path
	report    truth.Report
}

// New builds the network of a scenario. Nothing happens before Run.
func New(s *scenario.Scenario, o Options) (*Fabric, error) {
	f := &Fabric{
		do:   make(chan func()),
		name: s.Name, seed: o.Seed, epochNs: o.EpochNs, names: map[string]*node{},
		ttl: uint8(s.Switch.TTL), reconvergenceNs: int64(s.Routing.Reconvergence),
		reportDelayNs: int64(s.Reports.Delay),
		tcpWindow:     uint64(s.Host.TCPWindow), minRTONs: int64(s.Host.MinRTO),
		burstAbove: uint64(s.Truth.BurstAbove), burstBelow: uint64(s.Truth.BurstBelow),
		sink: o.Reports, tap: o.Tap, pace: o.Pace,
	}
	if f.seed == 0 {
		f.seed = uint64(s.Seed)
	}
	if f.epochNs == 0 {
		f.epochNs = uint64(s.Start)
	}
	for f.tcpWindow>>f.windowShift > 0xffff {
		f.windowShift++
	}
	if o.Truth != nil {
		f.truth = truth.NewWriter(o.Truth)
		f.sample = uint64(s.Truth.SamplePackets)
	}
	f.build(s)
	if err := f.addDevices(s, o.Device); err != nil {
		return nil, err
	}
	for _, l := range f.links {
		l.known = true
	}
	f.converge()
	f.writeTopology(s)
	for i := range s.Traffic {
		f.sources = append(f.sources, f.newSource(i, &s.Traffic[i]))
		f.agenda.add(int64(s.Traffic[i].Start), evSource, uint32(i))
	}
	f.newFaults(s.Faults)
	return f, nil
}

// Now returns the virtual time.
func (f *Fabric) Now() time.Duration { return time.Duration(f.nowNs) }

// Stats returns what has happened so far.
func (f *Fabric) Stats() Stats { return f.stats }

// fail remembers the first error of writing; Run returns it.
func (f *Fabric) fail(err error) {
	if f.err == nil {
		f.err = err
	}
}

// Close ends the run: devices send the reports that they have held back, and the truth is completed. It returns the
// first error of all writing. What is in the network stays there, as in flight.
func (f *Fabric) Close() error {
	if f.closed {
		return f.err
	}
	f.closed = true
	f.closeDevices()
	f.writeRest()
	return errors.Join(f.err, f.flush())
}

// flush hands on what sinks keep.
func (f *Fabric) flush() error {
	var err error
	if f.truth != nil {
		err = f.truth.Flush()
	}
	if f.sink != nil {
		err = errors.Join(err, f.sink.Flush())
	}
	return err
}
