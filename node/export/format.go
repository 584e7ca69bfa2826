package export

import "fmt"

// A Format is what reports look like.
type Format uint8

// The formats.
const (
	TR05                Format = iota // Telemetry Report 0.5: Ethernet fragments only
	TR10                              // Telemetry Report 1.0
	TR20                              // Telemetry Report 2.0
	TransparentSecurity               // TR 2.0 as the Transparent Security profile says
)

var formatNames = [...]string{TR05: "0.5", TR10: "1.0", TR20: "2.0", TransparentSecurity: "transparent-security"}

// ParseFormat reads "0.5", "1.0", "2.0" or "transparent-security".
func ParseFormat(text string) (Format, error) {
	for f, name := range formatNames {
		if name == text {
			return Format(f), nil
		}
	}
	return 0, fmt.Errorf("report format: got %q, want 0.5, 1.0, 2.0 or transparent-security", text)
}

// String returns what ParseFormat reads.
func (f Format) String() string {
	if int(f) >= len(formatNames) {
		return fmt.Sprintf("unknown (%d)", f)
	}
	return formatNames[f]
}

// groups says whether the packets of f have a group header, and room for several reports behind it.
func (f Format) groups() bool { return f >= TR20 }

// sequenceMask returns the width of sequence numbers as a mask (TR 1.0 §3.2, TR 2.0 §3.2).
func (f Format) sequenceMask() uint32 {
	if f.groups() {
		return 1<<22 - 1
	}
	return 1<<32 - 1
}
