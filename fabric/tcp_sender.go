package fabric

// Flags of TCP (RFC 9293 §3.1).
const (
	flagFIN = 0x01
	flagSYN = 0x02
	flagPSH = 0x08
	flagACK = 0x10
)

// A sender is the side of a TCP connection that has data: slow start, congestion avoidance, fast retransmit and NewReno
// recovery (RFC 5681, RFC 6582), retransmission timer (RFC 6298). No SACK, no ECN, no delayed acknowledgements.
//
// Positions count bytes of data from 0; the FIN is the byte behind the last one.
type sender struct {
	isn     uint32 // initial sequence number: that of the SYN
	open    bool   // the SYN is acknowledged
	una     uint64 // first position that is not acknowledged
	next    uint64 // first position to send
	highest uint64 // first position that was never sent

	cwnd, ssthresh uint64 // bytes
	duplicates     int    // acknowledgements of una in a row
	recovering     bool
	recover        uint64 // recovery is over when this position is acknowledged

	rtt       rtt
	timed     bool   // a segment is timed
	timedNs   int64  // when it was sent
	timedUpTo uint64 // where it ends
	timer     timer
	options   [8]byte // of the SYN
}

// dial sends the SYN of a conversation.
func (f *Fabric) dial(c *conversation) {
	t := &c.tx
	t.isn = uint32(mix(uint64(c.forth.id) ^ f.seed))
	t.cwnd, t.ssthresh = initialWindow*c.payload, endless
	t.rtt = rtt{rtoNs: initialRTONs}
	t.timed, t.timedNs = true, f.nowNs
	t.options = [8]byte{2, 4, byte(c.payload >> 8), byte(c.payload), 1, 3, 3, f.windowShift} // MSS, no-op, window scale
	f.send(&c.forth, &segment{flags: flagSYN, seq: t.isn, window: f.window(0), options: t.options[:]})
	f.arm(c)
}

// initialWindow is the congestion window of a new connection in segments (RFC 6928).
const initialWindow = 10

// window returns what the field of a header says about what a receiver offers.
func (f *Fabric) window(shift uint8) uint16 { return uint16(min(f.tcpWindow>>shift, 0xffff)) }

// say sends as much as the windows allow.
func (f *Fabric) say(c *conversation) {
	t := &c.tx
	if !t.open {
		return
	}
	for t.next < c.size || c.closing && t.next == c.size {
		n := min(c.payload, c.size-t.next)
		if flight := t.next - t.una; flight > 0 && flight+n > min(t.cwnd, f.tcpWindow) {
			break
		}
		f.sendData(c, t.next)
		t.next += n
		if c.closing && t.next == c.size {
			t.next++
		}
		t.highest = max(t.highest, t.next)
	}
	if t.una < t.next && !t.timer.armed() {
		f.arm(c)
	}
}

// sendData sends the segment that begins at a position.
func (f *Fabric) sendData(c *conversation, position uint64) {
	t := &c.tx
	n := uint64(0)
	if position < c.size {
		n = min(c.payload, c.size-position)
	}
	s := segment{
		flags: flagACK, seq: t.isn + 1 + uint32(position), ack: c.rx.isn + 1, window: f.window(f.windowShift),
		length: int(n),
	}
	if position+n == c.size {
		s.flags |= flagPSH
		if c.closing {
			s.flags |= flagFIN
		}
	}
	switch {
	case position < t.highest:
		c.forth.retransmitted++
		t.timed = false // an acknowledgement could be of either (Karn's algorithm)
	case !t.timed:
		t.timed, t.timedNs, t.timedUpTo = true, f.nowNs, position+n
	}
	f.send(&c.forth, &s)
}

// acknowledged handles what comes back to the sender.
func (f *Fabric) acknowledged(c *conversation, s *segment) {
	t := &c.tx
	if s.flags&flagSYN != 0 {
		f.opened(c)
		return
	}
	if c.over || !t.open {
		return
	}
	ack := t.una + uint64(int64(int32(s.ack-(t.isn+1)-uint32(t.una))))
	switch {
	case ack > t.una && ack <= t.highest:
		f.advance(c, ack)
	case ack == t.una && t.next > t.una:
		f.duplicate(c)
	}
	if s.flags&flagFIN != 0 && c.over {
		f.send(&c.forth, &segment{
			flags: flagACK, seq: t.isn + 1 + uint32(t.una), ack: s.seq + 1, window: f.window(f.windowShift),
		})
	}
}

// opened handles the answer to the SYN.
func (f *Fabric) opened(c *conversation) {
	t := &c.tx
	if t.open {
		return
	}
	t.open = true
	if t.timed {
		t.rtt.sample(f.nowNs-t.timedNs, f.minRTONs)
		t.timed = false
	}
	t.timer.disarm()
	f.send(&c.forth, &segment{flags: flagACK, seq: t.isn + 1, ack: c.rx.isn + 1, window: f.window(f.windowShift)})
	f.say(c)
}

// advance handles an acknowledgement of something new.
func (f *Fabric) advance(c *conversation, ack uint64) {
	t := &c.tx
	acked := ack - t.una
	t.una = ack
	t.next = max(t.next, ack)
	t.duplicates = 0
	if t.timed && ack >= t.timedUpTo {
		t.rtt.sample(f.nowNs-t.timedNs, f.minRTONs)
		t.timed = false
	}
	t.rtt.reset(f.minRTONs) // the network works again, also if what is acknowledged cannot be timed
	switch {
	case t.recovering && ack >= t.recover:
		t.recovering = false
		t.cwnd = t.ssthresh
	case t.recovering: // there is another hole behind the one that is closed
		t.cwnd = max(t.cwnd-min(acked, t.cwnd)+c.payload, c.payload)
		f.sendData(c, t.una)
	case t.cwnd < t.ssthresh:
		t.cwnd += min(acked, c.payload)
	default:
		t.cwnd += max(c.payload*c.payload/t.cwnd, 1)
	}
	t.timer.disarm()
	if c.closing && t.una > c.size {
		f.finish(c, true)
		return
	}
	if t.una < t.next {
		f.arm(c)
	}
	f.say(c)
}

// duplicate handles an acknowledgement that something behind a hole has arrived.
func (f *Fabric) duplicate(c *conversation) {
	t := &c.tx
	t.duplicates++
	switch {
	case t.recovering:
		t.cwnd += c.payload
		f.say(c)
	case t.duplicates == 3 && t.una >= t.recover:
		t.ssthresh = max((t.next-t.una)/2, 2*c.payload)
		t.cwnd = t.ssthresh + 3*c.payload
		t.recovering, t.recover = true, t.next
		f.sendData(c, t.una)
		f.arm(c)
	}
}

// timeout handles the retransmission timer: back to one segment, from the first hole on.
func (f *Fabric) timeout(c *conversation) {
	t := &c.tx
	t.rtt.backOff()
	t.timed = false
	if !t.open {
		c.forth.retransmitted++
		f.send(&c.forth, &segment{flags: flagSYN, seq: t.isn, window: f.window(0), options: t.options[:]})
		f.arm(c)
		return
	}
	t.ssthresh = max((t.next-t.una)/2, 2*c.payload)
	t.cwnd = c.payload
	t.recovering, t.recover, t.duplicates = false, t.highest, 0
	t.next = t.una
	f.say(c)
}
