package duckdb

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/telemetry"
)

// TestTopGroups: the groups with the highest maximum, or mean, are those that DuckDB finds when it groups all rows,
// also where many are equal, or have no value, and however few are asked for.
func TestTopGroups(t *testing.T) {
	if test.RaceDetector {
		t.Skip("nothing here runs side by side")
	}
	s := open(t, nil)
	g := rand.New(rand.NewPCG(3, 4))
	v := flowRecords(g, epoch, 12, 200)
	for i := range v.Flows {
		r := &v.Flows[i]
		r.Key.Src = telemetry.AddrFrom4([4]byte{10, 0, byte(i / 7 % 3), byte(i % 200)})
		if r.Residence.Max = g.Uint64N(40) * 100; g.Uint64N(5) == 0 {
			r.Residence = telemetry.LatencySummary{}
		} else {
			r.Residence.Sum = g.Uint64N(r.Residence.Count*r.Residence.Max + 1)
			r.Residence.Min = min(r.Residence.Min, r.Residence.Sum/r.Residence.Count)
		}
		if i%3 == 0 {
			r.Key.Tunnel, r.Key.TunnelID = telemetry.TunnelVXLAN, uint32(i%5)
		}
	}
	write(t, s, v)
	narrowed := 0
	for _, group := range [][]string{
		{"flow"},
		{"id", "src_hi", "src_lo", "dst_hi", "dst_lo", "src_port", "dst_port", "protocol", "tunnel_id"},
		{"src_hi", "src_lo"},
		{"tunnel_id", "protocol"},
		{"device"},
		{"path"},
		{"path_id", "hops"},
		{},
	} {
		for _, page := range [][2]int{{1, 0}, {3, 5}, {20, 5}, {0, 0}} {
			limit, offset := page[0], page[1]
			for where, uses := range map[string][]string{
				"": nil, "packets > 50": {"packets"}, "node IS NULL": {"node"},
				"residence_mean > 1500 OR tunnel_id = 3": {"residence_mean", "tunnel_id"},
			} {
				for _, order := range []string{"residence_max", "residence_mean"} {
					q := store.Query{
						Table: store.Flows, From: epoch, To: epoch.Add(time.Hour), Where: where, Uses: uses,
						Group:  group,
						Values: []string{"packets", "residence_mean", "residence_max"}, Order: order, Limit: limit,
						Offset: offset,
					}
					c, err := s.compile(&q)
					if err != nil {
						t.Fatal(err)
					}
					if condition, err := s.topGroups(context.Background(), &q, c); err != nil {
						t.Fatal(err)
					} else if condition != "" {
						narrowed++
					}
					rows := limit
					if rows == 0 {
						rows = store.DefaultLimit
					}
					want, err := s.answer(context.Background(),
						c.Text+fmt.Sprintf(" LIMIT %d OFFSET %d", rows+1, offset), nil, rows)
					if err != nil {
						t.Fatal(err)
					}
					got := ask(t, s, q)
					if fmt.Sprint(got.Columns, got.Rows, got.More) != fmt.Sprint(want.Columns, want.Rows, want.More) {
						t.Fatalf("%+v:\ngot  %v %v\nwant %v %v", q, got.Rows, got.More, want.Rows, want.More)
					}
				}
			}
		}
	}
	if narrowed < 50 {
		t.Errorf("%d questions were narrowed: this tests little", narrowed)
	}
}
