//go:build linux

package bpf

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/ringbuf"
	"golang.org/x/sys/unix"

	"github.com/waybill-int/waybill/node"
	"github.com/waybill-int/waybill/node/embed"
	"github.com/waybill-int/waybill/node/event"
	"github.com/waybill-int/waybill/node/watch"
	"github.com/waybill-int/waybill/wire/inband"
)

// A Config is what does not change as long as the programs are loaded.
type Config struct {
	NodeID       uint32
	Mode         watch.Mode        // of the domain
	Domain       *embed.Domain     // its version, its carrier and what announces INT; nil: no packet has INT
	AcceptEdge   bool              // packets from edges may have INT
	DeviceDomain uint16            // domain whose packets say which device sent them; 0: they do not
	DSFlags      uint16            // of that domain
	Clone        bool              // ports may have Clone
	Pop          bool              // the stack of a packet that has no room for a record is reported and removed
	Drops        bool              // what the kernel drops makes events too
	Fast         bool              // ports may be made fast
	Local        bool              // what came by no port, of this machine, is watched too: clones of it are sent
	Known        uint16            // instructions whose metadata the node knows
	Truncate     uint16            // bytes of a packet that a report has behind INT and L4; 0: all
	Queues       []event.Threshold // by port: when its queue is congested
	FullReasons  []uint16          // of drops for want of room in a queue
	Slots        int               // packets that may be on their way through the switch and be reported
	Watched      int               // entries that the flow watchlist may have
	Pins         string            // folder in a bpffs; what a process before has left there is taken over. "": none
	Keep         bool              // leave the programs there when this process ends
}

// A Port is a port of the switch.
type Port struct {
	ID      uint32
	Edge    bool
	Clone   bool // as a source it leaves packets alone, and sends clones with INT behind them (Config.Clone)
	Ifindex int
	Queue   int // interface that has the IP address and the queue: a bridge of this port alone; 0: Ifindex
	// Fast: packets between two such ports that the kernel would only forward do not go through its stack
	// (Config.Fast). Its driver has to take frames; MAC is its address.
	Fast bool
	MAC  [6]byte
}

// Programs are the programs of one node, loaded.
type Programs struct {
	objects programsObjects
	names   []string // of counters
	links   []link.Link
	ring    *ringbuf.Reader
	record  ringbuf.Record
	half    uint32 // of the watchlists that is active
	limits  struct{ tables, buckets, rules int }
	drops   bool
	fast    bool
	filters map[string]uint32 // by id: the key in the kernel
	pins    *pins
}

// Load loads the programs. Nothing is attached yet.
func Load(c Config) (*Programs, error) { return load(c, false) }

func load(c Config, testing bool) (*Programs, error) {
	spec, err := loadPrograms()
	if err != nil {
		return nil, err
	}
	d := embed.Domain{Carrier: embed.DSCP, Version: inband.Version20}
	if c.Domain != nil {
		d = *c.Domain
	}
	if c.Mode == watch.ModeXD || d.Carrier != embed.DSCP { // no DSCP marks INT
		d.Points.INTDSCPMask = 0
	}
	gpeNexts, gpeNext, geneveClass, err := tunnelPoints(&d)
	if err != nil {
		return nil, err
	}
	p := &Programs{drops: c.Drops, fast: c.Fast, filters: map[string]uint32{}}
	p.limits.tables, p.limits.rules = maxTables, 4*max(c.Watched, 1024)
	p.limits.buckets = 8 * p.limits.rules
	slots := 1 << bits.Len(uint(max(c.Slots, 1)-1))
	queues, times := watchedQueues(c.Queues)
	for name, value := range map[string]any{
		"node_id": c.NodeID, "domain_mode": uint8(c.Mode), "version": uint8(d.Version), "carrier": uint8(d.Carrier),
		"dscp_value": d.Points.INTDSCP, "dscp_mask": d.Points.INTDSCPMask, "int_port": d.Points.INTUDPPort,
		"gpe_nexts": gpeNexts, "gpe_next": gpeNext, "geneve_class": geneveClass,
		"accept_edge": c.AcceptEdge, "known": c.Known, "truncate": c.Truncate, "testing": testing,
		"device_domain": c.DeviceDomain, "ds_flags": c.DSFlags, "clones": c.Clone, "pop": c.Pop, "local": c.Local, "fast": c.Fast,
		"num_queues": uint32(queues), "queue_times": times, "full_reasons": bitsOf(c.FullReasons),
		"num_slots": uint32(slots), "max_tables": uint32(p.limits.tables), "max_actions": uint32(p.limits.rules),
	} {
		if err := spec.Variables[name].Set(value); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	for name, entries := range map[string]int{
		"slots": slots, "tables": 4 * p.limits.tables, "buckets": 2 * p.limits.buckets, "rules": 2 * p.limits.rules,
		"actions": 2 * p.limits.rules, "queues": max(queues, 1),
	} {
		spec.Maps[name].MaxEntries = uint32(entries)
	}
	if p.names, err = counterNames(spec.Types); err != nil {
		return nil, err
	}
	if err := p.loadPinned(&c, spec); err != nil {
		return nil, err
	}
	if err := p.putQueues(c.Queues); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	if p.ring, err = ringbuf.NewReader(p.objects.Events); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// loadPinned loads the programs, with the maps of those that a process before has left, if there are any.
func (p *Programs) loadPinned(c *Config, spec *ebpf.CollectionSpec) (err error) {
	if p.pins, err = openPins(c.Pins, c.Keep, spec.Types); err != nil {
		return err
	}
	maps := p.pins.replacements(spec)
	err = spec.LoadAndAssign(&p.objects, &ebpf.CollectionOptions{MapReplacements: maps})
	for _, m := range maps {
		err = errors.Join(err, m.Close())
	}
	if err != nil {
		return errors.Join(explain(err), p.pins.close())
	}
	if err := p.pins.pinMaps(&p.objects, maps == nil); err != nil {
		return errors.Join(err, p.Close())
	}
	return nil
}

const maxTables = 128 // of a family; node/watch makes a few

// explain says what a kernel lacks that does not take the programs.
func explain(err error) error {
	if errors.Is(err, os.ErrPermission) {
		return fmt.Errorf("load the programs: %w: it needs root, or CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON", err)
	}
	if text := err.Error(); strings.Contains(text, "bpf_dynptr_from_skb_meta") {
		return fmt.Errorf("this kernel does not keep metadata of packets up to the egress, Linux 6.18 does: %w", err)
	}
	return fmt.Errorf("load the programs: %w", err)
}

// counterNames returns the names of the counters, by number.
func counterNames(types *btf.Spec) ([]string, error) {
	var enum *btf.Enum
	if err := types.TypeByName("counter", &enum); err != nil {
		return nil, err
	}
	names := make([]string, len(enum.Values)-1) // the last one says how many there are
	for _, v := range enum.Values[:len(names)] {
		names[v.Value] = strings.ToLower(v.Name)
	}
	return names, nil
}

// Attach attaches the programs to ports: to all egresses first, so that nothing arrives whose departure is not seen.
func (p *Programs) Attach(ports []Port) error {
	if err := p.attachDrops(); err != nil {
		return err
	}
	for _, port := range ports {
		if err := p.AddPort(port); err != nil {
			return err
		}
		if err := p.attachEgress("depart", p.objects.Depart, port.Ifindex); err != nil {
			return fmt.Errorf("port %d: %w", port.ID, err)
		}
		if port.Queue == 0 || port.Queue == port.Ifindex {
			continue
		}
		if err := p.attachEgress("enqueue", p.objects.Enqueue, port.Queue); err != nil {
			return fmt.Errorf("port %d: %w", port.ID, err)
		}
	}
	for _, port := range ports {
		// A driver without XDP of its own gets the generic one.
		l, err := p.pins.attach("arrive", port.Ifindex, p.objects.Arrive, func() (link.Link, error) {
			return link.AttachXDP(link.XDPOptions{Program: p.objects.Arrive, Interface: port.Ifindex})
		})
		if err != nil {
			return fmt.Errorf("port %d: attach to the ingress: %w", port.ID, err)
		}
		p.links = append(p.links, l)
	}
	return p.pins.finish()
}

// attachDrops follows what is dropped in the network namespace of this thread. The program that a process before has
// left for that cannot be replaced: it ends first, so that nothing is told twice.
func (p *Programs) attachDrops() error {
	const name = "dropped"
	if p.pins.old[name] {
		if err := p.pins.takeOff(name); err != nil {
			return fmt.Errorf("follow drops: %w", err)
		}
	}
	if !p.drops && !p.fast {
		return nil
	}
	var namespace unix.Stat_t
	if err := unix.Stat("/proc/thread-self/ns/net", &namespace); err != nil {
		return fmt.Errorf("the network namespace: %w", err)
	}
	if err := p.objects.Netns.Set(uint32(namespace.Ino)); err != nil {
		return err
	}
	var programs []*ebpf.Program
	if p.drops {
		programs = append(programs, p.objects.Dropped)
	}
	if p.fast {
		programs = append(programs, p.objects.Sent, p.objects.NotSent)
	}
	for _, program := range programs {
		l, err := link.AttachTracing(link.TracingOptions{Program: program})
		if err != nil {
			return fmt.Errorf("follow drops: %w", err)
		}
		p.links = append(p.links, l)
		if p.pins.keep && program == p.objects.Dropped {
			if err := l.Pin(p.pins.path(name)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *Programs) attachEgress(name string, program *ebpf.Program, ifindex int) error {
	l, err := p.pins.attach(name, ifindex, program, func() (link.Link, error) {
		return link.AttachTCX(link.TCXOptions{Interface: ifindex, Program: program, Attach: ebpf.AttachTCXEgress})
	})
	if err != nil {
		return fmt.Errorf("attach to the egress: %w", err)
	}
	p.links = append(p.links, l)
	return nil
}

// value is what the programs know of an interface of the port, whose address is at l3.
func (p *Port) value(ifindex, l3 int) programsPort {
	number := map[bool]uint16{true: 1}
	return programsPort{
		Ifindex: uint32(ifindex), Id: p.ID, L3: uint32(l3), Edge: number[p.Edge], Clone: number[p.Clone],
		Fast: number[p.Fast && ifindex == p.Ifindex], Mac: p.MAC,
	}
}

// AddPort makes interfaces known as a port.
func (p *Programs) AddPort(port Port) error {
	queue := port.Queue
	if queue == 0 {
		queue = port.Ifindex
	}
	for _, ifindex := range []int{port.Ifindex, queue} {
		value := port.value(ifindex, queue)
		if err := p.putPort(value); err != nil {
			return err
		}
	}
	return nil
}

// putPort puts a port where find_port of src/maps.h looks for it.
func (p *Programs) putPort(value programsPort) error {
	const probes = 4
	size := p.objects.Ports.MaxEntries()
	for i := range uint32(probes) {
		at := (value.Ifindex + i) % size
		var there programsPort
		if err := p.objects.Ports.Lookup(at, &there); err != nil {
			return err
		}
		if there.Ifindex == 0 || there.Ifindex == value.Ifindex {
			return p.objects.Ports.Put(at, value)
		}
	}
	return fmt.Errorf("port %d: too many ports have interfaces whose indices are the same modulo %d", value.Id, size)
}

// AddVLAN makes an interface known that gets what comes to interface of a port with the given VLAN ids, the outermost
// first; 0: no tag.
func (p *Programs) AddVLAN(port Port, ifindex int, ids [2]uint16) error {
	value := port.value(ifindex, ifindex)
	return errors.Join(p.putPort(value),
		p.objects.Vlans.Put(programsVlan{Ifindex: uint32(port.Ifindex), Ids: ids}, uint32(ifindex)))
}

// Watch replaces the flow watchlist, between two packets: the other half of the maps is filled, and then counts. If it
// fails the old one still counts. It is not for concurrent use.
func (p *Programs) Watch(list *watch.List, demands []node.Demand) error {
	time.Sleep(time.Millisecond) // a program that read the other half before it was replaced has ended long since
	half := 1 - p.half
	if list.Len() > p.limits.rules {
		return fmt.Errorf("watch: %d entries, want at most %d; start the node again", list.Len(), p.limits.rules)
	}
	fill := filling{
		Programs: p, rule: int(half) * p.limits.rules, bucket: int(half) * p.limits.buckets,
		lastRule: int(half+1) * p.limits.rules, lastBucket: int(half+1) * p.limits.buckets,
	}
	for family, ipv6 := range []bool{false, true} {
		fill.tables(2*int(half)+family, list.Tables(ipv6))
	}
	for rank := range list.Len() {
		fill.put(p.objects.Actions, int(half)*p.limits.rules+rank, action(list.Action(rank), demands))
	}
	if fill.err != nil {
		return fill.err
	}
	var xd uint32
	if slices.ContainsFunc(demands, func(d node.Demand) bool { return d.Mode == watch.ModeXD }) {
		xd = 1
		if err := p.objects.HasXd.Set(xd); err != nil {
			return err
		}
	}
	// In between every packet is looked at.
	if err := errors.Join(p.objects.LeastSample.Set(uint32(0)), p.objects.Active.Set(half)); err != nil {
		return err
	}
	p.half = half
	return errors.Join(p.objects.HasXd.Set(xd), p.objects.LeastSample.Set(leastSample(list)))
}

// leastSample returns the smallest 1 in so many of the entries; 0: some choose at random, and noSample: no entry wants
// a packet.
func leastSample(list *watch.List) uint32 {
	const noSample = math.MaxUint32
	least := uint32(noSample)
	for rank := range list.Len() {
		switch a := list.Action(rank); {
		case a == nil: // ignore
		case a.Sampling == watch.SampleAtRandom:
			return 0
		default:
			least = min(least, a.Sample)
		}
	}
	return least
}

// maxBucket is how many rules the programs look at in a bucket.
const maxBucket = 64

func action(a *watch.Action, demands []node.Demand) (to programsAction) {
	if a == nil {
		return to
	}
	d := &demands[a.Entry]
	to = programsAction{Sample: a.Sample, Bitmap: d.Bitmap, Mode: uint8(d.Mode), MaxHops: d.MaxHops}
	if a.Sampling == watch.SampleAtRandom {
		to.Random = 1
	}
	return to
}

// A filling writes a watchlist to a half of the maps, until something fails.
type filling struct {
	*Programs
	rule, bucket         int // the next ones
	lastRule, lastBucket int // behind the half
	err                  error
}

func (f *filling) put(m *ebpf.Map, key int, value any) {
	if f.err == nil {
		f.err = m.Put(uint32(key), value)
	}
}

// tables writes the tables of one family.
func (f *filling) tables(part int, tables []watch.Table) {
	if len(tables) > f.limits.tables {
		f.err = fmt.Errorf("watch: %d kinds of entries, want at most %d", len(tables), f.limits.tables)
		return
	}
	for i := range tables {
		f.table(part*f.limits.tables+i, &tables[i])
	}
	f.put(f.objects.TableCounts, part, uint32(len(tables)))
}

func (f *filling) table(at int, t *watch.Table) {
	size := bits.Len(uint(len(t.Rules)) | 1) // of the buckets, in bits: one at least
	if f.bucket+1<<size > f.lastBucket || f.rule+len(t.Rules) > f.lastRule {
		f.err = errors.New("watch: more rules than there was memory for at the start; start the node again")
		return
	}
	f.put(f.objects.Tables, at, programsTable{
		Mask: t.Mask, Best: t.Best, First: uint32(f.bucket), Shift: uint32(64 - size),
	})
	byBucket := make([][]watch.Rule, 1<<size)
	for _, r := range t.Rules {
		n := spread(&t.Mask, &r.Value) >> (64 - size)
		byBucket[n] = append(byBucket[n], r)
	}
	for n, some := range byBucket {
		if len(some) > maxBucket {
			f.err = fmt.Errorf("watch: %d entries that differ in overlapping ranges of ports only, want at most %d",
				len(some), maxBucket)
			return
		}
		slices.SortFunc(some, func(a, b watch.Rule) int { return cmp.Compare(a.Rank, b.Rank) })
		f.put(f.objects.Buckets, f.bucket+n, programsBucket{First: uint32(f.rule), Count: uint32(len(some))})
		for _, r := range some {
			f.put(f.objects.Rules, f.rule, programsRule{
				Mask: r.Mask, Value: r.Value, SrcLow: r.SrcPort.Low, SrcHigh: r.SrcPort.High, DstLow: r.DstPort.Low,
				DstHigh: r.DstPort.High, Rank: r.Rank,
			})
			f.rule++
		}
	}
	f.bucket += 1 << size
}

// spread is that of src/watch.h.
func spread(mask, key *[6]uint64) uint64 {
	const golden = 0x9e3779b97f4a7c15
	var h uint64
	for i := range mask {
		h = (h ^ key[i]&mask[i]) * golden
		h ^= h >> 32
	}
	return h * golden
}

// SetClock sets what is added to the kernel's TAI.
func (p *Programs) SetClock(offset time.Duration) error {
	return p.objects.ClockOffset.Set(int64(offset))
}

// Ignore says by which sockets reports leave: what they send is never watched. 0 is no socket.
func (p *Programs) Ignore(cookies [2]uint64) error { return p.objects.OwnSockets.Set(cookies) }

// Read waits for the next event. It returns os.ErrClosed after Close, and os.ErrDeadlineExceeded after the deadline.
func (p *Programs) Read(e *Event) error {
	if err := p.ring.ReadInto(&p.record); err != nil {
		return err
	}
	return e.decode(p.record.RawSample)
}

// Waiting says whether there is an event that Read has not returned.
func (p *Programs) Waiting() bool { return p.ring.AvailableBytes() > 0 }

// SetDeadline limits how long Read waits.
func (p *Programs) SetDeadline(t time.Time) { p.ring.SetDeadline(t) }

// EachCounter calls f for every counter that is not 0, in a fixed order.
func (p *Programs) EachCounter(f func(name string, count uint64)) error {
	var perCPU []uint64
	for i, name := range p.names {
		if err := p.objects.Counters.Lookup(uint32(i), &perCPU); err != nil {
			return err
		}
		var sum uint64
		for _, n := range perCPU {
			sum += n
		}
		if i == int(programsCounterKERNEL_DROPS_UNTOLD) {
			sum += p.missed()
		}
		if sum > 0 {
			f(name, sum)
		}
	}
	return nil
}

// missed returns how many drops the program that follows them was not called for: the kernel does not call it for a
// drop in the middle of another.
func (p *Programs) missed() uint64 {
	stats, err := p.objects.Dropped.Stats()
	if err != nil {
		return 0
	}
	return stats.RecursionMisses
}

// Untold returns how many packets were to be told that the ring had no room for, or that came back too late, and that
// SetTold did not count, by this process or one before.
func (p *Programs) Untold() (uint64, error) {
	var perCPU []uint64
	var sum, told uint64
	for _, c := range []programsCounter{
		programsCounterKERNEL_RING_FULL, programsCounterKERNEL_OVERWRITTEN, programsCounterKERNEL_DROPS_UNTOLD,
	} {
		if err := p.objects.Counters.Lookup(uint32(c), &perCPU); err != nil {
			return 0, err
		}
		for _, n := range perCPU {
			sum += n
		}
	}
	err := p.objects.Told.Lookup(uint32(0), &told)
	return sum - min(told, sum), err
}

// SetTold adds what reports tell of what Untold returned.
func (p *Programs) SetTold(count uint64) error {
	var told uint64
	if err := p.objects.Told.Lookup(uint32(0), &told); err != nil {
		return err
	}
	return p.objects.Told.Put(uint32(0), told+count)
}

// Detach takes the programs from their interfaces, ingress first: what is in the queues is still completed. With Keep
// they stay.
func (p *Programs) Detach() error {
	var errs []error
	for i := len(p.links) - 1; i >= 0; i-- {
		errs = append(errs, p.links[i].Close())
	}
	p.links = nil
	return errors.Join(errs...)
}

// Close detaches and unloads the programs.
func (p *Programs) Close() error {
	errs := []error{p.Detach()}
	if p.ring != nil {
		errs = append(errs, p.ring.Close())
	}
	return errors.Join(append(errs, p.objects.Close(), p.pins.close())...)
}
