package truth

// A Record is one line of a truth file: *Run, *Switch, *Host, *Link, *Flow, *Path, *Hop, *Drop, *Burst, *Fault, *Report
// or *End.
type Record interface {
	// Append appends the record as a line of JSON, its line feed included.
	Append(b []byte) []byte
}
