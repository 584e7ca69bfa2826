package fabric

import (
	"fmt"
	"math/rand/v2"

	"github.com/waybill-int/waybill/fabric/scenario"
)

// A source is one traffic of a scenario: what makes hosts talk.
type source interface {
	// fire does the next thing and returns when to be called again, in virtual time, or never.
	fire(f *Fabric) int64
	// ends returns when nothing new is to be begun any more.
	ends() int64
}

// never is when a source is not called again.
const never = -1

// talk is what all sources have in common.
type talk struct {
	shape
	index  uint32 // of the source in the fabric
	stopNs int64
	random *rand.Rand
	v6     func() bool // of the next conversation
}

func (t *talk) ends() int64 { return t.stopNs }

func (f *Fabric) newTalk(i int, t *scenario.Traffic, kind string) talk {
	s := talk{
		shape: shape{
			label: fmt.Sprintf("traffic[%d] %s", i, kind), udp: t.Transport == "udp", bps: uint64(t.Rate),
			packet: uint64(t.Packet),
			port:   uint16(t.Port), dscp: uint8(t.DSCP), vni: uint32(t.VNI),
		},
		index:  uint32(i),
		stopNs: int64(t.Stop),
		random: f.random(fmt.Sprintf("traffic %d", i)),
	}
	s.tunnel = tunnels[t.Tunnel]
	last := t.IP != "6"
	s.v6 = func() bool {
		if t.IP == "mixed" {
			last = !last
		}
		return !last
	}
	return s
}

// newSource makes the source of a traffic.
func (f *Fabric) newSource(i int, t *scenario.Traffic) source {
	switch {
	case t.Poisson != nil:
		return f.newPoisson(f.newTalk(i, t, "poisson"), t.Poisson)
	case t.Incast != nil:
		return &incast{
			talk: f.newTalk(i, t, "incast"), senders: f.hostsNamed(t.Incast.Senders),
			to:    f.hostsNamed([]string{t.Incast.To})[0],
			bytes: uint64(t.Incast.Bytes), everyNs: int64(t.Incast.Every), jitterNs: int64(t.Incast.Jitter),
		}
	case t.AllReduce != nil:
		return newAllReduce(f.newTalk(i, t, "all_reduce"), f.hostsNamed(t.AllReduce.Hosts), t.AllReduce)
	default:
		return &constant{
			talk: f.newTalk(i, t, "constant"), from: f.hostsNamed([]string{t.Constant.From})[0],
			to: f.hostsNamed([]string{t.Constant.To})[0], bytes: uint64(t.Constant.Bytes),
		}
	}
}

// fire lets a source do its next thing, and schedules the one behind it.
func (f *Fabric) fire(index uint32) {
	s := f.sources[index]
	if nextNs := s.fire(f); nextNs != never {
		f.again(index, nextNs)
	}
}

// again schedules the next thing of a source, unless it ends before.
func (f *Fabric) again(index uint32, atNs int64) {
	if atNs < f.sources[index].ends() {
		f.agenda.add(atNs, evSource, index)
	}
}

// hostsNamed returns hosts by their names, all if there are none.
func (f *Fabric) hostsNamed(names []string) []*host {
	if len(names) == 0 {
		return f.hosts
	}
	list := make([]*host, len(names))
	for i, name := range names {
		list[i] = f.names[name].host
	}
	return list
}
