package filter

// A Kind is the type of a field: what it is compared with and how.
type Kind uint8

// Kinds of fields. The comment says what a column holds; a Value is made by the function of that name.
const (
	Uint     Kind = iota + 1 // unsigned integer; FromUint
	Float                    // DOUBLE; FromFloat
	Ratio                    // DOUBLE, 1 is 100 %; FromFloat
	Duration                 // BIGINT, nanoseconds; FromDuration
	Size                     // unsigned integer, bytes; FromUint
	Rate                     // unsigned integer, bits per second; FromUint
	Time                     // TIMESTAMP_NS; FromTime
	Address                  // two UBIGINT, see the package comment; FromAddr
	MAC                      // unsigned integer of 48 bits; FromMAC
	Text                     // VARCHAR; FromText
	Bool                     // BOOLEAN; FromBool
	Enum                     // unsigned integer, one of Field.Choices; FromUint
	Node                     // unsigned integer; FromUint
)

// kinds describes each kind to users.
var kinds = [...]struct{ name, indefinite, example string }{
	Uint:     {"number", "a number", "42 or 0x2a"},
	Float:    {"decimal", "a decimal number", "0.5"},
	Ratio:    {"percentage", "a percentage", "87.5%"},
	Duration: {"duration", "a duration", "50us or 1h30m"},
	Size:     {"size", "a size", "1500B or 64KiB"},
	Rate:     {"rate", "a rate", "10Gbit/s"},
	Time:     {"time", "a time", "2026-11-21T08:00:00Z or now-5m"},
	Address:  {"address", "an address", "10.0.0.1 or 2001:db8::1"},
	MAC:      {"mac", "a MAC address", "02:00:00:00:00:01"},
	Text:     {"text", "a text", `"spine 1"`},
	Bool:     {"boolean", "a boolean", "true or false"},
	Enum:     {"choice", "one of a list of names", "a name or its number"},
	Node:     {"node", "a node", "3, 0x3eb or leaf1"},
}

// String returns the name of k in the reference, such as "duration".
func (k Kind) String() string {
	if k < Uint || k > Node {
		return "unknown"
	}
	return kinds[k].name
}

// ordered reports whether the values of k have an order that means something.
func (k Kind) ordered() bool { return k >= Uint && k <= Time }
