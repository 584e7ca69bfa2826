package cli

import (
	"testing"

	"github.com/waybill-int/waybill/internal/test"
)

// TestCluster: what is behind, kept and lost stands with its collector, and with who owns the partition.
func TestCluster(t *testing.T) {
	for file, answer := range map[string]string{
		"cluster.table": `{"generated_at":"2026-11-28T05:00:00Z","role":"analyze","elected_term":3,"standing_by":[{"name":"a2","seen":"2026-11-28T04:59:59Z"}],"bus":{"connected":true,
"servers":["nats://10.0.0.9:4222"],"pending_messages":3,"held_messages":1,"duplicate_messages":0,"damaged_messages":0,
"delivered_until":"2026-11-28T04:59:59.5Z"},"collectors":[
{"name":"dc1","state":"alive","seen":"2026-11-28T04:59:59.9Z","delivered_until":"2026-11-28T04:59:59.8Z","received":5000,
 "kernel_drops":0,"refused":2,"spool_bytes":1200000,"delivered":4990,"lost":0,"missing_messages":0,"partitions":[
 {"partition":0,"owner":"a1","messages":40,"unconfirmed_messages":12,"delivered":2990,"lost":0,"seen":"2026-11-28T04:59:59.9Z"},
 {"partition":5,"owner":"a1","messages":20,"unconfirmed_messages":2,"delivered":2000,"lost":0,"seen":"2026-11-28T04:59:59.9Z"}]},
{"name":"dc2","state":"silent","seen":"2026-11-28T04:59:00Z","delivered_until":null,"received":0,"kernel_drops":0,"refused":0,
 "spool_bytes":0,"delivered":7,"lost":3,"missing_messages":0,"partitions":[]}]}`,
		"cluster_none.table": `{"generated_at":"2026-11-28T05:00:00Z","role":"all","bus":null,"collectors":[]}`,
	} {
		s := test.CannedServer(t, map[string]string{"cluster": answer})
		stdout, stderr, code := runQuery(t, "cluster", "status", "--server", s.URL)
		if code != 0 {
			t.Fatalf("code %d, %s", code, stderr)
		}
		goldenQuery(t, file, stdout)
	}
}
