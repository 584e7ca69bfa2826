package report

import (
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
)

// From the vector tr20_baseline_ipv4.
const groupHex = `
	20ffffff // Ver 2, hw_id 3, sequence number 2^22 - 1
	00000303 // node id`

func newGroup() wiretest.Codec { return new(Group) }

func TestGroup(t *testing.T) {
	wiretest.Check(t, newGroup, groupHex, &Group{HWID: 3, Sequence: 1<<22 - 1, NodeID: 0x303})
}

func TestGroupTruncated(t *testing.T) {
	h := Group{NodeID: 9}
	n, err := h.Decode(make([]byte, 7))
	if n != 0 || err != wire.ErrTruncatedGroupHeader || h != (Group{}) {
		t.Errorf("got %d, %v, %+v; want 0, %v and the zero value", n, err, h, wire.ErrTruncatedGroupHeader)
	}
}

func TestGroupCutsFieldsToTheirWidth(t *testing.T) {
	h := Group{HWID: 0xFF, Sequence: 0xFFFFFFFF, NodeID: 1}
	var got Group
	if _, err := got.Decode(h.Append(nil)); err != nil {
		t.Fatal(err)
	}
	if want := (Group{HWID: 0x3F, Sequence: 0x3FFFFF, NodeID: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if v, err := Version(h.Append(nil)); v != 2 || err != nil {
		t.Errorf("version: got %d, %v; want 2", v, err)
	}
}
