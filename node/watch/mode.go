package watch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill-int/waybill/internal/conf/unit"
)

// A Mode is a mode of INT operation (INT 2.1 §3.1).
type Mode uint8

// The modes.
const (
	ModeDefault Mode = iota // what the node is configured with
	ModeMD                  // INT-MD: instructions and metadata in the packet
	ModeMX                  // INT-MX: instructions in the packet, each node reports
	ModeXD                  // INT-XD: nothing in the packet, each node reports by its own watchlist
	ModeIOAM                // IOAM, not INT: what the domain says in IPv6 options
)

var modeNames = []string{ModeDefault: "default", ModeMD: "md", ModeMX: "mx", ModeXD: "xd", ModeIOAM: "ioam"}

// UnmarshalText reads "default", "md", "mx", "xd" or "ioam".
func (m *Mode) UnmarshalText(text []byte) error {
	i, err := find(modeNames, string(text))
	*m = Mode(i)
	return err
}

// String returns what UnmarshalText reads.
func (m Mode) String() string { return nameOf(modeNames, int(m)) }

// MarshalText returns what String does.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// find returns the index of one of the names.
func find(names []string, text string) (int, error) {
	i := slices.Index(names, text)
	if i < 0 {
		return 0, unit.Want("one of " + strings.Join(names, ", "))
	}
	return i, nil
}

func nameOf(names []string, i int) string {
	if i >= len(names) {
		return fmt.Sprintf("unknown (%d)", i)
	}
	return names[i]
}
