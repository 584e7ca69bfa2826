package node

import (
	"fmt"
	"net/netip"
	"strconv"

	"github.com/waybill-int/waybill/node/export"
)

var fragmentWords = map[string]bool{"ethernet": false, "ip": true}

// checkReports checks how c reports. Addresses that a switch would have are made up.
func (c *Config) checkReports(wrong *problems, p *plan) {
	r := &c.Reports
	format, err := export.ParseFormat(string(r.Format))
	if err != nil {
		wrong.say("reports.format", "%s", err)
	}
	if format == export.TransparentSecurity && c.Mode != "md" {
		wrong.say("reports.format", "got %s in mode %s, want md", r.Format, c.Mode)
	}
	if _, err := r.collectors(); err != nil {
		wrong.say("reports.to", "%s", err)
	}
	if _, _, err := r.sourcePort(); err != nil {
		wrong.say("reports.source_port", "%s", err)
	}
	if ip := choose(wrong, "reports.fragment", r.Fragment, fragmentWords); ip && format == export.TR05 {
		wrong.say("reports.fragment", "got ip in format 0.5, want ethernet")
	}
	c.checkHWID(wrong, "reports.hw_id")
	if len(*wrong) > 0 {
		return
	}
	s := Spec{Source: netip.AddrFrom4([4]byte{192, 0, 2, 1}), Source6: netip.MustParseAddr("2001:db8::1")}
	if len(r.To) == 0 {
		s.Collectors = []netip.AddrPort{netip.AddrPortFrom(s.Source.Next(), 1)}
	}
	config, err := c.exporter(&s, p)
	if err == nil {
		_, err = export.New(config, func(*export.Datagram) {})
	}
	if err != nil {
		wrong.say("reports", "%s", err)
	}
}

func (c *Config) checkHWID(wrong *problems, place string) {
	if c.Reports.HWID > 63 {
		wrong.say(place, "got %d, want 0 to 63", c.Reports.HWID)
	}
}

// exporter returns the configuration of the exporter of a switch.
func (c *Config) exporter(s *Spec, p *plan) (export.Config, error) {
	r := &c.Reports
	format, err := export.ParseFormat(string(r.Format))
	if err != nil {
		return export.Config{}, err
	}
	e := export.DefaultConfig(format)
	e.NodeID, e.Seed, e.Source = s.NodeID, s.Seed, s.Source
	e.Destinations = s.Collectors
	if len(s.Collectors) == 0 {
		if e.Destinations, err = r.collectors(); err != nil {
			return e, err
		}
	}
	if len(e.Destinations) > 0 && e.Destinations[0].Addr().Is6() {
		e.Source = s.Source6
	}
	if e.SourcePort, e.EntropyPort, err = r.sourcePort(); err != nil {
		return e, err
	}
	if r.MTU > 0 {
		e.MTU = int(r.MTU)
	}
	e.DontFragment, e.CoalesceNs = r.DF, uint64(r.Coalesce)
	e.Domains = p.inside.Points.Domains
	if p.usesPort() {
		e.INTPort = p.inside.Points.INTUDPPort
	}
	e.Frame = export.FrameConfig{SrcMAC: s.mac(), DstMAC: collectorMAC, DSCP: r.DSCP, TTL: r.TTL, Checksum: r.Checksum}
	return e, nil
}

// collectorMAC is where reports go on Ethernet. A node knows no routes: who sends the frames on writes the right one.
var collectorMAC = [6]byte{0x02, 0xFF}

// collectors reads the addresses of the file.
func (r *Reports) collectors() ([]netip.AddrPort, error) {
	var list []netip.AddrPort
	for _, text := range r.To {
		a, err := netip.ParseAddrPort(string(text))
		if err != nil {
			return nil, fmt.Errorf("got %q, want ADDRESS:PORT", text)
		}
		list = append(list, a)
	}
	return list, nil
}

// sourcePort reads the UDP source port.
func (r *Reports) sourcePort() (port uint16, entropy bool, err error) {
	switch r.SourcePort {
	case "", "0":
		return 0, false, nil
	case "entropy":
		return 0, true, nil
	}
	n, err := strconv.ParseUint(string(r.SourcePort), 0, 16)
	if err != nil {
		return 0, false, fmt.Errorf("got %q, want 0 to 65535 or entropy", r.SourcePort)
	}
	return uint16(n), false, nil
}
