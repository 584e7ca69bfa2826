package inband

import (
	"math/bits"

	"github.com/waybill-int/waybill/wire"
)

// A Family is a group of versions that share the shape of their shims.
type Family uint8

// The families.
const (
	FamilyUnknown Family = iota
	FamilyOld            // shims up to INT 1.0: Type has 8 bits, Length counts the shim
	Family2x             // shims from INT 2.0 on: Type has 4 bits, Length does not count the shim
	FamilyGeneve         // an option in Geneve: no shim, so the INT header itself must tell
)

// DetectL4 returns the family of the shim at the start of b, behind TCP, UDP or VXLAN-GPE: its first nibble is 0 up to
// INT 1.0, and the type 1, 2 or 3 from INT 2.0 on. Anything else, also an empty b, is FamilyUnknown.
func DetectL4(b []byte) Family {
	if len(b) == 0 {
		return FamilyUnknown
	}
	switch b[0] >> 4 {
	case 0:
		return FamilyOld
	case TypeMD, TypeDestination, TypeMX:
		return Family2x
	}
	return FamilyUnknown
}

// A Version is a layout of the INT header, whatever its version nibble says.
type Version uint8

// The versions.
const (
	VersionUnknown Version = iota
	Version2016
	Version05
	Version10
	Version20 // 2.0 and 2.1
)

// A Version0 is what the version nibble 0 means where the bytes leave it open: a setting of the operator.
type Version0 uint8

// The settings.
const (
	ZeroUnset Version0 = iota
	ZeroIs2016
	ZeroIs05
	ZeroIs10
)

// Identify tells which version's header starts at the front of header, which needs 8 bytes of it. fam is what DetectL4
// said, or FamilyGeneve. The version nibble decides only together with other fields, as real pipelines send the header
// of 1.0 with nibble 0 (ONOS) or 2 (Montimage); marked reports such a wrong nibble.
//
// zero is the configured meaning of nibble 0. It decides between 2016 and 0.5, and for headers that fit no version:
// these then fail with the error of that version instead of an unknown one. ZeroIs2016 has more weight, as 2016 has a
// version of 2 bits and its nibble can be 1, 2 or 3: in a Geneve option it makes every header 2016, so pass it only for
// an option class that is configured as 2016. Over TCP and UDP there is no 2016: do not pass it there.
//
// If nibble 0 can be 2016 or 0.5 and zero does not say which, the result is Version05; see LooksLike2016.
// Errors are [wire.ErrINTHeaderTruncated] and [wire.ErrUnknownINTVersion].
func Identify(header []byte, fam Family, zero Version0) (v Version, marked bool, err error) {
	if len(header) < header10Len {
		return VersionUnknown, false, wire.ErrINTHeaderTruncated
	}
	nibble := header[0] >> 4
	switch fam {
	case Family2x:
		if nibble == 2 {
			return Version20, false, nil
		}
	case FamilyGeneve:
		switch {
		case zero == ZeroIs2016:
			return Version2016, false, nil
		case nibble == 2:
			return Version20, false, nil
		case nibble == 1:
			return Version10, false, nil
		case nibble == 0:
			return identifyZero(header, zero)
		}
	case FamilyOld:
		switch {
		case nibble == 1:
			return Version10, false, nil
		case nibble == 2:
			return Version10, true, nil
		case nibble == 0:
			return identifyZero(header, zero)
		case nibble == 3 && zero == ZeroIs2016: // Rep is 3
			return Version2016, false, nil
		}
	}
	return VersionUnknown, false, wire.ErrUnknownINTVersion
}

// identifyZero tells versions with nibble 0 apart: up to 0.5 byte 1 counts the instructions, in 1.0 it is reserved and
// byte 2 has the words per record.
func identifyZero(header []byte, zero Version0) (v Version, marked bool, err error) {
	bitmap := uint16(header[4])<<8 | uint16(header[5])
	count, words := int(header[1]&0x1F), int(header[2]&0x1F)
	switch {
	case count != 0 && count == bits.OnesCount16(bitmap):
		if zero == ZeroIs2016 {
			return Version2016, false, nil
		}
		return Version05, false, nil
	case header[1]&0x7F == 0 && 4*words == Widths10.Bytes(bitmap):
		return Version10, true, nil
	case zero == ZeroIs2016:
		return Version2016, false, nil
	case zero == ZeroIs05:
		return Version05, false, nil
	case zero == ZeroIs10:
		return Version10, true, nil
	}
	return VersionUnknown, false, wire.ErrUnknownINTVersion
}
