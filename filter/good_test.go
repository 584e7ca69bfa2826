package filter

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"
)

// good are filters with their canonical form; "" is the same.
var good = []struct{ text, canonical string }{
	{"", ""},
	{" \t\r\n", ""},
	{"node = 3", ""},
	{"NODE == 0x3", "node = 3"},
	{"node <> leaf1", "node != leaf1"},
	{`node = "leaf1"`, "node = leaf1"},
	{"node = leaf-2", ""},
	{"node = 'spine 1'", `node = "spine 1"`},
	{`node = "n"`, ""},  // bare it would be the field
	{`node = "12"`, ""}, // bare it would be the number
	{"node in (3, leaf1,'leaf-2')", "node in (3, leaf1, leaf-2)"},
	{"nodes = 4294967295", ""},

	{"n=1 and m=2 or n=3 and m=4", "n = 1 and n.other = 2 or n = 3 and n.other = 4"},
	{"n=1 && (m=2 || n=3)", "n = 1 and (n.other = 2 or n = 3)"},
	{"(n=1 and (m=2 and n=3))", "n = 1 and n.other = 2 and n = 3"},
	{"((n=1 or m=2) or (n=3))", "n = 1 or n.other = 2 or n = 3"},
	{"not n=1 and m=2", "not n = 1 and n.other = 2"},
	{"NOT (n=1 AND m=2)", "not (n = 1 and n.other = 2)"},
	{"!(n=1)", "not n = 1"},
	{"!up", "not up = true"},
	{"not not up", "not not up = true"},
	{"! !up", "not not up = true"},
	{"up and up = FALSE or up != true", "up = true and up = false or up != true"},

	{"n = 18446744073709551615", ""},
	{"n not in (1,2)", "n not in (1, 2)"},
	{"n > m", "n > n.other"},
	{"n.other!=n", "n.other != n"},
	{"latency >= delay", ""},
	{"start > stop", ""},
	{"title = name", ""},
	{`title = "name"`, ""},
	{"src != dst", ""},
	{"float < -1.50", "float < -1.5"},
	{"float > 1e3", "float > 1000"},
	{"float = -0", "float = 0"},
	{"ratio < 87.5%", ""},
	{"ratio > 0", "ratio > 0%"},
	{"ratio >= 1e-07%", ""},

	{"latency > 50us", ""},
	{"latency > 0.05ms", "latency > 50us"},
	{"latency > 50µs", "latency > 50us"},
	{"latency > 50μs", "latency > 50us"},
	{"latency > 1h30m", "latency > 90m"},
	{"latency > 48h", "latency > 2d"},
	{"latency > 0", "latency > 0ns"},
	{"latency > -1.5ms", "latency > -1500us"},
	{"latency > -0s", "latency > 0ns"},
	{"latency in (1us, '2us')", "latency in (1us, 2us)"},
	{"latency > 9223372036854775807ns", ""},
	{"size > 1500", "size > 1500B"},
	{"size > 64KiB", ""},
	{"size > 1.5MB", "size > 1500kB"},
	{"size > 0.5KiB", "size > 512B"},
	{"size > 1000kB", "size > 1MB"},
	{"size > 0", "size > 0B"},
	{"rate > 10Gbps", "rate > 10Gbit/s"},
	{"rate > 1.25GB/s", "rate > 10Gbit/s"},
	{"rate > 9600", "rate > 9600bit/s"},

	{"start > 2026-11-21T08:00:00Z", ""},
	{"start > 2026-11-21t10:00:00.500+02:00", "start > 2026-11-21T08:00:00.5Z"},
	{"start > '2026-11-21T08:00:00Z'", "start > 2026-11-21T08:00:00Z"},
	{"start > now", ""},
	{"start > now-5m", ""},
	{"start > NOW - 5m and stop <= now + 1h", "start > now-5m and stop <= now+1h"},
	{"start > now -5m", "start > now-5m"},
	{"start > now- 5m", "start > now-5m"},
	{"start > -1.5h", "start > now-90m"},
	{"start > now-0s", "start > now"},

	{"src = 10.0.0.1", ""},
	{"src = ::ffff:10.0.0.1", "src = 10.0.0.1"},
	{"src != 2001:DB8::1", "src != 2001:db8::1"},
	{"src in 10.0.0.0/8", ""},
	{"src in 10.1.2.3/8", "src in 10.0.0.0/8"},
	{"src in (10.0.0.0/8)", "src in 10.0.0.0/8"},
	{"src in 10.0.0.1", ""},
	{"src not in (10.0.0.0/8, ::1, 'fe80::/10')", "src not in (10.0.0.0/8, ::1, fe80::/10)"},
	{"src in ::ffff:10.0.0.0/104", "src in 10.0.0.0/8"},
	{"addr = 10.0.0.1/32", "addr = 10.0.0.1"},
	{"mac = 02-00-00-00-00-0A", "mac = 02:00:00:00:00:0a"},

	{"name = leaf1", `name = "leaf1"`},
	{"name = 12", `name = "12"`},
	{`name = 'it''s "so"'`, `name = "it's ""so"""`},
	{`name like "leaf%"`, ""},
	{"name not like leaf_", `name not like "leaf_"`},
	{`name like 'a\%'`, `name like "a\%"`},
	{`name ~ "^leaf\d+$"`, ""},
	{`name !~ spine`, `name !~ "spine"`},
	{"names in (a, 'b c')", `names in ("a", "b c")`},

	{"proto = TCP", "proto = tcp"},
	{"proto = 17", "proto = udp"},
	{"proto = 253", ""},
	{"proto = 'two words'", `proto = "two words"`},
	{"proto not in (6, 17)", "proto not in (tcp, udp)"},
	{"level >= low", ""},

	{"n is null", ""},
	{"n IS NOT NULL", "n is not null"},
	{"exists n and not exists(list)", "n is not null and not list is not null"},
}

func TestGood(t *testing.T) {
	for _, tc := range good {
		want := tc.canonical
		if want == "" && len(tc.text) > 4 {
			want = tc.text
		}
		e, err := Parse(everything, tc.text)
		if err != nil {
			t.Errorf("%s: %v", tc.text, err)
			continue
		}
		if e.String() != want {
			t.Errorf("%s: printed %s, want %s", tc.text, e, want)
		}
		again, err := Parse(everything, e.String())
		if err != nil || again.String() != e.String() {
			t.Errorf("%s: printed %s, that is %v (%v)", tc.text, e, again, err)
		}
		if wrong := Validate(everything, tc.text); wrong != nil {
			t.Errorf("%s: %v", tc.text, wrong)
		}
	}
}

func TestSQL(t *testing.T) {
	for text, want := range map[string]string{
		"":                     "TRUE []",
		"n = 3":                "(n = CAST(? AS UBIGINT) AND n IS NOT NULL) [3]",
		"m != 3":               "(n_other IS NOT NULL AND NOT (n_other = CAST(? AS UBIGINT) AND n_other IS NOT NULL)) [3]",
		"n > m":                "(n > n_other AND n IS NOT NULL AND n_other IS NOT NULL) []",
		"src != dst":           "((src_hi <> dst_hi OR src_lo <> dst_lo) AND src_hi IS NOT NULL AND dst_hi IS NOT NULL) []",
		"not up and ratio<50%": "(NOT (up = ? AND up IS NOT NULL) AND (ratio < ? AND ratio IS NOT NULL)) [true 0.5]",
		"either = 1 or n=2": "(((n = CAST(? AS UBIGINT) AND n IS NOT NULL) OR (n_other = CAST(? AS UBIGINT) AND n_other IS NOT NULL)) OR " +
			"(n = CAST(? AS UBIGINT) AND n IS NOT NULL)) [1 1 2]",
		"list = 1":                       "coalesce(list_contains(list, CAST(? AS UBIGINT)), FALSE) [1]",
		"latencies > 1us":                "coalesce(len(list_filter(latencies, lambda v: v > ?)), 0) > 0 [1000]",
		"list not in (1,2)":              "(coalesce(len(list), 0) > 0 AND NOT coalesce(len(list_filter(list, lambda v: v IN (CAST(? AS UBIGINT), CAST(? AS UBIGINT)))), 0) > 0) [1 2]",
		"exists list and either is null": "(coalesce(len(list), 0) > 0 AND (n IS NULL AND n_other IS NULL)) []",
		"src in 10.0.0.0/8": "((src_hi = CAST(? AS UBIGINT) AND src_lo BETWEEN CAST(? AS UBIGINT) AND CAST(? AS UBIGINT)) AND src_hi IS NOT NULL)" +
			" [0 281470849515520 281470866292735]",
		"src in fe80::/10":          "((src_hi BETWEEN CAST(? AS UBIGINT) AND CAST(? AS UBIGINT)) AND src_hi IS NOT NULL) [18338657682652659712 18356672081162141695]",
		`name like "a%"`:            "(name LIKE ? AND name IS NOT NULL) [a%]",
		`name like "a\%"`:           `(name LIKE ? ESCAPE '\' AND name IS NOT NULL) [a\%]`,
		`name ~ "a' or 1=1"`:        "(regexp_matches(name, ?) AND name IS NOT NULL) [a' or 1=1]",
		"start > now-1s":            "(start > make_timestamp_ns(?) AND start IS NOT NULL) [4000000000]",
		"proto in (udp, 255)":       "(proto IN (CAST(? AS UBIGINT), CAST(? AS UBIGINT)) AND proto IS NOT NULL) [17 255]",
		"mac = 02:00:00:00:00:0a":   "(mac = CAST(? AS UBIGINT) AND mac IS NOT NULL) [2199023255562]",
		"rate > 1kB/s and size < 1": "((rate > CAST(? AS UBIGINT) AND rate IS NOT NULL) AND (size < CAST(? AS UBIGINT) AND size IS NOT NULL)) [8000 1]",
	} {
		e, err := Parse(everything, text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		condition, values := e.SQL(DuckDB, time.Unix(5, 0))
		if got := condition + " " + fmt.Sprint(values); got != want {
			t.Errorf("%s:\n got %s\nwant %s", text, got, want)
		}
	}
}

// TestSQLValues is about what database/sql takes: no uint64 above the largest int64.
func TestSQLValues(t *testing.T) {
	e, err := Parse(everything,
		"n in (9223372036854775807, 9223372036854775808) and ratio > 50% and name = a and up and delay > 1us and stop > now")
	if err != nil {
		t.Fatal(err)
	}
	_, got := e.SQL(DuckDB, time.Unix(0, 7))
	want := []any{int64(math.MaxInt64), "9223372036854775808", 0.5, "a", true, int64(1000), int64(7)}
	if !slices.Equal(got, want) {
		t.Errorf("got %#v, want %#v", got, want)
	}
}
