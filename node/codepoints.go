package node

import (
	"slices"

	"github.com/waybill-int/waybill/node/embed"
	"github.com/waybill-int/waybill/node/watch"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/inband"
)

// CodePoints returns what announces INT in the domain that c describes, the usual values of its carrier included: what
// somebody has to know who reads packets of the domain, for example those in reports.
func (c Config) CodePoints() (codepoint.Points, error) {
	var wrong problems
	d := c.domains(&wrong)
	return d.inside.Points, wrong.err()
}

// Tunnels returns in which tunnels packets can carry INT of the domain that c describes; none: in any, and without one.
func (c Config) Tunnels() []telemetry.Tunnel {
	var wrong problems
	d := c.domains(&wrong).inside
	exports := func(e watch.Entry) bool { return e.Mode == watch.ModeXD }
	switch {
	case d.Mode == embed.XD || slices.ContainsFunc(c.Watch, exports):
		return nil
	case d.Carrier == embed.Geneve:
		return []telemetry.Tunnel{telemetry.TunnelGeneve}
	case d.Carrier == embed.VXLANGPE && d.Version != inband.Version20:
		return []telemetry.Tunnel{telemetry.TunnelVXLANGPE}
	case d.Carrier == embed.VXLANGPE:
		return []telemetry.Tunnel{telemetry.TunnelVXLANGPE, telemetry.TunnelVXLAN}
	}
	return nil
}
