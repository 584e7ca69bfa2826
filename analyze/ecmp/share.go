package ecmp

import "math"

const (
	// A group is uneven if the port with the most has more than unevenAbove times its share of the packets, until it
	// has less than evenBelow times that.
	unevenAbove, evenBelow = 1.5, 1.25
	// unevenScans is how many scans in a row it must be so.
	unevenScans = 2
	// unevenFlows is the logarithm of how improbable the number of flows on that port must be, if each flow chose its
	// port by chance: e^-16 is one in nine million.
	unevenFlows = 16
	// firstUnevenFlows is that in the first of the scans: a port of which the link fails in the second one has carried
	// its share of the flows before.
	firstUnevenFlows = 4
	// unevenPackets is how few packets say nothing.
	unevenPackets = 50
)

// A Share is what the port with the most has of what ports share.
type Share struct {
	Most           *Member
	Packets, Flows uint64  // of all ports
	Ports          int     // so many
	Times          float64 // its fair share
}

// ShareOf weighs ports, of which there is one at least.
func ShareOf(members []Member) Share {
	s := Share{Most: &members[0], Ports: len(members)}
	for i := range members {
		m := &members[i]
		s.Packets += m.Packets
		s.Flows += m.Flows
		if m.Packets > s.Most.Packets {
			s.Most = m
		}
	}
	s.Times = float64(s.Most.Packets) * float64(s.Ports) / float64(max(s.Packets, 1))
	return s
}

// GoesOn reports whether a port that had more than its share still has.
func (s *Share) GoesOn() bool { return s.Times > evenBelow && s.Packets >= unevenPackets }

// A Suspicion is how long a port has had more than its share.
type Suspicion struct {
	scans   int
	FirstNs int64 // the scan before the first of them
	ScanNs  int64 // the latest of these scans
}

// Suspect returns the suspicion that s raises at a scan at nowNs, after the one at lastNs and the suspicion before, if
// there was one, and whether it is certain; nil: there is none.
func (s *Share) Suspect(before *Suspicion, lastNs, nowNs int64) (u *Suspicion, certain bool) {
	if s.Times <= unevenAbove || s.Packets < unevenPackets {
		return before, false
	}
	chance := unlikely(s.Most.Flows, s.Flows, s.Ports)
	if u = before; u == nil {
		if chance < firstUnevenFlows {
			return nil, false
		}
		u = &Suspicion{FirstNs: lastNs}
	}
	u.ScanNs = nowNs
	u.scans++
	return u, u.scans >= unevenScans && chance >= unevenFlows
}

// unlikely returns how unlikely it is that n or more of all flows, which choose one of so many ports by chance, choose
// the same: a lower bound of minus the natural logarithm of the probability (Chernoff).
func unlikely(n, all uint64, ports int) float64 {
	x, fair := float64(n)/float64(max(all, 1)), 1/float64(ports)
	if x <= fair {
		return 0
	}
	divergence := x * math.Log(x/fair)
	if x < 1 {
		divergence += (1 - x) * math.Log((1-x)/(1-fair))
	}
	return float64(all)*divergence - math.Log(float64(ports))
}
