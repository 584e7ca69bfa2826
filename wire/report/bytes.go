package report

// view returns b[from:to] without the capacity behind it, and nil if that is empty, so that a decoded value does not
// depend on where an empty part stood.
func view(b []byte, from, to int) []byte {
	if from == to {
		return nil
	}
	return b[from:to:to]
}

// bit returns mask if set.
func bit(set bool, mask uint8) uint8 {
	if set {
		return mask
	}
	return 0
}
