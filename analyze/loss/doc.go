// Package loss finds the links that lose packets of which no node says why, and estimates how much each link loses: by
// what TCP sent again, by numbers that sources give to packets, and by postcards that only a part of the nodes sent.
package loss
