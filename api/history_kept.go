package api

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/waybill-int/waybill/filter"
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
// fields; asked are those of the filter.
func (h *handler) stillKept(p *params, y *history, q *store.Query, asked []*filter.Field, ago time.Duration) {
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
	slices.SortFunc(asked, func(a, b *filter.Field) int { return strings.Compare(a.Name, b.Name) })
	for _, f := range asked {
		if kept, gone := gone(shortLived[y.table][f.Name]); gone {
			p.reject("since", fmt.Sprintf("at most %v ago, or a filter without %s", kept, f.Name),
				"%s, by which the filter selects, is kept for %v", f.Name, kept)
			return
		}
	}
}
