package duckdb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/store"
)

// What is asked for with SQL comes in its order and under its names, and no more than that of it is made.
func TestSQLLimit(t *testing.T) {
	s, err := Open(DefaultConfig(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for statement, want := range map[string]string{
		"SELECT * FROM range(5) ORDER BY range DESC":                                                             "[range] [[4] [3] [2]] true",
		"SELECT * FROM range(3)":                                                                                 "[range] [[0] [1] [2]] false",
		"SELECT range AS x FROM range(5) ORDER BY 0 - x LIMIT 2 OFFSET 1":                                        "[x] [[3] [2]] false",
		"WITH a AS (SELECT 1 AS b) SELECT b, b + 1 AS c FROM a ; \n":                                             "[b c] [[1 2]] false",
		"FROM range(2) -- all of it":                                                                             "[range] [[0] [1]] false",
		"VALUES (1, 'a'), (2, 'b') ORDER BY 1 DESC":                                                              "[col0 col1] [[2 b] [1 a]] false",
		"SELECT 1 AS a UNION ALL SELECT 2 ORDER BY a DESC":                                                       "[a] [[2] [1]] false",
		"WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 9) SELECT n FROM r ORDER BY n": "[n] [[1] [2] [3]] true",
	} {
		a, err := s.SQL(t.Context(), statement, 3)
		if err != nil {
			t.Errorf("%s: %v", statement, err)
			continue
		}
		if got := fmt.Sprint(a.Columns, a.Rows, a.More); got != want {
			t.Errorf("%s: got %s, want %s", statement, got, want)
		}
	}
	for statement, want := range map[string]string{
		"SELECT 1; -- done":               "nothing behind its semicolon",
		"SELECT 1) UNION ALL (SELECT 2":   "syntax error",
		"SELECT 1; SELECT 2":              "want one SELECT statement",
		"SELECT 1) LIMIT 1; DROP TABLE x": "syntax error",
	} {
		if _, err := s.SQL(t.Context(), statement, 3); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", statement, err, want)
		}
	}
}

// attacks are statements that take, if nobody bounds it, all the memory or time of a machine, or were once refused as
// such.
func attacks() []string {
	double := "SELECT 'abcdefgh' AS x"
	for range 30 {
		double = "SELECT x || x AS x FROM (" + double + ")"
	}
	ctes, lateral := "WITH c0 AS (SELECT path AS x FROM events)", "SELECT path AS a0"
	for i := range 8 {
		ctes += fmt.Sprintf(", c%d AS (SELECT concat(x, x, x) AS x FROM c%d)", i+1, i)
		lateral += fmt.Sprintf(", a%d || a%d AS a%d", i, i, i+1)
	}
	list := []string{
		"SELECT repeat('a', 100000000) FROM range(100)", "SELECT length(repeat('a', 4000000000))",
		"SELECT lpad('a', 1000000000, 'b')", "SELECT printf('%1000000000d', 1)",
		"SELECT Repeat('a', 1000)", "SELECT repeat(path, CAST(version AS INTEGER)) FROM events",
		"SELECT format('{:{}}', 1, 1000000000)", "SELECT printf('%*d', 1000000000, 1)",
		"SELECT printf(path, 1) FROM events", "SELECT len(range(1000000000))", "SELECT list_resize([1], 1000000000)",
		"SELECT format('{:1000000000}', 1)", "SELECT sleep_ms(30000)",
		"SELECT bitstring('0', 2000000000)", "SELECT bitstring_agg(packets, 0, 8000000000) FROM flows_10s",
		"SELECT pg_sleep(30)", "SELECT len(generate_subscripts([1], 1))",
		"SELECT approx_top_k(flow, 900000) FROM flows_10s GROUP BY flow",
		"SELECT flow, approx_quantile(packets, 0.5) FROM flows_10s GROUP BY flow",
		"SELECT max(packets, 100000) FROM flows_10s GROUP BY flow",
		"SELECT approx_quantile(packets, 0.5) OVER () FROM flows_10s",
		"SELECT list_aggregate([1], 'approx_top_k', 900000)", "SELECT list_aggregate([1], path) FROM events",
		"SELECT CAST(NULL AS INTEGER[100000])", "SELECT TRY_CAST(NULL AS STRUCT(a INTEGER[1000][1000])[])",
		"SELECT format('" + strings.Repeat("{0}", 100) + "', path) FROM events",
		"SELECT path || '" + strings.Repeat("a", 2000) + "' FROM events",
		"SELECT max(packets, 100000) OVER () FROM flows_10s", "SELECT ?", "SELECT $1",
		"SELECT packets FROM flows_10s WHERE flow = $flow",
		"SELECT '" + strings.Repeat("a", 2000) + "'",
		"SELECT list_transform(string_split(path, ''), x -> x || '" + strings.Repeat("b", 500) + "') FROM events",
		"SELECT array_to_string(string_split(path, ''), '" + strings.Repeat("b", 500) + "') FROM events",
		"SELECT list_aggregate(string_split(path, ''), 'string_agg', '" + strings.Repeat("b", 500) + "') FROM events",
		double, ctes + " SELECT * FROM c8", lateral + " FROM events",
		"WITH RECURSIVE r(x) AS (SELECT 'ab' UNION ALL SELECT x || x FROM r) SELECT x FROM r",
		`SELECT replace("text", 'a', path) FROM events`,
		"SELECT replace(path, 'a', '" + strings.Repeat("b", 1000) + "') FROM events",
		"SELECT list_transform(l, x -> l) FROM (SELECT list(start) AS l FROM flows_10s)",
		"SELECT [l FOR x IN l] FROM (SELECT list(start) AS l FROM flows_10s)",
		"SELECT len(list(start) OVER ()) FROM flows_10s",
		"SELECT (SELECT list(start) FROM flows_10s), path FROM events",
		"SELECT ARRAY(SELECT start FROM flows_10s), path FROM events",
		"SELECT max(len(list_append(l, i))) FROM range(9) t(i), (SELECT list(r) AS l FROM range(9) x(r))",
		"WITH a AS (SELECT string_agg(path, '') AS s FROM events) SELECT concat(s, i) FROM a JOIN range(9) b(i) ON true",
		"SELECT l, unnest(l) FROM (SELECT list(start) AS l FROM flows_10s)",
		"SELECT max(l) OVER () FROM (SELECT node, array_agg(start) AS l FROM hops_1s GROUP BY node)",
		"SELECT levenshtein(path, path) FROM events",
		"SELECT contains(string_agg(path, ''), string_agg(path, 'a')) FROM events",
		"SELECT replace(s, 'a', 'b') FROM (SELECT string_agg(path, '') AS s FROM events)",
		"SELECT path ILIKE '%a%a%a%' FROM events", "SELECT path LIKE '%a_%a_%a_%' FROM events",
		"SELECT path GLOB '*a*a*a*' FROM events", "SELECT path LIKE path FROM events",
		"SELECT path NOT LIKE '%a%\\_%a%' ESCAPE '\\' FROM events",
		"SELECT list_reduce(['a', 'b', 'c'], (x, y) -> x || x)", "SELECT list_select(['a'], [1, 1])",
		"SELECT len(list_distinct(list(start))) FROM flows_10s", "SELECT list_mode(list(start)) FROM flows_10s",
		"SELECT (SELECT x || x FROM (SELECT bin(bin(bin(path))) AS x FROM events)) AS y",
		"SELECT count(*) FROM events WHERE length(bin(bin(bin(path)))) > 3",
		"SELECT median(range) FROM range(1000000000)",
		"SELECT count(*) FROM range(100000000) a, range(100000000) b WHERE a.range * b.range = 7",
		"SELECT list(range) FROM range(1000000000)", "SELECT string_agg(range, '') FROM range(1000000000)",
		"SELECT * FROM range(1000000000) ORDER BY hash(range)",
		"SELECT count(DISTINCT hash(range)) FROM range(1000000000)",
		"SELECT quantile_cont(range, 0.5) OVER (ORDER BY range) FROM range(100000000)",
		"WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r", joins(60), joins(300),
		"SELECT 1" + strings.Repeat(", 1", 29_999),
		"SELECT levenshtein(repeat('a', 1000000), repeat('b', 1000000))",
		"SELECT repeat('a', 100000) LIKE '" + strings.Repeat("%a", 100) + "b'",
	}
	return list
}

// TestStatementAttacks: each ends with an answer or an error within its limits, and this process neither grows nor
// stops answering.
func TestStatementAttacks(t *testing.T) {
	s := open(t, func(c *Config) { c.Memory = 64 << 20 })
	write(t, s, everyRecord())
	if _, err := s.SQL(t.Context(), "SELECT 1", 1); err != nil {
		t.Fatal(err)
	}
	before := resident(t)
	var worst time.Duration
	for _, statement := range test.Part(t, attacks(), 4) {
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		_, err := s.SQL(ctx, statement, 3)
		cancel()
		took := time.Since(began)
		if worst = max(worst, took); took > 8*time.Second {
			t.Errorf("%.80s: ended after %v: %v", statement, took, err)
		}
		if errors.Is(err, store.ErrUnavailable) {
			t.Errorf("%.80s: %v", statement, err)
		}
		if grown := resident(t) - before; grown > 64<<20 {
			t.Fatalf("%.80s: this process grew by %d MiB", statement, grown>>20)
		}
	}
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_CHILDREN, &used); err != nil {
		t.Fatal(err)
	}
	t.Logf("longest %v, largest process %d MiB, this one grew by %d MiB", worst, used.Maxrss>>10,
		(resident(t)-before)>>20)
	if most := s.config.Memory + childUncounted + 128<<20; used.Maxrss<<10 > most { // and what it has at the start
		t.Errorf("a process took %d MiB, want at most %d", used.Maxrss>>10, most>>20)
	}
	if rows, err := s.SQL(t.Context(), "SELECT packets FROM hops_1s WHERE node = 3", 1); err != nil ||
		fmt.Sprint(rows.Rows) != "[[9]]" {
		t.Errorf("afterwards: %v, %v", rows, err)
	}
}

// resident is how much memory this process has, in bytes.
func resident(t *testing.T) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip("the system does not tell what memory a process has")
	}
	var all, pages int64
	if _, err := fmt.Sscan(string(text), &all, &pages); err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

// TestStatementsThatPeopleAsk: they work, those too that were refused when statements were looked at instead of
// bounded.
func TestStatementsThatPeopleAsk(t *testing.T) {
	s := open(t, nil)
	write(t, s, everyRecord())
	for _, statement := range test.Part(t, []string{
		"SELECT median(packets), mode(node), approx_quantile(packets, 0.9), histogram(packets), entropy(node) FROM hops_1s",
		"SELECT node, string_agg(egress_port, ', '), list(start), list_distinct(list(egress_port)) FROM hops_1s GROUP BY node",
		"SELECT repeat('=', CAST(packets AS INTEGER)) AS bar FROM hops_1s",
		"SELECT stations LIKE '%1%2%3%4%', stations NOT ILIKE '%a_b%c%' FROM routes",
		"SELECT lpad(hex(flow), 200, '0') FROM flows_10s",
		"SELECT l, n FROM (SELECT node, list(packets) AS l FROM hops_1s GROUP BY node) JOIN (SELECT node, count(*) AS n FROM queues_1s GROUP BY node) USING (node)",
		"SELECT list(packets) OVER (PARTITION BY node) FROM hops_1s",
		"SELECT levenshtein('leaf1', 'leaf2'), contains(string_agg(stations, ';'), '3[') FROM routes",
		"SELECT '" + strings.Repeat("a", 5000) + "'",
		"SELECT count(*) FROM hops_1s WHERE start > now() - INTERVAL 1 MINUTE",
		"SELECT current_timestamp > start, now() - start FROM hops_1s",
		"SELECT * FROM links_between(now() - INTERVAL 1 HOUR, now())",
		"SELECT node || ':' || egress_port || ' > ' || ingress_port AS name, sum(packets) FROM hops_1s GROUP BY ALL",
		"SELECT concat_ws(' ', src_lo, dst_lo, src_port, dst_port, protocol) AS a, hex(flow) AS b, a || b AS c FROM flows_10s",
		"SELECT list_transform(node, x -> x * 2), list_filter(node, x -> x = hops), [n + 1 FOR n IN node] FROM routes",
		"SELECT regexp_replace(stations, '[0-9]', '#', 'g'), replace(stations, ' > ', ', ') FROM routes",
		"WITH a AS (SELECT src_lo || '-' || dst_lo AS pair, sum(packets) AS n FROM flows_10s GROUP BY 1) SELECT pair || ': ' || n AS text FROM a ORDER BY n DESC",
		"SELECT string_agg(stations, '; ') FROM routes", "SELECT * FROM generate_series(1, 3)",
		"SELECT row_number() OVER (PARTITION BY node ORDER BY start) FROM hops_1s",
		"SELECT printf('%016x', flow), lpad(hex(flow), 16, '0'), format('{:>20}', src_port), repeat('#', 10) FROM flows_10s",
		"SELECT 'repeat(1)' AS text, {'a': node, 'b': start} FROM hops_1s",
		"SELECT median(packets), quantile_cont(bytes, [0.5, 0.9]), max(packets, 3), arg_max(flow, packets), list_aggregate([1, 2], 'sum'), list_sort(list(DISTINCT src_port)) FROM flows_10s",
		"SELECT date_trunc('hour', start) AS h, time_bucket(INTERVAL 5 MINUTE, start), strftime(start, '%H:%M'), extract(epoch FROM start), start AT TIME ZONE 'UTC' FROM hops_1s",
		"SELECT array_to_string(node, ' > '), node[1], list_contains(node, 3), len(node), [1, 2]::INTEGER[2], coalesce(NULL, 1), CASE WHEN hops > 1 THEN 'a' END FROM routes",
		"SELECT json_extract_string('{\"a\": 1}', '$.a'), '{\"a\": 1}' ->> '$.a', regexp_extract('ab', 'b'), 'ab' LIKE 'a%', 'ab' ILIKE 'A%', 'ab' SIMILAR TO 'a.', 1 << 2, 2 ** 3, -1 % 2, NOT true",
		"SELECT lag(packets) OVER (PARTITION BY flow ORDER BY start), ntile(4) OVER (ORDER BY bytes), sum(packets) FILTER (WHERE drops > 0) OVER () FROM flows_10s",
		"SELECT list_reduce([1, 2, 3], (x, y) -> x + y), list_distinct(node), list_has_any(node, [1, 2]) FROM routes",
		"SELECT a.node, list(b.port) FROM hops_1s a JOIN (SELECT egress_port AS port, node FROM queues_1s) b USING (node) GROUP BY a.node",
		"SELECT node, string_agg(replace(path, '_', ' '), ', '), list_distinct([1, 1]) FROM events WHERE path LIKE '%lost%' AND path NOT ILIKE 'a_%' GROUP BY node", "SELECT path LIKE '%a%a%a%' FROM events",
		"WITH a AS (SELECT node, list(DISTINCT egress_port) AS ports FROM hops_1s GROUP BY node) SELECT node, len(ports) FROM a ORDER BY 2",
		"SELECT unnest([1, 2]), count(*), current_date, now() - INTERVAL 1 HOUR, nullif(1, 2), if(true, 1, 2), ifnull(NULL, 1), address(0, 1), count(*) FILTER (true), greatest(1, 2)",
	}, 4) {
		if _, err := s.SQL(t.Context(), statement, 3); err != nil {
			t.Errorf("%s: %v", statement, err)
		}
	}
}

// joins is a statement that joins so many relations.
func joins(n int) string {
	var text strings.Builder
	text.WriteString("SELECT count(*) FROM range(1) a0")
	for i := range n {
		fmt.Fprintf(&text, " JOIN range(1) a%d ON a%d.range=a0.range", i+1, i+1)
	}
	return text.String()
}

// TestSQLShape: what DuckDB would plan for ever is refused at once.
func TestSQLShape(t *testing.T) {
	s := open(t, nil)
	twice := "WITH c0 AS (SELECT 1 AS i)"
	for i := range 8 {
		twice += fmt.Sprintf(", c%d AS NOT MATERIALIZED (SELECT x.i FROM C%d x JOIN c%d y USING (i))", i+1, i, i)
	}
	for statement, want := range map[string]string{
		joins(60):                                  "more than 16 relations",
		joins(300):                                 "bytes, limit 8192",
		twice + " SELECT * FROM c8":                "more than 16 relations",
		"WITH a AS (" + joins(60) + ") SELECT 1":   "more than 16 relations",
		"SELECT (" + joins(20) + ")":               "more than 16 relations",
		"SELECT 1" + strings.Repeat(", 1", 29_999): "bytes, limit 8192",
		"SELECT 1" + strings.Repeat(", 1", 299):    "300 columns, limit 256",
		"SELECT a.*, a.* FROM (SELECT 1" + strings.Repeat(", 1", 199) + ") AS a": "400 columns, limit 256",
	} {
		began := time.Now()
		if _, err := s.SQL(t.Context(), statement, 3); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: got %v, want %s", statement, err, want)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%.60s: took %v", statement, took)
		}
	}
	for _, statement := range []string{joins(15), "SELECT 1" + strings.Repeat(", 1", 255)} {
		if _, err := s.SQL(t.Context(), statement, 3); err != nil {
			t.Errorf("%.60s: %v", statement, err)
		}
	}
}

// A statement that DuckDB or its driver cannot answer says nothing of the store.
func TestSQLCannot(t *testing.T) {
	s := open(t, nil)
	for _, statement := range []string{
		"SELECT lpad()", "SELECT rpad()", "SELECT repeat()", "SELECT printf()", "SELECT replace()",
		"SELECT list_aggregate()", "SELECT array_to_string()", "SELECT list_transform()", "SELECT max()",
		// which take no longer with each level
		"SELECT " + strings.Repeat("trim(", 100) + "1" + strings.Repeat(")", 100),
		"SELECT " + strings.Repeat("(SELECT ", 50) + "x" + strings.Repeat(")", 50),
		"SELECT row(64)", "SELECT unnest((now() / TIMESTAMP 'infinity'), sum(1e308)) FROM events",
	} {
		if _, err := s.SQL(t.Context(), statement, 3); err == nil || errors.Is(err, store.ErrUnavailable) {
			t.Errorf("%s: %v", statement, err)
		}
	}
}

// A time that no text of RFC 3339 has does not spoil the answer.
func TestSQLTimes(t *testing.T) {
	s := open(t, nil)
	rows := sqlOf(t, s,
		"SELECT TIMESTAMP 'infinity', DATE '10000-01-01', DATE '0044-03-15 (BC)', TIMESTAMP '9999-12-31 23:59:59', [DATE '10000-01-01']")
	if _, err := json.Marshal(rows); err != nil || rows[0][0] != "out of range" ||
		rows[0][3].(time.Time).Year() != 9999 {
		t.Errorf("got %v, %v", rows, err)
	}
}

// What Go has no type for is answered as DuckDB writes it.
func TestSQLKinds(t *testing.T) {
	rows := sqlOf(t, open(t, nil),
		"SELECT MAP {1: 2, 3: NULL}, CAST(1 AS UNION(k INTEGER, l VARCHAR)), TIME '12:00:00.5', CAST('550e8400-e29b-41d4-a716-446655440000' AS UUID), [MAP {'a': [1]}]")
	text, err := json.Marshal(rows[0])
	if want := `[{"1":2,"3":null},1,"12:00:00.5","550e8400-e29b-41d4-a716-446655440000",[{"a":[1]}]]`; err != nil ||
		string(text) != want {
		t.Errorf("got %s, %v, want %s", text, err, want)
	}
}

// TestSQLLargeAnswer: an answer takes so much memory and no more.
func TestSQLLargeAnswer(t *testing.T) {
	s, err := Open(DefaultConfig(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.SQL(t.Context(), "SELECT repeat('abcdefghijklmnopqrst', 6000) FROM range(1000)",
		100_000); !errors.Is(err, store.ErrTooLarge) {
		t.Errorf("got %v", err)
	}
}
