package inband

// A Layout is where the metadata lie in the records of one packet. It is a small value: make it anew for each packet.
type Layout struct {
	format Format
	bitmap uint16
	len    int
}

// Masks of the instruction bits that mean the same in all formats but June 2016 (INT 2.1 §5.8). Bit 6 is queue
// congestion in INT 0.5, and bits 8 and 15 are reserved there.
const (
	insNodeID     = 0x8000 >> 0
	insL1         = 0x8000 >> 1
	insHopLatency = 0x8000 >> 2
	insQueue      = 0x8000 >> 3
	insIngressTS  = 0x8000 >> 4
	insEgressTS   = 0x8000 >> 5
	insL2         = 0x8000 >> 6
	insTxUtil     = 0x8000 >> 7
	insBuffer     = 0x8000 >> 8
	insReserved   = 0x007E // bits 9-14
	insComplement = 0x8000 >> 15
)

// All ones: the value is not available.
const (
	notAvailable24 = 1<<24 - 1
	notAvailable31 = 1<<31 - 1 // June 2016, below the bottom of stack bit
	notAvailable32 = 1<<32 - 1
	notAvailable64 = 1<<64 - 1
)

// NewLayout returns the layout of records in format f with the metadata of bitmap.
func NewLayout(f Format, bitmap uint16) Layout {
	return Layout{format: f, bitmap: bitmap, len: f.Widths().Bytes(bitmap)}
}

// Format returns the format that l was made for.
func (l *Layout) Format() Format { return l.format }

// Bitmap returns the instructions that l was made for.
func (l *Layout) Bitmap() uint16 { return l.bitmap }

// Len returns the length of a record in bytes, without DS metadata.
func (l *Layout) Len() int { return l.len }

// Decode reads the metadata of one record into m. It sets Has and Invalid, the fields in Has, and nothing else.
// The metadata of bits 0-14 are at the start of record and the checksum complement of INT 1.0 and 2.x in its last word;
// DS metadata between them are left to Stack.DSMetadata and Stack.SourceOnly. A record shorter than Len is read like
// DecodePartial does. m keeps no reference to record.
//
// Invalid holds what is all ones (June 2016: all 31). Where two values share a word or pair of words, both are in it if
// all of that is ones; half of it is an ordinary value (INT 2.1 §5.8).
func (l *Layout) Decode(record []byte, m *Metadata) {
	switch {
	case len(record) < l.len:
		l.DecodePartial(record, m)
	case l.format == Format2016:
		l.decode2016(record, m)
	default:
		l.decodeWords(record, m)
	}
}

// DecodePartial reads what is left of a record whose end was cut off, such as Stack.Partial. Has holds only what is
// complete. It never reads a checksum complement, which would be the last word.
func (l *Layout) DecodePartial(record []byte, m *Metadata) {
	part := Layout{format: l.format}
	for bit, width := range l.format.Widths()[:15] {
		mask := uint16(0x8000) >> bit
		if l.bitmap&mask == 0 {
			continue
		}
		if part.len+int(width) > len(record) {
			break
		}
		part.bitmap |= mask
		part.len += int(width)
	}
	part.Decode(record[:part.len], m)
}

// Append appends a record with the metadata of m, Len bytes. What is not in Has, or is in Invalid, is sent as not
// available; reserved instruction bits as all ones (INT 2.1 §5.8). In format 2016 the bottom of stack bit is 0: the
// first node of a path sets it in the last word. Values are cut to their width.
func (l *Layout) Append(dst []byte, m *Metadata) []byte {
	return l.AppendDS(dst, m, nil)
}

// AppendDS is Append for a record with DS metadata, which go before the checksum complement; len(ds) bytes longer.
func (l *Layout) AppendDS(dst []byte, m *Metadata, ds []byte) []byte {
	if l.format == Format2016 {
		return append(l.append2016(dst, m), ds...)
	}
	return l.appendWords(dst, m, ds)
}
