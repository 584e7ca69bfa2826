package serve

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/waybill-int/waybill/analyze/attack"
	"github.com/waybill-int/waybill/internal/conf/unit"
)

// attackSettings say what an attack is.
type attackSettings struct {
	Floor    attackLimit   `yaml:"floor" doc:"how much more than usual must come to an address at least, for an attack"`
	Factor   float64       `yaml:"factor" reload:"yes" doc:"how many times what is usual at an address is still usual; at least 1"`
	Learn    unit.Duration `yaml:"learn" reload:"yes" doc:"how long after a start it takes until it is known what is usual, unless it was within the hour before"`
	EndAfter unit.Duration `yaml:"end_after" reload:"yes" doc:"how long nothing of an attack comes, and no filter drops any of it, until it is over"`
	Groups   []attackGroup `yaml:"groups,omitempty" reload:"yes" doc:"addresses with limits of their own; the first that has an address counts"`
	Safe     []unit.Prefix `yaml:"safe,omitempty" reload:"yes" doc:"addresses and prefixes that are never the target of an attack"`
}

// attackLimit is a rate.
type attackLimit struct {
	Rate    rateText `yaml:"rate" reload:"yes" doc:"bits a second, such as 100M; 0: none"`
	Packets uint64   `yaml:"packets" reload:"yes" doc:"packets a second; 0: none"`
}

// attackGroup is a number of addresses with limits of their own.
type attackGroup struct {
	Prefixes []unit.Prefix `yaml:"prefixes" doc:"addresses and prefixes"`
	Floor    attackLimit   `yaml:"floor,omitempty" doc:"as above, for these; missing: that of all others"`
	Fixed    attackLimit   `yaml:"fixed,omitempty" doc:"more than this is an attack, whatever is usual there and whoever asked for it"`
}

func (l attackLimit) IsZero() bool { return l == attackLimit{} }

func (l attackLimit) limit() attack.Limit { return attack.Limit{BPS: uint64(l.Rate), PPS: l.Packets} }

// A rateText is a rate in bit/s, which may be 0.
type rateText uint64

// UnmarshalText reads 100M, or 0.
func (r *rateText) UnmarshalText(text []byte) error {
	if string(text) == "0" {
		*r = 0
		return nil
	}
	return (*unit.Rate)(r).UnmarshalText(text)
}

// MarshalText writes the shortest text.
func (r rateText) MarshalText() ([]byte, error) {
	return unit.Count(r).MarshalText()
}

func defaultAttackSettings() attackSettings {
	c := attack.DefaultConfig()
	return attackSettings{
		Floor: attackLimit{rateText(c.Floor.BPS), c.Floor.PPS}, Factor: c.Factor, Learn: unit.Duration(c.Learn),
		EndAfter: unit.Duration(c.EndAfter),
	}
}

func (a *attackSettings) check() error {
	switch {
	case a.Floor.IsZero():
		return fmt.Errorf("attacks: floor: want a rate, packets or both: nothing would be too little for an attack")
	case a.Factor < 1:
		return fmt.Errorf("attacks: factor: got %g, want at least 1", a.Factor)
	case a.EndAfter < unit.Duration(time.Second):
		return fmt.Errorf("attacks: end_after: got %v, want at least 1s", a.EndAfter)
	}
	for i := range a.Groups {
		g := &a.Groups[i]
		if len(g.Prefixes) == 0 {
			return fmt.Errorf("attacks: groups[%d]: prefixes: want at least one", i)
		}
		if g.Floor.IsZero() && g.Fixed.IsZero() {
			return fmt.Errorf("attacks: groups[%d]: want floor, fixed or both", i)
		}
	}
	return nil
}

// attackConfig returns what finds attacks.
func (c *Config) attackConfig() attack.Config {
	a := attack.DefaultConfig()
	a.Floor, a.Factor = c.Attacks.Floor.limit(), c.Attacks.Factor
	a.Learn, a.EndAfter = time.Duration(c.Attacks.Learn), time.Duration(c.Attacks.EndAfter)
	a.Safe = prefixesOf(c.Attacks.Safe)
	for _, g := range c.Attacks.Groups {
		a.Groups = append(a.Groups, attack.Group{
			Prefixes: prefixesOf(g.Prefixes), Floor: g.Floor.limit(), Fixed: g.Fixed.limit(),
		})
	}
	memory, _ := parseSize(c.Memory)
	a.MaxTargets = int(min(uint64(a.MaxTargets), memory/256/attack.TargetBytes))
	return a
}

func prefixesOf(list []unit.Prefix) []netip.Prefix {
	prefixes := make([]netip.Prefix, len(list))
	for i := range list {
		prefixes[i] = list[i].Prefix
	}
	return prefixes
}
