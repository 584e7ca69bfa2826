package inband

import "github.com/waybill-int/waybill/wire"

// Stack returns the records in body, which is everything behind the header (INT 2.1 §5.8). so is how many bytes of
// source-only metadata the domain's table gives for DS Instruction, or -1 if the domain is not known; then a remainder
// that is no whole record is taken as source-only, and the stack is Unsure. The default domain 0 is always known.
// Errors:
//   - [wire.ErrHopMLMismatch]: Hop ML is less than the bitmap's metadata, or is not exactly that in domain 0, or
//     domain 0 is said to have source-only metadata
//   - [wire.ErrSourceOnlyTruncated]: body is shorter than so
//   - [wire.ErrStackNotMultiple]: body is not whole records and so bytes; or Hop ML is 0 and there is something
func (h *MD) Stack(body []byte, so int) (Stack, error) {
	return h.CutStack(body, len(body), so)
}

// CutStack is Stack for a packet that may have been cut off: length is what the carrier says there should be, body what
// is there. With less than length bytes it returns the whole records and [wire.ErrShimLengthOverrun].
func (h *MD) CutStack(body []byte, length, so int) (s Stack, err error) {
	recordLen := 4 * int(h.HopML)
	ds := recordLen - Widths20.Bytes(h.Bitmap)
	if ds < 0 || h.DomainID == 0 && (ds > 0 || so > 0) {
		return s, wire.ErrHopMLMismatch
	}
	unknown := so < 0 && h.DomainID != 0
	switch {
	case unknown && recordLen > 0:
		so = length % recordLen
	case so < 0:
		so = 0
	}
	s.RecordLen, s.DS, s.Unsure, s.complement = recordLen, ds, unknown, h.Bitmap&insComplement != 0
	err = s.divide(body, length, so)
	return s, err
}
