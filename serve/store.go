package serve

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/api"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/internal/conf/unit"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/store/duckdb"
	"github.com/waybill-int/waybill/store/journal"
	"github.com/waybill-int/waybill/telemetry"
)

// A storeConfig says how much is kept in the directory of data.
type storeConfig struct {
	Keep10s unit.Duration `yaml:"keep_seconds" doc:"how long records of 1 and 10 seconds are kept; at least 1 hour"`
	Keep1m  unit.Duration `yaml:"keep_minutes" doc:"those of minutes; at least 24 hours"`
	Keep1h  unit.Duration `yaml:"keep_hours" doc:"those of hours, events and routes; at least 720 hours"`
	MaxSize string        `yaml:"max_size" doc:"size of all files together; the oldest go"`
	MinFree string        `yaml:"min_free" doc:"with less free on the disk no records, journal and raw reports are written"`
	Memory  string        `yaml:"memory" doc:"what the database may take, beside memory of the tables"`

	ClickHouse *clickhouseConfig `yaml:"clickhouse,omitempty" doc:"keeps records in ClickHouse, and not in files"`

	Tables map[string]tableConfig `yaml:"tables,omitempty" doc:"by the name of a table, less than of all"`
}

// A tableConfig says how much is kept of one table; what is missing is as for all.
type tableConfig struct {
	Keep10s unit.Duration `yaml:"keep_seconds,omitempty" doc:"the same of this table, not more than of all"`
	Keep1m  unit.Duration `yaml:"keep_minutes,omitempty" doc:"the same of this table, not more than of all"`
	Keep1h  unit.Duration `yaml:"keep_hours,omitempty" doc:"the same of this table, not more than of all"`
	MaxSize string        `yaml:"max_size,omitempty" doc:"the same of this table, not more than of all"`
}

func defaultStoreConfig() storeConfig {
	c := duckdb.DefaultConfig("")
	return storeConfig{
		Keep10s: unit.Duration(c.Keep[0]), Keep1m: unit.Duration(c.Keep[1]), Keep1h: unit.Duration(c.Keep[2]),
		MaxSize: "32GiB", MinFree: "256MiB", Memory: "512MiB",
	}
}

// storeDir is where in the directory of data the store is.
func storeDir(data string) string { return filepath.Join(data, "store") }

// compile returns the configuration as the store has it.
func (c *storeConfig) compile(data string) (duckdb.Config, error) {
	to := duckdb.DefaultConfig(storeDir(data))
	to.Keep = [...]time.Duration{time.Duration(c.Keep10s), time.Duration(c.Keep1m), time.Duration(c.Keep1h)}
	for _, size := range []struct {
		key, text string
		to        *int64
	}{{"max_size", c.MaxSize, &to.MaxBytes}, {"min_free", c.MinFree, &to.MinFree}, {"memory", c.Memory, &to.Memory}} {
		n, err := parseSize(size.text)
		if err != nil {
			return to, fmt.Errorf("store: %s: %w", size.key, err)
		}
		*size.to = int64(n)
	}
	for name, t := range c.Tables {
		id, ok := store.TableOf(name)
		if !ok {
			return to,
				fmt.Errorf(
					"store: tables: there is no table %s; those of docs/reference/store.md without the length of their intervals are known", name)
		}
		l := duckdb.Limit{Keep: [...]time.Duration{
			time.Duration(t.Keep10s), time.Duration(t.Keep1m),
			time.Duration(t.Keep1h),
		}}
		if t.MaxSize != "" {
			n, err := parseSize(t.MaxSize)
			if err != nil {
				return to, fmt.Errorf("store: tables: %s: max_size: %w", name, err)
			}
			l.MaxBytes = int64(n)
		}
		if to.Limits == nil {
			to.Limits = map[store.Table]duckdb.Limit{}
		}
		to.Limits[id] = l
	}
	if err := to.Check(); err != nil || c.ClickHouse == nil {
		return to, err
	}
	return to, c.checkClickHouse()
}

// tableMemory is how much of the memory the tables take. The rest is for packets on their way, answers and the garbage
// collector, and for what the differences of the tables need. Of the tables' share 2 MiB at most are for what the
// search for attacks knows of addresses, and for what devices count at their ports.
func tableMemory(c *Config, memory uint64) uint64 {
	others := min(memory/24, 2<<20)
	if c.Data != "" {
		return memory/2 - others
	}
	return memory*3/4 - others
}

// lookEvery is how often the tables are asked for what is due.
const lookEvery = 200 * time.Millisecond

// A namedBackend is a store whose statements know the names of nodes.
type namedBackend interface {
	store.Backend
	SetNames(map[uint32]string)
}

// A keeper keeps what the tables count. A nil keeper keeps nothing.
type keeper struct {
	*tasks
	store     namedBackend
	dialect   filter.Dialect
	writer    *store.Writer
	intervals *analyze.Intervals
	notes     *noter
	reached   reached
	exports   *exports
	clock     func(time.Time) int64 // nanoseconds since 1970, by which the tables are looked at
	commits   *committer            // nil: nothing comes from a bus
}

// openKeeper opens the store, if the configuration has a directory for it.
func (s *Server) openKeeper() error {
	c := s.Config
	if c.Data == "" {
		return nil
	}
	config, err := c.Store.compile(c.Data)
	if err != nil {
		return err
	}
	config.Names = c.NodeNames()
	var disk namedBackend
	dialect := filter.DuckDB
	if c.Store.ClickHouse != nil {
		disk, err = c.Store.ClickHouse.open(&config)
		dialect = filter.ClickHouse
	} else {
		disk, err = s.openDuckDB(config)
	}
	if err != nil {
		return err
	}
	s.opened = append(s.opened, func() { disk.Close() })
	if s.tenure != nil {
		disk = &electedStore{disk, s.tenure.election}
	}
	if err := recoverJournal(context.Background(), c.Data, s.checkpoints.note, disk, s.log); err != nil {
		return err
	}
	j, err := journal.Open(journalDir(c.Data), config.MinFree)
	if err != nil {
		return err
	}
	k := &keeper{
		store: disk, dialect: dialect, writer: store.NewWriter(disk, store.DefaultMaxQueued, s.troubles),
		clock:     s.clock,
		notes:     &noter{journal: j, troubles: s.troubles, last: time.Now()},
		intervals: analyze.NewIntervals(s.Collector, s.Events, s.clock(time.Now())),
	}
	if s.bus != nil {
		k.commits = &committer{
			checkpoints: s.checkpoints, tenure: s.tenure, collector: s.Collector, queues: s.queues,
		}
	}
	k.tasks = background(k.writer.Run, k.look)
	k.intervals.TakeBursts(s.bursts)
	k.reached.gave(&overInterval{}, k.intervals)
	s.keeper = k
	return nil
}

// openDuckDB opens the store in the directory of data, and tells what of it is gone.
func (s *Server) openDuckDB(config duckdb.Config) (*duckdb.Store, error) {
	disk, err := duckdb.Open(config)
	if err != nil {
		return nil, err
	}
	if stats, err := disk.Stats(); err == nil {
		for _, loss := range stats.Lost {
			s.log.Error(
				"records that were written are gone: the log beside the file was cut or removed, or the file is an older copy",
				"file", loss.File, "records", loss.Records.Total(), "flows", loss.Records[store.Flows])
		}
	}
	return disk, nil
}

// look hands over what is due until ctx is done, and then the rest.
func (k *keeper) look(ctx context.Context) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case now := <-ticker.C:
			if k.commits != nil {
				if !now.Before(k.notes.next) {
					k.commit(ctx, now)
					k.notes.noted(now)
				}
				continue
			}
			over := &overInterval{startNs: k.intervals.Open()}
			k.intervals.Look(k.clock(now), func(batch *telemetry.Intervals) {
				over.follow(batch)
				k.give(ctx, batch)
			})
			k.gave(over)
			k.notes.note(k.intervals, now, k.clock(now))
		case <-ctx.Done():
			k.finish(ctx)
			return
		}
	}
}

// finish hands over all that was counted. What comes from a bus may go on in the process that follows, and so do
// packets that wait for reports of other nodes.
func (k *keeper) finish(ctx context.Context) {
	nowNs := k.clock(time.Now())
	if k.commits != nil {
		k.commits.collector.Hold()
		nowNs = k.commit(ctx, time.Now())
	}
	over := &overInterval{startNs: k.intervals.Open()}
	k.intervals.Finish(nowNs, func(batch *telemetry.Intervals) {
		over.follow(batch)
		k.give(ctx, batch)
	})
	k.notes.over = append(k.notes.over, over)
}

// give gives records to the store, and to who exports them. The tables wait for the disk rather than losing records,
// but not for longer than they can.
func (k *keeper) give(ctx context.Context, batch *telemetry.Intervals) {
	k.exports.take(batch)
	waiting, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	k.writer.WaitForRoom(waiting)
	k.writer.Append(batch)
}

// gave notes what a look has given, which over follows.
func (k *keeper) gave(over *overInterval) {
	k.reached.gave(over, k.intervals)
	if k.intervals.Open() != over.startNs {
		k.notes.over = append(k.notes.over, over)
	}
	k.notes.settle()
}

// Stop implements component: it gives the store what the tables hold, and waits until that is written.
func (k *keeper) Stop() error {
	err := k.tasks.Stop()
	k.notes.stop()
	k.close()
	return err
}

func (k *keeper) close() {
	_ = k.store.Close() // what was written is on disk already
}

// sql returns what answers statements.
func (k *keeper) sql() api.SQL {
	if k == nil {
		return nil
	}
	return k.store.SQL
}

// history returns what answers questions about a time range.
func (k *keeper) history() api.History {
	if k == nil {
		return nil
	}
	return k.store.Query
}

// filterDialect is the SQL of conditions in those questions.
func (k *keeper) filterDialect() filter.Dialect {
	if k == nil {
		return filter.DuckDB
	}
	return k.dialect
}

// between returns what says when links and hosts were there.
func (k *keeper) between() api.Between {
	if k == nil {
		return nil
	}
	return k.store.Between
}

// metrics returns those of the store.
func (k *keeper) metrics() prometheus.Gatherer {
	if k == nil {
		return nil
	}
	r := prometheus.NewRegistry()
	r.MustRegister(&storeMetrics{k})
	return r
}
