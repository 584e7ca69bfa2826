// Package fabric emulates a network of switches and hosts, event by event in virtual time, with real packets as bytes
// at every hop. It knows the truth about every packet and writes it down (package truth); what it runs is a scenario
// (package scenario); telemetry is a Device in each switch.
//
//	s, err := scenario.Load("scenarios/incast.yaml")
//	f, err := fabric.New(s, fabric.Options{Truth: file, Device: ...})
//	err = f.Run(ctx, time.Duration(s.Duration))
//	err = f.Close()
//
// The same scenario with the same seed gives the same packets, the same reports and the same truth, byte by byte.
//
// # The life of a packet
//
// A host makes it (build) and puts it into the queue of its only port. When the link is free (transmit) its bits go out
// at the rate of the link, and the last one arrives after the delay (arriveLink). A switch (arriveSwitch) shows it to
// its Device, drops it or finds its route (table, choose), and puts it into a queue of a port (enqueue) if the shared
// buffer has room. At the head of the queue (depart) it gets the TTL and MAC addresses of the next link, and the Device
// has it for a second time. The host that it is for (receive) checks it as a network stack does and gives it to TCP or
// counts it.
//
// A packet costs two events at a switch under load, its arrival and the moment when the port is free again, and only
// the first when the port is idle. Nothing is allocated for a packet once there have been as many before as fit into
// the network.
//
// # What is not as in a real network
//
// Routes are computed in one place and change everywhere at once, a fixed time after a link did. A switch spends the
// latency of its pipeline behind the queue. It looks at the outermost IP header only and knows no VLANs, no multicast
// and no ARP. TCP has neither SACK nor ECN and acknowledges every segment. Hosts answer at once, and what has no
// payload does not wait behind data there. Telemetry reports do not travel through the emulated network. Two faults of
// one kind at one switch must not overlap: the end of the first would mend both.
package fabric
