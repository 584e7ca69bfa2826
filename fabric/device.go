package fabric

// A Device is what a switch does about telemetry. The fabric does the rest of a switch: it routes, queues, rewrites TTL
// and MAC addresses, and drops. A Device is used by one goroutine.
//
// For each packet the fabric calls Arrive, and then either Depart or Drop. Packets pass each other between the two, in
// queues of other priority. After Depart a packet may still be too long for the link. Without another call than Arrive
// it is lost only if the telemetry of the switch fails: by a silent blackhole.
type Device interface {
	// Arrive sees a frame as it came from the link. It must not change or keep it. It may change DSCP and Hash of s.
	Arrive(frame []byte, s *PacketState) Verdict

	// Depart sees the frame as it leaves, and may change it: out.Frame.
	Depart(s *PacketState, q *Queued, out *Departure)

	// Drop is told of a packet that the switch loses, also if Arrive wanted it.
	Drop(s *PacketState, d *Dropped, out *Reports)

	// Tick is called every TickNs of virtual time for what does not wait for a packet: reports that were held back,
	// flows that have ended.
	Tick(clockNs uint64, out *Reports)

	// Close sends the reports that are held back. It is the last call.
	Close(clockNs uint64, out *Reports)
}

// TickNs is the interval of Device.Tick in virtual time, nanoseconds.
const TickNs = 1e6

// A PacketState is a packet inside a switch.
type PacketState struct {
	// Slot is a number that no other packet in this switch has, as small as possible: a Device can keep what it must
	// remember between Arrive and Depart in a slice.
	Slot uint32

	Port      uint32 // where it came in, from 1
	ArrivedNs uint64 // when its last bit did, by the clock of the switch, since 1970

	DSCP uint8  // of the outermost IP header; the queue is chosen by it
	Hash uint64 // of the outermost flow key; the path is chosen by it

	// Protocol and DstPort are what access lists look at: of the outermost flow, as it was before INT.
	Protocol uint8
	DstPort  uint16
}

// A Verdict says what becomes of a packet that has arrived.
type Verdict struct {
	Drop   bool
	Reason Reason // of the drop
}

// Queued is what a switch knows of a packet at the end of a queue.
type Queued struct {
	Port  uint32 // where it goes out, from 1
	Queue uint8  // of that port, from 0

	QueueBytes  uint64 // in the queue when it came, itself not counted
	QueueLimit  uint64 // what could have been in the queue then, before it dropped
	BufferBytes uint64 // in all queues of the switch then

	EnqueuedNs uint64 // by the clock of the switch, since 1970
	DepartedNs uint64 // when its first bit leaves

	TxBps uint64 // bit/s that left the port in the last period of about 100 us, with all framing
	Bps   uint64 // bit/s that can
	MTU   int    // of the link, bytes of an IP packet

	Others []Other // ports by which it could have left as well
}

// An Other is a port that leads where a packet goes, at the same cost as the one that it takes.
type Other struct {
	Port       uint32
	SameHop    bool   // to the same next hop
	First      bool   // of the ports to its next hop
	DepartedNs uint64 // when the first bit of a copy would leave there, by the clock of the switch; 0: not known
}

// A Copy is a copy of a packet for another port of the switch.
type Copy struct {
	Port  uint32
	Frame []byte
}

// A Departure is what leaves.
type Departure struct {
	// Frame is the frame, with TTL and MAC addresses as they go out. The Device may change it, cut it at both ends, and
	// append to it; there is room for the largest MTU of the network. It must not leave memory here that it uses again.
	Frame []byte

	// Extra are further frames that leave on the same port right behind Frame: follow-up packets. They are copied after
	// the call, and are no packets of the flow: Stats.Copies counts them.
	Extra [][]byte

	// Copies leave at once by other ports, whose MAC addresses they get. They are copied and counted as Extra is.
	Copies []Copy

	Discard bool   // send nothing, Extra neither
	Reason  Reason // why; ReasonDiscarded if the Device does not say
	Reports
}

// Dropped is what a switch knows of a packet that it loses.
type Dropped struct {
	Frame []byte // as it came; valid during the call

	Place   Place // ingress, queue or egress
	Reason  Reason
	ClockNs uint64 // by the clock of the switch, since 1970

	Port       uint32 // where it was to go out; 0 if that was not known yet
	Queue      uint8  // of that port
	QueueBytes uint64 // in that queue
}

// Reports collects telemetry reports.
type Reports struct {
	bytes []byte
	ends  []int
}

// Add sends a report: an Ethernet frame with IPv4 or IPv6 and UDP. It is copied.
func (r *Reports) Add(frame []byte) {
	r.bytes = append(r.bytes, frame...)
	r.ends = append(r.ends, len(r.bytes))
}

func (r *Reports) addAll(frames [][]byte) {
	for _, frame := range frames {
		r.Add(frame)
	}
}

// Len returns the number of reports.
func (r *Reports) Len() int { return len(r.ends) }

// At returns report i; it is valid until the next call of the Device.
func (r *Reports) At(i int) []byte {
	start := 0
	if i > 0 {
		start = r.ends[i-1]
	}
	return r.bytes[start:r.ends[i]:r.ends[i]]
}

func (r *Reports) reset() { r.bytes, r.ends = r.bytes[:0], r.ends[:0] }
