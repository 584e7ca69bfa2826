package topology

import "github.com/waybill-int/waybill/telemetry"

// confidence is how sure it is that something is as so many of all packets show it, below 1: the share that is left if
// one more packet shows something else. One packet is worth 1/2, ten are worth 10/11, and 10 of 1000 are worth 1 %.
func confidence(packets, all uint64) float64 { return float64(packets) / float64(all+1) }

// RateLinks sets the confidence of links. One cable is plugged into a port, so packets that take another link at a port
// contradict. At an end whose port is not known nothing can.
func RateLinks(links []telemetry.Link) {
	left, came := map[PortKey]uint64{}, map[PortKey]uint64{}
	for i := range links {
		l := &links[i]
		left[PortAt(l.From, l.FromPort)] += l.Packets
		came[PortAt(l.To, l.ToPort)] += l.Packets
	}
	for i := range links {
		l := &links[i]
		all := l.Packets
		if l.FromPort != nil {
			all = left[PortAt(l.From, l.FromPort)]
		}
		if l.ToPort != nil {
			all = max(all, came[PortAt(l.To, l.ToPort)])
		}
		l.Confidence = confidence(l.Packets, all)
	}
}

// RatePlaces sets the confidence of the places of a host. A place where it was at another time does not contradict: it
// moved.
func RatePlaces(places []telemetry.HostPlace) {
	for i := range places {
		at := &places[i]
		all := uint64(0)
		for j := range places {
			if o := &places[j]; !o.Last.Before(at.First) && !at.Last.Before(o.First) {
				all += o.Packets
			}
		}
		at.Confidence = confidence(at.Packets, all)
	}
}
