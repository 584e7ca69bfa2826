package ledger

import (
	"cmp"
	"slices"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// maxBelow is how many exporters with losses a Completeness names.
const maxBelow = 8

// Completeness says which share of the reports of exporters arrived: of those since the process began, without what
// went by before it received. Datagrams without a readable header are of no exporter. names are those of nodes.
func Completeness(exporters []*Exporters, names map[uint32]string) telemetry.Completeness {
	a := telemetry.Completeness{Below: []telemetry.NodeArrival{}}
	for _, e := range exporters {
		e.mu.Lock()
		if began := e.ledger.beganNs; began != 0 && (a.Since.IsZero() || began < a.Since.UnixNano()) {
			a.Since = time.Unix(0, began).UTC()
		}
		for _, x := range e.accounts {
			n := x.counts().minus(x.origin).corrected()
			switch {
			case !x.key.Header || n.received == 0:
				continue
			case x.lossKnown() != lossIsKnown:
				a.Unknown++
				continue
			}
			n.sent -= min(n.away, n.sent)          // they went by before this process began
			lost := n.sent - min(n.unique, n.sent) // numbers that were lost before may still have come
			a.Sent += n.sent
			a.Lost += lost
			if lost > 0 {
				a.Lossy++
				below := telemetry.NodeArrival{
					Source: x.key.Source, Ratio: float64(n.sent-lost) / float64(n.sent),
					Sent: n.sent, Lost: lost,
				}
				below.Node, _, _ = x.key.Describe()
				if below.Node != nil {
					below.Name = names[*below.Node]
				}
				a.Below = append(a.Below, below)
			}
		}
		e.mu.Unlock()
	}
	if a.Sent > 0 {
		ratio := float64(a.Sent-a.Lost) / float64(a.Sent)
		a.Ratio = &ratio
	}
	slices.SortFunc(a.Below, func(x, y telemetry.NodeArrival) int {
		return cmp.Or(cmp.Compare(x.Ratio, y.Ratio), cmp.Compare(y.Lost, x.Lost), x.Source.Compare(y.Source),
			cmp.Compare(nodeOrder(x.Node), nodeOrder(y.Node)))
	})
	a.Below = slices.Clip(a.Below[:min(maxBelow, len(a.Below))])
	return a
}
