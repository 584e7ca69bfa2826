package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"testing"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/api/types"
)

// What the client returns is what the server sent.
func TestClientReports(t *testing.T) {
	sent := rawDatagrams()
	h := New(keeping(t, sent))
	server := httptest.NewServer(h)
	defer server.Close()
	c, err := client.New(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	q := client.Query{Exporter: "192.0.2.0/24", Filter: "outcome = decoded", Since: "2h", Limit: 5}
	list, err := c.Reports(t.Context(), q)
	if err != nil || len(list.Reports) != 5 {
		t.Fatalf("%+v, %v", list, err)
	}
	if q.Limit = 0; list.Reports[0].Flow == nil {
		t.Fatalf("%+v", list.Reports[0])
	}
	q.Flow = list.Reports[0].Flow.ID
	if list, err = c.Reports(t.Context(), q); err != nil || len(list.Reports) == 0 || len(list.Reports) > 9 {
		t.Errorf("of a flow: %+v, %v", list, err)
	}
	one, err := client.Item[client.ReportAnswer](t.Context(), c, "reports", list.Reports[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := json.Marshal(one)
	if a, b := normal(t, text), normal(t, ask(h, "GET", "/api/v1/reports/"+one.ID).Body.Bytes()); a != b {
		t.Errorf("got  %s\nwant %s", a, b)
	}
	decoded, err := c.Decode(t.Context(), one.Bytes, "report", "")
	if err != nil || decoded.Length != one.Length {
		t.Fatalf("%+v, %v", decoded, err)
	}
	a, _ := json.Marshal(decoded.Layers)
	b, _ := json.Marshal(one.Layers)
	if !bytes.Equal(a, b) {
		t.Errorf("decoded again: %s\nbefore: %s", a, b)
	}
	var file bytes.Buffer
	if err := c.Capture(t.Context(), client.Query{Limit: 3}, &file); err != nil {
		t.Fatal(err)
	}
	if want := ask(h, "GET", "/api/v1/reports.pcap?limit=3").Body.Bytes(); !bytes.Equal(file.Bytes(), want) {
		t.Errorf("a capture of %d bytes, want %d", file.Len(), len(want))
	}
	var p *types.Problem
	if err := c.Capture(t.Context(), client.Query{Filter: "flow >"}, &file); !errors.As(err, &p) ||
		p.Parameter != "filter" {
		t.Errorf("a capture of no flow: %v", err)
	}
	if _, err := client.Item[client.ReportAnswer](t.Context(), c, "reports", "x"); !errors.As(err, &p) ||
		p.Status != 400 {
		t.Errorf("a report with a bad id: %v", err)
	}
	if _, err := c.Decode(t.Context(), []byte{1}, "nowhere", ""); !errors.As(err, &p) || p.Parameter != "start" {
		t.Errorf("bytes that start nowhere: %v", err)
	}
}
