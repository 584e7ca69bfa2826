package cli

import (
	"testing"

	"github.com/waybill-int/waybill/api/client"
)

// What an incident hit says which counts are lower bounds, and which nobody knows.
func TestHitText(t *testing.T) {
	for _, c := range []struct {
		n    client.Incident
		want string
	}{
		{
			client.Incident{FlowsHit: 17, HostsHit: 9, PacketsHit: 117, BytesHit: 1},
			"hit: 17 flows of 9 hosts; 117 packets, 1 byte",
		},
		{
			client.Incident{FlowsHit: 300, HostsHit: 9, PacketsHit: 7, AtLeast: []string{"bytes_hit", "flows_hit"}},
			"hit: at least 300 flows of 9 hosts; 7 packets, an unknown number of bytes",
		},
		{client.Incident{AtLeast: []string{"flows_hit"}}, "whom it hit is not known"},
		{client.Incident{}, "no flow was hit, as far as reports tell"},
	} {
		if got := hitText(&c.n); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
