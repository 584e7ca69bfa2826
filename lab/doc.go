// Package lab runs scenarios on real kernels: what package fabric emulates, it makes of network namespaces on this
// machine. Every switch and host of a scenario is a namespace, every link a pair of veth interfaces, every switch
// routes with the kernel and has an INT node of package node/kernel. Hosts talk by real sockets.
//
//	l, err := lab.New(s, lab.Options{...})  what of the scenario a kernel can do (Missing says what not)
//	l.Start(ctx)                            the network, its nodes
//	l.Run(ctx)                              traffic and faults, until the scenario ends
//	l.Close()                               nothing is left behind
//
// What a port of a switch is, from outside to inside:
//
//	ethN   veth: XDP of the node at its ingress, tcx at its egress; captures are made here
//	pN     a bridge with ethN only: it has the address, and TBF with the rate and the room of the queue
//
// A link that is to lose packets goes through two more veth pairs and the namespace "wire", where a BPF program drops
// some of them: no switch can see that.
//
// The truth comes from captures at every interface, which this package reads with a parser of its own. See tracker.
//
// To add a fault: 1. its case in fault.go, 2. what it makes packets be lost for, in blame, 3. its row in
// docs/reference/scenarios.md, 4. a test.
package lab
