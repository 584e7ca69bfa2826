package attack

import (
	"net/netip"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// Usual is what is usual at targets, as JSON for the next process.
type Usual struct {
	// Learned says that all targets were known for as long as it takes to learn what is usual.
	Learned bool       `json:"learned"`
	Targets []*UsualAt `json:"targets,omitempty"`
}

// UsualAt is what is usual at an address or a prefix.
type UsualAt struct {
	Target netip.Prefix         `json:"target"`
	Tenant uint32               `json:"tenant,omitempty"`
	Rates  map[string]UsualRate `json:"rates"` // by class
}

// UsualRate is in packets and bits a second.
type UsualRate struct {
	PPS float64 `json:"pps"`
	BPS float64 `json:"bps"`
}

const (
	// usualFor is for how long after its end a process knows what is usual: then it may be another time of the day.
	usualFor = time.Hour
	// leastUsual is the share of the floor that is worth to be kept: with less an attack is one at the floor.
	leastUsual = 0.01
)

// Usual returns what is usual now.
func (s *Search) Usual() *Usual {
	u := &Usual{Learned: s.begunNs != 0 && (s.learned || s.lastNs-s.begunNs > s.config.Learn.Nanoseconds())}
	for _, of := range []map[Target]*state{s.targets, s.prefixes} {
		for _, st := range of {
			one := &UsualAt{Target: st.prefix(), Tenant: st.Tenant, Rates: map[string]UsualRate{}}
			for c := range numClasses {
				if r := st.usual[c]; st.floor.of(r.bps, r.pps) >= leastUsual {
					one.Rates[classNames[c]] = UsualRate{round(r.pps), round(r.bps)}
				}
			}
			if len(one.Rates) > 0 {
				u.Targets = append(u.Targets, one)
			}
		}
	}
	return u
}

// Restore takes what was usual when the process before this one ended, so long ago. Call it before the first Look.
func (s *Search) Restore(u *Usual, ago time.Duration) {
	s.learned = u.Learned && ago <= usualFor
	for _, one := range u.Targets {
		t, bits := TargetOfPrefix(one.Target)
		t.Tenant = one.Tenant
		of, most := s.targets, s.config.MaxTargets
		if bits < 128 {
			of, most = s.prefixes, s.config.MaxTargets/4
		}
		if !one.Target.IsValid() || len(of) >= most {
			continue
		}
		st := &state{Target: t, bits: bits}
		st.floor, st.fixed, st.may = s.config.limits(t.Addr.IP())
		if bits < 128 {
			st.fixed, st.may = Limit{}, true
		}
		for c := range numClasses {
			r := one.Rates[classNames[c]]
			st.usual[c] = rate{max(r.PPS, 0), max(r.BPS, 0)}
		}
		of[t] = st
	}
}

// prefix returns the addresses that st is about.
func (st *state) prefix() netip.Prefix {
	a, bits := st.Addr.IP(), st.bits
	if a.Is4() {
		bits -= 96
	}
	return netip.PrefixFrom(a, bits)
}

// TargetOfPrefix returns the target that a prefix is, outside of tunnels, and its bits as those of an IPv6 address.
func TargetOfPrefix(p netip.Prefix) (t Target, bits int) {
	bits = p.Bits()
	if p.Addr().Is4() {
		bits += 96
	}
	return Target{Addr: telemetry.AddrFrom(p.Addr())}, bits
}
