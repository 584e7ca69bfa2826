package inband

import (
	"errors"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
)

func TestDetectL4(t *testing.T) {
	want := [16]Family{0: FamilyOld, 1: Family2x, 2: Family2x, 3: Family2x}
	for nibble, family := range want {
		if got := DetectL4([]byte{byte(nibble<<4) | 8}); got != family {
			t.Errorf("nibble %d: got %d, want %d", nibble, got, family)
		}
	}
	if got := DetectL4(nil); got != FamilyUnknown {
		t.Errorf("nothing: got %d", got)
	}
}

func TestIdentify(t *testing.T) {
	tests := []struct {
		name   string
		header string
		family Family
		zero   Version0
		want   Version
		marked bool
	}{
		{"2.x MD", "20000206 90000000", Family2x, ZeroUnset, Version20, false},
		{"2.x Geneve", "20000206 90000000", FamilyGeneve, ZeroUnset, Version20, false},
		{"2.x other nibble", "10000206 90000000", Family2x, ZeroUnset, VersionUnknown, false},
		{"2.x other nibble, configured", "00021003 90000000", Family2x, ZeroIs2016, VersionUnknown, false},
		{"2016 Geneve", "00021003 90000000", FamilyGeneve, ZeroIs2016, Version2016, false},
		{"2016 Geneve, Rep 1", "10021003 90000000", FamilyGeneve, ZeroIs2016, Version2016, false},
		{"2016 Geneve, Rep 2", "20021003 90000000", FamilyGeneve, ZeroIs2016, Version2016, false},
		{"Geneve nibble 3", "30021003 90000000", FamilyGeneve, ZeroUnset, VersionUnknown, false},
		{"1.0", "10000206 90000000", FamilyOld, ZeroUnset, Version10, false},
		{"1.0 Geneve", "10000206 90000000", FamilyGeneve, ZeroUnset, Version10, false},
		{"1.0 Montimage", "20000a03 ff000000", FamilyOld, ZeroUnset, Version10, true},
		{"1.0 ONOS", "00000906 ff000000", FamilyOld, ZeroUnset, Version10, true},
		{"1.0 ONOS, M set", "00800906 ff000000", FamilyOld, ZeroUnset, Version10, true},
		{"1.0 ONOS, Geneve", "00000206 90000000", FamilyGeneve, ZeroUnset, Version10, true},
		{"0.5", "00081001 ff000000", FamilyOld, ZeroUnset, Version05, false},
		{"0.5 configured", "00081001 ff000000", FamilyOld, ZeroIs05, Version05, false},
		{"0.5 against configuration", "00081001 ff000000", FamilyOld, ZeroIs10, Version05, false},
		{"2016", "00021003 90000000", FamilyOld, ZeroIs2016, Version2016, false},
		{"2016 Rep 3", "3c080101 ff000000", FamilyOld, ZeroIs2016, Version2016, false},
		{"Rep 3, not configured", "3c080101 ff000000", FamilyOld, ZeroUnset, VersionUnknown, false},
		{"2016 flags", "0c021003 90000000", FamilyOld, ZeroIs2016, Version2016, false},
		{"0.4 GEANT", "40080802 00ff0000", FamilyOld, ZeroUnset, VersionUnknown, false},
		{"neither", "00031003 90000000", FamilyOld, ZeroUnset, VersionUnknown, false},
		{"neither, 2016", "00031003 90000000", FamilyOld, ZeroIs2016, Version2016, false},
		{"neither, 0.5", "00031003 90000000", FamilyOld, ZeroIs05, Version05, false},
		{"neither, 1.0", "00000a03 ff000000", FamilyOld, ZeroIs10, Version10, true},
		{"unknown family", "20000206 90000000", FamilyUnknown, ZeroUnset, VersionUnknown, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var wantErr error
			if test.want == VersionUnknown {
				wantErr = wire.ErrUnknownINTVersion
			}
			header := wiretest.Hex(t, test.header)
			got, marked, err := Identify(header, test.family, test.zero)
			if got != test.want || marked != test.marked || !errors.Is(err, wantErr) {
				t.Errorf("got %d, %v, %v; want %d, %v, %v", got, marked, err, test.want, test.marked, wantErr)
			}
			if _, _, err := Identify(header[:7], test.family, test.zero); !errors.Is(err, wire.ErrINTHeaderTruncated) {
				t.Errorf("7 bytes: got %v", err)
			}
		})
	}
}
