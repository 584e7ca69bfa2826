package duckdb

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/telemetry"
)

// flowSchema has the fields of flows that are kept.
var flowSchema = filter.Flows.Kept()

// A flowRow gives a record of flows to the matcher, by the names of fields.
type flowRow map[string][]filter.Value

func (r flowRow) Value(field, i int) (filter.Value, bool) {
	list := r[filter.Flows.Fields()[field].Name]
	if i >= len(list) {
		return filter.Value{}, false
	}
	return list[i], true
}

// randomFlow is a flow and the row that says the same.
func randomFlow(g *rand.Rand, n int) (telemetry.FlowInterval, flowRow) {
	small := func() uint64 { return g.Uint64N(4) }
	address := func() telemetry.Addr {
		if g.IntN(3) == 0 {
			return telemetry.Addr{Hi: 0x20010db8 << 32, Lo: small()}
		}
		return telemetry.AddrFrom4([4]byte{10, byte(small()), 0, byte(small())})
	}
	f := telemetry.FlowInterval{
		StartNs: epoch.UnixNano() + int64(small())*telemetry.FlowIntervalNs,
		Key: telemetry.FlowKey{
			Src: address(), Dst: address(), SrcPort: uint16(n), DstPort: uint16(small()),
			Protocol: uint8(17 - 11*g.IntN(2)),
		},
		DSCP: uint8(small()), Reports: small(), Packets: small(), Bytes: 64 * small(), Drops: small(),
		PathChanges: small(), Path: g.Uint64N(3),
	}
	u := func(v uint64) []filter.Value { return []filter.Value{filter.FromUint(v)} }
	at := []filter.Value{filter.FromTime(time.Unix(0, f.StartNs))}
	r := flowRow{
		"id": {filter.FromText(fmt.Sprintf("%016x", f.Key.Hash()))}, "src": {filter.FromAddr(f.Key.Src)},
		"dst":      {filter.FromAddr(f.Key.Dst)},
		"src_port": u(uint64(n)), "dst_port": u(uint64(f.Key.DstPort)), "protocol": u(uint64(f.Key.Protocol)),
		"dscp":    u(uint64(f.DSCP)),
		"reports": u(f.Reports), "packets": u(f.Packets), "bytes": u(f.Bytes), "drops": u(f.Drops),
		"path_changes": u(f.PathChanges),
		"first":        at, "last": at,
	}
	if f.Path != 0 {
		r["path"] = []filter.Value{filter.FromText(fmt.Sprintf("%016x", f.Path))}
		r["node"] = []filter.Value{filter.FromUint(f.Path), filter.FromUint(9)}
		r["hops"] = u(2)
	}
	if g.IntN(2) == 0 {
		f.Key.Tunnel, f.Key.TunnelID = telemetry.TunnelVXLAN, uint32(small())
		f.OuterSrc, f.OuterDst = address(), address()
		r["id"] = []filter.Value{filter.FromText(fmt.Sprintf("%016x", f.Key.Hash()))}
		r["tunnel"], r["tunnel_id"] = u(1), u(uint64(f.Key.TunnelID))
		r["outer.src"], r["outer.dst"] = []filter.Value{filter.FromAddr(f.OuterSrc)},
			[]filter.Value{filter.FromAddr(f.OuterDst)}
	}
	if g.IntN(2) == 0 {
		f.HasDevice, f.Device = true, small()<<16
		r["device"] = []filter.Value{filter.FromText(fmt.Sprintf("00:00:00:00:00:%02x", f.Device>>16))}
	}
	if g.IntN(2) == 0 {
		d := func(v uint64) []filter.Value { return []filter.Value{filter.FromDuration(time.Duration(v))} }
		for name, m := range map[string]*telemetry.LatencySummary{
			"residence": &f.Residence, "end_to_end": &f.EndToEnd,
		} {
			*m = telemetry.LatencySummary{
				Count: 1 + small(), Min: 1000 * small(), Max: 4000 + 1000*small(),
				P50: 1000 * small(), P99: 1000 * small(),
			}
			m.Sum = m.Count * 1000 * small()
			r[name+".min"], r[name+".max"], r[name+".mean"] = d(m.Min), d(m.Max), d(m.Sum/m.Count)
		}
		r["residence.p50"], r["residence.p99"] = d(f.Residence.P50), d(f.Residence.P99)
	}
	return f, r
}

// literals are values of each kind, most of which some flows have.
var literals = map[filter.Kind][]string{
	filter.Uint: {"0", "1", "2", "3", "18446744073709551615"}, filter.Size: {"0", "64B", "128B"},
	filter.Node:     {"1", "2", "9"},
	filter.Duration: {"0", "1us", "2us", "5us"}, filter.Time: {"2026-11-21T09:40:00Z", "2026-11-21T09:40:10Z", "now"},
	filter.Address: {"10.0.0.1", "10.1.0.2", "2001:db8::1", "::"},
	filter.Text:    {"'0000000000000001'", "'0000000000000002'", "'00:00:00:00:00:02'", "'it''s'"},
	filter.Enum:    {"6", "17", "1"},
}

func randomFilter(g *rand.Rand, depth int) string {
	if depth > 0 {
		switch g.IntN(5) {
		case 0:
			return "(" + randomFilter(g, depth-1) + " and " + randomFilter(g, depth-1) + ")"
		case 1:
			return "(" + randomFilter(g, depth-1) + " or " + randomFilter(g, depth-1) + ")"
		case 2:
			return "not (" + randomFilter(g, depth-1) + ")"
		}
	}
	fields := flowSchema.Fields()
	f := fields[g.IntN(len(fields))]
	pool := literals[f.Kind]
	value := pool[g.IntN(len(pool))]
	ops := []string{"=", "!=", "in", "not in", "is null", "is not null"}
	switch f.Kind {
	case filter.Text:
		ops = append(ops, "like", "not like", "~", "!~")
	case filter.Address, filter.Enum, filter.Node:
	default:
		ops = append(ops, "<", "<=", ">", ">=")
	}
	switch op := ops[g.IntN(len(ops))]; op {
	case "is null", "is not null":
		return f.Name + " " + op
	case "in", "not in":
		list := value + ", " + pool[g.IntN(len(pool))]
		if f.Kind == filter.Address && g.IntN(2) == 0 {
			list += ", 10.1.0.0/16, 2001:db8::/32"
		}
		return f.Name + " " + op + " (" + list + ")"
	case "like", "not like":
		return f.Name + " " + op + []string{` '%0_'`, ` '0%'`, ` '%0%0%1%'`, ` '%0_%0_%0%'`, ` '%0%%.0%1_'`}[g.IntN(5)]
	case "~", "!~":
		return f.Name + " " + op + ` '^0+[1-3]$'`
	default:
		return f.Name + " " + op + " " + value
	}
}

// TestFilterAgrees holds the matcher of package filter and DuckDB, with the SQL that filter makes, to the same answer.
func TestFilterAgrees(t *testing.T) {
	if test.RaceDetector {
		t.Skip("nothing here runs side by side")
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	g := rand.New(rand.NewPCG(seed, 0))
	s := open(t, nil)
	v := &telemetry.Intervals{}
	rows := map[string]flowRow{}
	for n := range 200 {
		f, r := randomFlow(g, n)
		v.Flows = append(v.Flows, f)
		rows[fmt.Sprintf("%016x", f.Key.Hash())] = r
	}
	for path := range uint64(3) {
		element := func(node uint64) telemetry.PathElement {
			return telemetry.PathElement{Place: telemetry.Place{Has: telemetry.HasNode, Node: uint32(node)}}
		}
		v.Routes = append(v.Routes,
			telemetry.Route{
				StartNs: epoch.UnixNano(), Path: path,
				Elements: []telemetry.PathElement{element(path), element(9)},
			})
	}
	write(t, s, v)
	now := epoch.Add(10 * time.Second)
	held := 0
	for range 300 {
		text := randomFilter(g, 3)
		e, err := filter.Parse(flowSchema, text)
		if err != nil {
			if strings.Contains(err.Error(), "does not take") { // this operator, of values of that kind
				continue
			}
			t.Fatal(err)
		}
		condition, args := e.SQL(filter.DuckDB, now)
		a, err := s.Query(t.Context(),
			&store.Query{
				Table: store.Flows, From: epoch, To: epoch.Add(time.Hour), Where: condition, Args: args,
				Uses:  e.Columns(),
				Group: []string{"id"},
			})
		if err != nil {
			t.Fatalf("%s\n%s: %v", text, condition, err)
		}
		var got, want []string
		for _, row := range a.Rows {
			got = append(got, row[0].(string))
		}
		m := e.Matcher(func() time.Time { return now })
		for id, r := range rows {
			if m.Match(r) {
				want = append(want, id)
			}
		}
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("%s\n%s %v\nDuckDB selects %d, the matcher %d", text, condition, args, len(got), len(want))
		}
		held += len(got)
	}
	if held < 6000 || held > 54_000 {
		t.Errorf("%d of 60000 hold: the filters test little", held)
	}
}
