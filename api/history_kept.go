package api

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/waybill-int/waybill/store"
)

// shortLived are the fields of filters that coarse intervals do not have, with the length of the longest intervals that
// have them. The tag kept says the same of records.
var shortLived = map[store.Table]map[string]string{
	store.Flows: {
		"id": "10s", "src_port": "10s", "dst_port": "1m", "device": "1m", "path": "1m", "node": "1m",
		"hops": "1m",
	},
	store.Drops: {
		"src": "10s", "dst": "10s", "src_port": "10s", "dst_port": "10s", "protocol": "10s", "tunnel": "10s",
		"tunnel_id": "10s", "drop_key": "1m",
	},
}

// stillKept rejects a question that would be answered with a part of the range only: coarse intervals do not have all
// fields.
func (h *handler) stillKept(p *params, y *history, q *store.Query, ago time.Duration) {
	gone := func(length string) (time.Duration, bool) {
		kept := map[string]time.Duration{"10s": h.cfg.KeptFine, "1m": h.cfg.KeptMinute}[length]
		return kept, kept > 0 && ago > kept
	}
	for i := range y.record.NumField() {
		tag := y.record.Field(i).Tag
		if kept, gone := gone(tag.Get("kept")); gone && slices.Contains(q.Group, tag.Get("store")) {
			name, _, _ := strings.Cut(tag.Get("json"), ",")
			p.reject("since",
				fmt.Sprintf("at most %v ago, or a group_by without %s, such as src,dst,protocol", kept, name),
				"records by %s are kept for %v", name, kept)
			return
		}
	}
	words := strings.FieldsFunc(q.Where, func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') })
	for _, name := range slices.Sorted(maps.Keys(shortLived[y.table])) {
		is := func(word string) bool { return word == name || word == name+"_hi" }
		if kept, gone := gone(shortLived[y.table][name]); gone && slices.ContainsFunc(words, is) {
			p.reject("since", fmt.Sprintf("at most %v ago, or a filter without %s", kept, name),
				"%s, by which the filter selects, is kept for %v", name, kept)
			return
		}
	}
}
