package api

import (
	"encoding/json"
	"testing"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/telemetry"
)

// Hops of a time range are those that packets went through, unless one asks for what was dropped.
func TestHopsDropped(t *testing.T) {
	forwarded := telemetry.Place{
		Has: telemetry.HasNode | telemetry.HasIngressPort | telemetry.HasEgressPort, Node: 1,
		IngressPort: 6, EgressPort: 7,
	}
	dropped := forwarded
	dropped.Has |= telemetry.HasDrop
	cfg := testConfig(newFeed().Collector)
	cfg.History = storeOf(t, &telemetry.Intervals{Hops: []telemetry.HopInterval{
		{StartNs: tuesday.UnixNano(), Place: forwarded, Packets: 100},
		{StartNs: tuesday.UnixNano(), Place: dropped, Packets: 7},
	}})
	h := New(cfg)
	for query, want := range map[string]uint64{
		"":                                      100,
		"&group_by=node":                        100,
		"&node=1":                               100,
		"&filter=packets+%3E+1":                 100,
		"&filter=dropped+%3D+true":              7,
		"&filter=dropped+%3D+false":             100,
		"&group_by=&filter=dropped+is+not+null": 107,
		"&group_by=node,dropped":                107,
		"&interval=1m":                          100,
		"&group_by=&filter=not+packets+%3D+7":   100,
	} {
		w := ask(h, "GET", "/api/v1/hops?"+tuesdays+query)
		var list types.HopHistory
		json.Unmarshal(w.Body.Bytes(), &list)
		var got uint64
		for _, r := range list.Hops {
			got += *r.Packets
		}
		if w.Code != 200 || got != want {
			t.Errorf("%s: got %d %s, want %d", query, w.Code, w.Body, want)
		}
	}
}
