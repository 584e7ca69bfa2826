package node

// An Output is what comes out of a call. It is reused: a call empties it first, and what is in it is valid until the
// next.
type Output struct {
	Frame   []byte   // the packet as it leaves; nil: nothing leaves. It is the frame of the call if nothing was changed
	Extra   [][]byte // further packets of the flow for the same port, behind Frame: follow-ups
	Copies  []Copy   // of the packet, for other ports; probe clones for the same
	Reports [][]byte // Ethernet frames to collectors

	buffer []byte
}

// A Copy is a copy of a packet for one of the ports that Egress.Others has, or a probe clone for that of the packet.
type Copy struct {
	Port  uint32
	Frame []byte
}

func (o *Output) reset() {
	o.Frame, o.Extra, o.Copies, o.Reports = nil, o.Extra[:0], o.Copies[:0], o.Reports[:0]
}

// addCopy makes a copy for a port, with the memory of the one that was there before.
func (o *Output) addCopy(port uint32) *Copy {
	if len(o.Copies) < cap(o.Copies) {
		o.Copies = o.Copies[:len(o.Copies)+1]
	} else {
		o.Copies = append(o.Copies, Copy{})
	}
	c := &o.Copies[len(o.Copies)-1]
	c.Port = port
	return c
}

// addFrame makes list longer by an empty frame, with the memory of the one that was there before.
func addFrame(list [][]byte) [][]byte {
	if len(list) == cap(list) {
		return append(list, nil)
	}
	list = list[:len(list)+1]
	last := &list[len(list)-1]
	*last = (*last)[:0]
	return list
}

// set makes b, which was appended to o.buffer[:0], the packet that leaves.
func (o *Output) set(b []byte) { o.buffer, o.Frame = b, b }
