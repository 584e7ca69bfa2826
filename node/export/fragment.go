package export

import "github.com/waybill-int/waybill/wire/report"

// firstHeaderLen returns the length of the header that a fragment begins with, without options, 0 for an unknown kind.
func firstHeaderLen(kind uint8) int {
	switch kind {
	case report.InEthernet:
		return 14
	case report.InIPv4:
		return 20
	case report.InIPv6:
		return 40
	}
	return 0
}

// checkFragment says why the fragment of r cannot be what its kind says.
func (r *Report) checkFragment() error {
	header := firstHeaderLen(r.Kind)
	switch {
	case header == 0:
		return ErrFragmentKind
	case len(r.Fragment) < header,
		r.Kind == report.InIPv4 && r.Fragment[0]>>4 != 4,
		r.Kind == report.InIPv6 && r.Fragment[0]>>4 != 6:
		return ErrFragmentStart
	}
	return nil
}

// fit returns how much of the fragment of r a report keeps if it has that much room. A cut is at a word boundary.
func (e *Exporter) fit(r *Report, room int) (n int, err error) {
	n = len(r.Fragment)
	if n == 0 {
		return 0, nil
	}
	limit := room
	if e.config.Truncate > 0 {
		limit = min(limit, e.config.Truncate)
	}
	if n > limit {
		n = limit &^ 3
	}
	if n < firstHeaderLen(r.Kind) {
		return 0, ErrTooLong
	}
	return n, nil
}

// countCut counts a fragment of which n bytes were kept.
func (e *Exporter) countCut(r *Report, n int) {
	if n < len(r.Fragment) {
		e.stats.Cut++
	}
	if n < r.Keep {
		e.stats.CutShort++
	}
}

// appendWords appends fragment, which begins with a header of that kind, and zeros up to a word boundary, and returns
// it and how much of the fragment is in it. Nothing in a report tells where a fragment ends that is no multiple of 4
// bytes, but the lengths of the packet do: if they do not, the last bytes are cut. Those behind the packet, with which
// Ethernet fills up a short one, may count as zeros.
func appendWords(b, fragment []byte, kind uint8) ([]byte, int) {
	start := len(b)
	b = append(b, fragment...)
	padding := -len(fragment) & 3
	if padding == 0 {
		return b, len(fragment)
	}
	b = append(b, make([]byte, padding)...)
	if report.FragmentPadding(b[start:], kind) >= padding {
		return b, len(fragment)
	}
	n := len(fragment) &^ 3
	return b[:start+n], n
}
