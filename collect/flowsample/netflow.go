package flowsample

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net/netip"
	"time"

	"github.com/netsampler/goflow2/v2/decoders/netflow"

	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/codepoint"
)

const (
	maxDomains      = 4096 // observation domains of exporters of which templates are known
	maxTemplates    = 8192 // of all of them
	maxOfDomain     = 256  // templates of one, and sampling rates
	maxFields       = 256  // of a template
	domainForgotten = time.Hour
)

// A NetFlow decodes NetFlow version 9 (RFC 3954) and IPFIX (RFC 7011). One goroutine calls Decode.
type NetFlow struct {
	Stats
	reports   *telemetry.Decoder
	domains   map[domainKey]*domain
	templates int
	swept     time.Time // when domains were looked through last for those that are silent
}

// A domainKey names an observation domain of an exporter, the source id of NetFlow 9.
type domainKey struct {
	source  netip.Addr
	version uint16
	id      uint32
}

// A domain is what is known of an observation domain: its templates, in the library's store, and its sampling rates.
type domain struct {
	netflow.NetFlowTemplateSystem
	owner     *NetFlow
	templates int
	rates     map[rateKey]uint32
	account   *account
	bootMs    uint64 // when its clock began, in ms since 1970 (systemInitTimeMilliseconds); 0: not told
	last      time.Time
}

// NewNetFlow returns a decoder that takes the nodes of exporters from config, which must be compiled.
func NewNetFlow(config *codepoint.Config) *NetFlow {
	return &NetFlow{reports: telemetry.NewDecoder(config), domains: map[domainKey]*domain{}}
}

// Use has the decoder go on with another configuration.
func (n *NetFlow) Use(config *codepoint.Config) { n.reports.Use(config) }

// A message is the header of a datagram.
type message struct {
	domainKey
	tally
	uptimeMs, timeMs uint64 // of the export: since the device began (NetFlow 9), and since 1970
}

// readMessage reads the header, and returns the sets behind it. cut: the message has another length than the datagram.
func readMessage(b []byte) (m message, sets []byte, cut, ok bool) {
	if len(b) < 16 {
		return m, nil, false, false
	}
	switch m.version = binary.BigEndian.Uint16(b); {
	case m.version == 9 && len(b) >= 20: // RFC 3954 §5.1
		m.uptimeMs, m.timeMs = uint64(binary.BigEndian.Uint32(b[4:])), uint64(binary.BigEndian.Uint32(b[8:]))*1000
		m.number, m.id = binary.BigEndian.Uint32(b[12:]), binary.BigEndian.Uint32(b[16:])
		return m, b[20:], false, true
	case m.version == 10: // RFC 7011 §3.1
		m.timeMs = uint64(binary.BigEndian.Uint32(b[4:])) * 1000
		m.number, m.id = binary.BigEndian.Uint32(b[8:]), binary.BigEndian.Uint32(b[12:])
		length := int(binary.BigEndian.Uint16(b[2:]))
		return m, b[16:min(max(length, 16), len(b))], length != len(b), true
	}
	return m, nil, false, false
}

// Decode appends the reports in a datagram to batch, and fills h, as telemetry.Decoder.Decode does. The node is that
// which source_nodes has for the sender.
func (n *NetFlow) Decode(payload []byte, src netip.AddrPort, dstPort uint16, batch *telemetry.Batch,
	h *telemetry.Header,
) {
	n.reports.BeginObservations(payload, src, dstPort, batch, h)
	before, broke := len(batch.Reports), verdict{}
	m, rest, cut, ok := readMessage(payload)
	if !ok {
		h.Outcome, h.Reason = telemetry.Malformed, wire.ErrSampleHeader
		return
	}
	m.source = src.Addr().Unmap()
	h.HWID, h.Domain = uint8(m.id), m.id
	if m.version == 9 {
		h.Version, h.Dialect, h.Counting = telemetry.VersionNetFlow9, "netflow9", telemetry.CountsDatagrams
	} else {
		h.Version, h.Dialect, h.Counting = telemetry.VersionIPFIX, "ipfix", telemetry.CountsUnsettled
	}
	h.NodeID, h.HasNodeID = n.reports.NodeOf(src.Addr())
	d := n.domains[m.domainKey]
	if d != nil {
		d.last = time.Now()
	}
	for len(rest) >= 4 {
		id, length := binary.BigEndian.Uint16(rest), int(binary.BigEndian.Uint16(rest[2:]))
		if length < 4 || length > len(rest) {
			break
		}
		set := rest[:length:length]
		rest = rest[length:]
		switch {
		case id >= 256:
			n.data(d, &m, id, set[4:], h, &broke)
		case id>>1 == m.version-9: // 0 and 1 of NetFlow 9, 2 and 3 of IPFIX
			if d == nil {
				if d = n.newDomain(m.domainKey); d == nil {
					n.add(NoRoom, 1)
					continue
				}
			}
			if !fits(id, set[4:]) {
				n.unreadable(&broke)
				continue
			}
			_, err := netflow.DecodeMessageCommonFlowSet(bytes.NewBuffer(set), d, m.id, m.version) // adds to d
			if err != nil {
				n.unreadable(&broke)
			}
		default:
			n.add(UnknownKind, 1)
		}
	}
	if len(rest) > 0 || cut {
		n.unreadable(&broke)
	}
	h.Reports, h.Reason = len(batch.Reports)-before, broke.reason
	if h.Reason != 0 {
		h.Outcome, m.uncounted = telemetry.Damaged, true
	}
	if d != nil {
		m.timeS = uint32(m.timeMs / 1000)
		h.RecordsMissing, h.Repeated, h.RecordsRestarted = d.account.observe(&m.tally)
		h.Counting = d.account.counting()
	}
	h.Sequence = m.number
	h.HasSequence = h.Counting == telemetry.CountsDatagrams || d != nil && d.account.rule == messages
}

func (n *NetFlow) unreadable(broke *verdict) {
	n.add(Unreadable, 1)
	broke.note(wire.ErrSampleRecord)
}

// newDomain returns what is to be known of a domain, or nil if there is no room.
func (n *NetFlow) newDomain(key domainKey) *domain {
	now := time.Now()
	full := func() bool { return len(n.domains) >= maxDomains || n.templates >= maxTemplates }
	if full() && now.Sub(n.swept) > time.Minute {
		n.swept = now
		for key, d := range n.domains {
			if now.Sub(d.last) > domainForgotten {
				n.templates -= d.templates
				delete(n.domains, key)
			}
		}
	}
	if full() {
		return nil
	}
	d := &domain{
		NetFlowTemplateSystem: netflow.CreateTemplateSystem(), owner: n, rates: map[rateKey]uint32{}, last: now,
		account: newAccount(key.version),
	}
	n.domains[key] = d
	return d
}

// fits reports whether the templates in a set have as many fields as they say: the library makes room for them first.
func fits(id uint16, b []byte) bool {
	for len(b) >= 4 {
		header, fields := 4, int(binary.BigEndian.Uint16(b[2:]))
		if id == 1 || id == 3 {
			if len(b) < 6 {
				return false
			}
			header = 6
			scopes := int(binary.BigEndian.Uint16(b[4:]))
			if id == 1 { // both lengths are in bytes
				fields = fields/4 + scopes/4
			} else if scopes > fields {
				return false
			}
		}
		for b = b[header:]; fields > 0; fields-- {
			length := 4
			if id >= 2 && len(b) > 0 && b[0]&0x80 != 0 { // with the number of an enterprise
				length = 8
			}
			if len(b) < length {
				return false
			}
			b = b[length:]
		}
	}
	return true
}

var errTemplate = errors.New("a template whose records have no length, or too many fields")

// AddTemplate implements netflow.NetFlowTemplateSystem. Templates for which there is no room are counted.
func (d *domain) AddTemplate(version uint16, id uint32, number uint16, template any) error {
	scopes, fields := fieldsOf(template)
	if number < 256 || size(scopes, fields) == 0 || len(scopes)+len(fields) > maxFields {
		return errTemplate
	}
	if _, err := d.GetTemplate(version, id, number); err != nil {
		if d.templates >= maxOfDomain || d.owner.templates >= maxTemplates {
			d.owner.add(NoRoom, 1)
			return nil
		}
		d.templates++
		d.owner.templates++
	}
	return d.NetFlowTemplateSystem.AddTemplate(version, id, number, template)
}

// fieldsOf returns the fields of a template; scopes are nil unless it is one of options.
func fieldsOf(template any) (scopes, fields []netflow.Field) {
	switch t := template.(type) {
	case netflow.TemplateRecord:
		return nil, t.Fields
	case netflow.NFv9OptionsTemplateRecord:
		return t.Scopes, t.Options
	case netflow.IPFIXOptionsTemplateRecord:
		return t.Scopes, t.Options
	}
	return nil, nil
}

// variable is the length of a field that says in each record how long it is (RFC 7011 §7).
const variable = 0xFFFF

// size returns how many bytes a record has at least; 0: none, or a field of it has none. The library would find no end
// of the former, and takes long for the latter.
func size(scopes, fields []netflow.Field) int {
	sum := 0
	for _, list := range [][]netflow.Field{scopes, fields} {
		for i := range list {
			switch list[i].Length {
			case 0:
				return 0
			case variable:
				sum++
			default:
				sum += int(list[i].Length)
			}
		}
	}
	return sum
}

// data takes a set of data records. What is left behind the last one is padding.
func (n *NetFlow) data(d *domain, m *message, id uint16, b []byte, h *telemetry.Header, broke *verdict) {
	var template any
	if d != nil {
		template, _ = d.GetTemplate(m.version, m.id, id)
	}
	if template == nil {
		n.add(NoTemplate, 1) // nobody knows how many records these are
		m.uncounted = true
		return
	}
	scopes, fields := fieldsOf(template)
	least := size(scopes, fields)
	for rest := bytes.NewBuffer(b); rest.Len() >= least; {
		scope, ok := record(m.version, rest, scopes)
		values, whole := record(m.version, rest, fields)
		switch {
		case !ok || !whole:
			n.unreadable(broke)
			return
		case scopes != nil:
			m.records++
			d.option(m.version, scope, values)
		default:
			m.records++
			m.flows++
			n.flow(d, m, values, h)
		}
	}
}

// record reads the fields of a record. It is false if the record ends before they do, which the library does not tell.
func record(version uint16, b *bytes.Buffer, fields []netflow.Field) ([]netflow.DataField, bool) {
	values, err := netflow.DecodeDataSetUsingFields(version, b, fields)
	for i := 0; err == nil && i < len(fields); i++ {
		v, ok := values[i].Value.([]byte)
		if !ok || fields[i].Length != variable && len(v) != int(fields[i].Length) {
			return nil, false
		}
	}
	return values, err == nil
}
