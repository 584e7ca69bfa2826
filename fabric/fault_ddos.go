package fabric

import (
	"fmt"

	"github.com/waybill-int/waybill/fabric/scenario"
)

// ddos lets devices send datagrams to a victim.
type ddos struct {
	shape
	from []*host
	to   *host
	v6   bool

	flows []*conversation // under way
}

func (f *Fabric) newDDoS(fault int, d *scenario.DDoS) *ddos {
	t := &ddos{
		shape: shape{
			label: fmt.Sprintf("faults[%d] ddos", fault), udp: true, bps: uint64(d.Rate), packet: uint64(d.Packet),
			port:  uint16(d.Port),
			send:  d.Send,
			phase: f.random(fmt.Sprintf("ddos %d", fault)),
		},
		from: f.hostsNamed(d.From), to: f.hostsNamed([]string{d.To})[0], v6: d.IP == "6",
	}
	if d.Spoof {
		t.forger = f.random(fmt.Sprintf("ddos %d forges", fault))
	}
	return t
}

func (t *ddos) begin(f *Fabric) {
	for _, h := range t.from {
		t.flows = append(t.flows, f.begin(&t.shape, h, t.to, t.v6, endless, false))
	}
}

func (t *ddos) end(f *Fabric) {
	for _, c := range t.flows {
		f.stop(c)
	}
	t.flows = t.flows[:0]
}
