package export

// An Error is the reason why a report was refused. Errors are small numbers, so that they can be counted in an array.
type Error uint8

// The reasons.
const (
	_ Error = iota
	ErrHWID
	ErrNoFragment
	ErrFragmentKind
	ErrFragmentStart
	ErrDomainMetadata
	ErrTooLong

	// NumErrors is the length of an array that counts every Error.
	NumErrors
)

var errorTexts = [NumErrors]string{
	ErrHWID:           "the hw_id has more than 6 bits",
	ErrNoFragment:     "this version reports packets only, and there is none",
	ErrFragmentKind:   "this version does not report packets that begin like this",
	ErrFragmentStart:  "the packet does not begin with the header that it is said to begin with",
	ErrDomainMetadata: "the domain specific metadata are not as long as their bits say",
	ErrTooLong:        "the metadata leave no room for the first header of the packet",
}

// Error returns the reason in words.
func (e Error) Error() string {
	if e == 0 || e >= NumErrors {
		return "unknown error"
	}
	return errorTexts[e]
}
