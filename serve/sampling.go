package serve

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/waybill-int/waybill/telemetry"
)

// samplingByNode returns the key "sampling" by node id.
func (c *Config) samplingByNode() (map[uint32]telemetry.SampleRate, error) {
	return byNode(c, "sampling", "rates", c.Sampling)
}

// queueUnits returns the key "queue_unit" by node id, and what the inventory has of others.
func (c *Config) queueUnits() (map[uint32]telemetry.QueueUnit, error) {
	units, err := byNode(c, "queue_unit", "units", c.QueueUnit)
	known := c.inventory.Known() // no other source has units
	if err != nil || known == nil {
		return units, err
	}
	for id, node := range known.Nodes {
		if _, has := units[id]; !has && node.Unit != nil {
			units[id] = *node.Unit
		}
	}
	return units, nil
}

// utilizationUnits returns the key "utilization_unit" by node id.
func (c *Config) utilizationUnits() (map[uint32]telemetry.UtilizationUnit, error) {
	return byNode(c, "utilization_unit", "units", c.UtilizationUnit)
}

// byNode returns the values of a key by node id: nodes are named by id or by name.
func byNode[V comparable](c *Config, key, values string, of map[string]V) (map[uint32]V, error) {
	list := map[uint32]V{}
	for _, node := range slices.Sorted(maps.Keys(of)) {
		v := of[node]
		id, err := strconv.ParseUint(node, 0, 32)
		if err != nil {
			named := false
			for number, name := range c.NodeNames() {
				if name == node {
					id, named = uint64(number), true
				}
			}
			if !named {
				return nil, fmt.Errorf("%s: %q is neither the id of a node nor one of names", key, node)
			}
		}
		if before, twice := list[uint32(id)]; twice && before != v {
			return nil, fmt.Errorf("%s: node %d has two %s, %v and %v", key, id, values, before, v)
		}
		list[uint32(id)] = v
	}
	return list, nil
}
