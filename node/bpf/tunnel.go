//go:build linux

package bpf

import (
	"fmt"

	"github.com/waybill-int/waybill/node/embed"
)

// tunnelPoints returns what announces INT in tunnels, as the programs have it: up to four values of Next Protocol of
// VXLAN-GPE, that of them which a source writes, and the one option class of Geneve.
func tunnelPoints(d *embed.Domain) (nexts uint32, next uint8, class uint16, err error) {
	switch d.Carrier {
	case embed.VXLANGPE:
		own, first := d.GPENextProtocols()
		if len(own) > 4 {
			return 0, 0, 0, fmt.Errorf("%d values of Next Protocol, want at most 4", len(own))
		}
		for _, one := range own {
			nexts = nexts<<8 | uint32(one)
		}
		next = first
	case embed.Geneve:
		own := d.OwnGeneveClasses()
		if len(own) != 1 {
			return 0, 0, 0, fmt.Errorf("option classes %#04x, want one", own)
		}
		class = own[0]
	}
	return nexts, next, class, nil
}
