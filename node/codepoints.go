package node

import "github.com/waybill-int/waybill/wire/codepoint"

// CodePoints returns what announces INT in the domain that c describes, the usual values of its carrier included: what
// somebody has to know who reads packets of the domain, for example those in reports.
func (c Config) CodePoints() (codepoint.Points, error) {
	var wrong problems
	d := c.domains(&wrong)
	return d.inside.Points, wrong.err()
}
