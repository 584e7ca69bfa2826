// Package timing puts together what packets of all shards say of time: by how much the clocks of nodes differ, how long
// packets are on links and paths without that difference, and which nodes and links are slower than usual.
package timing
