package ioam

import "slices"

// A Domain is what all nodes of an IOAM domain agree on. It is only read: one Domain serves any number of goroutines.
//
// A node that writes other data for each namespace has a Domain for each, and calls Transit with one after the other.
type Domain struct {
	// Namespaces are those that the node knows. It leaves all options of others alone (RFC 9197 §4.3). The default
	// namespace, 0, is named here like any other.
	Namespaces []uint16
}

// Knows reports whether the node is to process options of the namespace.
func (d *Domain) Knows(namespace uint16) bool { return slices.Contains(d.Namespaces, namespace) }

// owns reports whether o is an option of the domain. One that is too short for a Namespace-ID is of nobody.
func (d *Domain) owns(o *Option) bool { return len(o.Data) >= namespaceLen && d.Knows(o.NamespaceID) }
