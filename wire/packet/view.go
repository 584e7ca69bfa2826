package packet

// view returns b[from:to] as a view that cannot grow into the bytes behind it, or nil if it is empty.
// The caller has checked that from <= to <= len(b).
func view(b []byte, from, to int) []byte {
	if from == to {
		return nil
	}
	return b[from:to:to]
}
