package inband

import (
	"errors"
	"testing"

	"github.com/waybill-int/waybill/wire"
)

func TestCheckType(t *testing.T) {
	valid := map[Family][]uint8{FamilyOld: {1, 2}, Family2x: {1, 2, 3}, FamilyGeneve: {1, 2, 3}}
	for family, types := range valid {
		want := map[uint8]bool{}
		for _, typ := range types {
			want[typ] = true
		}
		for typ := range uint8(255) {
			err := CheckType(family, typ)
			if want[typ] && err != nil || !want[typ] && !errors.Is(err, wire.ErrUnknownINTType) {
				t.Errorf("CheckType(%d, %d): got %v", family, typ, err)
			}
		}
	}
}
