package burst

import (
	"testing"
	"time"

	"github.com/waybill-int/waybill/wire/codepoint"
)

// A modelQueue is a queue of packets of 1500 bytes in front of a link of 20 Mbit/s, which knows what becomes of each.
type modelQueue struct {
	bursts *Search
	room   uint64 // packets; the next is dropped
	freeNs uint64 // when the last of its packets has left
	nextNs uint64 // when time passes for bursts
	packet uint64
	drops  uint64
	found  []Burst
}

const (
	modelBytes   = 1500
	modelDrainNs = 600_000 // of a packet
)

// packets returns how many there are in the queue at a moment.
func (m *modelQueue) packets(ns uint64) uint64 {
	return (max(m.freeNs, ns) - ns + modelDrainNs - 1) / modelDrainNs
}

// come lets a packet come.
func (m *modelQueue) come(ns uint64) {
	for ; m.nextNs <= ns; m.nextNs += 100e6 {
		m.bursts.Advance(int64(m.nextNs))
		m.found = append(m.found, m.bursts.Take()...)
	}
	packets := m.packets(ns)
	m.packet++
	s := Sample{
		Node: 1, Port: 1, Has: SampleIn | SampleOut | SampleDepth, InNs: ns, Depth: uint32(packets * modelBytes),
		Unit:  codepoint.UnitBytes,
		Bytes: modelBytes,
		Flow:  1, Packet: m.packet, Every: 1,
	}
	if packets < m.room {
		m.freeNs = max(m.freeNs, ns) + modelDrainNs
		s.OutNs = m.freeNs
	} else {
		m.drops++
		s.Has = SampleIn | SampleDepth | SampleDropped
	}
	m.bursts.Observe(&s)
}

// end returns all bursts that were found.
func (m *modelQueue) end() []Burst {
	m.bursts.Finish()
	return append(m.found, m.bursts.Take()...)
}

// A queue that is idle for a minute and flooded for five seconds, for half an hour, has a burst each time.
func TestBurstsFloods(t *testing.T) {
	const floods = 30
	for _, c := range []struct {
		name    string
		packets uint64 // of a flood; 8333 are what the link takes
		room    uint64 // packets
		idleNs  uint64 // from one packet to the next between two floods; 0: there are none
	}{
		{"drops", 10_000, 300, 0},
		{"drops, and packets in between", 10_000, 300, 50e6},
		{"room for all", 8600, 300, 0},
		{"room for all, and packets in between", 8600, 300, 50e6},
	} {
		m := &modelQueue{bursts: NewSearch(DefaultConfig()), room: c.room, nextNs: 1e12}
		var want []Burst
		for startNs := uint64(1e12); len(want) < floods; startNs += uint64(5 * time.Second) {
			for i := uint64(1); i*c.idleNs < uint64(time.Minute) && c.idleNs > 0; i++ {
				m.come(startNs + i*c.idleNs)
			}
			startNs += uint64(time.Minute)
			before := m.drops
			for i := range c.packets {
				m.come(startNs + i*uint64(5*time.Second)/c.packets)
			}
			want = append(want, Burst{StartNs: startNs, EndNs: m.freeNs, Drops: m.drops - before})
			startNs += uint64(5 * time.Second) // in which the queue empties
		}
		got := m.end()
		if len(got) != floods {
			t.Errorf("%s: %d bursts, want %d", c.name, len(got), floods)
		}
		for i := range min(len(got), floods) {
			g, w := &got[i], &want[i]
			if g.StartNs < w.StartNs || g.EndNs > w.EndNs || g.Drops != w.Drops ||
				g.Above < 30_000 || g.Above > 33_000 { // the way up to it teaches a little, no flood
				t.Errorf("%s: flood %d: got %d to %d with %d drops from %d bytes on, want %d to %d with %d",
					c.name, i, g.StartNs, g.EndNs, g.Drops, g.Above, w.StartNs, w.EndNs, w.Drops)
			}
		}
	}
}

// A queue that is always half full has bursts where more comes on top: from its own level, which half a minute makes
// usual, and back to it, however often they come.
func TestBurstsOnTop(t *testing.T) {
	const (
		room, half = 300, 150 // packets
		startNs    = uint64(1e12)
	)
	for _, c := range []struct {
		name         string
		everySeconds uint64
		packets      uint64
		// bursts in the first and the last five minutes, besides the one with which it begins; of the first, up to a
		// tenth more
		early, late int
	}{
		{"now and then", 90, 80, 3, 4},
		{"now and then, with drops", 90, 200, 3, 4},
		{"each second", 1, 80, 258, 300}, // 42 s are of the first burst
		{"each second, with drops", 1, 200, 258, 300},
		{"never", 3600, 0, 0, 0},
	} {
		m := &modelQueue{bursts: NewSearch(DefaultConfig()), room: room, nextNs: startNs}
		for second := range uint64(1800) {
			at := startNs + second*1e9
			if second%c.everySeconds == c.everySeconds-1 {
				for i := range c.packets {
					m.come(at + i*10_000)
				}
			}
			for ns := at + 5e6; ns < at+1e9; ns += modelDrainNs {
				for m.packets(ns) < half {
					m.come(ns)
				}
			}
		}
		got := m.end()
		if len(got) == 0 || got[0].EndNs-got[0].StartNs < 30e9 || got[0].EndNs-got[0].StartNs > 60e9 {
			t.Errorf("%s: it does not begin with a burst of half a minute", c.name)
			continue
		}
		early, late := 0, 0
		for _, g := range got[1:] {
			if g.Above <= half*modelBytes || g.Above > 4*room*modelBytes/5 ||
				g.Below <= half*modelBytes || g.EndNs-g.StartNs > 1e9 {
				t.Errorf("%s: from %d bytes to %d, %d ns long", c.name, g.Above, g.Below, g.EndNs-g.StartNs)
			}
			switch second := (g.StartNs - startNs) / 1e9; {
			case second < 300:
				early++
			case second >= 1500:
				late++
			}
		}
		if early < c.early || early > c.early*11/10 || late != c.late {
			t.Errorf("%s: %d bursts in the first five minutes, %d in the last, want %d and %d", c.name, early, late,
				c.early, c.late)
		}
	}
}

// Reports of drops alone, a few each second of a flood, are one burst: what is in the queue was not seen to come, so
// that it does not vanish with the last packet that was seen. A single report of a long queue makes a burst without a
// length, which says between which moments it was.
func TestBurstsOfDropsAlone(t *testing.T) {
	const startNs, stepNs, floodNs = uint64(1e12), uint64(30e6), uint64(3e9)
	for _, c := range []struct {
		name  string
		drops uint64
	}{{"flood", floodNs / stepNs}, {"single", 1}} {
		b := NewSearch(DefaultConfig())
		sample := func(ns uint64, depth uint32, has SampleFields) {
			b.Advance(int64(ns))
			b.Observe(&Sample{
				Node: 1, Port: 1, Has: has, InNs: ns, OutNs: ns + 1000, Depth: depth, Unit: codepoint.UnitBytes,
				Bytes: 500, Flow: 1, Packet: ns, Every: 1,
			})
		}
		for i := range uint64(100) {
			sample(startNs+i*10e6, 0, SampleIn|SampleOut|SampleDepth)
		}
		first := startNs + 1e9
		for i := range c.drops {
			sample(first+i*stepNs, 262_144, SampleIn|SampleDepth|SampleDropped)
		}
		last := first + (c.drops-1)*stepNs
		const quietNs = uint64(20e6)
		sample(last+quietNs, 0, SampleIn|SampleOut|SampleDepth)
		b.Finish()
		got := b.Take()
		if len(got) != 1 || got[0].StartNs != first || got[0].EndNs != last || got[0].StartSlackNs != 10e6 ||
			got[0].EndSlackNs != quietNs || got[0].Drops != c.drops {
			t.Errorf("%s: got %d bursts:\n%s", c.name, len(got), burstText(got))
		}
	}
}
