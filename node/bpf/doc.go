// Package bpf is what an INT node does to packets, as programs in the Linux kernel (src, in C), and what loads them:
//
//	programs, err := bpf.Load(config)
//	err = programs.Watch(n.FlowWatchlist())   // of a node.Node
//	err = programs.Attach(ports)
//	err = programs.Read(&event)               // in a loop
//	reporter.Report(&event, &output)          // reports, as that node makes them
//
// # The life of a packet
//
//	XDP at ingress     arrive   reads the headers, asks the flow watchlist and the kernel's routes, and then inserts
//	                            INT, adds a record, or removes INT: at the egress it would be too late, for the kernel
//	                            compares packets with the MTU before
//	tcx at egress      enqueue  of a bridge around the port: when the packet enters its queue, and what waits there
//	tcx at egress      depart   completes the record by port, times and queue, and hands over the event
//
// Between them a packet carries a struct state as metadata in front of it (Linux 6.18). Packets that can be worth a
// report leave their front in one of the slots; depart sends it through a ring buffer with what it knows. Package node
// decides in user space whether there is a report, as it does for the emulated fabric: events, formats and watchlists
// are there once.
//
// Whatever the programs cannot do with a packet they do not do: it is passed as it was, and counted.
//
// To change the programs: 1. src, 2. go generate, which needs clang 14 and llvm, 3. the objects into the same commit.
// TestSameAsNode compares what they do with package node, byte for byte.
package bpf
