package api

import (
	"encoding/json"
	"net/url"
	"testing"

	"github.com/waybill-int/waybill/api/types"
)

// A filter of a topology keeps the nodes that it selects, with the links and hosts at them: compared with the whole
// topology.
func TestTopologyFilter(t *testing.T) {
	for span, cfg := range map[string]Config{"": testConfig(captured(t)), "&since=2000h": attached(t)} {
		h := New(cfg)
		var whole, got types.Topology
		json.Unmarshal(ask(h, "GET", "/api/v1/topology?"+span).Body.Bytes(), &whole)
		if len(whole.Nodes) < 2 || len(whole.Links) < 2 || len(whole.Hosts) < 1 {
			t.Fatalf("%s: too small to select from: %+v", span, whole)
		}
		id := whole.Nodes[0].ID
		w := ask(h, "GET", "/api/v1/topology?filter="+url.QueryEscape("node = "+deref(&id))+span)
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || len(got.Nodes) != 1 || got.Nodes[0].ID != id ||
			got.Total != 1 {
			t.Errorf("%s: got %s", span, w.Body)
		}
		links, hosts := 0, 0
		for _, l := range whole.Links {
			if l.From == id || l.To == id {
				links++
			}
		}
		for _, host := range whole.Hosts {
			for _, at := range host.Places {
				if at.Node == id {
					hosts++
					break
				}
			}
		}
		if len(got.Links) != links || len(got.Hosts) != hosts {
			t.Errorf("%s: %d links and %d hosts, want %d and %d", span, len(got.Links), len(got.Hosts), links, hosts)
		}
		// Its neighbours.
		var beside types.Topology
		json.Unmarshal(ask(h, "GET", "/api/v1/topology?filter="+url.QueryEscape("to = "+deref(&id))+span).Body.Bytes(),
			&beside)
		for _, n := range whole.Nodes {
			want, is := false, false
			for _, p := range n.Ports {
				want = want || p.ToNode != nil && *p.ToNode == id
			}
			for _, m := range beside.Nodes {
				is = is || m.ID == n.ID
			}
			if is != want {
				t.Errorf("%s: node %d beside %d: got %v", span, n.ID, id, is)
			}
		}
	}
}
