package node

import (
	"maps"
	"slices"
	"strings"

	"github.com/waybill-int/waybill/node/embed"
	"github.com/waybill-int/waybill/node/watch"
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/inband"
)

// Words of the file and what they mean.
var (
	versions = map[string]inband.Version{
		"2016": inband.Version2016, "0.5": inband.Version05, "1.0": inband.Version10, "2.0": inband.Version20,
		"2.1": inband.Version20,
	}
	carriers = map[string]embed.Carrier{
		"dst-port": embed.DstPort, "new-udp": embed.NewUDP, "dscp": embed.DSCP, "marker": embed.Marker,
		"vxlan-gpe": embed.VXLANGPE, "geneve": embed.Geneve, "gre": embed.GRE,
	}
	replicaPolicies = map[string]embed.ReplicaPolicy{
		"none": embed.NoReplicas, "ports": embed.ReplicatePorts, "next_hops": embed.ReplicateNextHops,
		"both": embed.ReplicateBoth,
	}
	modes = map[string]watch.Mode{"md": watch.ModeMD, "mx": watch.ModeMX, "xd": watch.ModeXD, "ioam": watch.ModeIOAM}
)

// domains are the INT domain of a node, as it reads and writes packets in different cases.
type domains struct {
	inside  embed.Domain // INT-MD, or INT-XD if that is the mode of the domain
	mx      embed.Domain // for sources of INT-MX
	hasMX   bool         // the version has INT-MX, and the mode is not INT-XD
	outside embed.Domain // inside which no packet has INT: that of packets from edges

	sequence, firstTTL bool // the source tells the sink
}

// domains makes the domain that c describes.
func (c *Config) domains(wrong *problems) (d domains) {
	in := &d.inside
	in.Mode = embed.MD
	in.Version = choose(wrong, "version", c.Version, versions)
	in.Carrier = choose(wrong, "carrier", c.carrier(), carriers)
	in.ReplicaPolicy = choose(wrong, "replicas", c.Replicas, replicaPolicies)
	if c.Dialect != "" {
		dialect, err := codepoint.FindDialect(string(c.Dialect))
		if err != nil {
			wrong.say("dialect", "%s", err)
		}
		in.Dialect = dialect
	}
	in.Points = c.points(wrong, in)
	in.MaxHops, in.Complement, in.ChecksumUpdate, in.NewIP = c.MaxHops, c.Complement, c.ChecksumUpdate, c.NewIP
	in.DomainID, in.DSInstruction, in.DSFlags = c.Domain, c.DSInstruction, c.DSFlags
	for i, word := range c.Destination {
		d.sequence = d.sequence || word == "sequence"
		d.firstTTL = d.firstTTL || word == "ttl"
		if word != "sequence" && word != "ttl" {
			wrong.say(indexed("destination", i), "got %q, want sequence or ttl", word)
		}
	}
	if len(c.Destination) > 0 && in.Carrier != embed.VXLANGPE && in.Carrier != embed.Geneve {
		wrong.say("destination", "carrier %s has room for one header, want vxlan-gpe or geneve", c.carrier())
	}
	d.mx = *in
	d.mx.Mode, d.mx.Complement = embed.MX, false
	mode := choose(wrong, "mode", c.Mode, modes)
	d.hasMX = in.Version == inband.Version20 && mode != watch.ModeXD && mode != watch.ModeIOAM
	if mode == watch.ModeXD || mode == watch.ModeIOAM {
		in.Mode = embed.XD
	}
	d.outside = *in
	d.outside.Mode = embed.XD
	if len(*wrong) > 0 {
		return d
	}
	if err := in.Check(); err != nil {
		wrong.say("mode", "%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	if mode == watch.ModeMX {
		if err := d.mx.Check(); err != nil {
			wrong.say("mode", "%s", strings.ReplaceAll(err.Error(), "\n", "; "))
		}
	}
	return d
}

// carrier returns the name of the carrier. June 2016 has INT in tunnels only.
func (c *Config) carrier() string {
	switch {
	case c.Carrier != "":
		return c.Carrier
	case c.Version == "2016":
		return "geneve"
	}
	return "dscp"
}

// Code points that specifications and programs use in their examples. Naming the carrier is what makes them count.
const (
	usualDSCP        = 0x17
	usualPort        = 17768
	usualGeneveClass = 0x00AB // up to INT 2.0
	usualGREProtocol = 0x4569
)

// points returns the code points of the domain: those that c names, and where it does not name that of the carrier the
// usual one.
func (c *Config) points(wrong *problems, d *embed.Domain) codepoint.Points {
	config := codepoint.New()
	for _, key := range slices.Sorted(maps.Keys(c.Points)) {
		if err := config.Set(key, c.Points[key]); err != nil {
			wrong.say("points."+key, "%s", strings.TrimPrefix(err.Error(), key+": "))
		}
	}
	p := config.Points
	if d.Dialect != nil {
		p = codepoint.NewProfile(&p, d.Dialect).Points
	}
	old := d.Version < inband.Version10
	switch {
	case (d.Carrier == embed.DstPort || d.Carrier == embed.NewUDP) && p.INTUDPPort == 0:
		p.INTUDPPort = usualPort
	case d.Carrier == embed.DSCP && p.INTDSCPMask == 0:
		p.INTDSCP, p.INTDSCPMask = usualDSCP, 0x3F
	case d.Carrier == embed.Geneve && d.Version != inband.Version20 && len(p.GeneveClasses) == 1:
		p.GeneveClasses = append(p.GeneveClasses, usualGeneveClass)
	case d.Carrier == embed.GRE && p.GREProtocol == 0:
		p.GREProtocol = usualGREProtocol
	case d.Carrier == embed.VXLANGPE && old && p.GPENextProtocol5 == codepoint.GPE5None:
		p.GPENextProtocol5 = codepoint.GPE5INT05
		if d.Version == inband.Version2016 {
			p.GPENextProtocol5 = codepoint.GPE5INT2016
		}
	}
	if _, named := c.Points["vxlan_gpe_int_next_protocols"]; c.Version == "2.0" && !named {
		p.GPENextProtocols = []uint8{0x80}
	}
	if p.FormatVersion0 == codepoint.Version0None && old {
		p.FormatVersion0 = codepoint.Version0INT05
		if d.Version == inband.Version2016 {
			p.FormatVersion0 = codepoint.Version0INT2016
		}
	}
	return p
}

// choose returns what a word of the file means.
func choose[T any](wrong *problems, place string, word string, meanings map[string]T) T {
	meaning, ok := meanings[word]
	if !ok {
		wrong.say(place, "got %q, want one of %s", word, strings.Join(words(meanings), ", "))
	}
	return meaning
}

func words[T any](m map[string]T) []string {
	var list []string
	for w := range m {
		list = append(list, string(w))
	}
	slices.Sort(list)
	return list
}
