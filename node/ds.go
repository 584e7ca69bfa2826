package node

import (
	"encoding/hex"
	"slices"

	"github.com/waybill-int/waybill/node/export"
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/inband"
)

// domainData are the metadata of the domain that the node is configured with (INT 2.1 §5.8, §5.9), in the order of the
// DS Instruction bits that the source writes.
type domainData struct {
	sourceOnly []byte // that the source inserts; nil: all ones
	perHop     []byte // of its records; nil: all ones

	// What it reports of itself: a value that is not available is left out (TR 2.0 §3.3.1).
	reportBits uint16
	report     []byte
}

// domainData reads the metadata of the domain.
func (c *Config) domainData(wrong *problems, place string, in *domains) (d domainData) {
	table := in.inside.Points.Domains[c.Domain]
	if len(c.DSMetadata) == 0 {
		return d
	}
	if table == nil || c.Domain == 0 {
		wrong.say(place+"ds_metadata", "the lengths of domain %d are not known: give them in points.ds_lengths",
			c.Domain)
		return d
	}
	var values [16][]byte
	for bit, text := range c.DSMetadata {
		var m codepoint.DSBit
		if bit < 16 && c.DSInstruction&(0x8000>>bit) != 0 {
			m = table[bit]
		}
		value, err := hex.DecodeString(string(text))
		if m.Bytes == 0 || err != nil || len(value) != m.Bytes {
			wrong.say(place+"ds_metadata", "bit %d: got %q, want %d bytes in hex of a bit of ds_instruction", bit,
				text, m.Bytes)
			return domainData{}
		}
		values[bit] = value
	}
	for bit, m := range table {
		mask := uint16(0x8000) >> bit
		switch value := values[bit]; {
		case c.DSInstruction&mask == 0:
		case m.SourceOnly:
			d.sourceOnly = append(d.sourceOnly, orOnes(value, m.Bytes)...)
		default:
			d.perHop = append(d.perHop, orOnes(value, m.Bytes)...)
			if value != nil {
				d.reportBits |= mask
				d.report = append(d.report, value...)
			}
		}
	}
	return d
}

// orOnes returns value, and all ones if there is none: not available.
func orOnes(value []byte, n int) []byte {
	if value == nil {
		return slices.Repeat([]byte{0xFF}, n)
	}
	return value
}

// perHopOf returns the per-hop metadata of the domain for a packet; nil if it asks for others than are known.
func (n *Node) perHopOf(domain, instruction uint16) []byte {
	if domain != n.inside.DomainID || instruction != n.inside.DSInstruction {
		return nil
	}
	return n.data.perHop
}

// describeDomain puts the metadata of the domain into a report in which the node speaks of itself.
func (n *Node) describeDomain(r *export.Report, metadata uint16) {
	if metadata&onlyStack == 0 && r.DomainID == n.inside.DomainID {
		r.DSMdBits, r.DSMetadata = n.data.reportBits, n.data.report
	}
}

// setDSFlags sets the flags of the domain that the node is configured to set in a packet that passes it
// (INT 2.1 §5.2.2).
func (n *Node) setDSFlags() {
	flags := n.config.DSMark
	if flags == 0 || n.inside.Parse(n.out.Frame, &n.copied) != nil || n.copied.INT.DomainID != n.inside.DomainID ||
		n.copied.INT.Version != inband.Version20 {
		return
	}
	out, _ := n.inside.SetDSFlags(n.spare[:0], &n.copied, flags)
	n.spare = n.out.buffer
	n.out.set(out)
}
