package serve

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/waybill-int/waybill/telemetry"
)

// samplingByNode returns the key "sampling" by node id: nodes are named by id or by a name of the key "names".
func (c *Config) samplingByNode() (map[uint32]telemetry.SampleRate, error) {
	rates := map[uint32]telemetry.SampleRate{}
	for _, node := range slices.Sorted(maps.Keys(c.Sampling)) {
		rate := c.Sampling[node]
		id, err := strconv.ParseUint(node, 0, 32)
		if err != nil {
			named := false
			for number, name := range c.Names {
				if name == node {
					id, named = uint64(number), true
				}
			}
			if !named {
				return nil, fmt.Errorf("sampling: %q is neither the id of a node nor one of names", node)
			}
		}
		if before, twice := rates[uint32(id)]; twice && before != rate {
			return nil, fmt.Errorf("sampling: node %d has two rates, %v and %v", id, before, rate)
		}
		rates[uint32(id)] = rate
	}
	return rates, nil
}
