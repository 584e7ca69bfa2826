package node

import (
	"github.com/waybill-int/waybill/node/embed"
	"github.com/waybill-int/waybill/node/watch"
)

// A Demand is what an entry of the flow watchlist comes to.
type Demand struct {
	Mode    watch.Mode
	Bitmap  uint16 // Instruction Bitmap that a source writes
	MaxHops uint8  // nodes that can add a record, the source included
}

// Domain returns the INT domain of the node, for who changes packets in its place.
func (n *Node) Domain() *embed.Domain { return &n.inside }

// FlowWatchlist returns the flow watchlist, and what its entries come to, by index; those that say to ignore a packet
// to nothing.
func (n *Node) FlowWatchlist() (*watch.List, []Demand) {
	demands := make([]Demand, len(n.flows.demands))
	for i := range demands {
		d := &n.flows.demands[i]
		demands[i] = Demand{Mode: d.mode, Bitmap: d.bitmap}
		if d.mode == watch.ModeMD {
			demands[i].MaxHops = uint8(n.inside.Hops(&embed.Instruction{Bitmap: d.bitmap}))
		}
	}
	return n.flows.list, demands
}

// Knows returns the instructions of the Instruction Bitmap whose metadata the node is configured to know.
func (n *Node) Knows() (bitmap uint16) {
	for i := range 16 {
		one := watch.Instructions(1) << i
		if fields := fieldsOf(one); fields != 0 && n.omit&fields == 0 {
			bit, _ := one.Bitmap(n.inside.Version)
			bitmap |= bit
		}
	}
	return bitmap
}
