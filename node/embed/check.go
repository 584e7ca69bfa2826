package embed

import (
	"errors"
	"slices"

	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/inband"
	"github.com/waybill-int/waybill/wire/packet"
)

// Check names everything in d that cannot work together, one line each; nil if nothing is wrong. The other functions do
// not need it: in a domain that is wrong they do less, but they do not panic.
func (d *Domain) Check() error {
	if d.Mode == XD {
		return nil
	}
	var errs []error
	for _, c := range [...]struct {
		wrong bool
		text  string
	}{
		{d.Mode != MX && d.Mode != MD, "mode: want XD, MX or MD"},
		{d.Mode == MX && d.Version != inband.Version20, errMX.Error()},
		{d.Version < inband.Version2016 || d.Version > inband.Version20, "version: want 2016, 0.5, 1.0 or 2.x"},
		{
			d.Carrier < DstPort || d.Carrier > GRE,
			"carrier: want a port, a new UDP header, DSCP, marker, VXLAN-GPE, Geneve or GRE",
		},
		{
			d.Version == inband.Version10 && d.usesPort(),
			"carrier: in the shim of INT 1.0 is no place for the port that a packet had (§4.6.1), want dscp or marker",
		},
		{!d.hasCarrier() && !(d.Version == inband.Version10 && d.usesPort()), "carrier: this version does not have it"},
		{!d.hasPoint(), "carrier: its code point is not configured"},
		{d.usesPort() && d.portTaken(), "int_udp_port: that is the port of telemetry reports or of a tunnel"},
		{d.Mode == MD && d.MaxHops == 0, "the maximum number of hops is 0"},
		{d.Mode == MX && d.Complement, "checksum complement: INT-MX inserts no metadata that it could balance"},
		{d.Complement && d.Version < inband.Version10, "checksum complement: this version does not have it"},
		{
			d.Complement && (d.Carrier == NewUDP || d.Carrier == GRE),
			"checksum complement: with this carrier no checksum of TCP or UDP covers INT",
		},
		{
			d.beforeTCPOptions() && d.optionsFirst(),
			"INT before TCP options: INT 0.5 and probe markers come behind them",
		},
		{d.ReplicaPolicy > ReplicateBoth, "replica policy: want 0 to 3"},
		{d.ReplicaPolicy != NoReplicas && d.Version == inband.Version20, "replica policy: INT 2.x has D instead"},
		{d.NewIP && d.Carrier != NewUDP && d.Carrier != DstPort, "new IP header: only in front of a new UDP header"},
		{d.DomainID != 0 && d.Version != inband.Version20, "domain: only INT 2.x has a Domain Specific ID"},
	} {
		if c.wrong {
			errs = append(errs, errors.New(c.text))
		}
	}
	if d.Version == inband.Version20 {
		if _, err := d.demand(&Instruction{MaxHops: 1}); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// hasCarrier reports whether the version can be carried like that.
func (d *Domain) hasCarrier() bool {
	switch d.Version {
	case inband.Version2016:
		return d.Carrier == VXLANGPE || d.Carrier == Geneve
	case inband.Version05:
		return d.Carrier == VXLANGPE || d.Carrier == Geneve || d.Carrier == DSCP || d.Carrier == DstPort
	case inband.Version10:
		return d.Carrier == VXLANGPE || d.Carrier == Geneve || d.Carrier == DSCP || d.Carrier == Marker
	}
	return d.Version == inband.Version20
}

// hasPoint reports whether what marks INT is configured.
func (d *Domain) hasPoint() (ok bool) {
	points := &d.Points
	switch d.Carrier {
	case DstPort, NewUDP:
		ok = points.INTUDPPort != 0
	case DSCP:
		ok = points.MarksDSCP(points.INTDSCP)
	case Marker:
		ok = points.ProbeMarker != 0
	case VXLANGPE:
		_, ok = d.gpeNext()
	case Geneve:
		_, ok = d.geneveClass()
	case GRE:
		ok = points.GREProtocol >= 0x0600 && points.GREProtocol != packet.EtherTypeIPv4 &&
			points.GREProtocol != packet.EtherTypeIPv6
	}
	return ok
}

func (d *Domain) usesPort() bool { return d.Carrier == DstPort || d.Carrier == NewUDP }

func (d *Domain) portTaken() bool {
	port := d.Points.INTUDPPort
	return isTunnel(port) || slices.Contains(d.Points.ReportPorts, port)
}

// optionsFirst reports whether INT has to stand behind TCP options. Some dialects of INT 0.4 do otherwise.
func (d *Domain) optionsFirst() bool {
	spec := d.Dialect == nil || d.Dialect == codepoint.Specification
	return d.Carrier == Marker || d.Version == inband.Version05 && spec
}
