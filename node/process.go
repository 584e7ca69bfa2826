package node

// Process is Arrive, a forwarding decision, and Depart or Drop in one call, for drivers without queues: captures and
// sockets. next is called once, unless the node wants to drop the packet, and says where it goes; Port 0 drops it for
// Egress.Reason. The times of out are those of the Egress.
func (n *Node) Process(frame []byte, in Ingress, next func(*State) Egress, s *State, out *Output) {
	if v := n.Arrive(frame, in, s); v.Drop {
		n.Drop(frame, s, Drop{Place: PlaceIngress, Reason: v.Reason, TimeNs: in.TimeNs}, out)
		return
	}
	e := next(s)
	if e.Port == 0 {
		n.Drop(frame, s, Drop{Place: PlaceIngress, Reason: e.Reason, TimeNs: max(in.TimeNs, e.DepartedNs)}, out)
		return
	}
	n.Depart(frame, s, e, out)
}
