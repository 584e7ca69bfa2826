package api

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/telemetry"
)

// node returns which nodes the parameter "node" selects, by id or by one of names; without it all of them.
func (p *params) node(names map[uint32]string) (is func(id *uint32, name string) bool, given bool) {
	ids, given := p.nodeIDs(names)
	if !given {
		return func(*uint32, string) bool { return true }, false
	}
	return func(id *uint32, name string) bool {
		return id != nil && slices.Contains(ids, *id) || name != "" && name == p.values.Get("node")
	}, true
}

// nodeIDs returns the nodes that the parameter "node" selects. An id may be of a node that nobody has seen, a name may not.
func (p *params) nodeIDs(names map[uint32]string) (ids []uint32, given bool) {
	text, given := p.text("node")
	if !given {
		return nil, false
	}
	for _, id := range slices.Sorted(maps.Keys(names)) {
		if names[id] == text && text != "" {
			ids = append(ids, id)
		}
	}
	id, err := strconv.ParseUint(text, 0, 32) // 0x too: some devices print their ids so
	switch {
	case err == nil && !slices.Contains(ids, uint32(id)):
		ids = append(ids, uint32(id))
	case text == "":
		p.reject("node", "the id or the name of a node", "node is empty")
	case len(ids) == 0:
		meant := filter.Nearest(text, slices.Sorted(maps.Values(names)))
		if meant != "" {
			meant = "; did you mean " + meant + "?"
		}
		p.reject("node", "the id of a node, or a name from names of the configuration", "no node has the name %.70q%s", text, meant)
	}
	return ids, true
}

// nodeTerm is the filter for nodes, of which there is one at least.
func nodeTerm(ids []uint32) string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = strconv.FormatUint(uint64(id), 10)
	}
	return "node in (" + strings.Join(texts, ", ") + ")"
}

// reason returns which drops the parameter "reason" selects, by the number or the name of their reason, and the filter for them. Without
// it, all.
func (p *params) reason() (is func(*telemetry.Drop) bool, term string, given bool) {
	text, given := p.text("reason")
	if !given {
		return func(*telemetry.Drop) bool { return true }, "", false
	}
	n, err := strconv.ParseUint(text, 10, 64)
	const allowed = "a number up to 255, or a name such as acl_deny"
	switch {
	case text == "":
		p.reject("reason", "the number or the name of a reason", "reason is empty")
	case err == nil && n > 255:
		p.reject("reason", allowed, "no drop reason has the number %d", n)
	case err == nil:
		return func(d *telemetry.Drop) bool { return uint64(d.Reason) == n }, fmt.Sprintf("reason = %d", n), true
	case !telemetry.IsReason(text):
		p.reject("reason", allowed, "no drop reason has the name %.70q", text)
	}
	return func(d *telemetry.Drop) bool { return d.ReasonName == text }, "reason_name = " + strconv.Quote(text), true
}
