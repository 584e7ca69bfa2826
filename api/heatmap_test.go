package api

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/api/types"
)

// The counts of each piece are those of the histograms that were put into the store: 2 packets in the bucket from 2^6.5
// ns, and one in that from 2^8.5 ns, in every 10 s.
func TestHeatmap(t *testing.T) {
	h := New(remembered(t))
	for _, of := range []string{"hops", "links", "paths"} {
		w := ask(h, "GET", "/api/v1/heatmap?of="+of+"&interval=1m&"+tuesdays)
		golden(t, "heatmap_"+of, w.Body.Bytes())
		var a types.Heatmap
		if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
		if len(a.Times) != 5 || !a.Times[0].Equal(tuesday) || a.StepNs != time.Minute.Nanoseconds() {
			t.Errorf("%s: times %v, step %d", of, a.Times, a.StepNs)
		}
		for i, row := range a.Counts {
			got := map[string]uint64{}
			for j, n := range row {
				if n > 0 {
					got[fmt.Sprintf("%.1f to %.1f", a.Bounds[j], a.Bounds[j+1])] = n
				}
			}
			if want := "map[362.0 to 512.0:6 90.5 to 128.0:12]"; fmt.Sprint(got) != want {
				t.Errorf("%s: piece %d: got %v, want %s", of, i, got, want)
			}
			if s := a.Spread[i]; s.Packets != 18 || s.Min != 100 || s.Mean != 233 || s.Max != 400 || s.P50 < 100 ||
				s.P50 > 128 || s.P99 < 362 {
				t.Errorf("%s: piece %d: %+v", of, i, s)
			}
		}
	}
	for query, want := range map[string]string{ // pieces, packets of the first
		"of=hops&" + tuesdays:                                "1 90",
		"of=hops&" + tuesdays + "&node=s1":                   "1 90",
		"of=hops&" + tuesdays + "&node=0x2":                  "0 0",
		"of=links&" + tuesdays + "&node=s1":                  "1 90",
		"of=links&" + tuesdays + "&filter=from+%3D+s2":       "0 0",
		"of=hops&" + tuesdays + "&filter=ingress_port+%3D+6": "1 90",
		"of=hops&" + tuesdays + "&filter=ingress_port+%3D+7": "0 0",
		"": "0 0",
	} {
		var a types.Heatmap
		w := ask(h, "GET", "/api/v1/heatmap?"+query)
		if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil || w.Code != 200 {
			t.Errorf("%s: got %s", query, w.Body)
			continue
		}
		got := fmt.Sprint(len(a.Times), " ")
		if len(a.Spread) > 0 {
			got += fmt.Sprint(a.Spread[0].Packets)
		} else {
			got += "0"
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", query, got, want)
		}
	}
	for query, want := range map[string]string{
		"of=flows": "of", "interval=10ms": "interval", "since=tomorrow": "since", "filter=nonsense": "filter",
		"until=2h": "until", "limit=3": "limit",
	} {
		var p types.Problem
		if w := ask(h, "GET", "/api/v1/heatmap?"+query); json.Unmarshal(w.Body.Bytes(), &p) != nil || w.Code != 400 ||
			p.Parameter != want {
			t.Errorf("%s: got %s", query, w.Body)
		}
	}
	var p types.Problem
	if w := ask(New(testConfig(newFeed().Collector)), "GET", "/api/v1/heatmap"); json.Unmarshal(w.Body.Bytes(),
		&p) != nil || w.Code != 404 || !strings.Contains(p.Detail, "--data") {
		t.Errorf("without a store: got %s", w.Body)
	}
}

// The client gets what the server answers.
func TestClientHeatmap(t *testing.T) {
	server := httptest.NewServer(New(remembered(t)))
	defer server.Close()
	c, err := client.New(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	a, err := c.Heatmap(t.Context(), "paths",
		client.Query{
			Since: tuesday.Format(time.RFC3339), Until: tuesday.Add(time.Hour).Format(time.RFC3339),
			Interval: "1m",
		})
	if err != nil {
		t.Fatal(err)
	}
	got, _ := json.Marshal(a)
	if want := ask(server.Config.Handler, "GET", "/api/v1/heatmap?of=paths&interval=1m&"+
		tuesdays).Body.Bytes(); normal(t, got) != normal(t, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
