package report

import "encoding/binary"

// A TSForm is one of the two reports that the programs of Transparent Security send. Both use the layout of TR 2.0 in
// ways that it does not allow, so they have types of their own.
type TSForm uint8

// The forms of a report from a Transparent Security program.
const (
	TSFormNone    TSForm = iota // none of the two: read it as TR 2.0 says, V20
	TSFormTracked               // TSTracked
	TSFormDrop                  // TSDrop
)

// TSKind tells which form the bytes behind the group header have. It is for sources that are configured as Transparent
// Security programs: from others, the same bytes mean what TR 2.0 says.
//
// A report without main contents that carries the domain of the profile where main contents would stand comes from such
// a program. With DS extension data inside and a drop reason announced, it is a drop report.
func TSKind(b []byte) TSForm {
	if len(b) < v20FirstWordLen+4 || b[0]>>4 != RepInnerOnly || binary.BigEndian.Uint16(b[6:]) != TSDomain {
		return TSFormNone
	}
	if b[0]&0x0F == InDSExtension && binary.BigEndian.Uint16(b[4:]) == MDDrop {
		return TSFormDrop
	}
	return TSFormTracked
}
