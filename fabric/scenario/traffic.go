package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill-int/waybill/internal/conf/unit"
)

// A Traffic is something that makes hosts talk. It has one of the first four keys; the others are for all of them.
type Traffic struct {
	Poisson   *Poisson   `yaml:"poisson"`
	Incast    *Incast    `yaml:"incast"`
	AllReduce *AllReduce `yaml:"all_reduce"`
	Constant  *Constant  `yaml:"constant"`

	Start Duration `yaml:"start"` // default 0
	Stop  Duration `yaml:"stop"`  // nothing new is begun from here on; default: the end

	Transport string `yaml:"transport"` // tcp or udp; default tcp, of constant udp
	Rate      Rate   `yaml:"rate"`      // at which a host sends a udp flow; default: that of its link
	// largest IP packet, the innermost one; default: what the links of both hosts carry
	Packet Bytes  `yaml:"packet"`
	Port   Count  `yaml:"port"`   // destination port; default 5001
	IP     string `yaml:"ip"`     // 4, 6 or mixed (every second flow is 6); default 4
	DSCP   Count  `yaml:"dscp"`   // default 0
	Tunnel string `yaml:"tunnel"` // vxlan, vxlan_gpe or geneve; default none. The hosts are its ends
	VNI    Count  `yaml:"vni"`    // of the tunnel
}

// A Poisson begins flows at random times between random hosts.
type Poisson struct {
	Load    Share    `yaml:"load"`     // of what the links of the senders can carry together
	Sizes   string   `yaml:"sizes"`    // web_search, data_mining, or a number of bytes
	MaxSize Bytes    `yaml:"max_size"` // larger flows of a distribution are cut to this; default none
	From    []string `yaml:"from"`     // default: all hosts
	To      []string `yaml:"to"`       // default: all hosts
}

// An Incast lets many hosts send to one at the same moment.
type Incast struct {
	Senders []string `yaml:"senders"`
	To      string   `yaml:"to"`
	Bytes   Bytes    `yaml:"bytes"`  // that each sends
	Every   Duration `yaml:"every"`  // default: once
	Jitter  Duration `yaml:"jitter"` // each begins at random within this; default 0
}

// An AllReduce lets hosts sum up vectors around a ring, as collectives of machine learning do: 2(n-1) steps, in each of
// which every host sends an n-th of the vector to the next one and goes on when it has its own.
type AllReduce struct {
	Hosts []string `yaml:"hosts"` // at least 2, in the order of the ring
	Bytes Bytes    `yaml:"bytes"` // of the vector
	// from the start of a round to that of the next, if it is over by then; default: at once
	Every Duration `yaml:"every"`
}

// A Constant lets one host send to another at a constant rate (or, by tcp, as fast as it goes).
type Constant struct {
	From  string `yaml:"from"`
	To    string `yaml:"to"`
	Bytes Bytes  `yaml:"bytes"` // in all; default: until stop
}

// FixedSize returns the number of bytes that Sizes says, and false if it is the name of a distribution.
func (p *Poisson) FixedSize() (uint64, bool) {
	if p.Sizes == "" {
		return 0, false
	}
	v, err := unit.ParseBytes(p.Sizes)
	return uint64(v), err == nil && v >= 1 && v <= 1<<40
}

// Distributions are the names that Sizes may have.
var Distributions = []string{"web_search", "data_mining"}

func (t *Traffic) check(c *checker, i int, duration Duration, names map[string]bool) {
	place := fmt.Sprintf("traffic[%d]", i)
	kinds := 0
	if p := t.Poisson; p != nil {
		kinds++
		p.check(c, place+".poisson", names)
	}
	if p := t.Incast; p != nil {
		kinds++
		p.check(c, place+".incast", names)
	}
	if p := t.AllReduce; p != nil {
		kinds++
		p.check(c, place+".all_reduce", names)
		if t.Transport == "udp" {
			c.Say(place+".transport", "an all_reduce waits for what others send: it needs tcp")
		}
	}
	if p := t.Constant; p != nil {
		kinds++
		p.check(c, place+".constant", names)
		if t.Transport == "" {
			t.Transport = "udp"
		}
	}
	if kinds != 1 {
		c.Say(place, "got %d kinds, want one of poisson, incast, all_reduce and constant", kinds)
	}
	if t.Stop == 0 {
		t.Stop = duration
	}
	if t.Stop <= t.Start {
		c.Say(place+".stop", "want a start from 0s and a stop behind it")
	}
	t.checkPackets(c, place)
}

// checkPackets checks what the packets of a traffic look like.
func (t *Traffic) checkPackets(c *checker, place string) {
	if t.Transport == "" {
		t.Transport = "tcp"
	}
	if t.IP == "" {
		t.IP = "4"
	}
	if t.Port == 0 {
		t.Port = 5001
	}
	oneOf(c, place+".transport", t.Transport, "tcp", "udp")
	oneOf(c, place+".ip", t.IP, "4", "6", "mixed")
	if t.Tunnel != "" {
		oneOf(c, place+".tunnel", t.Tunnel, "vxlan", "vxlan_gpe", "geneve")
	} else if t.VNI != 0 {
		c.Say(place+".vni", "needs a tunnel")
	}
	within(c, place+".vni", t.VNI, 0, 1<<24-1)
	within(c, place+".port", t.Port, 1, 1<<16-1)
	within(c, place+".dscp", t.DSCP, 0, 63)
	if t.Packet != 0 && (t.Packet < 100 || t.Packet > maxMTU) {
		c.Say(place+".packet", "got %d bytes, want 100 to %d", t.Packet, maxMTU)
	}
}

func (p *Poisson) check(c *checker, place string, names map[string]bool) {
	if p.Load == 0 {
		c.Say(place+".load", "want a share, for example 5%%")
	}
	if _, fixed := p.FixedSize(); !fixed && !slices.Contains(Distributions, p.Sizes) {
		c.Say(place+".sizes", "got %q, want %s or a number of bytes", p.Sizes, strings.Join(Distributions, ", "))
	}
	hosts(c, place+".from", p.From, names)
	hosts(c, place+".to", p.To, names)
	from, to := orAll(p.From, names), orAll(p.To, names)
	if len(from) == 0 || len(to) == 0 || len(from) == 1 && slices.Equal(from, to) {
		c.Say(place, "a host does not talk to itself: want two")
	}
}

func (p *Incast) check(c *checker, place string, names map[string]bool) {
	hosts(c, place+".senders", p.Senders, names)
	hosts(c, place+".to", []string{p.To}, names)
	if len(p.Senders) == 0 || slices.Contains(p.Senders, p.To) {
		c.Say(place+".senders", "want at least one host, and not the one that they send to")
	}
	if p.Bytes == 0 {
		c.Say(place+".bytes", "want at least 1")
	}
}

func (p *AllReduce) check(c *checker, place string, names map[string]bool) {
	hosts(c, place+".hosts", p.Hosts, names)
	if len(p.Hosts) < 2 {
		c.Say(place+".hosts", "got %d, want at least 2", len(p.Hosts))
	}
	if p.Bytes < Bytes(len(p.Hosts)) {
		c.Say(place+".bytes", "got %d, want at least one for each host", p.Bytes)
	}
}

func (p *Constant) check(c *checker, place string, names map[string]bool) {
	hosts(c, place+".from", []string{p.From}, names)
	hosts(c, place+".to", []string{p.To}, names)
	if p.From == p.To {
		c.Say(place+".to", "a host does not talk to itself")
	}
}

func oneOf(c *checker, place, got string, want ...string) {
	if !slices.Contains(want, got) {
		c.Say(place, "got %q, want one of %s", got, strings.Join(want, ", "))
	}
}

// orAll returns a list of hosts, all there are if it is empty.
func orAll(list []string, names map[string]bool) []string {
	if len(list) > 0 {
		return list
	}
	for name, isSwitch := range names {
		if !isSwitch {
			list = append(list, name)
		}
	}
	return list
}

// hosts reports names that are not hosts, and a host that is listed twice.
func hosts(c *checker, place string, list []string, names map[string]bool) {
	for i, name := range list {
		if isSwitch, known := names[name]; !known || isSwitch || slices.Contains(list[:i], name) {
			c.Say(place, "got %q, want names of hosts, each once", name)
		}
	}
}
