package fabric

import "slices"

// polarisation gives all switches the same seed for ECMP.
type polarisation struct {
	seeds []uint64 // before
}

func (t *polarisation) begin(f *Fabric) {
	t.seeds = t.seeds[:0]
	for _, n := range f.switches {
		t.seeds = append(t.seeds, n.seed)
		n.seed = f.seed
	}
}

func (t *polarisation) end(f *Fabric) {
	for i, n := range f.switches {
		n.seed = t.seeds[i]
	}
}

// slowSwitch gives a switch more latency.
type slowSwitch struct {
	node    *node
	extraNs int64
}

func (t *slowSwitch) begin(*Fabric) { t.node.latencyNs += t.extraNs }

func (t *slowSwitch) end(*Fabric) { t.node.latencyNs -= t.extraNs }

// wrongBuffer configures the buffer of a switch wrongly.
type wrongBuffer struct {
	node   *node
	buffer uint64 // 0: as it is
	alpha  float64

	bufferBefore uint64
	alphaBefore  float64
}

func (t *wrongBuffer) begin(*Fabric) {
	t.bufferBefore, t.alphaBefore = t.node.buffer, t.node.alpha
	if t.buffer > 0 {
		t.node.buffer = t.buffer
	}
	if t.alpha > 0 {
		t.node.alpha = t.alpha
	}
}

func (t *wrongBuffer) end(*Fabric) { t.node.buffer, t.node.alpha = t.bufferBefore, t.alphaBefore }

// noINT switches the telemetry device of a switch off. It goes on to see packets that it saw arrive.
type noINT struct {
	node *node
}

func (t *noINT) begin(*Fabric) { t.node.noINT++ }

func (t *noINT) end(*Fabric) { t.node.noINT-- }

// wrongClock makes the clock of a switch wrong. In the end it is set right again, as if nothing had been.
type wrongClock struct {
	node               *node
	offsetNs, driftPPB int64
	before             clock
}

func (t *wrongClock) begin(f *Fabric) {
	t.before = t.node.clock
	t.node.clock.step(f.nowNs, t.offsetNs, t.driftPPB)
}

func (t *wrongClock) end(*Fabric) { t.node.clock = t.before }

// mitigate lets a switch drop what matches a filter.
type mitigate struct {
	node   *node
	filter filter
}

func (t *mitigate) begin(*Fabric) { t.node.denies = append(t.node.denies, t.filter) }

func (t *mitigate) end(*Fabric) {
	t.node.denies = slices.DeleteFunc(t.node.denies, func(fl filter) bool { return fl.fault == t.filter.fault })
}
