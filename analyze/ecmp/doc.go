// Package ecmp learns by what ports of a node packets leave for the same destination, and says when one of these ports
// carries much more than its share.
package ecmp
