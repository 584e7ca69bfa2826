package remotewrite

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/snappy"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/proto"

	"github.com/waybill-int/waybill/export"
)

// That Prometheus reads what is written, TestRemoteWrite of cmd/waybill shows.

func scrape() *export.Scrape {
	return &export.Scrape{At: time.Unix(2, 0), Families: []*dto.MetricFamily{{
		Name: proto.String("m"), Metric: []*dto.Metric{{
			Label: []*dto.LabelPair{
				{Name: proto.String("site"), Value: proto.String("own")},
				{Name: proto.String("zone"), Value: proto.String("")},
			},
			Gauge: &dto.Gauge{Value: proto.Float64(1)},
		}},
	}}}
}

// TestLabels: labels are sorted, those of the configuration give way, and empty ones are left out.
func TestLabels(t *testing.T) {
	o := &output{labels: map[string]string{"job": "waybill", "site": "other"}}
	got := string(o.request(scrape()))
	want := "\n=\n\r\n\b__name__\x12\x01m\n\x0e\n\x03job\x12\awaybill\n\v\n\x04site\x12\x03own" +
		"\x12\f\t\x00\x00\x00\x00\x00\x00\xf0?\x10\xd0\x0f"
	if i := strings.Index(want, "\n\r"); got[strings.Index(got, "\n\r"):] != want[i:] {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestAnswers: what is refused is not sent again, what fails is.
func TestAnswers(t *testing.T) {
	status := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if _, err := snappy.Decode(nil, body); err != nil || r.Header.Get("Content-Encoding") != "snappy" ||
			r.Header.Get("X-Prometheus-Remote-Write-Version") != "0.1.0" || r.Header.Get("User-Agent") != "waybill/v1" {
			t.Errorf("%v, %v", err, r.Header)
		}
		w.WriteHeader(status)
	}))
	defer server.Close()
	c := &Config{HTTP: export.HTTP{URL: server.URL}}
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	o, err := c.Open(export.Deps{Version: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	records := []export.Record{{Kind: export.Metrics, Of: scrape()}, {Kind: export.Flows}}
	for _, x := range []struct {
		status, refused int
		fails           bool
	}{{204, 1, false}, {400, 2, false}, {500, 0, true}, {429, 0, true}} {
		status = x.status
		refused, err := o.Send(t.Context(), records)
		if len(refused) != x.refused || (err != nil) != x.fails {
			t.Errorf("%d: got %v, %v", status, refused, err)
		}
	}
}

func TestCheck(t *testing.T) {
	for want, c := range map[string]Config{
		`url: got ""`:                   {},
		`labels: want names of letters`: {HTTP: export.HTTP{URL: "http://h:1"}, Labels: map[string]string{"a-b": "c"}},
	} {
		if err := c.Check(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
