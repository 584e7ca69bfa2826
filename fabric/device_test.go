package fabric

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/waybill-int/waybill/fabric/truth"
)

// A recorder is a Device that checks what the fabric promises to devices. As an INT-MD node does it makes packets
// longer on their way, by 4 bytes behind the IP packet, and takes all of that away again before a host gets them.
type recorder struct {
	spec    NodeSpec
	inside  map[uint32]PacketState // by slot
	arrived int
	left    int
	dropped int
	most    uint32 // highest slot
	lastNs  uint64 // clock of the last call
	wrong   []string
}

// allRecorders are those of the last network, by name of the switch.
var allRecorders = map[string]*recorder{}

func newRecorders(spec NodeSpec) (Device, error) {
	r := &recorder{spec: spec, inside: map[uint32]PacketState{}}
	allRecorders[spec.Name] = r
	return r, nil
}

func (r *recorder) check(ok bool, format string, args ...any) {
	if !ok && len(r.wrong) < 5 {
		r.wrong = append(r.wrong, r.spec.Name+": "+fmt.Sprintf(format, args...))
	}
}

func (r *recorder) Arrive(frame []byte, s *PacketState) Verdict {
	_, taken := r.inside[s.Slot]
	r.check(!taken || r.spec.Name == "core3", "slot %d is given twice", s.Slot)
	r.check(s.Port >= 1 && int(s.Port) <= len(r.spec.Ports), "no port %d", s.Port)
	r.check([6]byte(frame) == r.spec.Ports[s.Port-1].MAC, "a frame for %x", frame[:6])
	r.inside[s.Slot] = *s
	r.most = max(r.most, s.Slot)
	r.arrived++
	return Verdict{}
}

func (r *recorder) take(s *PacketState, clockNs uint64) {
	r.check(r.inside[s.Slot] == *s && s.ArrivedNs != 0, "left as %+v, arrived as %+v", *s, r.inside[s.Slot])
	r.check(clockNs >= s.ArrivedNs, "left %d ns before it arrived", s.ArrivedNs-clockNs)
	delete(r.inside, s.Slot)
}

func (r *recorder) Depart(s *PacketState, q *Queued, out *Departure) {
	r.take(s, q.DepartedNs)
	r.check(q.EnqueuedNs >= s.ArrivedNs && q.DepartedNs >= q.EnqueuedNs, "times out of order: %+v", *q)
	r.check(q.QueueBytes <= q.BufferBytes, "queue %d, buffer %d", q.QueueBytes, q.BufferBytes)
	r.check(q.TxBps <= q.Bps+q.Bps/8, "%d bit/s through %d", q.TxBps, q.Bps)
	r.left++
	if r.spec.Ports[q.Port-1].Host {
		length := int(binary.BigEndian.Uint16(out.Frame[16:]))
		if out.Frame[14]>>4 == 6 {
			length = 40 + int(binary.BigEndian.Uint16(out.Frame[18:]))
		}
		out.Frame = out.Frame[:14+length]
	} else {
		out.Frame = binary.BigEndian.AppendUint32(out.Frame, r.spec.ID)
	}
	if r.left%50 == 0 {
		out.Add(out.Frame[:34])
	}
}

func (r *recorder) Drop(s *PacketState, d *Dropped, out *Reports) {
	r.take(s, d.ClockNs)
	r.check(len(d.Frame) > 34 && d.Frame[22] > 0, "frame %x", d.Frame)
	r.check(d.Place != PlaceLink && d.Place != PlaceHost, "told of a drop at %s", d.Place)
	r.check((d.Port == 0) == (d.Place == PlaceIngress), "dropped at %s for port %d", d.Place, d.Port)
	r.dropped++
	out.Add(d.Frame)
}

func (r *recorder) Tick(clockNs uint64, _ *Reports) {
	r.check(clockNs > r.lastNs || r.spec.Name == "core1", "clock went from %d to %d", r.lastNs, clockNs)
	r.lastNs = clockNs
}

func (*recorder) Close(uint64, *Reports) {}

// Every packet that arrives at a device leaves or is dropped, once; slots are few; clocks go forward.
func TestDeviceContract(t *testing.T) {
	list, f := ran(t, everything, Options{Device: newRecorders}, 400*time.Millisecond)
	silent := 0
	for _, d := range of[*truth.Drop](list) {
		if d.Reason == "routing_miss" && !d.Seen {
			silent++
		}
	}
	arrived, hops := 0, f.Stats().Hops
	for _, r := range allRecorders {
		for _, wrong := range r.wrong {
			t.Error(wrong)
		}
		missing := r.arrived - r.left - r.dropped - len(r.inside)
		if r.spec.Name == "core3" { // it has a silent blackhole, so that packets vanish and their slots are given again
			missing = max(missing-silent, 0)
		}
		if r.arrived == 0 || missing != 0 {
			t.Errorf("%s: %d arrived, %d left, %d dropped, %d inside", r.spec.Name, r.arrived, r.left, r.dropped,
				len(r.inside))
		}
		if int(r.most) > 2000 {
			t.Errorf("%s: slot %d", r.spec.Name, r.most)
		}
		arrived += r.arrived
	}
	if silent == 0 || uint64(arrived) >= hops {
		t.Errorf("%d silent drops, %d packets at devices, %d at switches: core1 was without a device for a while",
			silent, arrived, hops)
	}
}

// fixed is a Device that does one thing.
type fixed struct {
	arrive func(frame []byte, s *PacketState) Verdict
	depart func(s *PacketState, q *Queued, out *Departure)
	drop   func(s *PacketState, d *Dropped, out *Reports)
	tick   func(clockNs uint64, out *Reports)
}

func (d *fixed) Arrive(frame []byte, s *PacketState) Verdict {
	if d.arrive == nil {
		return Verdict{}
	}
	return d.arrive(frame, s)
}

func (d *fixed) Depart(s *PacketState, q *Queued, out *Departure) {
	if d.depart != nil {
		d.depart(s, q, out)
	}
}

func (d *fixed) Drop(s *PacketState, l *Dropped, out *Reports) {
	if d.drop != nil {
		d.drop(s, l, out)
	}
}

func (d *fixed) Tick(clockNs uint64, out *Reports) {
	if d.tick != nil {
		d.tick(clockNs, out)
	}
}

func (d *fixed) Close(clockNs uint64, out *Reports) { d.Tick(clockNs, out) }

// on gives one switch a Device.
func on(name string, d Device) func(NodeSpec) (Device, error) {
	return func(spec NodeSpec) (Device, error) {
		if spec.Name == name {
			return d, nil
		}
		return nil, nil
	}
}

// line is two hosts with three switches between them.
const line = `
duration: 1s
topology:
  graph:
    switches: [{name: s1}, {name: s2, role: middle}, {name: s3}]
    links:
      - {between: [s1, s2], rate: 100M, delay: 10us, mtu: 1600}
      - {between: [s2, s3], rate: 100M, delay: 10us, mtu: 1600}
    hosts:
      - {name: a, at: s1, link: {rate: 100M, delay: 1us}}
      - {name: b, at: s3, link: {rate: 100M, delay: 1us}}
truth: {sample_packets: 1}
`

const lineUDP = line + "traffic: [{constant: {from: a, to: b}, rate: 10M, packet: 500}]\n"

// What a device does with packets has its effect.
func TestDeviceActs(t *testing.T) {
	reasons := map[Reason]int{}
	note := func(_ *PacketState, d *Dropped, _ *Reports) { reasons[d.Reason]++ }
	n := 0
	third := func() bool { n++; return n%3 == 0 }

	for _, test := range []struct {
		name   string
		device fixed
		want   Reason
	}{
		{
			"verdict",
			fixed{
				drop:   note,
				arrive: func([]byte, *PacketState) Verdict { return Verdict{Drop: third(), Reason: 123} },
			},
			123,
		},
		{
			"discard",
			fixed{drop: note, depart: func(_ *PacketState, _ *Queued, out *Departure) { out.Discard = third() }},
			ReasonDiscarded,
		},
		{"too long", fixed{drop: note, depart: func(_ *PacketState, q *Queued, out *Departure) {
			if third() {
				out.Frame = append(out.Frame, make([]byte, q.MTU)...)
			}
		}}, ReasonMTU},
		{"damage", fixed{drop: note, depart: func(_ *PacketState, _ *Queued, out *Departure) {
			if third() {
				out.Frame[len(out.Frame)-1] ^= 1
			}
		}}, ReasonRefused},
		{"left over", fixed{drop: note, depart: func(_ *PacketState, _ *Queued, out *Departure) {
			if third() {
				out.Frame = append(out.Frame, 0, 0)
			}
		}}, ReasonRefused},
		{"route", fixed{drop: note, arrive: func(_ []byte, s *PacketState) Verdict {
			s.Hash, s.DSCP = 0, 255 // any value does
			return Verdict{}
		}}, 255},
	} {
		n = 0
		clear(reasons)
		_, f := ran(t, lineUDP, Options{Device: on("s2", &test.device)}, time.Second)
		s := f.Stats()
		want := s.Sent / 3
		if test.want == 255 {
			want = 0
		}
		if got := s.Dropped[test.want]; got+1 < want || got > want || got != s.Lost() {
			t.Errorf("%s: %d of %d dropped for %s, %d for all reasons", test.name, got, s.Sent, test.want, s.Lost())
		}
		told := reasons[test.want]
		if test.name == "verdict" && uint64(told) != s.Dropped[test.want] || test.name != "verdict" && told != 0 {
			t.Errorf("%s: the device was told of %v", test.name, reasons)
		}
	}
}

// A device sees true times, queues and frames.
func TestDeviceSees(t *testing.T) {
	var first *Queued
	var state PacketState
	var frame []byte
	device := &fixed{depart: func(s *PacketState, q *Queued, out *Departure) {
		if first == nil {
			first, state = new(Queued), *s
			*first = *q
			frame = append(frame, out.Frame...)
		}
	}}
	_, f := ran(t, lineUDP+"clocks: {offset: 1ms}\n", Options{Device: on("s2", device), EpochNs: 1e18},
		10*time.Millisecond)
	// 500 bytes of IP are 538 on the wire, 43,040 ns at 100 Mbit/s. From a to s2: two links, and the pipeline of s1.
	const serial = (500 + 14 + 24) * 80
	n := f.names["s2"]
	arrived := uint64(1e18 + n.clock.offsetNs + serial + 1000 + 800 + serial + 10000)
	want := Queued{Port: 2, QueueLimit: 1e6, Bps: 100e6, MTU: 1600, EnqueuedNs: arrived, DepartedNs: arrived + 800}
	if !reflect.DeepEqual(*first, want) || state.Port != 1 || state.ArrivedNs != arrived {
		t.Errorf("got %+v of %+v, want %+v", *first, state, want)
	}
	if n.clock.offsetNs == 0 || len(frame) != 514 || [6]byte(frame) != n.ports[1].peer.mac ||
		[6]byte(frame[6:]) != n.ports[1].mac || frame[22] != 62 {
		t.Errorf("frame %x", frame)
	}
}

// Reports of ticks, and of the end, have no packet; they come by the clock of the switch.
func TestDeviceTick(t *testing.T) {
	ticks := 0
	device := &fixed{tick: func(clockNs uint64, out *Reports) {
		ticks++
		if clockNs != 1e18+uint64(min(ticks, 10))*TickNs { // the eleventh is Close
			t.Errorf("tick %d at %d", ticks, clockNs)
		}
		out.Add(make([]byte, 60))
		out.Add(make([]byte, 61))
	}}
	list, f := ran(t, line, Options{Device: on("s2", device), EpochNs: 1e18}, 10*time.Millisecond)
	reports := of[*truth.Report](list)
	if len(reports) != 22 || ticks != 11 || f.Stats().Reports != 22 ||
		*reports[21] != (truth.Report{TimeNs: 10e6, Node: 2, Number: 22, Length: 61}) {
		t.Errorf("%d ticks, %d reports", ticks, len(reports))
	}
}

func TestDeviceError(t *testing.T) {
	s := parseScenario(t, line)
	_, err := New(s,
		Options{Device: func(spec NodeSpec) (Device, error) { return nil, fmt.Errorf("no %s", spec.Role) }})
	if err == nil || err.Error() != "telemetry of s1: no " {
		t.Errorf("got %v", err)
	}
}

// The specification of a switch says what its device has to know.
func TestNodeSpec(t *testing.T) {
	var specs []NodeSpec
	newFabric(t, line+"nodes: [{name: s1, without_int: true}]\n", Options{Device: func(spec NodeSpec) (Device, error) {
		specs = append(specs, spec)
		return nil, nil
	}})
	if len(specs) != 2 || specs[0].Name != "s2" || specs[0].ID != 2 || specs[0].Role != "middle" ||
		specs[0].Queues != 2 {
		t.Fatalf("got %+v", specs)
	}
	want := PortSpec{ID: 2, MAC: [6]byte{2, 1, 0, 3, 0, 2}, Peer: "b", Host: true, Bps: 100e6, MTU: 1500}
	if got := specs[1].Ports[1]; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if specs[1].Address.String() != "10.255.0.3" || specs[1].Address6.String() != "fd00:0:0:ffff::3" {
		t.Errorf("addresses %s and %s", specs[1].Address, specs[1].Address6)
	}
}
