package clickhouse

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/internal/test/chdb"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/telemetry"
)

// openShards opens a store whose rows are on the shards of a cluster. Of those the engine has one.
func openShards(t testing.TB, address string) *Store {
	t.Helper()
	c := DefaultConfig(address)
	c.Keep = [...]time.Duration{years, years, years}
	c.cluster = chdb.Cluster
	s, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// writeTwice writes records to both stores, and once more to the second, as if it had not answered: they count once.
func writeTwice(t *testing.T, g maker, first store.Backend, second *Store, round int) {
	t.Helper()
	batches := []*telemetry.Intervals{g.intervals(300, round)}
	if err := first.Write(batches); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		second.token, second.failed = fmt.Sprint("of round ", round), batches[0]
		if err := second.Write(batches); err != nil {
			t.Fatal(err)
		}
	}
}

// TestShards: a store over shards answers as the one in files, with what was written when there was one shard. A batch
// that comes again counts once, and what an attempt to roll up left is removed.
func TestShards(t *testing.T) {
	g := maker{rand.New(rand.NewPCG(5, 0))}
	first, address := openFiles(t), chdb.Start(t)
	writeTwice(t, g, first, open(t, address), 0)
	openShards(t, address)
	second := openShards(t, address) // finds what the other made
	if got, err := second.Stats(); err != nil || got.Partitions == 0 || got.Bytes == 0 {
		t.Errorf("got %+v, %v", got, err)
	}
	writeTwice(t, g, first, second, 1)
	left := "INSERT INTO flows_1m (start, packets) SELECT " + tables.Timestamp(epoch.Add(time.Minute)) + ", 7"
	if err := second.exec(t.Context(), left); err != nil {
		t.Fatal(err)
	}
	now := epoch.Add(85 * time.Minute)
	if err := errors.Join(first.Maintain(t.Context(), now), second.Maintain(t.Context(), now)); err != nil {
		t.Fatal(err)
	}
	askBoth(t, g, first, second, 60, now)
	a, err := second.Select(t.Context(), `SELECT count(), countIf(engine = 'Distributed') FROM system.tables
		WHERE database = currentDatabase() AND engine NOT LIKE '%View'`, 1)
	if err != nil {
		t.Fatal(err)
	}
	if all, spread := a.Rows[0][0].(uint64), a.Rows[0][1].(uint64); spread < 30 || all != 2*spread {
		t.Errorf("%d of %d tables are over shards, want half", spread, all)
	}
}

// insertSlowly has the server insert rows into a table for two seconds, for a process that is gone.
func insertSlowly(t *testing.T, s *Store, table, comment string) (ended chan error) {
	t.Helper()
	insert := "INSERT INTO " + table + " (start, packets) SELECT " + tables.Timestamp(epoch.Add(time.Minute)) +
		", 7 FROM numbers(20) WHERE sleepEachRow(0.1) = 0 SETTINGS max_block_size = 1"
	ended = make(chan error, 1)
	go func() {
		ended <- s.conn.Exec(s.with(t.Context(), writeTime, clickhouse.Settings{"log_comment": comment}), insert)
	}()
	test.Eventually(t, "a statement that runs", func() bool { return s.refuseBeside(t.Context(), comment) != nil })
	return ended
}

// TestOpenBesideWrite: what a process has asked that was killed meanwhile goes on in the server. A store is open when
// that has ended.
func TestOpenBesideWrite(t *testing.T) {
	address := chdb.Start(t)
	first := open(t, address)
	ended := insertSlowly(t, first, "flows_10s", first.writes())
	a, err := open(t, address).Select(t.Context(), "SELECT count() FROM flows_10s", 1)
	if err = errors.Join(err, <-ended); err != nil {
		t.Fatal(err)
	}
	if a.Rows[0][0] != uint64(20) {
		t.Errorf("%v rows were there, want 20", a.Rows[0][0])
	}
}

// TestRollUpBesideAnother: nothing is rolled up beside what a process has asked that was killed, and what that leaves
// is removed.
func TestRollUpBesideAnother(t *testing.T) {
	g := maker{rand.New(rand.NewPCG(8, 0))}
	first, second := openFiles(t), open(t, chdb.Start(t))
	writeTwice(t, g, first, second, 0)
	comment := second.database + ": rolls up into flows_1m"
	ended := insertSlowly(t, second, "flows_1m", comment)
	now := epoch.Add(85 * time.Minute)
	if err := second.Maintain(t.Context(), now); err == nil || !strings.Contains(err.Error(), comment) {
		t.Errorf("rolled up beside another: %v", err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(first.Maintain(t.Context(), now), second.Maintain(t.Context(), now)); err != nil {
		t.Fatal(err)
	}
	askBoth(t, g, first, second, 10, now)
}
