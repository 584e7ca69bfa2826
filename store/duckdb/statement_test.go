package duckdb

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/store/schema"
	"github.com/waybill-int/waybill/telemetry"
)

// old makes what was exported old, so that the next statement sees what was written up to now.
func (e *tail) old() {
	e.mu.Lock()
	defer e.mu.Unlock()
	clear(e.good)
}

// sameBySQL compares what a process of a statement sees with what the store has.
func sameBySQL(t *testing.T, s *Store, statement string) {
	t.Helper()
	want, err := s.Select(t.Context(), statement, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.SQL(t.Context(), statement, 10_000)
	if err != nil {
		t.Errorf("%s: %v", statement, err)
		return
	}
	a, _ := json.Marshal(got)
	b, _ := json.Marshal(want)
	if !bytes.Equal(a, b) {
		t.Errorf("%s\ngot  %.400s\nwant %.400s", statement, a, b)
	}
}

// TestStatementSees: a statement sees the tables of the store with their types and rows, in files that are sealed and
// in others.
func TestStatementSees(t *testing.T) {
	s := open(t, nil)
	write(t, s, everyRecord())
	write(t, s, oldRecords())
	g := rand.New(rand.NewPCG(1, 2))
	for hour := range 3 {
		write(t, s, flowRecords(g, epoch.Truncate(time.Hour).Add(time.Duration(hour)*time.Hour), 5, 5))
	}
	for range 4 { // a file is compacted each time
		roll(t, s, epoch.Add(10*time.Hour))
	}
	sealed := 0
	for _, p := range s.list() {
		if p.sealed {
			sealed++
		}
	}
	if sealed != 2 {
		t.Fatalf("%d files are sealed, want the first two of seconds", sealed)
	}
	for _, name := range test.Part(t, TableNames(), 4) {
		sameBySQL(t, s, "SELECT * FROM "+name+" ORDER BY ALL")
		sameBySQL(t, s, fmt.Sprintf("SELECT * FROM (SELECT typeof(COLUMNS(*)) FROM %s LIMIT 1)", name))
	}
	sameBySQL(t, s,
		"SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE database_name = 'memory' AND schema_name = 'main' AND NOT internal ORDER BY ALL")
	sameBySQL(t, s, "SELECT * FROM links_between(TIMESTAMP '2026-11-21 09:00', TIMESTAMP '2026-11-21 10:00')")
	sameBySQL(t, s, "SELECT count(*) FROM query_table('flows_' || '10s')")
}

// TestStatementTail: rows are exported once, in few files; what is no longer needed is removed.
func TestStatementTail(t *testing.T) {
	s := open(t, nil)
	g := rand.New(rand.NewPCG(3, 4))
	for i := range 40 {
		write(t, s, flowRecords(g, epoch.Add(time.Duration(i)*10*time.Second), 1, 10))
		s.tail.old()
		a, err := s.SQL(t.Context(), "SELECT count(*), count(DISTINCT start) FROM flows_10s", 1)
		if want := fmt.Sprintf("[[%d %d]]", 10*(i+1), i+1); err != nil || fmt.Sprint(a.Rows) != want {
			t.Fatalf("got %v, %v, want %s", a, err, want)
		}
	}
	s.tail.mu.Lock()
	for key, list := range s.tail.chunks {
		if len(list) > 6 {
			t.Errorf("%v has %d chunks of 40 exports", key, len(list))
		}
	}
	for file := range s.tail.obsolete {
		s.tail.obsolete[file] = time.Now().Add(-2 * obsoleteAfter)
	}
	s.tail.mu.Unlock()
	s.tail.old()
	if _, err := s.SQL(t.Context(), "SELECT start FROM flows_10s", 1); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(s.tail.dir)
	if err != nil || len(left) > 10 {
		t.Errorf("%d files are left, %v", len(left), err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.tail.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after the end: %v", err)
	}
}

// TestStatementAge: an export is good for a second, and not for longer.
func TestStatementAge(t *testing.T) {
	s := open(t, nil)
	write(t, s, flowRecords(rand.New(rand.NewPCG(3, 4)), epoch, 1, 10))
	count := func() string {
		a, err := s.SQL(t.Context(), "SELECT count(*) FROM flows_10s", 1)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(a.Rows)
	}
	if got := count(); got != "[[10]]" {
		t.Errorf("got %s", got)
	}
	write(t, s, flowRecords(rand.New(rand.NewPCG(3, 4)), epoch.Add(10*time.Second), 1, 10))
	for began := time.Now(); count() != "[[20]]"; {
		if time.Since(began) > 10*time.Second {
			t.Fatal("what was written is not seen")
		}
	}
}

// TestWriteToSealed: records that come late are written to a file that is sealed, while a statement has it open, and
// the statement is answered.
func TestWriteToSealed(t *testing.T) {
	s := open(t, nil)
	g := rand.New(rand.NewPCG(1, 2))
	for hour := range 3 {
		write(t, s, flowRecords(g, epoch.Truncate(time.Hour).Add(time.Duration(hour)*time.Hour), 2, 5))
	}
	for range 3 {
		roll(t, s, epoch.Add(10*time.Hour))
	}
	first := s.list()
	if !first[len(first)-3].sealed {
		t.Fatal("no file is sealed")
	}
	type result struct {
		a   *store.Answer
		err error
	}
	results := make(chan result)
	go func() {
		a, err := s.SQL(t.Context(),
			"SELECT (SELECT count(*) FROM flows_10s), count(*) FROM range(100000000) a WHERE hash(a.range) = 1", 1)
		results <- result{a, err}
	}()
	for s.statements.count() == 0 {
		time.Sleep(time.Millisecond)
	}
	began := time.Now()
	write(t, s, flowRecords(g, epoch.Truncate(time.Hour).Add(time.Minute), 1, 7))
	t.Logf("written after %v", time.Since(began))
	// of before or after
	if r := <-results; r.err != nil || r.a.Rows[0][0] != int64(30) && r.a.Rows[0][0] != int64(37) {
		t.Errorf("got %v, %v", r.a, r.err)
	}
	if got := sqlOf(t, s, "SELECT count(*) FROM flows_10s"); got[0][0] != int64(37) {
		t.Errorf("got %v", got)
	}
}

// count is how many statements run.
func (q *statements) count() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.running)
}

// TestCloseWhileStatementRuns: the store closes, and no process is left.
func TestCloseWhileStatementRuns(t *testing.T) {
	s, err := Open(DefaultConfig(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		_, err := s.SQL(t.Context(),
			"SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range * b.range = 7", 1)
		ended <- err
	}()
	for s.statements.count() == 0 {
		time.Sleep(time.Millisecond)
	}
	began := time.Now()
	if err := s.Close(); err != nil || time.Since(began) > closeWait {
		t.Errorf("closed after %v: %v", time.Since(began), err)
	}
	if err := <-ended; !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("the statement ended with %v", err)
	}
	if _, err := s.SQL(t.Context(), "SELECT 1", 1); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("after the end: %v", err)
	}
	children, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", os.Getpid()))
	for _, file := range children {
		if pids, _ := os.ReadFile(file); len(pids) > 0 {
			t.Errorf("processes are left: %s", pids)
		}
	}
}

// TestStatementFiles: a statement sees no files but those of the store, and changes none.
func TestStatementFiles(t *testing.T) {
	s := open(t, nil)
	write(t, s, everyRecord())
	out := filepath.Join(s.config.Dir, "out.csv")
	for _, statement := range []string{
		"SELECT * FROM read_text('/etc/passwd')", "SELECT * FROM '/etc/passwd'",
		"SELECT * FROM read_csv('/proc/self/environ')", "SELECT * FROM glob('/etc/*')",
		"COPY (SELECT 1) TO '" + out + "'", "ATTACH '" + out + "'", "SET lock_configuration = false",
		"SELECT * FROM read_parquet('http://localhost/x')", "INSTALL httpfs", "CREATE TABLE x (a INTEGER)",
		"SELECT getenv('HOME')", "SELECT 1; SELECT 2", "DELETE FROM flows_10s",
	} {
		if a, err := s.SQL(t.Context(), statement, 10); err == nil && len(a.Rows) > 0 {
			t.Errorf("%s: got %v", statement, a.Rows)
		}
	}
	if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
		t.Error("a statement wrote a file")
	}
}

// Answers cross the pipe as they were.
func TestAnswerRoundTrip(t *testing.T) {
	for _, more := range []bool{false, true} {
		rows := [][]any{
			{
				nil, true, false, int64(math.MinInt64), uint64(math.MaxUint64), 0.1, "text", json.Number("1.50"),
				time.Unix(1700000000, 123456789).UTC(),
			},
			{
				[]any{},
				[]any{int64(1), nil, []any{"a"}},
				map[string]any{"a": uint64(1), "b": nil},
				"",
				strings.Repeat("x", 10_000), int64(0), math.Inf(1), time.Unix(-1, 0).UTC(), nil,
			},
		}
		columns := []string{"a", "b", "c", "d", "e", "f", "g", "h", ""}
		var b bytes.Buffer
		w := answerWriter{bufio.NewWriter(&b)}
		w.columns(columns)
		for _, row := range rows {
			w.row(row)
		}
		w.end(more)
		w.w.Flush()
		got, err := readAnswer(&b, 2)
		if want := (&store.Answer{Columns: columns, Rows: rows, More: more}); err != nil ||
			!reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v\nwant %+v", got, err, want)
		}
	}
	var b bytes.Buffer
	w := answerWriter{bufio.NewWriter(&b)}
	n, _ := new(big.Int).SetString("-170141183460469231731687303715884105728", 10)
	w.columns([]string{"a", "b", "c"})
	w.row([]any{int8(-5), uint16(7), n})
	w.end(false)
	w.w.Flush()
	if got, err := readAnswer(&b, 1); err != nil ||
		fmt.Sprint(got.Rows) != "[[-5 7 -170141183460469231731687303715884105728]]" {
		t.Errorf("got %v, %v", got, err)
	}
	for _, want := range []error{
		store.ErrTooLarge, store.ErrTooLong, store.ErrUnavailable,
		errors.New("Binder Error: no such column"),
	} {
		b.Reset()
		w.fail(fmt.Errorf("%w: why", want))
		w.w.Flush()
		got, err := readAnswer(&b, 1)
		if got != nil || err == nil || err.Error() != want.Error()+": why" || outcomesOf(want) &&
			!errors.Is(err, want) {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
	}
}

func outcomesOf(err error) bool {
	for _, reason := range outcomes {
		if errors.Is(err, reason) {
			return true
		}
	}
	return false
}

// No bytes of a process of a statement bring down who reads them, or take more memory than an answer may.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte("c\x02\x01a\x01br0tr\x66i\x03."))
	f.Add([]byte("c\x01\x01ar[\x02u\x01{\x01\x01a@\x02\x03+"))
	f.Add([]byte("c\x01\x01ars\xff\xff\xff\x1f"))
	f.Add([]byte("Q\x05error"))
	f.Add([]byte("L\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := readAnswer(bytes.NewReader(b), 10)
		if (a == nil) == (err == nil) {
			t.Fatalf("got %v and %v", a, err)
		}
		if err != nil {
			return
		}
		var again bytes.Buffer
		w := answerWriter{bufio.NewWriter(&again)}
		if a.Columns != nil {
			w.columns(a.Columns)
		}
		for _, row := range a.Rows {
			w.row(row)
		}
		w.end(a.More)
		w.w.Flush()
		b2, err := readAnswer(&again, 10)
		if err != nil || fmt.Sprint(a) != fmt.Sprint(b2) {
			t.Errorf("got %v, %v, want %v", b2, err, a)
		}
	})
}

// BenchmarkStatement is what a small statement takes with a process that is ready, and Fresh with one that has to be
// started.
func BenchmarkStatement(b *testing.B) {
	s := open(b, nil)
	g := rand.New(rand.NewPCG(1, 2))
	for hour := range 24 {
		write(b, s, flowRecords(g, epoch.Truncate(time.Hour).Add(time.Duration(hour)*time.Hour), 10, 100))
	}
	for range 24 {
		roll(b, s, epoch.Add(30*time.Hour))
	}
	for name, statement := range map[string]string{
		"1": "SELECT 1", "hour": "SELECT sum(packets) FROM flows_1h",
		"10s": "SELECT sum(packets) FROM flows_10s",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				s.statements.starts.Wait()
				b.StartTimer()
				if _, err := s.SQL(b.Context(), statement, 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkExport is what the export of a file takes, of which nothing was exported before.
func BenchmarkExport(b *testing.B) {
	s := open(b, nil)
	g := rand.New(rand.NewPCG(1, 2))
	v := &telemetry.Intervals{Flows: flowRecords(g, epoch.Truncate(time.Hour), 100, 1000).Flows}
	times := 5
	if test.Once() {
		times = 1
	}
	for range times {
		write(b, s, v)
	}
	wanted := []schema.Placed{{Table: tables.Tables[store.Flows], Step: 10 * time.Second}}
	for b.Loop() {
		if err := s.tail.clear(); err != nil {
			b.Fatal(err)
		}
		if _, err := s.exportTail(b.Context(), wanted); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(times*len(v.Flows)), "rows/op")
}
