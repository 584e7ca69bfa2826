// Package kernel is an INT node on the interfaces of a Linux machine that routes. The programs of package bpf change
// packets; those that can be worth a report come here as events, and a node.Node, the same as in the emulated fabric,
// decides about them as if it had changed them itself:
//
//	config, err := kernel.Load("node.yaml")    // docs/how-to/run-a-node-on-linux.md
//	n, err := kernel.New(config)
//	err = n.Run(ctx)
package kernel
