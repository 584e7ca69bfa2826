package inband

import (
	"bytes"
	"errors"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
)

func TestTail05(t *testing.T) { // capture geant_v04_udp_s2s3, frame 2
	wiretest.Check(t, func() wiretest.Codec { return new(Tail05) }, `
		11   // protocol UDP
		1772 // destination port 6002
		0a   // DSCP 10, as a plain number
	`, &Tail05{Proto: 17, DstPort: 6002, DSCP: 10})
}

func TestCutTail05(t *testing.T) {
	header := make([]byte, 8)
	tests := []struct {
		name     string
		contents []byte
		rest     int
		tail     Tail05
		err      error
	}{
		{"Empty", nil, 0, Tail05{}, wire.ErrTailMissing},
		{"HeaderOnly", header, 8, Tail05{}, wire.ErrTailMissing},
		{"NoStack", append(bytes.Clone(header), 6, 0, 80, 0), 8, Tail05{Proto: 6, DstPort: 80}, nil},
		{"Stack", append(make([]byte, 24), 17, 0, 53, 46), 24, Tail05{Proto: 17, DstPort: 53, DSCP: 46}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			rest, tail, err := CutTail05(test.contents)
			if len(rest) != test.rest || tail != test.tail || !errors.Is(err, test.err) {
				t.Errorf("got %d bytes, %+v, %v; want %d, %+v, %v", len(rest), tail, err, test.rest, test.tail,
					test.err)
			}
		})
	}
}
