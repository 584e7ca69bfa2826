package analyze

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze/attack"
	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/internal/test/anynet"
	"github.com/waybill-int/waybill/telemetry"
)

// A trueFlood is what the truth says of floods to an address, or to several of a prefix.
type trueFlood struct {
	prefix         netip.Prefix
	kind           telemetry.AttackKind
	beginNs, endNs int64
	times          float64 // what is an attack
	seen           uint64  // packets that nodes tell of
	filtered       uint64  // of these, those that filters dropped
	devices        map[string]uint64
	pps            float64 // of each device
	forged, unseen bool    // nodes do not see it, but for what filters drop
	told           bool
}

// prefixOf is the prefix in which an address is attacked together with others.
func prefixOf(address string) netip.Prefix {
	a := netip.MustParseAddr(address)
	bits := 48
	if a.Is4() {
		bits = 24
	}
	return netip.PrefixFrom(a, bits).Masked()
}

// floodsOf returns the floods of a network that anynet.Access drew, by their prefix.
func floodsOf(v *virtualCollector, s *scenario.Scenario, stacks bool) map[netip.Prefix]*trueFlood {
	floods, of := map[netip.Prefix]*trueFlood{}, map[uint32]*trueFlood{}
	targets, hosts := map[netip.Prefix]map[string]bool{}, map[string]*truth.Host{}
	for _, r := range v.truth.List {
		if h, ok := r.(*truth.Host); ok {
			hosts[h.Address], hosts[h.Address6] = h, h
		}
	}
	for _, r := range v.truth.List {
		f, ok := r.(*truth.Flow)
		var fault int
		if !ok || !strings.HasSuffix(f.Traffic, " ddos") {
			continue
		}
		fmt.Sscanf(f.Traffic, "faults[%d]", &fault)
		d := s.Faults[fault].DDoS
		prefix := prefixOf(f.Dst)
		x := floods[prefix]
		if x == nil {
			kinds := map[string]telemetry.AttackKind{
				scenario.FloodSYN: telemetry.AttackSYN, scenario.FloodReflection: telemetry.AttackReflection,
				scenario.FloodICMP: telemetry.AttackICMP, scenario.FloodFragments: telemetry.AttackFragments,
			}
			x = &trueFlood{prefix: prefix, kind: kinds[d.Send], beginNs: f.StartNs, devices: map[string]uint64{}}
			if x.kind == 0 {
				x.kind = telemetry.AttackUDP
			}
			x.forged, x.unseen = d.Spoof, stacks && d.Send == scenario.FloodFragments
			floods[prefix], targets[prefix] = x, map[string]bool{}
		}
		of[f.Flow] = x
		if !targets[prefix][f.Dst] {
			pps := float64(d.Rate) / 8 / float64(d.Packet) * float64(len(d.From))
			x.pps += pps / float64(len(d.From))
			x.times += max(pps*8*float64(d.Packet)/anynet.FloorBPS, pps/anynet.FloorPPS)
			targets[prefix][f.Dst] = true
		}
		x.beginNs, x.endNs = min(x.beginNs, f.StartNs), max(x.endNs, f.EndNs)
		x.seen += f.PacketsSent
		if h := hosts[f.Src]; h != nil {
			x.devices[h.MAC] += f.PacketsSent
		}
	}
	for prefix, list := range targets {
		if len(list) > 1 {
			floods[prefix].kind = telemetry.AttackCarpet
		}
	}
	for _, r := range v.truth.List {
		d, ok := r.(*truth.Drop)
		if !ok || of[d.Flow] == nil {
			continue
		}
		if d.Reason == "acl_deny" {
			of[d.Flow].filtered++
		}
		if !d.Seen {
			of[d.Flow].seen--
		}
	}
	return floods
}

// wrongAttacks compares the attacks that were found with the floods of the truth.
func wrongAttacks(v *virtualCollector, floods map[netip.Prefix]*trueFlood, mode *attackMode) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	for _, a := range v.attackRecords() {
		if a.Kind == telemetry.AttackSurge {
			continue
		}
		f := floods[prefixOf(a.Target.String())]
		switch {
		case f == nil:
			say("made up: %s; %v", a.Text, a.Evidence)
			continue
		case f.told:
			say("told again: %s", a.Text)
			continue
		case f.times < 1:
			say("too little to be told: %.2f times: %s", f.times, a.Text)
		}
		f.told = true
		if mode.partly { // what is not told of all must not be said to be all
			knows := a.Effectiveness != nil && *a.Effectiveness < 1
			says := strings.Contains(a.Text, "report some of") && !knows
			if a.Packets < f.seen*9/10 && !says && !strings.Contains(a.Text, " of what is seen of it") {
				say("%d packets, want %d: %s; %v", a.Packets, f.seen, a.Text, a.Evidence)
			}
			if strings.Contains(a.Text, "report some of") && a.Evidence[len(a.Evidence)-1].Name == "pulses" {
				say("reports come in pulses, and not what they are of: %s; %v", a.Text, a.Evidence)
			}
			continue
		}
		if f.unseen {
			if a.FilteredPackets+a.Lost < a.Packets || !strings.Contains(a.Text, " of what is seen of it") {
				say("was seen, it says: %s", a.Text)
			}
			continue
		}
		if a.Kind != f.kind {
			say("is no %v: %s; %v", f.kind, a.Text, a.Evidence)
		}
		if a.End == nil {
			say("goes on: %s", a.Text)
			continue
		}
		begin, end := a.Begin.UnixNano()-v.start, a.End.UnixNano()-v.start
		if off := begin - f.beginNs; off < -int64(quarter) || off > int64(quarter) {
			say("begins %v off: %s", time.Duration(off), a.Text)
		}
		if off := end - f.endNs; off < -int64(quarter) || off > 2*int64(quarter) {
			say("ends %v off: %s", time.Duration(off), a.Text)
		}
		if a.Packets > f.seen+f.seen/100+2 || a.Packets < f.seen-f.seen/100-2 {
			say("%d packets, want %d: %s", a.Packets, f.seen, a.Text)
		}
		if a.FilteredPackets != f.filtered {
			say("%d filtered, want %d: %s", a.FilteredPackets, f.filtered, a.Text)
		}
		named := map[string]bool{}
		for i := range a.Devices {
			named[a.Devices[i].Device] = true
			if want := f.devices[a.Devices[i].Device]; want == 0 {
				say("%s is innocent: %s", a.Devices[i].Device, a.Text)
			} else if got := a.Devices[i].Packets; got > want || !(f.forged && f.filtered > 0) &&
				float64(got) < float64(want)-f.pps*0.45-2 { // it counts sources from the moment that it watches
				say("%d packets of device %s, want %d: %s", got, a.Devices[i].Device, want, a.Text)
			}
		}
		for device, n := range f.devices {
			if mode.stacks && !named[device] && n > f.seen/uint64(20*len(f.devices)) {
				say("device %s is missing: %s", device, a.Text)
			}
		}
	}
	for _, f := range floods {
		if !f.told && f.times > 1 && !f.unseen && !mode.partly {
			say("missed: %v of %v, %.1f times, %d packets", f.kind, f.prefix, f.times, f.seen)
		}
	}
	slices.Sort(wrong)
	return wrong
}

// An attackMode is how nodes report.
type attackMode struct {
	name, nodes string
	stacks      bool
	partly      bool // they report some packets only
}

var attackModes = []attackMode{
	{"stacks", deviceIDs + "carrier: new-udp\n" + everyPacket, true, false},
	{"postcards", "mode: xd\n" + everyPacket, false, false},
	{"by events", deviceIDs + "carrier: new-udp\n", true, true},
}

// attacksOnceWrong are networks of anynet.Access of which something wrong was told once: of each kind that was mended,
// one at least. A crowd that filled a link was an attack (55); uploads were floods of acknowledgements, whose data
// another shard had (98, 139, 239); the first of several pulses was left out (104, 183); a film was carpet bombing
// because its viewers opened connections, too (478), and three films, because others in the prefix got something else
// at the same time (155); of fragments, of which nodes see what is dropped, filters were said to drop all (566), and by
// events of what else they see nothing of (85).
var attacksOnceWrong = []uint64{55, 85, 98, 104, 139, 155, 183, 239, 478, 566}

// TestAnyAttacks has access networks, traffic and floods that nobody has thought of. Each flood that is an attack is
// told once, as what it is, from when to when, with all of its packets, those that filters dropped, and the devices
// that send it; nothing else is an attack. Networks that were wrong once must be right, and with TEST_SEED=all three
// hundred.
func TestAnyAttacks(t *testing.T) {
	seeds, all := drawnNetworks(t, attacksOnceWrong, 300)
	for _, mode := range attackModes {
		t.Run(mode.name, func(t *testing.T) {
			var sum attackCount
			inNetworks(t, seeds, func(t *testing.T, seed uint64) func() {
				shards := 2
				if all {
					shards = 1 + int(seed%3)
				}
				one := countAttacks(t, seed, shards, &mode)
				if len(one.wrong) > 0 {
					t.Log(strings.Join(one.wrong, "\n"))
					if !all {
						t.Fail()
					}
				}
				return func() { sum.add(&one) }
			})
			t.Logf("%d of %d attacks found, %d told; %d networks with something wrong", sum.found, sum.attacks,
				sum.told, sum.networks)
			if sum.networks > 0 {
				t.Error("networks with something wrong")
			}
		})
	}
}

// An attackCount is how many attacks there were, how many of them were found, and how many were told.
type attackCount struct {
	attacks, found, told int
	networks             int // with something wrong
	wrong                []string
}

func (c *attackCount) add(o *attackCount) {
	c.attacks, c.found, c.told = c.attacks+o.attacks, c.found+o.found, c.told+o.told
	if len(o.wrong) > 0 {
		c.networks++
	}
}

// countAttacks runs a network of anynet.Access and compares what was told with the truth.
func countAttacks(t *testing.T, seed uint64, shards int, mode *attackMode) (sum attackCount) {
	t.Helper()
	s := scenarioOf(t, anynet.Access(rand.New(rand.NewPCG(seed, 7))))
	s.INT.Text = []byte(mode.nodes)
	limits := attackLimits()
	limits.Floor = attack.Limit{BPS: anynet.FloorBPS, PPS: anynet.FloorPPS}
	v := emulation{shards: shards, seed: seed + 1, attacks: &limits}.runScenario(t, s)
	floods := floodsOf(v, s, mode.stacks)
	sum.wrong = wrongAttacks(v, floods, mode)
	for _, a := range v.attackRecords() {
		if a.Kind != telemetry.AttackSurge {
			sum.told++
		}
	}
	for _, f := range floods {
		if f.times > 1 && !f.unseen {
			sum.attacks++
			if f.told {
				sum.found++
			}
		}
	}
	return sum
}
