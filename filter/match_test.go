package filter

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// rowOf returns a row of the values in a text such as "n=1 list=1,2".
func rowOf(t testing.TB, text string) testRow {
	t.Helper()
	row := make(testRow, len(everything.fields))
	for part := range strings.FieldsSeq(text) {
		name, values, _ := strings.Cut(part, "=")
		f, ok := everything.Find(name)
		if !ok {
			t.Fatalf("no field %s", name)
		}
		for value := range strings.SplitSeq(values, ",") {
			if f.Kind == Address {
				row[f.index] = append(row[f.index], FromAddr(telemetry.AddrFrom(netip.MustParseAddr(value))))
				continue
			}
			tokens, _ := lex(value)
			p := parser{schema: everything, tokens: tokens}
			l, err := p.literal(f)
			if err != nil {
				t.Fatal(err)
			}
			row[f.index] = append(row[f.index], l.at(testNow.UnixNano()))
		}
	}
	return row
}

// TestMatch is about what is absent, what there are several of, and what is at the edge.
func TestMatch(t *testing.T) {
	for _, tc := range []struct{ row, hold, not string }{
		{
			"", "|not n = 1|not n != 1|n is null|list is null|either is null|not up",
			"n = 1|n != 1|n not in (1)|n = m|n != m|up|exists list",
		},
		{
			"n=1", "n = 1|n is not null|either = 1|either is not null|m is null|not n = m",
			"n != 1|n = m|n != m|n < m|either != 1",
		},
		{
			"n=1 m=2", "either = 2|either != 3|n < m|n != m|either not in (3)",
			"either != 2|either not in (3, 2)|n = m|n >= m",
		},
		{
			"list=1,2", "list = 1|list = 2|list > 1|list < 2|list != 3|mixed = 2",
			"list != 1|list not in (1, 3)|list > 2|list = 3",
		},
		{"n=5 list=1", "mixed = 5 and mixed = 1|mixed != 2|mixed > 4", "mixed != 1|mixed > 5"},
		{"names=a,bc", "names like 'b%'|names !~ x|names not like c", "names !~ b|names not like 'a'|names = abc"},
		{"up=false", "not up|up = false|up != true", "up|up is null"},
		{
			"latency=50us delay=60us", "latency >= 50us|latency < delay|latency = 50000ns|latency > -1ns",
			"latency > 50us|latency < -1h",
		},
		{
			"start=2026-11-21T08:00:00Z",
			"start = now-5m|start > now-6m|start < now|start >= 2026-11-21T09:00:00+01:00",
			"start > now-5m|start < -5m",
		},
		{
			"src=10.255.255.255", "src in 10.0.0.0/8|addr in (::1, 10.0.0.0/8)|src in 0.0.0.0/0|src != 10.0.0.1",
			"src in 11.0.0.0/8|src in ::/0|src not in 10.0.0.0/8",
		},
		{
			"src=::1 dst=fe80::1", "src in ::/0|dst in fe80::/10|addr != ::2|src != dst|src in ::/64",
			"src in 0.0.0.0/0|addr != ::1|dst in ::/1",
		},
		{"src=::ffff:0:1", "src = 0.0.0.1|src in 0.0.0.0/0", "src in ::/64|src in ::/0"},
		{"src=::fffe:0:1", "src in ::/64|src in ::fffe:0:0/95", "src in 0.0.0.0/0"},
		{"src=::1:0:0:1", "src in ::/64|src in ::/0", "src in ::/80|src in 0.0.0.0/0"},
		{"src=::1:0:0:0:0", "src in ::/0|src in ::/63", "src in ::/64|src in 0.0.0.0/0"},
		{
			"name=leaf1", `name ~ leaf|name like "_eaf_"|name like "%"|name = leaf1`,
			`name ~ "^eaf"|name like leaf|name = LEAF1`,
		},
		{"proto=17", "proto = UDP|proto in (tcp, 17)|proto != tcp", "proto = 6"},
		{"level=high", "level > low|level >= 2", "level <= low"},
		{"node=1001", "node = 'spine 1'|node = 0x3e9|node not in (leaf1)", "node = leaf1"},
	} {
		row := rowOf(t, tc.row)
		for i, list := range []string{tc.hold, tc.not} {
			for text := range strings.SplitSeq(list, "|") {
				e, err := Parse(everything, text)
				if err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				condition, values := e.SQL(DuckDB, testNow)
				sql := compileSQL(t, condition, len(values))(&scope{row.columns(), values})
				if got := e.Matcher(clock).Match(row); got != (i == 0) || sql != got {
					t.Errorf("%s where %s: got %t, SQL %v", tc.row, text, got, sql)
				}
			}
		}
	}
}

func TestLike(t *testing.T) {
	for _, tc := range []struct {
		pattern, text string
		want          bool
	}{
		{"", "", true},
		{"", "a", false},
		{"%", "", true},
		{"_", "", false},
		{"_", "é", true},
		{"%%_%", "é", true},
		{"a%b%c", "a-b-b-c", true},
		{"a%b%c", "a-c-b", false},
		{"%ab", "aab", true},
		{"%ab", "aabb", false},
		{"%a_c%", "abcabxc", true},
		{`50\%`, "50%", true},
		{`50\%`, "500", false},
		{`\\`, `\`, true},
		{`\a`, "a", true},
		{"a\nb", "a\nb", true},
		{"a%b", "a\nb", true},
		{strings.Repeat("a%", 100) + "b", strings.Repeat("a", 10_000), false},
	} {
		l, ok := newLike(tc.pattern)
		if got := l.holds(FromText(tc.text), 0); got != tc.want || !ok {
			t.Errorf("%.20q like %.20q: got %t", tc.text, tc.pattern, got)
		}
	}
}

func TestMatchNow(t *testing.T) {
	e, err := Parse(everything, "start > now-1m")
	if err != nil {
		t.Fatal(err)
	}
	row := make(testRow, len(everything.fields))
	f, _ := everything.Find("start")
	row[f.Index()] = []Value{FromTime(time.Now())}
	if !e.Matcher(nil).Match(row) {
		t.Error("does not hold by the clock of the machine")
	}
	later := time.Now().Add(time.Hour)
	if e.Matcher(func() time.Time { return later }).Match(row) {
		t.Error("holds an hour later")
	}
}

func TestMatchNoAllocs(t *testing.T) {
	var row Row = rowOf(t, "n=3 list=1,2,3 src=10.0.0.1 dst=fe80::1 name=leaf1 latency=60us start=now proto=17 node=3")
	for _, text := range []string{
		"n = 3 and latency > 50us and src in 10.0.0.0/8 and not proto = tcp", "list not in (4, 5)",
		"n in (9, 8, 7, 6, 5, 4, 2, 1, 0, 10)",
		`name like "%x%"`, `name ~ "^x"`, "start < now-5m or addr in (::1, 10.0.0.2)", "src = dst or node is null",
	} {
		e, err := Parse(everything, text)
		if err != nil {
			t.Fatal(err)
		}
		m := e.Matcher(clock)
		if n := testing.AllocsPerRun(100, func() { m.Match(row) }); n > 0 {
			t.Errorf("%s: %v allocations", text, n)
		}
	}
}
