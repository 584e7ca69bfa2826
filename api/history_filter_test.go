package api

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/store/duckdb"
	"github.com/waybill-int/waybill/telemetry"
)

// A keptRow gives a record to the matcher, by the names of fields.
type keptRow struct {
	fields map[int]string
	values map[string][]filter.Value
}

func (r keptRow) Value(field, i int) (filter.Value, bool) {
	list := r.values[r.fields[field]]
	if i >= len(list) {
		return filter.Value{}, false
	}
	return list[i], true
}

// A recordMaker makes records of a list, and the rows that say the same.
type recordMaker struct {
	table store.Table
	key   string // column that tells records apart
	// add adds the n-th record, and returns what its key is and its values by field.
	add func(g dice, n int, v *telemetry.Intervals) (key string, values map[string][]filter.Value)
}

// nodeNames has two nodes of one name, and one that needs a quote.
var nodeNames = map[uint32]string{1: "leaf1", 2: "it's", 3: "leaf1"}

// A dice makes small values, so that they are often equal.
type dice struct{ *rand.Rand }

func (g dice) small() uint64   { return g.Uint64N(5) }
func (g dice) sometimes() bool { return g.IntN(3) > 0 }
func (g dice) text() string    { return []string{"", "leaf1", "it's", "2.0"}[g.IntN(4)] }
func (g dice) at() time.Time   { return tuesday.Add(time.Duration(g.small()) * 10 * time.Second) }
func (g dice) addr() telemetry.Addr {
	if g.IntN(3) == 0 {
		return telemetry.Addr{Hi: 0x20010db8 << 32, Lo: g.small()}
	}
	return telemetry.AddrFrom4([4]byte{10, byte(g.small()), 0, byte(g.small())})
}

func (g dice) maybe() *uint32 {
	if n := uint32(g.small()); g.sometimes() {
		return &n
	}
	return nil
}

// histogram has all values in one bucket, so that its percentiles are what it has, and its fields begin with name.
func (g dice) histogram(values map[string][]filter.Value, name string, of ...string) (h telemetry.Histogram) {
	if !g.sometimes() {
		return h
	}
	v := 1000 * g.small()
	h = telemetry.Histogram{Count: 2, Sum: 2 * v, Min: v, Max: v, Counts: []uint64{2}}
	for _, field := range of {
		values[name+"."+field] = durations(v)
	}
	return h
}

func uints[N uint8 | uint16 | uint32 | uint64](n N) []filter.Value {
	return []filter.Value{filter.FromUint(uint64(n))}
}

func durations(ns uint64) []filter.Value {
	return []filter.Value{filter.FromDuration(time.Duration(ns))}
}
func bools(b bool) []filter.Value               { return []filter.Value{filter.FromBool(b)} }
func addresses(a telemetry.Addr) []filter.Value { return []filter.Value{filter.FromAddr(a)} }
func times(t time.Time) []filter.Value          { return []filter.Value{filter.FromTime(t)} }

func texts(s string) []filter.Value {
	if s == "" {
		return nil
	}
	return []filter.Value{filter.FromText(s)}
}

// place is what is known of a node and its ports, in the fields with these names; "" are not wanted.
func (g dice) place(values map[string][]filter.Value, node, in, out string) (p telemetry.Place) {
	p = telemetry.Place{Node: uint32(g.small()), IngressPort: uint32(g.small()), EgressPort: uint32(g.small())}
	for _, f := range []struct {
		name string
		has  telemetry.Fields
		n    uint32
	}{
		{node, telemetry.HasNode, p.Node},
		{in, telemetry.HasIngressPort, p.IngressPort},
		{out, telemetry.HasEgressPort, p.EgressPort},
	} {
		if f.name != "" && g.sometimes() {
			p.Has |= f.has
			values[f.name] = uints(f.n)
		}
	}
	if node == "node" && p.Has&telemetry.HasNode != 0 {
		values["name"] = texts(nodeNames[p.Node])
	}
	return p
}

func (g dice) key(values map[string][]filter.Value, n int) telemetry.FlowKey {
	k := telemetry.FlowKey{
		Src: g.addr(), Dst: g.addr(), SrcPort: uint16(n), DstPort: uint16(g.small()),
		Protocol: uint8(17 - 11*g.IntN(2)),
	}
	if g.sometimes() {
		k.Tunnel, k.TunnelID = telemetry.TunnelVXLAN, uint32(g.small())
		values["tunnel"], values["tunnel_id"] = uints(uint8(k.Tunnel)), uints(k.TunnelID)
	}
	values["src"], values["dst"] = addresses(k.Src), addresses(k.Dst)
	values["src_port"], values["dst_port"], values["protocol"] = uints(k.SrcPort), uints(k.DstPort), uints(k.Protocol)
	return k
}

// route is the way of path n, with its fields.
func route(values map[string][]filter.Value, g dice, path uint64) telemetry.Route {
	first, second := uint32(g.small()), uint32(5+g.small())
	r := telemetry.Route{
		StartNs: tuesday.UnixNano(), Path: path, Uncertain: g.sometimes(),
		Elements: []telemetry.PathElement{
			{Place: telemetry.Place{Has: telemetry.HasNode, Node: first}},
			{Missing: 2},
			{Place: telemetry.Place{Has: telemetry.HasNode, Node: second}},
		},
	}
	values["node"], values["hops"] = []filter.Value{filter.FromUint(uint64(first)), filter.FromUint(uint64(second))},
		uints(uint64(4))
	values["uncertain"], values["dropped"] = bools(r.Uncertain), bools(false)
	return r
}

// recordMakers by the names of their lists.
var recordMakers = map[string]recordMaker{
	"flows": {store.Flows, "id", func(g dice, n int, v *telemetry.Intervals) (string, map[string][]filter.Value) {
		values := map[string][]filter.Value{}
		f := telemetry.FlowInterval{
			StartNs: g.at().UnixNano(), DSCP: uint8(g.small()), Reports: g.small(), Packets: g.small(),
			Bytes: 64 * g.small(), Drops: g.small(),
			PathChanges: g.small(), Key: g.key(values, n), HasDevice: g.sometimes(), Device: 2 << 16,
		}
		if f.Key.Tunnel != telemetry.TunnelNone {
			f.OuterSrc, f.OuterDst = g.addr(), g.addr()
			values["outer.src"], values["outer.dst"] = addresses(f.OuterSrc), addresses(f.OuterDst)
		}
		if f.HasDevice {
			values["device"] = texts("00:00:00:00:00:02")
		}
		if g.sometimes() {
			f.Path = uint64(n + 1)
			v.Routes = append(v.Routes, route(values, g, f.Path))
			values["path"] = texts(fmt.Sprintf("%016x", f.Path))
		}
		for name, m := range map[string]*telemetry.LatencySummary{
			"residence": &f.Residence, "end_to_end": &f.EndToEnd,
		} {
			if !g.sometimes() {
				continue
			}
			*m = telemetry.LatencySummary{
				Count: 1, Sum: 1000 * g.small(), Min: 1000 * g.small(), Max: 1000 * g.small(),
				P50: 1000 * g.small(), P99: 1000 * g.small(),
			}
			values[name+".min"], values[name+".max"], values[name+".mean"] = durations(m.Min), durations(m.Max),
				durations(m.Sum)
			if name == "residence" {
				values["residence.p50"], values["residence.p99"] = durations(m.P50), durations(m.P99)
			}
		}
		values["id"], values["dscp"], values["reports"], values["packets"] = texts(fmt.Sprintf("%016x", f.Key.Hash())),
			uints(f.DSCP), uints(f.Reports), uints(f.Packets)
		values["bytes"], values["drops"], values["path_changes"] = uints(f.Bytes), uints(f.Drops), uints(f.PathChanges)
		values["first"], values["last"] = times(time.Unix(0, f.StartNs)), times(time.Unix(0, f.StartNs))
		v.Flows = append(v.Flows, f)
		return fmt.Sprintf("%016x", f.Key.Hash()), values
	}},
	"paths": {store.Paths, "path_id", func(g dice, n int, v *telemetry.Intervals) (string, map[string][]filter.Value) {
		values := map[string][]filter.Value{}
		r := telemetry.PathInterval{
			StartNs: g.at().UnixNano(), Path: 1000 + uint64(n), Packets: g.small(),
			Incomplete: g.small(), ClockErrors: g.small(),
		}
		r.Residence = g.histogram(values, "residence", "min", "mean", "p50", "p99", "max")
		r.EndToEnd = g.histogram(values, "end_to_end", "min", "mean", "max")
		v.Routes = append(v.Routes, route(values, g, r.Path))
		v.Paths = append(v.Paths, r)
		values["id"], values["packets"], values["incomplete"],
			values["clock_errors"] = texts(fmt.Sprintf("%016x", r.Path)), uints(r.Packets), uints(r.Incomplete),
			uints(r.ClockErrors)
		values["first"], values["last"] = times(time.Unix(0, r.StartNs)), times(time.Unix(0, r.StartNs))
		return fmt.Sprint(r.Path), values
	}},
	"hops": {store.Hops, "packets", func(g dice, n int, v *telemetry.Intervals) (string, map[string][]filter.Value) {
		values := map[string][]filter.Value{"packets": uints(uint64(n))}
		r := telemetry.HopInterval{
			StartNs: g.at().UnixNano(),
			Place:   g.place(values, "node", "ingress_port", "egress_port"), Packets: uint64(n),
		}
		r.Latency = g.histogram(values, "latency", "min", "mean", "p50", "p99", "max")
		if values["dropped"] = bools(false); g.sometimes() {
			r.Has |= telemetry.HasDrop
			values["dropped"] = bools(true)
		}
		v.Hops = append(v.Hops, r)
		return fmt.Sprint(n), values
	}},
	"queues": {
		store.Queues, "samples",
		func(g dice, n int, v *telemetry.Intervals) (string, map[string][]filter.Value) {
			values := map[string][]filter.Value{"samples": uints(uint64(n))}
			r := telemetry.QueueInterval{
				StartNs: g.at().UnixNano(), Place: g.place(values, "node", "", "egress_port"),
				Queue: uint8(g.small()), Samples: uint64(n), Sum: g.small(), Max: uint32(g.small()),
			}
			if n > 0 {
				values["occupancy.mean"] = []filter.Value{filter.FromFloat(float64(r.Sum) / float64(n))}
			}
			values["queue_id"], values["occupancy.max"] = uints(r.Queue), uints(r.Max)
			if n%2 == 0 { // else of a version without units
				r.Unit, values["unit"] = "packets", texts("packets")
			}
			v.Queues = append(v.Queues, r)
			return fmt.Sprint(n), values
		},
	},
	"links": {store.Links, "packets", func(g dice, n int, v *telemetry.Intervals) (string, map[string][]filter.Value) {
		values := map[string][]filter.Value{"packets": uints(uint64(n))}
		r := telemetry.LinkInterval{
			StartNs: g.at().UnixNano(), From: g.place(values, "from", "", "from_port"),
			To: g.place(values, "to", "to_port", ""), Packets: uint64(n),
		}
		if g.sometimes() {
			low, high := g.small(), 10+g.small()
			r.Utilization = telemetry.UtilizationSum{Samples: 2, Sum: low + high, Max: uint32(high)}
			values["utilization.mean"],
				values["utilization.max"] = []filter.Value{filter.FromFloat(float64(low+high) / 2)}, uints(high)
		}
		r.Delay = g.histogram(values, "delay", "min", "mean", "p50", "p99", "max")
		v.Links = append(v.Links, r)
		return fmt.Sprint(n), values
	}},
	"drops": {store.Drops, "packets", func(g dice, n int, v *telemetry.Intervals) (string, map[string][]filter.Value) {
		values := map[string][]filter.Value{"packets": uints(uint64(n))}
		r := telemetry.DropInterval{
			StartNs: g.at().UnixNano(),
			Place:   g.place(values, "node", "ingress_port", "egress_port"), Reason: uint8(g.small()),
			Packets: uint64(n),
			DropKey: g.small(),
		}
		values["reason"], values["reason_name"] = uints(r.Reason), texts(fmt.Sprintf("reason_%d", r.Reason))
		if r.DropKey != 0 {
			values["drop_key"] = texts(fmt.Sprintf("%016x", r.DropKey))
		}
		if r.HasFlow = g.sometimes(); r.HasFlow {
			r.Flow = g.key(values, n)
		}
		values["first"], values["last"] = times(time.Unix(0, r.StartNs)), times(time.Unix(0, r.StartNs))
		v.Drops = append(v.Drops, r)
		return fmt.Sprint(n), values
	}},
	"exporters": {
		store.Exporters, "received",
		func(g dice, n int, v *telemetry.Intervals) (string, map[string][]filter.Value) {
			values := map[string][]filter.Value{"received": uints(uint64(n))}
			p := g.place(values, "node", "", "")
			r := telemetry.ExporterInterval{
				StartNs: g.at().UnixNano(), Source: g.addr().IP(), Node: p.Node, HasNode: p.Has != 0,
				HWID: uint8(g.small()), HasHWID: g.sometimes(),
				Version: g.text(), Dialect: g.text(), LossKnown: "yes", Received: uint64(n), Reports: g.small(),
				Lost:      int64(g.small()),
				Reordered: int64(g.small()), Duplicate: int64(g.small()), Restarted: int64(g.small()),
				Malformed: g.small(),
				Damaged:   g.small(),
			}
			if g.sometimes() {
				values["lost"] = uints(uint64(r.Lost))
				if all := r.Received + uint64(r.Lost); all > 0 {
					values["completeness"] = []filter.Value{filter.FromFloat(float64(r.Received) / float64(all))}
				}
			} else {
				r.LossKnown = "no: x"
			}
			if r.HasHWID {
				values["hw_id"] = uints(r.HWID)
			}
			values["source"], values["version"], values["dialect"],
				values["loss_known"] = addresses(telemetry.AddrFrom(r.Source)), texts(r.Version), texts(r.Dialect),
				texts(r.LossKnown)
			values["reports"], values["malformed"], values["damaged"] = uints(r.Reports), uints(r.Malformed),
				uints(r.Damaged)
			values["reordered"], values["duplicate"], values["restarted"] = uints(uint64(r.Reordered)),
				uints(uint64(r.Duplicate)), uints(uint64(r.Restarted))
			values["first"], values["last"] = times(time.Unix(0, r.StartNs)), times(time.Unix(0, r.StartNs))
			v.Exporters = append(v.Exporters, r)
			return fmt.Sprint(n), values
		},
	},
	"events": {store.Events, "id", func(g dice, n int, v *telemetry.Intervals) (string, map[string][]filter.Value) {
		e := telemetry.Event{
			ID: fmt.Sprintf("%016x", n), Kind: telemetry.EventKind(1 + g.IntN(telemetry.NumEventKinds-1)),
			Severity: telemetry.Severity(g.IntN(3)), Start: g.at(),
			Count: g.small(), Text: "a " + g.text(), Node: g.maybe(), Port: g.maybe(), ToNode: g.maybe(),
			ToPort: g.maybe(), ReasonName: g.text(), Path: g.text(), Rule: g.text(),
		}
		values := map[string][]filter.Value{
			"id": texts(e.ID), "kind": uints(uint8(e.Kind)), "severity": uints(uint8(e.Severity)),
			"start": times(e.Start), "count": uints(e.Count), "text": texts(e.Text),
			"reason_name": texts(e.ReasonName), "path": texts(e.Path), "rule": texts(e.Rule),
		}
		for name, n := range map[string]*uint32{"egress_port": e.Port, "to_node": e.ToNode, "to_port": e.ToPort} {
			if n != nil {
				values[name] = uints(*n)
			}
		}
		for _, n := range []*uint32{e.Node, e.ToNode} {
			if n != nil {
				values["node"] = append(values["node"], uints(*n)...)
				values["name"] = append(values["name"], texts(nodeNames[*n])...)
			}
		}
		if e.Node != nil {
			e.Name = nodeNames[*e.Node]
		}
		if e.ToNode != nil {
			e.ToName = nodeNames[*e.ToNode]
		}
		if g.sometimes() {
			end := e.Start.Add(time.Duration(1000 * g.small()))
			e.End = &end
			values["end"], values["duration"] = times(end), durations(uint64(end.Sub(e.Start)))
		}
		if n := uint8(g.small()); g.sometimes() {
			e.Queue, e.Reason = &n, &n
			values["queue_id"], values["reason"] = uints(n), uints(n)
		}
		if a := g.addr(); g.sometimes() {
			e.Source = a.IP().String()
			values["source"] = addresses(a)
		}
		if g.sometimes() {
			k := g.key(values, n)
			flow := telemetry.EndpointsOf(&k)
			e.Flow = &flow
		}
		v.Events = append(v.Events, e)
		return e.ID, values
	}},
	"bursts": {store.Bursts, "id", func(g dice, n int, v *telemetry.Intervals) (string, map[string][]filter.Value) {
		b := telemetry.Burst{
			ID: fmt.Sprintf("%016x", n), Node: uint32(g.small()), Port: uint32(g.small()), Queue: uint8(g.small()),
			Start: g.at(), Peak: g.at(), End: g.at(),
			DurationNs: 1000 * g.small(), Open: g.sometimes(), PeakBytes: new(64 * g.small()),
			PeakDelayNs: 1000 * g.small(),
			Packets:     g.small(), Bytes: 64 * g.small(),
			Drops: g.small(), Complete: float64(g.small()) / 4, Sources: int(g.small()), MainSources: int(g.small()),
			Incast: g.sometimes(), Unit: []string{"bytes", "packets"}[n%2], PeakDepth: g.small(),
		}
		v.Bursts = append(v.Bursts, b)
		return b.ID, map[string][]filter.Value{
			"id": texts(b.ID), "node": uints(b.Node), "name": texts(nodeNames[b.Node]), "egress_port": uints(b.Port),
			"queue_id": uints(b.Queue),
			"start":    times(b.Start), "peak": times(b.Peak), "end": times(b.End), "duration": durations(b.DurationNs),
			"open":       bools(b.Open),
			"peak_bytes": uints(*b.PeakBytes), "peak_delay": durations(b.PeakDelayNs), "packets": uints(b.Packets),
			"bytes": uints(b.Bytes), "drops": uints(b.Drops),
			"complete": {filter.FromFloat(b.Complete)}, "sources": uints(uint32(b.Sources)),
			"main_sources": uints(uint32(b.MainSources)), "incast": bools(b.Incast), "unit": texts(b.Unit),
			"peak_depth": uints(b.PeakDepth),
		}
	}},
}

// keptLiterals are values of each kind, most of which some records have.
var keptLiterals = map[filter.Kind][]string{
	filter.Uint: {"0", "1", "2", "3", "18446744073709551615"}, filter.Size: {"0", "64B", "128B"},
	filter.Node: {"1", "2", "9", "leaf1"}, filter.Float: {"6", "6.5", "0", "7"},
	filter.Ratio:    {"50%", "0%", "100%", "98%"},
	filter.Duration: {"0", "1us", "2us", "3us"},
	filter.Time:     {tuesday.Format(time.RFC3339), tuesday.Add(20 * time.Second).Format(time.RFC3339), "now"},
	filter.Address:  {"10.0.0.1", "10.1.0.2", "2001:db8::1", "::"}, filter.Bool: {"true", "false"},
	filter.Text: {"'0000000000000001'", "leaf1", "'00:00:00:00:00:02'", "'it''s'", "'2.0'", "yes", "reason_3"},
	filter.Enum: {"1", "2", "6", "17"},
}

// comparisons are filters with a field: all of its operators.
func (g dice) comparisons(f *filter.Field) []string {
	literal := func() string {
		pool := keptLiterals[f.Kind]
		if f.Kind == filter.Enum && g.IntN(2) == 0 {
			return fmt.Sprint(f.Choices[g.IntN(len(f.Choices))].Number)
		}
		return pool[g.IntN(len(pool))]
	}
	ops := []string{"=", "!=", "in (", "not in (", "is null", "is not null"}
	switch {
	case f.Kind == filter.Bool:
		ops = []string{"=", "!=", "is null", "is not null"}
	case f.Kind == filter.Time:
		ops = []string{"=", "!=", "<", ">=", "is null", "is not null"}
	case f.Kind == filter.Text:
		ops = append(ops, "like '%1'", "not like '%_s'", "~ '^0+[1-3]'", "!~ 'l|_1'")
	case f.Kind != filter.Address && f.Kind != filter.Enum && f.Kind != filter.Node || f.Ordered:
		ops = append(ops, "<", "<=", ">", ">=")
	}
	var all []string
	for _, op := range ops {
		text := f.Name + " " + op
		switch op {
		case "=", "!=", "<", "<=", ">", ">=":
			text += " " + literal()
		case "in (", "not in (":
			text += literal() + ", " + literal() + ")"
		}
		all = append(all, text)
	}
	return all
}

// What a filter selects of a list of a time range is what its matcher selects of the same records: for every field of
// every list, with every operator. So none is taken and then answered with nothing.
func TestHistoryFilters(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	g := dice{rand.New(rand.NewPCG(seed, 0))}
	schemas := map[string]*filter.Schema{"bursts": schemas(nodeNames)["bursts.records"]}
	for name, y := range histories() {
		schemas[name] = y.schema.WithNodes(nodeIDs(nodeNames)).WithNames(nodeNames)
	}
	c := duckdb.DefaultConfig(t.TempDir())
	c.MinFree = 1 << 20
	s, err := duckdb.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	for name, schema := range schemas {
		k, known := recordMakers[name]
		if !known {
			t.Errorf("nothing makes records of %s", name)
			continue
		}
		fields := map[int]string{}
		for _, f := range schema.Fields() {
			fields[f.Index()] = f.Name
		}
		v, rows := &telemetry.Intervals{}, map[string]keptRow{}
		for n := range 100 {
			key, values := k.add(g, n, v)
			rows[key] = keptRow{fields, values}
		}
		if err := s.Write([]*telemetry.Intervals{v}); err != nil {
			t.Fatal(err)
		}
		var before string
		for _, f := range schema.Fields() {
			held := 0
			for i, text := range g.comparisons(f) {
				if i%3 == 2 { // with another one
					text = []string{"not " + text, text + " and " + before, text + " or not " + before}[g.IntN(3)]
				} else {
					before = text
				}
				held += agree(t, s, &k, schema, rows, text)
			}
			if held == 0 {
				t.Errorf("%s %s: nothing is selected by any filter", name, f.Name)
			}
		}
	}
}

// agree holds what the store selects to what the matcher does, and returns how many records that are.
func agree(t *testing.T, s *duckdb.Store, k *recordMaker, schema *filter.Schema, rows map[string]keptRow,
	text string,
) int {
	t.Helper()
	e, err := filter.Parse(schema, text)
	if err != nil {
		t.Fatalf("%s: %s: %v", schema.Name(), text, err)
	}
	condition, args := e.SQL(filter.DuckDB, begin)
	a, err := s.Query(t.Context(),
		&store.Query{
			Table: k.table, From: tuesday, To: tuesday.Add(time.Hour), Where: condition, Args: args, Uses: e.Columns(),
			Group: []string{k.key},
		})
	if err != nil {
		t.Fatalf("%s: %s: %s: %v", schema.Name(), text, condition, err)
	}
	var got, want []string
	for _, row := range a.Rows {
		got = append(got, fmt.Sprint(row[0]))
	}
	m := e.Matcher(func() time.Time { return begin })
	for key, row := range rows {
		if m.Match(row) {
			want = append(want, key)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s: %s\n%s %v\nthe store selects %d: %.200v\nthe matcher   %d: %.200v", schema.Name(), text,
			condition, args, len(got), got, len(want), want)
	}
	return len(got)
}
