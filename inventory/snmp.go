package inventory

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gosnmp/gosnmp"

	"github.com/waybill-int/waybill/internal/conf"
	"github.com/waybill-int/waybill/internal/conf/unit"
	"github.com/waybill-int/waybill/telemetry"
)

// snmpDevices are devices that are asked by SNMP with the same credentials: version 2c with a community, version 3 with
// a user.
type snmpDevices struct {
	Devices       map[uint32]string `yaml:"devices"` // addresses by node id
	Every         *unit.Duration    `yaml:"every"`
	Timeout       *unit.Duration    `yaml:"timeout"` // of one request, which is sent three times
	Ports         portNumbers       `yaml:"ports"`
	CommunityFile string            `yaml:"community_file"`
	User          string            `yaml:"user"`
	Auth          string            `yaml:"auth"`
	AuthFile      string            `yaml:"auth_password_file"`
	Privacy       string            `yaml:"privacy"`
	PrivacyFile   string            `yaml:"privacy_password_file"`
}

var (
	snmpAuth = map[string]gosnmp.SnmpV3AuthProtocol{
		"sha": gosnmp.SHA, "sha256": gosnmp.SHA256, "sha384": gosnmp.SHA384, "sha512": gosnmp.SHA512,
	}
	snmpPrivacy = map[string]gosnmp.SnmpV3PrivProtocol{"aes": gosnmp.AES, "aes256": gosnmp.AES256}
)

func (g *snmpDevices) sources(d *conf.Document, key string) (list []Source) {
	checkEvery(d, key, g.Every)
	if t := g.timeout(); t < 100*time.Millisecond || t > time.Minute {
		d.Say(key+".timeout", "got %v, want 100ms to 1m", t)
	}
	choose := func(name, value string, choices []string) {
		if slices.Sort(choices); value != "" && !slices.Contains(choices, value) {
			d.Say(key+"."+name, "got %q, want one of %s", value, strings.Join(choices, ", "))
		}
	}
	choose("auth", g.Auth, slices.Collect(maps.Keys(snmpAuth)))
	choose("privacy", g.Privacy, slices.Collect(maps.Keys(snmpPrivacy)))
	switch {
	case (g.CommunityFile == "") == (g.User == ""):
		d.Say(key, "want either community_file (version 2c) or user (version 3)")
	case g.User == "" && g.Auth+g.AuthFile+g.Privacy+g.PrivacyFile != "":
		d.Say(key, "auth and privacy are of a user (version 3)")
	case (g.Auth == "") != (g.AuthFile == ""):
		d.Say(key, "auth and auth_password_file are needed together")
	case (g.Privacy == "") != (g.PrivacyFile == ""):
		d.Say(key, "privacy and privacy_password_file are needed together")
	case g.Privacy != "" && g.Auth == "":
		d.Say(key, "privacy needs auth")
	}
	checkSecret(d, key+".community_file", g.CommunityFile)
	checkSecret(d, key+".auth_password_file", g.AuthFile)
	checkSecret(d, key+".privacy_password_file", g.PrivacyFile)
	return deviceSources(d, key, g.Devices, "161", func(node uint32, address string) Source {
		return &snmpDevice{g, node, address}
	})
}

func (g *snmpDevices) timeout() time.Duration {
	if g.Timeout == nil {
		return 2 * time.Second
	}
	return time.Duration(*g.Timeout)
}

// session returns one that is not connected yet.
func (g *snmpDevices) session(ctx context.Context, host string, port uint16) (*gosnmp.GoSNMP, error) {
	s := &gosnmp.GoSNMP{
		Target: host, Port: port, Context: ctx, Timeout: g.timeout(), Retries: 2, MaxRepetitions: 25, MaxOids: 60,
		Version: gosnmp.Version2c,
	}
	var err error
	if g.User == "" {
		s.Community, err = readSecret(g.CommunityFile)
		return s, err
	}
	user := &gosnmp.UsmSecurityParameters{UserName: g.User}
	s.Version, s.SecurityModel, s.SecurityParameters = gosnmp.Version3, gosnmp.UserSecurityModel, user
	s.MsgFlags = gosnmp.NoAuthNoPriv
	if g.Auth != "" {
		s.MsgFlags, user.AuthenticationProtocol = gosnmp.AuthNoPriv, snmpAuth[g.Auth]
		if user.AuthenticationPassphrase, err = readSecret(g.AuthFile); err != nil {
			return s, err
		}
	}
	if g.Privacy != "" {
		s.MsgFlags, user.PrivacyProtocol = gosnmp.AuthPriv, snmpPrivacy[g.Privacy]
		user.PrivacyPassphrase, err = readSecret(g.PrivacyFile)
	}
	return s, err
}

// An snmpDevice is a Source.
type snmpDevice struct {
	*snmpDevices
	node    uint32
	address string // with its port
}

// Origin implements Source.
func (s *snmpDevice) Origin() telemetry.InventoryOrigin { return SNMP }

// String implements Source.
func (s *snmpDevice) String() string { return "snmp " + s.address }

// Every implements Source.
func (s *snmpDevice) Every() time.Duration { return every(s.snmpDevices.Every) }

// Objects of SNMPv2-MIB, IF-MIB and LLDP-MIB.
const (
	sysName       = ".1.3.6.1.2.1.1.5.0"
	ifDescr       = ".1.3.6.1.2.1.2.2.1.2"
	ifType        = ".1.3.6.1.2.1.2.2.1.3"
	ifPhysAddress = ".1.3.6.1.2.1.2.2.1.6"
	ifName        = ".1.3.6.1.2.1.31.1.1.1.1"
	ifHighSpeed   = ".1.3.6.1.2.1.31.1.1.1.15"
	ifAlias       = ".1.3.6.1.2.1.31.1.1.1.18"

	lldpLocChassisIDSubtype = ".1.0.8802.1.1.2.1.3.1.0"
	lldpLocChassisID        = ".1.0.8802.1.1.2.1.3.2.0"
	lldpLocPortEntry        = ".1.0.8802.1.1.2.1.3.7.1"
	lldpRemEntry            = ".1.0.8802.1.1.2.1.4.1.1"
)

// ethernetTypes are the values of ifType of ports that have a wire of Ethernet.
var ethernetTypes = []uint64{6, 62, 69, 117}

// Subtypes of LLDP's ids (IEEE 802.1AB, 8.5.2 and 8.5.3).
const (
	lldpPortAlias     = 1
	lldpPortMAC       = 3
	lldpPortInterface = 5
	lldpPortLocal     = 7
	lldpChassisMAC    = 4
)

// Read implements Source.
func (s *snmpDevice) Read(ctx context.Context) (*Known, error) {
	host, portText, err := net.SplitHostPort(s.address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return nil, err
	}
	session, err := s.session(ctx, host, uint16(port))
	if err != nil {
		return nil, err
	}
	if err := session.Connect(); err != nil {
		return nil, err
	}
	defer session.Close()
	return s.read(&snmpReader{session: session})
}

func (s *snmpDevice) read(r *snmpReader) (*Known, error) {
	k := &Known{Nodes: map[uint32]telemetry.InventoryNode{}, Chassis: map[string]uint32{}}
	first := r.get(sysName, lldpLocChassisIDSubtype, lldpLocChassisID)
	if r.err != nil {
		return nil, r.err
	}
	n := telemetry.InventoryNode{Name: k.name(textOf(first[0])), Ports: map[uint32]telemetry.InventoryPort{}}
	ports := s.readPorts(r, k)
	for _, p := range ports {
		n.Ports[p.number] = p.InventoryPort
	}
	if chassis := bytesOf(first[2]); len(chassis) > 0 {
		n.Neighbours = true
		k.Chassis[chassisName(numberOf(first[1]), chassis)] = s.node
		s.readNeighbours(r, k, ports)
	}
	k.Nodes[s.node] = n
	return k, r.err
}

// An snmpPort is a port with what else tells it from others.
type snmpPort struct {
	telemetry.InventoryPort
	number     uint32 // in reports
	descr, mac string
}

// readPorts returns the ports of Ethernet by ifIndex.
func (s *snmpDevice) readPorts(r *snmpReader, k *Known) map[uint32]*snmpPort {
	types, descriptions, addresses := r.column(ifType), r.column(ifDescr), r.column(ifPhysAddress)
	names, aliases, speeds := r.column(ifName), r.column(ifAlias), r.column(ifHighSpeed)
	ports, numbers := map[uint32]*snmpPort{}, map[uint32]bool{}
	for _, index := range slices.Sorted(maps.Keys(types)) {
		if !slices.Contains(ethernetTypes, numberOf(types[index])) {
			continue
		}
		p := &snmpPort{descr: textOf(descriptions[index]), mac: macText(bytesOf(addresses[index]))}
		name := textOf(names[index])
		if name == "" {
			name = p.descr
		}
		p.Name = k.name(name)
		p.Description, p.Speed = cut(textOf(aliases[index]), maxDescription), numberOf(speeds[index])*1e6
		var ok bool
		if p.number, ok = s.Ports.number(index, name); !ok || numbers[p.number] || len(ports) >= maxPorts {
			k.LeftOut++
			continue
		}
		ports[index], numbers[p.number] = p, true
	}
	return ports
}

// readNeighbours adds what LLDP tells to k.
func (s *snmpDevice) readNeighbours(r *snmpReader, k *Known, ports map[uint32]*snmpPort) {
	// lldpLocPortEntry: index is lldpLocPortNum, columns 2 subtype, 3 id, 4 description.
	local := r.rows(lldpLocPortEntry, 1)
	// lldpRemEntry: indices are time mark, local port and a number, columns 4 and 5 chassis, 6 and 7 port, 8
	// description of the port, 9 system.
	for _, row := range r.rows(lldpRemEntry, 3) {
		at := row.index[1]
		p := localPort(ports, at, local)
		chassis := bytesOf(row.columns[5])
		if p == nil || len(chassis) == 0 || len(k.Neighbours) >= maxNeighbours {
			k.LeftOut++
			continue
		}
		n := Neighbour{
			Node: s.node, Port: p.number, Chassis: chassisName(numberOf(row.columns[4]), chassis),
			System: cut(textOf(row.columns[9]), maxText),
		}
		id, description := textOf(row.columns[7]), textOf(row.columns[8])
		if numberOf(row.columns[6]) == lldpPortMAC {
			id = macText(bytesOf(row.columns[7]))
			id, description = description, id
		}
		for _, name := range []string{id, description} {
			if name != "" {
				n.Ports = append(n.Ports, cut(name, maxText))
			}
		}
		k.Neighbours = append(k.Neighbours, n)
	}
}

// localPort returns the port that LLDP has under a number of its own; nil: none.
func localPort(ports map[uint32]*snmpPort, number uint32, local []snmpRow) *snmpPort {
	at := slices.IndexFunc(local, func(row snmpRow) bool { return row.index[0] == number })
	if at < 0 {
		return ports[number]
	}
	subtype, id := numberOf(local[at].columns[2]), local[at].columns[3]
	description := textOf(local[at].columns[4])
	for _, is := range []func(p *snmpPort) bool{
		func(p *snmpPort) bool {
			switch subtype {
			case lldpPortInterface, lldpPortLocal:
				return p.Name == textOf(id) || p.descr == textOf(id)
			case lldpPortAlias:
				return p.Description != "" && p.Description == textOf(id)
			}
			return false
		},
		func(p *snmpPort) bool { return description != "" && (p.Name == description || p.descr == description) },
		func(p *snmpPort) bool { return subtype == lldpPortMAC && p.mac != "" && p.mac == macText(bytesOf(id)) },
	} {
		for _, index := range slices.Sorted(maps.Keys(ports)) {
			if is(ports[index]) {
				return ports[index]
			}
		}
	}
	if index, err := strconv.ParseUint(textOf(id), 10, 32); err == nil && subtype == lldpPortLocal {
		return ports[uint32(index)]
	}
	return ports[number]
}

// An snmpReader asks one device. The first error stays.
type snmpReader struct {
	session *gosnmp.GoSNMP
	err     error
}

// get returns values of objects; an Absent one of each that is not there.
func (r *snmpReader) get(objects ...string) []gosnmp.SnmpPDU {
	values := make([]gosnmp.SnmpPDU, len(objects))
	if r.err != nil {
		return values
	}
	answer, err := r.session.Get(objects)
	switch {
	case err != nil:
		r.err = err
	case answer.Error != gosnmp.NoError:
		r.err = fmt.Errorf("the device answers %v", answer.Error)
	default:
		copy(values, answer.Variables)
	}
	return values
}

var errManyRows = errors.New("a table has more than 65536 values")

// walk calls f with what is below an object.
func (r *snmpReader) walk(object string, f func(index []uint32, v gosnmp.SnmpPDU)) {
	if r.err != nil {
		return
	}
	n := 0
	r.err = r.session.BulkWalk(object, func(v gosnmp.SnmpPDU) error {
		if n++; n > 1<<16 {
			return errManyRows
		}
		rest, ok := strings.CutPrefix(v.Name, object+".")
		if !ok {
			return nil
		}
		var index []uint32
		for part := range strings.SplitSeq(rest, ".") {
			number, err := strconv.ParseUint(part, 10, 32)
			if err != nil {
				return nil
			}
			index = append(index, uint32(number))
		}
		f(index, v)
		return nil
	})
}

// column returns the values of a column with an index of one number.
func (r *snmpReader) column(object string) map[uint32]gosnmp.SnmpPDU {
	values := map[uint32]gosnmp.SnmpPDU{}
	r.walk(object, func(index []uint32, v gosnmp.SnmpPDU) {
		if len(index) == 1 {
			values[index[0]] = v
		}
	})
	return values
}

// An snmpRow is a row of a table.
type snmpRow struct {
	index   []uint32
	columns map[uint32]gosnmp.SnmpPDU
}

// rows returns those of a table whose index has so many numbers, in the order in which they came.
func (r *snmpReader) rows(entry string, indices int) (list []snmpRow) {
	places := map[string]int{}
	r.walk(entry, func(index []uint32, v gosnmp.SnmpPDU) {
		if len(index) != indices+1 {
			return
		}
		key := fmt.Sprint(index[1:])
		at, ok := places[key]
		if !ok {
			at = len(list)
			places[key] = at
			list = append(list, snmpRow{index[1:], map[uint32]gosnmp.SnmpPDU{}})
		}
		list[at].columns[index[0]] = v
	})
	return list
}

func bytesOf(v gosnmp.SnmpPDU) []byte {
	b, _ := v.Value.([]byte)
	return b
}

func textOf(v gosnmp.SnmpPDU) string { return strings.TrimSpace(string(bytesOf(v))) }

func numberOf(v gosnmp.SnmpPDU) uint64 {
	switch v.Type {
	case gosnmp.Integer, gosnmp.Gauge32, gosnmp.Counter32, gosnmp.Uinteger32:
		return gosnmp.ToBigInt(v.Value).Uint64()
	}
	return 0
}

func macText(b []byte) string {
	if len(b) != 6 {
		return ""
	}
	return net.HardwareAddr(b).String()
}

// chassisName writes an id of LLDP so that it is the same whoever tells of it.
func chassisName(subtype uint64, id []byte) string {
	if subtype == lldpChassisMAC {
		return "mac " + macText(id)
	}
	return fmt.Sprintf("%d %s", subtype, hex.EncodeToString(id[:min(len(id), maxText)]))
}

// name returns one that a device tells, if it is one.
func (k *Known) name(text string) string {
	if text == "" {
		return ""
	}
	if _, err := strconv.ParseUint(text, 0, 64); err == nil || !isName(text) {
		k.LeftOut++
		return ""
	}
	return text
}

// cut leaves out what is not printable, and what is behind so many bytes.
func cut(text string, limit int) string {
	text = strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
	if len(text) <= limit {
		return text
	}
	for !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

func readSecret(name string) (string, error) {
	text, err := os.ReadFile(name)
	return strings.TrimSpace(string(text)), err
}
