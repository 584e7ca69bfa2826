package node

// sweep is the share of the table of flows that a Tick looks at for flows that have ended.
const sweep = 1024

// Tick does what does not wait for a packet: it sends reports that have waited long enough for others, and forgets
// flows that have gone quiet. It is to be called every millisecond or so.
func (n *Node) Tick(nowNs uint64, out *Output) {
	out.reset()
	n.out = out
	n.flowEvents.Sweep(nowNs, 1+n.flowEvents.Buckets()/sweep)
	if n.dropEvents != nil {
		n.dropEvents.Sweep(nowNs, 1+n.dropEvents.Buckets()/sweep)
	}
	if n.exporter != nil {
		n.exporter.Flush(nowNs)
	}
	n.out = nil
}

// Lose says that so many reports were lost before the node could make them: their numbers are left out. It says whether
// a collector can see that.
func (n *Node) Lose(reports uint32) bool { return n.exporter != nil && n.exporter.Lose(reports) }

// Close sends the reports that are held back. It is the last call.
func (n *Node) Close(nowNs uint64, out *Output) {
	out.reset()
	n.out = out
	if n.exporter != nil {
		n.exporter.Drain(nowNs)
	}
	n.out = nil
}
