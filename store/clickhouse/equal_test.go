package clickhouse

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/internal/test/chdb"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/store/duckdb"
	"github.com/waybill-int/waybill/store/schema"
	"github.com/waybill-int/waybill/telemetry"
)

// epoch is where records begin, twenty minutes before an hour.
var epoch = time.Date(2026, 11, 21, 9, 40, 0, 0, time.UTC)

// years are longer than the tests are old: the server drops by its own clock.
const years = 20 * 365 * 24 * time.Hour

func open(t testing.TB, address string) *Store {
	t.Helper()
	c := DefaultConfig(address)
	c.Keep = [...]time.Duration{years, years, years}
	s, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// openFiles opens a store in files, which the same is asked of.
func openFiles(t *testing.T) *duckdb.Store {
	t.Helper()
	config := duckdb.DefaultConfig(filepath.Join(t.TempDir(), "store"))
	config.Keep = [...]time.Duration{years, years, years}
	config.MinFree = 1 << 20
	s, err := duckdb.Open(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// A maker makes records of any type: few values of each kind, so that many are the same, and all kinds of unknown.
type maker struct{ *rand.Rand }

func (g maker) small() uint64 { return g.Uint64N(4) }

func (g maker) address() telemetry.Addr {
	if g.IntN(3) == 0 {
		return telemetry.Addr{Hi: 0x20010db8 << 32, Lo: g.small()}
	}
	return telemetry.AddrFrom4([4]byte{10, byte(g.small()), 0, byte(g.small())})
}

func (g maker) flowKey() telemetry.FlowKey {
	k := telemetry.FlowKey{
		Src: g.address(), Dst: g.address(), SrcPort: uint16(g.small()), DstPort: uint16(g.small()),
		Protocol: uint8(17 - 11*g.IntN(2)),
	}
	if g.IntN(2) == 0 {
		k.Tunnel, k.TunnelID = telemetry.TunnelVXLAN, uint32(g.small())
	}
	return k
}

// histogram has up to 20 values, at scales from 0 to 3.
func (g maker) histogram() (h telemetry.Histogram) {
	scale := int8(g.IntN(4))
	for range g.IntN(20) {
		v := g.Uint64N(1 << (1 + g.IntN(24)))
		index := 0
		for v > telemetry.ExponentialBucket(scale, index, 1).High {
			index++
		}
		h.Merge(&telemetry.Histogram{
			Count: 1, Sum: v, Min: v, Max: v, Scale: scale, Start: int16(index), Counts: []uint64{1},
		})
	}
	return h
}

func (g maker) fill(v reflect.Value) {
	switch p := v.Addr().Interface().(type) {
	case *telemetry.FlowKey:
		*p = g.flowKey()
	case *telemetry.Addr:
		*p = g.address()
	case *netip.Addr:
		a := g.address()
		*p = a.IP()
	case *telemetry.Histogram:
		*p = g.histogram()
	case *telemetry.LatencySummary:
		if n := g.small(); n > 0 {
			*p = telemetry.LatencySummary{
				Count: n, Min: g.small(), Max: 4 + g.Uint64N(1000), P50: g.small(), P99: g.Uint64N(1000),
			}
			p.Sum = n*p.Min + g.Uint64N(1000)
		}
	case *telemetry.SampleSum:
		for range g.IntN(3) {
			rates := []telemetry.SampleRate{0, 1, 1, 2, 100, telemetry.SamplePart, telemetry.SampleOnEvent}
			// Halves: sums of them are exact in any order.
			p.Add(rates[g.IntN(len(rates))], []float64{-1, 0.5, 1}[g.IntN(3)], g.Uint64N(100))
		}
	case *telemetry.Place:
		*p = telemetry.Place{
			Node: uint32(g.small()), IngressPort: uint32(g.small()), EgressPort: uint32(g.small()),
		}
		for _, has := range []telemetry.Fields{
			telemetry.HasNode, telemetry.HasNode, telemetry.HasIngressPort, telemetry.HasEgressPort, telemetry.HasDrop,
		} {
			if g.IntN(3) > 0 {
				p.Has |= has
			}
		}
	case *telemetry.ReasonTable:
	case *telemetry.Endpoints:
		k := g.flowKey()
		*p = telemetry.EndpointsOf(&k)
	case *time.Time:
		*p = epoch.Add(time.Duration(g.Int64N(int64(90 * time.Minute)))).UTC()
	default:
		g.fillKind(v)
	}
}

func (g maker) fillKind(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				g.fill(v.Field(i))
			}
		}
	case reflect.Pointer:
		if g.IntN(3) > 0 && v.Type().Elem().Kind() != reflect.Struct ||
			v.Type() == reflect.TypeFor[*telemetry.Endpoints]() && g.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			g.fill(v.Elem())
		}
	case reflect.Bool:
		v.SetBool(g.IntN(2) == 0)
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(g.small())
	case reflect.Int, reflect.Int64:
		v.SetInt(g.Int64N(4))
	case reflect.Float64:
		v.SetFloat(float64(g.small()) / 4)
	case reflect.String:
		v.SetString([]string{"", "a", "it's", `b\c`, "näher", "x\ny"}[g.IntN(6)])
	}
}

// list makes n records. begin sets when they begin.
func list[R any](g maker, n int, begin func(*R)) []R {
	records := make([]R, n)
	for i := range records {
		g.fill(reflect.ValueOf(&records[i]).Elem())
		begin(&records[i])
	}
	return records
}

func (g maker) intervals(n, round int) *telemetry.Intervals {
	at := func(length int64) int64 {
		// Few minutes, on both sides of the hour and of what is rolled up.
		minute := []time.Duration{0, 1, 19, 20, 21, 50, 81, 85, 88}[g.IntN(9)] * time.Minute
		return epoch.Add(minute).UnixNano() + g.Int64N(int64(time.Minute)/length)*length
	}
	long := func() int64 { return at(telemetry.FlowIntervalNs) }
	v := &telemetry.Intervals{
		Flows:     list(g, n, func(r *telemetry.FlowInterval) { r.StartNs = long() }),
		Paths:     list(g, n, func(r *telemetry.PathInterval) { r.StartNs = long() }),
		Hops:      list(g, n, func(r *telemetry.HopInterval) { r.StartNs = at(telemetry.HopIntervalNs) }),
		Queues:    list(g, n, func(r *telemetry.QueueInterval) { r.StartNs = at(telemetry.HopIntervalNs) }),
		Links:     list(g, n, func(r *telemetry.LinkInterval) { r.StartNs = long() }),
		Drops:     list(g, n, func(r *telemetry.DropInterval) { r.StartNs = long() }),
		Exporters: list(g, n, func(r *telemetry.ExporterInterval) { r.StartNs = long() }),
		Hosts:     list(g, n, func(r *telemetry.HostInterval) { r.StartNs = long() }),
		Bursts:    list(g, n/4, func(r *telemetry.Burst) {}),
		Events:    list(g, n/4, func(r *telemetry.Event) {}),
	}
	for i := range v.Bursts {
		v.Bursts[i].ID = fmt.Sprint("burst", round, ".", i)
	}
	for i := range v.Events { // some twice, with another number of what they count
		v.Events[i].ID, v.Events[i].Count = fmt.Sprint("event", round, ".", i/2), uint64(i)
		if i%2 == 1 {
			v.Events[i].Start = v.Events[i-1].Start
		}
	}
	v.BurstFlows = list(g, n/4, func(r *telemetry.BurstFlow) { r.Burst = &v.Bursts[g.IntN(len(v.Bursts))] })
	for path := range uint64(3) { // 3 has no route
		r := telemetry.Route{StartNs: epoch.UnixNano() + int64(round), Path: path}
		for range path {
			var s telemetry.PathElement
			g.fill(reflect.ValueOf(&s.Place).Elem())
			r.Elements = append(r.Elements, s)
		}
		v.Routes = append(v.Routes, r)
	}
	return v
}

// lists are the filters of tables.
var lists = map[store.Table]*filter.Schema{
	store.Flows: filter.Flows, store.Paths: filter.Paths, store.Hops: filter.Hops, store.Drops: filter.Drops,
	store.Exporters: filter.Exporters, store.Events: filter.Events, store.Bursts: filter.BurstTable.Schema(),
	store.Links: filter.LinkTable.Schema(), store.Queues: filter.QueueTable.Schema(),
}

// literals are values of each kind.
var literals = map[filter.Kind][]string{
	filter.Uint: {
		"0",
		"1",
		"2",
		"18446744073709551615",
	}, filter.Size: {"0", "2B", "128B"}, filter.Node: {"1", "2", "3"},
	filter.Duration: {"0", "1ns", "2ns", "5us"}, filter.Time: {"2026-11-21T09:50:00Z", "2026-11-21T11:00:10Z", "now"},
	filter.Address: {"10.0.0.1", "10.1.0.2", "2001:db8::1", "::"}, filter.Rate: {"0", "2bit/s"},
	filter.Text: {"'0000000000000001'", "'a'", "'it''s'"}, filter.Bool: {"true", "false"},
	filter.Ratio: {"50%", "100%"}, filter.Float: {"0.5", "1"}, filter.MAC: {"02:00:00:00:00:01"},
}

// filter is one over some fields of a list.
func (g maker) filter(fields []*filter.Field, depth int) string {
	if depth > 0 {
		switch g.IntN(4) {
		case 0:
			return "(" + g.filter(fields, depth-1) + " and " + g.filter(fields, depth-1) + ")"
		case 1:
			return "(" + g.filter(fields, depth-1) + " or " + g.filter(fields, depth-1) + ")"
		case 2:
			return "not (" + g.filter(fields, depth-1) + ")"
		}
	}
	f := fields[g.IntN(len(fields))]
	pool := literals[f.Kind]
	if f.Kind == filter.Enum {
		pool = []string{f.Choices[0].Name, fmt.Sprint(f.Choices[len(f.Choices)-1].Number)}
	}
	value := pool[g.IntN(len(pool))]
	switch op := []string{"=", "!=", "<", ">=", "in", "not in", "is null", "is not null", "like", "~"}[g.IntN(10)]; op {
	case "is null", "is not null":
		return f.Name + " " + op
	case "in", "not in":
		if f.Kind == filter.Address {
			value += ", 10.1.0.0/16, 2001:db8::/32"
		}
		return f.Name + " " + op + " (" + value + ", " + pool[g.IntN(len(pool))] + ")"
	case "like":
		return f.Name + " like " + []string{`'%'`, `'_'`, `'%0_'`, `'b\\%'`, `'%b\%%'`, `'%0%0%1%'`, `'x_y'`, `'n_her'`}[g.IntN(8)]
	case "~":
		return f.Name + " ~ " + []string{`'^0+[1-3]$'`, `'x.y'`, `'a|b'`, `'(?s)x.y'`, `'\\'`}[g.IntN(5)]
	default:
		return f.Name + " " + op + " " + value
	}
}

// question is one that a store may be asked, and its filter.
func (g maker) question() (*store.Query, *filter.Expr) {
	t := tables.Tables[g.IntN(int(store.NumTables))]
	minutes := func(n int64) time.Duration { return time.Duration(g.Int64N(n)) * time.Minute }
	q := &store.Query{
		Table: t.ID,
		From:  epoch.Add(minutes(60) - 10*time.Minute),
		Limit: []int{3, 50, 1000}[g.IntN(3)],
	}
	q.To = q.From.Add(time.Second + minutes(90))
	if g.IntN(3) == 0 {
		q.From = q.From.Add(time.Duration(g.Int64N(int64(time.Minute))))
	}
	if t.Finest != 0 {
		q.Step = []time.Duration{0, 0, 10 * time.Second, time.Minute, 10 * time.Minute, time.Hour}[g.IntN(6)]
	}
	var keys, values []string
	for _, c := range t.Columns {
		switch {
		case c.Role == schema.Key && c.Name != "start":
			keys = append(keys, c.Name)
		case c.Role == schema.Sum || c.Role == schema.Low || c.Role == schema.High:
			values = append(values, c.Name)
		case c.Role == schema.Counts:
			values = append(values, strings.TrimSuffix(c.Name, "_counts"))
		}
	}
	for _, d := range t.Derived {
		switch {
		case d.Role != schema.Key || len(d.Needs) > 0 && !d.Routes && t.Role(d.Needs[0]) != schema.Key:
			values = append(values, d.Name)
		default:
			keys = append(keys, d.Name)
		}
	}
	some := func(names []string, most int) (list []string) {
		for range g.IntN(most + 1) {
			if len(names) > 0 {
				if name := names[g.IntN(len(names))]; !slices.Contains(list, name) {
					list = append(list, name)
				}
			}
		}
		return list
	}
	q.Group, q.Values = some(keys, 4), some(values, 5)
	q.Values = slices.DeleteFunc(
		q.Values,
		func(name string) bool { // a column of a histogram that is asked for as a whole
			return slices.ContainsFunc(q.Values, func(of string) bool {
				return t.Role(of+"_counts") == schema.Counts && strings.HasPrefix(name, of+"_")
			})
		},
	)
	if len(q.Values) == 0 && len(values) > 0 {
		q.Values = values[:1]
	}
	if len(q.Group)+len(q.Values) == 0 {
		q.Group = keys[:1]
	}
	if orders := slices.DeleteFunc(slices.Concat(q.Group, q.Values),
		func(name string) bool { return t.Role(name+"_counts") == schema.Counts }); len(orders) > 0 && g.IntN(2) == 0 {
		q.Order, q.Ascending = orders[g.IntN(len(orders))], g.IntN(2) == 0
	}
	list := lists[t.ID]
	if list == nil || g.IntN(2) == 0 {
		return q, nil
	}
	kept := list.Kept()
	fields := kept.Fields()
	for range 100 { // not every operator takes every kind
		if e, err := filter.Parse(kept, g.filter(fields, 2)); err == nil {
			return q, e
		}
	}
	return q, nil
}

// text is an answer with the types of its values.
func text(a *store.Answer, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	var b strings.Builder
	fmt.Fprintln(&b, a.Columns, a.More, a.Resolution)
	for _, row := range a.Rows {
		for _, v := range row {
			if h, ok := v.(*telemetry.Histogram); ok && h != nil {
				v = *h
			}
			fmt.Fprintf(&b, "%T %v | ", v, v)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// differences lists the first lines that two texts do not share.
func differences(got, want string) string {
	var b strings.Builder
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	n := 0
	for i := 0; i < max(len(g), len(w)) && n < 5; i++ {
		var here, there string
		if i < len(g) {
			here = g[i]
		}
		if i < len(w) {
			there = w[i]
		}
		if here != there {
			n++
			fmt.Fprintf(&b, "line %d, ClickHouse: %s\n\tDuckDB: %s\n", i, here, there)
		}
	}
	return b.String()
}

// TestEqual: both stores answer any question about the same records in the same way, to the last bit. The records are
// rolled up as far as 11:04 and 11:00.
func TestEqual(t *testing.T) {
	seed, questions := uint64(1), 60
	if _, all := test.Seed(t); all {
		seed, questions = uint64(time.Now().UnixNano()), 500
	}
	t.Logf("seed %d", seed)
	g := maker{rand.New(rand.NewPCG(seed, 0))}
	first := openFiles(t)
	address := chdb.Start(t)
	if _, err := Open(t.Context(), readOnly(address)); !errors.Is(err, ErrNoTables) {
		t.Errorf("got %v of a database without tables, want %v", err, ErrNoTables)
	}
	second := open(t, address)
	reader, err := Open(t.Context(), readOnly(address)) // which learns what is written and rolled up later
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	for round := range 2 {
		v := g.intervals(300, round)
		for _, s := range []store.Backend{first, second} {
			if err := s.Write([]*telemetry.Intervals{v}); err != nil {
				t.Fatal(err)
			}
		}
	}
	now := epoch.Add(85 * time.Minute)
	for _, s := range []store.Backend{first, second} {
		if err := s.Maintain(t.Context(), now); err != nil {
			t.Fatal(err)
		}
	}
	askBoth(t, g, first, second, questions, now)
	reader.SetNames(map[uint32]string{1: "x"}) // those of the other stay
	askBoth(t, g, first, reader, questions/2, now)
	a, err := second.Select(t.Context(), "SELECT count() FROM node_names", 1)
	if err != nil || a.Rows[0][0] != uint64(0) {
		t.Errorf("%v: a reader has named nodes: %v", err, a)
	}
}

// readOnly is the configuration of who reads the tables of another one.
func readOnly(address string) Config {
	c := DefaultConfig(address)
	c.ReadOnly = true
	return c
}

// askBoth asks both stores the same questions.
func askBoth(t *testing.T, g maker, first, second store.Backend, questions int, now time.Time) {
	t.Helper()
	rows, failed := 0, 0
	for n := range questions {
		q, e := g.question()
		if e != nil {
			q.Where, q.Args = e.SQL(filter.DuckDB, now)
			q.Uses = e.Columns()
		}
		a, err := first.Query(t.Context(), q)
		want := text(a, err)
		if err == nil {
			rows += len(a.Rows)
		}
		if e != nil {
			q.Where, q.Args = e.SQL(filter.ClickHouse, now)
		}
		a, err = second.Query(t.Context(), q)
		if got := text(a, err); got != want {
			t.Errorf("question %d: %+v\nfilter: %v\n%s", n, *q, e, differences(got, want))
			if failed++; failed > 4 {
				t.FailNow()
			}
		}
	}
	if rows < 5*questions {
		t.Errorf("%d rows: the questions test little", rows)
	}
}
