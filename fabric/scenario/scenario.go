package scenario

import (
	"path/filepath"
	"strings"

	"github.com/waybill-int/waybill/internal/conf"
)

// A Scenario is what a scenario file says, with defaults for what it leaves out.
type Scenario struct {
	Name     string   `yaml:"name"`     // default: the name of the file without .yaml
	Duration Duration `yaml:"duration"` // of the run, in virtual time
	Seed     Count    `yaml:"seed"`     // of everything random; default 1
	Start    Moment   `yaml:"start"`    // wall time at virtual time 0; default 2026-01-01T00:00:00Z

	Topology Topology   `yaml:"topology"`
	Switch   Switch     `yaml:"switch"` // what all switches are like
	Nodes    []Node     `yaml:"nodes"`  // switches that are different
	Host     HostConfig `yaml:"host"`   // what all hosts are like
	Clocks   Clocks     `yaml:"clocks"`
	Routing  Routing    `yaml:"routing"`
	Traffic  []Traffic  `yaml:"traffic"`
	Faults   []Fault    `yaml:"faults"`
	Reports  Reports    `yaml:"reports"`
	Truth    Truth      `yaml:"truth"`

	// INT is for the program that makes the telemetry devices of the switches.
	INT Raw `yaml:"int"`

	// Graph is the topology, whatever it was made from.
	Graph Graph `yaml:"-"`
}

// Extend changes how long a scenario lasts. Traffic that lasts to the end goes on to the new one.
func (s *Scenario) Extend(duration Duration) {
	for i := range s.Traffic {
		if t := &s.Traffic[i]; t.Stop == s.Duration {
			t.Stop = max(t.Stop, duration)
		}
	}
	s.Duration = duration
}

// A HostConfig is what all hosts are like.
type HostConfig struct {
	Queue     Bytes    `yaml:"queue"`      // room for packets that wait for the link; default 4MB
	TCPWindow Bytes    `yaml:"tcp_window"` // what a receiver offers; default 1MB
	MinRTO    Duration `yaml:"min_rto"`    // shortest retransmission timeout; default 10ms
}

// Clocks says how wrong the clocks of switches are. Each switch gets random values within these limits.
type Clocks struct {
	Offset Duration `yaml:"offset"` // at virtual time 0, either way; default 0
	Drift  Number   `yaml:"drift"`  // parts per million, either way; default 0
}

// Routing says how routes follow the topology.
type Routing struct {
	// from a link that goes down or up to new routes everywhere; default 50ms
	Reconvergence Duration `yaml:"reconvergence"`
}

// Reports says how telemetry reports travel to the collector: beside the emulated network.
type Reports struct {
	Delay Duration `yaml:"delay"` // default 0
}

// Truth says what of the truth is too much to write down.
type Truth struct {
	// one packet in so many gets hop records; default 100, 1 is every one, 0 none
	SamplePackets Count `yaml:"sample_packets"`
	BurstAbove    Bytes `yaml:"burst_above"` // a queue with more bytes is a burst; default 30kB, 0 is never
	BurstBelow    Bytes `yaml:"burst_below"` // until it has this many or fewer; default half of burst_above
}

// defaults returns what holds when a file says nothing.
func defaults() *Scenario {
	return &Scenario{
		Seed:    1,
		Start:   1767225600e9, // 2026-01-01T00:00:00Z
		Switch:  defaultSwitch(),
		Host:    HostConfig{Queue: 4e6, TCPWindow: 1e6, MinRTO: 10e6},
		Routing: Routing{Reconvergence: 50e6},
		Truth:   Truth{SamplePackets: 100, BurstAbove: 30e3},
	}
}

// kind is how scenario files are read.
var kind = conf.Kind{Want: "at least duration and topology"}

// Load reads a scenario file. The error tells all that is wrong, with its line.
func Load(file string) (*Scenario, error) {
	text, err := kind.Read(file)
	if err != nil {
		return nil, err
	}
	return Parse(file, text)
}

// Parse reads a scenario from text; file is its name in errors.
func Parse(file string, text []byte) (*Scenario, error) {
	s := defaults()
	document, err := kind.Parse(file, text, s)
	if err != nil {
		return nil, err
	}
	if s.Name == "" {
		s.Name = strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	}
	s.check(document)
	return s, document.Err()
}

// check fills in what depends on other values and reports rules that no value breaks alone.
func (s *Scenario) check(c *checker) {
	if s.Duration <= 0 {
		c.Say("duration", "want how long the scenario lasts, for example 10s")
	}
	if s.Clocks.Drift < 0 || s.Clocks.Drift > maxDrift {
		c.Say("clocks", "want a drift from 0 to %v parts per million: it is a limit either way", maxDrift)
	}
	if s.Host.MinRTO < 1000 || s.Host.TCPWindow < 3000 || s.Host.TCPWindow > 1<<30 || s.Host.Queue < 3000 {
		c.Say("host", "want a min_rto of at least 1us, a tcp_window from 3kB to 1GiB and a queue of at least 3kB")
	}
	switch t := &s.Truth; {
	case t.BurstBelow == 0:
		t.BurstBelow = t.BurstAbove / 2
	case t.BurstBelow >= t.BurstAbove:
		c.Say("truth.burst_below", "got %d, want less than burst_above, %d", t.BurstBelow, t.BurstAbove)
	}
	s.Switch.check(c, "switch")
	s.Topology.check(c)
	if c.Err() != nil {
		return // without a topology no name can be looked up
	}
	s.Graph = s.Topology.graph()
	s.Graph.check(c)
	names := s.Graph.index()
	checkNodes(c, s.Nodes, names)
	for i := range s.Traffic {
		s.Traffic[i].check(c, i, s.Duration, names)
	}
	for i := range s.Faults {
		s.Faults[i].check(c, i, &s.Graph, names)
	}
}
