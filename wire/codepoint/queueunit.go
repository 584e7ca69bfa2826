package codepoint

import (
	"fmt"
	"strconv"
	"strings"
)

// A QueueUnit is what a device counts the occupancy of its queues in. Reports do not tell; a dialect whose devices are
// known does, or the configuration.
type QueueUnit uint32

// Units. Cells of N bytes each are CellsOf(N).
const (
	UnitUnknown QueueUnit = iota
	UnitBytes
	UnitPackets
	UnitCells // of an unknown size
)

const maxCellBytes = 1 << 16

// CellsOf returns the unit of cells of so many bytes.
func CellsOf(bytes uint32) QueueUnit { return UnitCells + QueueUnit(bytes) }

// CellBytes returns the size of a cell; false if the unit is not cells, or cells of an unknown size.
func (u QueueUnit) CellBytes() (uint64, bool) { return uint64(u) - uint64(UnitCells), u > UnitCells }

// Bytes returns how many bytes of buffer a depth is, where the conversion is exact.
func (u QueueUnit) Bytes(depth uint64) (uint64, bool) {
	if u == UnitBytes {
		return depth, true
	}
	cell, ok := u.CellBytes()
	return depth * cell, ok
}

// Words is the unit behind a number.
func (u QueueUnit) Words() string {
	if cell, ok := u.CellBytes(); ok {
		return fmt.Sprintf("cells of %d bytes", cell)
	}
	if u == UnitUnknown {
		return "of an unknown unit"
	}
	return u.String()
}

func (u QueueUnit) String() string {
	switch u {
	case UnitUnknown:
		return "unknown"
	case UnitBytes:
		return "bytes"
	case UnitPackets:
		return "packets"
	case UnitCells:
		return "cells"
	}
	return "cells:" + strconv.Itoa(int(u-UnitCells))
}

// MarshalText writes a unit as UnmarshalText reads it.
func (u QueueUnit) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// UnmarshalText reads bytes, packets, cells:N, cells or unknown.
func (u *QueueUnit) UnmarshalText(text []byte) error {
	for _, known := range []QueueUnit{UnitUnknown, UnitBytes, UnitPackets, UnitCells} {
		if string(text) == known.String() {
			*u = known
			return nil
		}
	}
	if cell, ok := strings.CutPrefix(string(text), "cells:"); ok {
		if n, err := strconv.ParseUint(cell, 10, 32); err == nil && n > 0 && n <= maxCellBytes {
			*u = CellsOf(uint32(n))
			return nil
		}
	}
	return fmt.Errorf("got %q, want bytes, packets, cells:N for cells of N bytes, cells or unknown", text)
}
