package chdb

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

func connectTo(t *testing.T) driver.Conn {
	t.Helper()
	options, err := clickhouse.ParseDSN(Start(t))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := clickhouse.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// TestEngine: what a batch brings is what is read, through the front and back.
func TestEngine(t *testing.T) {
	conn := connectTo(t)
	ctx := t.Context()
	if err := conn.Exec(ctx, `CREATE TABLE t (at DateTime64(9, 'UTC'), n UInt64, text Nullable(String),
		name LowCardinality(String), list Array(UInt32)) ENGINE = MergeTree ORDER BY n`); err != nil {
		t.Fatal(err)
	}
	batch, err := conn.PrepareBatch(ctx, "INSERT INTO t")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 21, 9, 40, 0, 123456789, time.UTC)
	odd := "a\n\n'b\\c\td\x00?"
	for n := range uint64(10_000) {
		text := &odd
		if n%2 == 0 {
			text = nil
		}
		if err := batch.Append(at.Add(time.Duration(n)), n, text, fmt.Sprint("name", n%3),
			[]uint32{uint32(n), 10}); err != nil {
			t.Fatal(err)
		}
	}
	if err := batch.Send(); err != nil {
		t.Fatal(err)
	}
	rows, err := conn.Query(clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"max_threads": 1})),
		"SELECT at, n, text, name, list FROM t WHERE n >= 9000 AND (text IS NULL OR text = {text:String}) ORDER BY n",
		clickhouse.Named("text", odd))
	if err != nil {
		t.Fatal(err)
	}
	n := uint64(9000)
	for ; rows.Next(); n++ {
		var gotAt time.Time
		var gotN uint64
		var text *string
		var name string
		var list []uint32
		if err := rows.Scan(&gotAt, &gotN, &text, &name, &list); err != nil {
			t.Fatal(err)
		}
		if !gotAt.Equal(at.Add(time.Duration(n))) || gotN != n || (text == nil) != (n%2 == 0) ||
			text != nil && *text != odd || name != fmt.Sprint("name", n%3) ||
			!slices.Equal(list, []uint32{uint32(n), 10}) {
			t.Fatalf("row %d: %v %d %v %s %v", n, gotAt, gotN, text, name, list)
		}
	}
	if err := rows.Err(); err != nil || n != 10_000 {
		t.Errorf("%d rows, %v", n, err)
	}
}

// TestEngineErrors: an error has the code of ClickHouse, and a setting holds for its statement only.
func TestEngineErrors(t *testing.T) {
	conn := connectTo(t)
	with := func(settings clickhouse.Settings, statement string) error {
		return conn.Exec(clickhouse.Context(t.Context(), clickhouse.WithSettings(settings)), statement)
	}
	for _, c := range []struct {
		settings  clickhouse.Settings
		statement string
		code      int32
	}{
		{nil, "SELECT * FROM missing", 60},
		{nil, "SELECT 1 +", 62},
		{clickhouse.Settings{"readonly": 1}, "CREATE TABLE t (n UInt8) ENGINE = Memory", 164},
		{clickhouse.Settings{"max_rows_to_read": 1}, "SELECT sum(number) FROM numbers(100000)", 158},
		{nil, "CREATE TABLE t (n UInt8) ENGINE = Memory", 0},
		{nil, "SELECT sum(number) FROM numbers(100000)", 0},
	} {
		err := with(c.settings, c.statement)
		told, _ := errors.AsType[*clickhouse.Exception](err)
		if c.code == 0 && err != nil || c.code != 0 && (told == nil || told.Code != c.code) {
			t.Errorf("%s: %v, want code %d", c.statement, err, c.code)
		}
	}
}

// TestMissing: without the library a test fails with what to do.
func TestMissing(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	if _, err := library(); err == nil || !strings.Contains(err.Error(), "scripts/setup test") {
		t.Errorf("got %v", err)
	}
}
