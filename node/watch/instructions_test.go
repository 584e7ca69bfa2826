package watch

import (
	"testing"

	"github.com/waybill-int/waybill/wire/inband"
)

func TestInstructionBitmaps(t *testing.T) {
	for _, tc := range []struct {
		version inband.Version
		bitmap  uint16
		missing Instructions
	}{
		{inband.VersionUnknown, 0, allInstructions},
		{inband.Version2016, 0xFF00, EgressTS | L2Interfaces | Buffer | ChecksumComplement},
		{inband.Version05, 0xFF00, L2Interfaces | Buffer | ChecksumComplement},
		{inband.Version10, 0xFF01, QueueCongestion | Buffer},
		{inband.Version20, 0xFF81, QueueCongestion},
		{inband.Version20 + 1, 0, allInstructions},
	} {
		bitmap, missing := allInstructions.Bitmap(tc.version)
		if bitmap != tc.bitmap || missing != tc.missing {
			t.Errorf("version %d: got %#04x without %s, want %#04x without %s", tc.version, bitmap, missing, tc.bitmap,
				tc.missing)
		}
	}
	if bitmap, missing := (NodeID | Queue | EgressTS).Bitmap(inband.Version20); bitmap != 0x9400 || missing != 0 {
		t.Errorf("got %#04x without %q, want 0x9400", bitmap, missing)
	}
}

// Each bit asks for what the record of the version holds there.
func TestInstructionsAskForTheRightMetadata(t *testing.T) {
	fields := map[Instructions]inband.Fields{
		NodeID: inband.NodeID, L1Interfaces: inband.L1Ingress | inband.L1Egress, HopLatency: inband.HopLatency,
		Queue: inband.QueueID | inband.QueueOccupancy, IngressTS: inband.IngressTS, EgressTS: inband.EgressTS,
		L2Interfaces: inband.L2Ingress | inband.L2Egress, QueueCongestion: inband.QueueID | inband.QueueCongestion,
		EgressTxUtil: inband.EgressTxUtil, Buffer: inband.BufferID | inband.BufferOccupancy,
		ChecksumComplement: inband.Complement,
	}
	formats := map[inband.Version]inband.Format{
		inband.Version2016: inband.Format2016, inband.Version05: inband.Format05,
		inband.Version10: inband.Format10, inband.Version20: inband.Format20,
	}
	for version, format := range formats {
		for one, want := range fields {
			bitmap, _ := one.Bitmap(version)
			if bitmap == 0 {
				continue
			}
			if version == inband.Version2016 {
				want &^= inband.QueueID // there is none
			}
			layout := inband.NewLayout(format, bitmap)
			var m inband.Metadata
			layout.Decode(make([]byte, layout.Len()), &m)
			if m.Has != want {
				t.Errorf("version %d, %s: got fields %#x, want %#x", version, one, m.Has, want)
			}
		}
	}
}
