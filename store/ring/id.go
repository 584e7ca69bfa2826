package ring

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// An ID is the place of a record. Later records have larger ones, and no other record ever has the same; the zero ID is
// none.
type ID struct {
	Segment uint32 // its number, from 1
	Offset  uint32 // of the block in the segment, bytes
	Index   uint32 // in the block
}

// String returns the id as text, such as "1a-4f310-7".
func (id ID) String() string { return fmt.Sprintf("%x-%x-%x", id.Segment, id.Offset, id.Index) }

// ParseID reads what String wrote.
func ParseID(text string) (ID, error) {
	var id ID
	rest := text
	for i, to := range []*uint32{&id.Segment, &id.Offset, &id.Index} {
		part, after, more := strings.Cut(rest, "-")
		n, err := strconv.ParseUint(part, 16, 32)
		if err != nil || more != (i < 2) {
			return ID{}, fmt.Errorf("%.40q is not the id of a report", text)
		}
		*to, rest = uint32(n), after
	}
	if id.String() != text {
		return ID{}, fmt.Errorf("%.40q is not the id of a report", text)
	}
	return id, nil
}

// Compare orders ids as their records were written.
func (id ID) Compare(o ID) int {
	return cmp.Or(cmp.Compare(id.Segment, o.Segment), cmp.Compare(id.Offset, o.Offset), cmp.Compare(id.Index, o.Index))
}
