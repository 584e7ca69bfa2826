package report

import (
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
)

// kinds is every type of this package and, as seeds, encodings of it.
var kinds = []struct {
	fresh func() wiretest.Codec
	seeds []string
}{
	{newV05, []string{v05FixedHex, v05DropHex, v05LocalHex}},
	{newDropHeader, []string{dropHeaderHex}},
	{newSwitchLocal, []string{switchLocalHex}},
	{newV10, []string{v10MinHex, v10AllHex}},
	{newGroup, []string{groupHex}},
	{newV20, []string{v20BaselineHex, v20AllHex, v20DomainHex, v20ReservedHex, v20OpaqueHex}},
	{newTLV, []string{tlvDSHex, tlvIPv4Hex}},
	{newTSTracked, []string{tsTrackedHex}},
	{newTSDrop, []string{tsDropHex}},
}

// FuzzReport holds every type against wiretest.Fuzz, and the whole payload against every way to read it.
func FuzzReport(f *testing.F) {
	for kind, k := range kinds {
		for _, seed := range k.seeds {
			b := wiretest.Hex(f, seed)
			v := k.fresh()
			if _, err := v.Decode(b); err != nil {
				f.Fatal(err)
			}
			f.Add(uint8(kind), v.Append(nil))
			f.Add(uint8(kind), append(b, b...))
		}
	}
	for _, v := range reportVectors(f) {
		f.Add(uint8(0), v.payload(f))
	}
	f.Fuzz(func(t *testing.T, kind uint8, b []byte) {
		wiretest.Fuzz(t, kinds[int(kind)%len(kinds)].fresh, b)
		decodeEverything(b[:len(b):len(b)])
	})
}
