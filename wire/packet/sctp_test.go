package packet

import (
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
)

var sctpHeader = header{
	name:  "SCTP",
	fresh: func() wiretest.Codec { return new(SCTP) },
	examples: []example{{
		name: "Diameter", // RFC 9260 §3.1, ports of RFC 6733
		hex: `
			c001 0f1c // SrcPort, DstPort
			01020304  // VerificationTag
			5a5b5c5d  // Checksum
		`,
		want: &SCTP{SrcPort: 49153, DstPort: 3868, VerificationTag: 0x01020304, Checksum: 0x5a5b5c5d},
	}},
}

func TestSCTP(t *testing.T) { sctpHeader.check(t) }

func TestSCTPTruncated(t *testing.T) {
	sctpHeader.refused(t, `c001 0f1c 01020304 5a5b5c`, 0, wire.ErrTruncatedSCTP, &SCTP{SrcPort: 49153, DstPort: 3868})
	sctpHeader.refused(t, `c001 0f`, 0, wire.ErrTruncatedSCTP, &SCTP{})
}
