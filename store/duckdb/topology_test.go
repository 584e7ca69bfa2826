package duckdb

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/telemetry"
)

// TestTopologyBetween: a link that fails and comes back, and a host that moves, have their times, before and after
// rollups and once minutes are no longer kept.
func TestTopologyBetween(t *testing.T) {
	if test.RaceDetector {
		t.Skip("nothing here runs side by side")
	}
	s := open(t, func(c *Config) { c.Keep = [...]time.Duration{time.Hour, 24 * time.Hour, 400 * 24 * time.Hour} })
	link := func(n int, at time.Time) telemetry.LinkInterval {
		has := telemetry.HasNode | telemetry.HasEgressPort | telemetry.HasIngressPort
		return telemetry.LinkInterval{
			StartNs: at.UnixNano(), From: telemetry.Place{Has: has, Node: uint32(n), EgressPort: 1},
			To: telemetry.Place{Has: has, Node: 9, IngressPort: 2}, Packets: 1,
		}
	}
	host := func(node uint32, at time.Time) telemetry.HostInterval {
		return telemetry.HostInterval{
			StartNs: at.UnixNano(), Addr: telemetry.AddrFrom4([4]byte{10, 0, 0, 1}),
			Node: node, Port: 3, HasPort: true, Packets: 2,
		}
	}
	v := &telemetry.Intervals{}
	for i := range 60 * 6 { // an hour in steps of 10 s: 9:40 to 10:40
		at := epoch.Add(time.Duration(i) * 10 * time.Second)
		v.Links = append(v.Links, link(1, at))
		if m := i / 6; m < 10 || m >= 30 { // fails from 9:50 to 10:10
			v.Links = append(v.Links, link(2, at))
		}
		switch m := i / 6; {
		case m < 20:
			v.Hosts = append(v.Hosts, host(1, at))
		case m >= 22:
			v.Hosts = append(v.Hosts, host(2, at))
		}
	}
	write(t, s, v)
	at := func(minute int) string {
		return fmt.Sprintf("TIMESTAMP '%s'", epoch.Add(time.Duration(minute)*time.Minute).Format("2006-01-02 15:04:05"))
	}
	check := func(t *testing.T) {
		for statement, want := range map[string]string{
			"SELECT from_node, strftime(first, '%H:%M'), strftime(last, '%H:%M'), packets FROM links_between(" + at(0) +
				", " + at(70) + ") ORDER BY ALL": "[[1 09:40 10:40 360] [2 09:40 09:50 60] [2 10:10 10:40 180]]",
			"SELECT from_node FROM links_between(" + at(20) + ", " + at(20) +
				") ORDER BY ALL": "[[1]]",
			"SELECT from_node FROM links_between(" + at(5) + ", " + at(5) +
				") ORDER BY ALL": "[[1] [2]]",
			"SELECT from_node FROM links_between(" + at(80) + ", " + at(90) +
				") ORDER BY ALL": "[]",
			"SELECT DISTINCT from_node FROM links_between(" + at(0) + ", " + at(70) +
				", silence := INTERVAL 30 MINUTE) GROUP BY ALL HAVING count(*) > 1": "[]",
			"SELECT address(address_hi, address_lo), node, port FROM hosts_between(" + at(10) + ", " + at(10) +
				")": "[[10.0.0.1 1 3]]",
			"SELECT node FROM hosts_between(" + at(30) + ", " + at(30) +
				")": "[[2]]",
		} {
			if got := fmt.Sprint(sqlOf(t, s, statement)); got != want {
				t.Errorf("%s\ngot  %s\nwant %s", statement, got, want)
			}
		}
	}
	t.Run("seconds", check)
	// Between is the same for programs.
	for _, c := range []struct {
		table      store.Table
		from, to   int // minutes
		limit      int
		want       string
		more, fail bool
	}{
		{store.Links, 20, 20, 10, "1 10m10s 61,", false, false}, // as far as five minutes around it tell
		{store.Links, 0, 70, 10, "1 1h0m0s 360,2 10m0s 60,2 30m0s 180,", false, false},
		{store.Links, 0, 70, 2, "1 1h0m0s 360,2 10m0s 60,", true, false},
		{store.Links, 80, 90, 10, "", false, false},
		{store.Flows, 0, 70, 10, "", false, true},
	} {
		a, err := s.Between(t.Context(), c.table, epoch.Add(time.Duration(c.from)*time.Minute),
			epoch.Add(time.Duration(c.to)*time.Minute), c.limit)
		if (err != nil) != c.fail {
			t.Fatal(err)
		}
		if err != nil {
			continue
		}
		got := ""
		at := func(row []any, column string) any { return row[slices.Index(a.Columns, column)] }
		for _, row := range a.Rows {
			got += fmt.Sprintf("%v %v %v,", at(row, "from_node"),
				at(row, "last").(time.Time).Sub(at(row, "first").(time.Time)), at(row, "packets"))
		}
		if got != c.want || a.More != c.more {
			t.Errorf("%+v: got %s, %v", c, got, a.More)
		}
	}
	roll(t, s, epoch.Add(30*time.Minute))
	t.Run("seconds and minutes", check)
	roll(t, s, epoch.Add(3*time.Hour))
	t.Run("minutes", check)
	// Two days later all that is left are hours.
	day := epoch.Add(49 * time.Hour)
	write(t, s, &telemetry.Intervals{Links: []telemetry.LinkInterval{link(7, day)}})
	roll(t, s, day.Add(30*time.Hour))
	roll(t, s, day.Add(30*time.Hour))
	if got := fmt.Sprint(sqlOf(t, s, "SELECT count(*) FROM links_1m WHERE from_node < 7")); got != "[[0]]" {
		t.Fatalf("%s minutes are kept", got)
	}
	want := "[[1 09:00 11:00] [2 09:00 11:00]]"
	if got := fmt.Sprint(
		sqlOf(t, s, "SELECT from_node, strftime(first, '%H:%M'), strftime(last, '%H:%M') FROM links_between("+at(0)+
			", "+at(70)+") ORDER BY ALL")); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
