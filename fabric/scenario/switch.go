package scenario

import (
	"fmt"

	"github.com/waybill-int/waybill/internal/conf/unit"
)

// A Switch is what all switches are like.
type Switch struct {
	Latency Duration `yaml:"latency"` // of the pipeline, without queues; default 800ns
	Buffer  Bytes    `yaml:"buffer"`  // shared by all queues of all ports; default 1MB

	// A queue may hold at most Alpha times what is free of the buffer: a dynamic threshold (Choudhury and Hahne, 1998).
	// Default 1.
	Alpha Number `yaml:"alpha"`

	// Queues of each port; a packet waits in the first that lists its DSCP, or in the first that lists none. Default:
	// one for everything, and a strict one for 46 (EF) and 48 (CS6).
	Queues []Queue `yaml:"queues"`

	TTL Count `yaml:"ttl"` // that hosts send packets with; default 64
}

// A Queue is one queue of a port.
type Queue struct {
	DSCP   []Count `yaml:"dscp"`
	Strict bool    `yaml:"strict"` // is served before all that follow in the list, and before all that are not strict
	Weight Count   `yaml:"weight"` // share of what strict queues leave, by deficit round robin in bytes; default 1
}

// A Node says what is different at one switch. What it leaves out is as in Switch.
type Node struct {
	Name       string    `yaml:"name"`
	Latency    *Duration `yaml:"latency"`
	Buffer     *Bytes    `yaml:"buffer"`
	Alpha      *Number   `yaml:"alpha"`
	WithoutINT bool      `yaml:"without_int"` // forwards packets and knows nothing of telemetry
	Clock      *Clock    `yaml:"clock"`       // instead of a random one
}

// A Clock says how wrong a clock is.
type Clock struct {
	Offset unit.Offset `yaml:"offset"` // added
	Drift  Number      `yaml:"drift"`  // parts per million that it is too fast
}

const (
	maxQueues = 8
	maxDrift  = 100_000 // parts per million
)

func defaultSwitch() Switch {
	return Switch{
		Latency: 800, Buffer: 1e6, Alpha: 1, TTL: 64,
		Queues: []Queue{{}, {DSCP: []Count{46, 48}, Strict: true}},
	}
}

func (s *Switch) check(c *checker, place string) {
	if s.TTL < 1 || s.TTL > 255 {
		c.Say(place+".ttl", "got %d, want 1 to 255", s.TTL)
	}
	checkSwitch(c, place, s.Latency, s.Buffer, s.Alpha)
	if len(s.Queues) == 0 || len(s.Queues) > maxQueues {
		c.Say(place+".queues", "got %d, want 1 to %d", len(s.Queues), maxQueues)
		return
	}
	rest := 0
	seen := map[Count]bool{}
	for i := range s.Queues {
		q := &s.Queues[i]
		if q.Weight == 0 {
			q.Weight = 1
		}
		if q.Weight > 100 {
			c.Say(fmt.Sprintf("%s.queues[%d].weight", place, i), "got %d, want 1 to 100", q.Weight)
		}
		if len(q.DSCP) == 0 {
			rest++
		}
		for _, dscp := range q.DSCP {
			if dscp > 63 || seen[dscp] {
				c.Say(fmt.Sprintf("%s.queues[%d].dscp", place, i), "got %d, want 0 to 63, each in one queue only", dscp)
			}
			seen[dscp] = true
		}
	}
	if rest != 1 {
		c.Say(place+".queues", "%d queues list no dscp; exactly one takes what the others do not", rest)
	}
}

func checkSwitch(c *checker, place string, latency Duration, buffer Bytes, alpha Number) {
	if latency > 1e9 {
		c.Say(place+".latency", "want 0s to 1s")
	}
	if buffer < 2000 {
		c.Say(place+".buffer", "got %d bytes, want room for a packet at least, 2kB", buffer)
	}
	if alpha < 1.0/64 || alpha > 64 {
		c.Say(place+".alpha", "got %v, want 1/64 to 64", alpha)
	}
}

func checkNodes(c *checker, nodes []Node, names map[string]bool) {
	seen := map[string]bool{}
	for i, n := range nodes {
		place := fmt.Sprintf("nodes[%d]", i)
		if isSwitch, known := names[n.Name]; !known || !isSwitch || seen[n.Name] {
			c.Say(place+".name", "got %q, want the name of a switch, each once", n.Name)
		}
		seen[n.Name] = true
		all := defaultSwitch()
		if n.Latency != nil {
			all.Latency = *n.Latency
		}
		if n.Buffer != nil {
			all.Buffer = *n.Buffer
		}
		if n.Alpha != nil {
			all.Alpha = *n.Alpha
		}
		checkSwitch(c, place, all.Latency, all.Buffer, all.Alpha)
		if n.Clock != nil {
			n.Clock.check(c, place+".clock")
		}
	}
}

func (k *Clock) check(c *checker, place string) {
	if k.Drift < -maxDrift || k.Drift > maxDrift {
		c.Say(place+".drift", "got %v, want -%d to %d parts per million", k.Drift, maxDrift, maxDrift)
	}
}
