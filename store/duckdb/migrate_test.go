package duckdb

import (
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/store/schema"
	"github.com/waybill-int/waybill/telemetry"
)

var update = flag.Bool("update", false, "write a file of the current version of the schema into testdata")

// fixtures are the files of each version of the schema, by tier. Version 1 has one of seconds only.
const fixtures = "testdata/%s-v%d.duckdb.gz"

// oldRecords are in the files: 30 records of flows, and of version 2 on as many of a link. Of version 3 on they tell
// how busy it was.
func oldRecords() *telemetry.Intervals {
	v := flowRecords(rand.New(rand.NewPCG(1, 1)), epoch, 3, 10)
	for i := range 30 {
		v.Links = append(v.Links, busyLink(epoch.Add(time.Duration(i)*10*time.Second), 5))
	}
	return v
}

// busyLink is a record of a link with ten packets, the utilization of whose port one of them told.
func busyLink(at time.Time, use uint32) telemetry.LinkInterval {
	return telemetry.LinkInterval{
		StartNs: at.UnixNano(), Packets: 10,
		Utilization: telemetry.UtilizationSum{Samples: 1, Sum: uint64(use), Max: use},
		From:        telemetry.Place{Has: telemetry.HasNode | telemetry.HasEgressPort, Node: 1, EgressPort: 2},
		To:          telemetry.Place{Has: telemetry.HasNode | telemetry.HasIngressPort, Node: 3, IngressPort: 4},
	}
}

// fileOf is the file of a tier in which records of epoch are.
func fileOf(c Config, tier int) string {
	s := Store{config: c}
	return s.newPartition(tier, epoch.Truncate(schema.Tiers[tier].Length)).file
}

// makeFixtures writes the files of the current version.
func makeFixtures(t *testing.T) {
	s := open(t, nil)
	write(t, s, oldRecords())
	roll(t, s, epoch.Add(time.Minute+3*time.Hour))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for i := range schema.Tiers {
		in, err := os.ReadFile(fileOf(s.config, i))
		if err != nil {
			t.Fatal(err)
		}
		out, err := os.Create(fmt.Sprintf(fixtures, schema.Tiers[i].Name, len(migrations)+1))
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		w, _ := gzip.NewWriterLevel(out, gzip.BestCompression)
		if _, err := w.Write(in); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// unpack puts the files of a version into the directory of a store.
func unpack(t *testing.T, version int) Config {
	t.Helper()
	c := DefaultConfig(t.TempDir())
	for i := range schema.Tiers {
		if version == 1 && i != schema.Seconds {
			break
		}
		in, err := os.Open(fmt.Sprintf(fixtures, schema.Tiers[i].Name, version))
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		r, err := gzip.NewReader(in)
		if err != nil {
			t.Fatal(err)
		}
		out, err := os.Create(fileOf(c, i))
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		if _, err := io.Copy(out, r); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// TestOldFiles: files of every version of the schema open, with what is in them, and take new records.
func TestOldFiles(t *testing.T) {
	if test.RaceDetector {
		t.Skip("nothing here runs side by side")
	}
	if *update {
		makeFixtures(t)
	}
	for version := 1; version <= len(migrations)+1; version++ {
		s, err := Open(unpack(t, version))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		write(t, s, flowRecords(rand.New(rand.NewPCG(1, 1)), epoch.Add(time.Minute), 1, 10))
		if got := fmt.Sprint(sqlOf(t, s, "SELECT count(*), count(DISTINCT flow) FROM flows_10s")); got != "[[40 10]]" {
			t.Errorf("version %d: got %s", version, got)
		}
		// A link goes on in the old file of seconds, and later in those of minutes and hours.
		write(t, s,
			&telemetry.Intervals{Links: []telemetry.LinkInterval{
				busyLink(epoch.Add(time.Minute), 7),
				busyLink(epoch.Add(5*time.Hour), 8),
			}})
		// A queue and a burst, with their unit, stand behind those of versions that had none.
		write(t, s, &telemetry.Intervals{
			Queues: []telemetry.QueueInterval{{
				StartNs: epoch.Add(time.Minute).UnixNano(), Samples: 1, Sum: 64, Max: 64, Unit: "packets",
				Place: telemetry.Place{Has: telemetry.HasNode, Node: 2},
			}},
			Bursts: []telemetry.Burst{{
				ID: "b", Start: epoch.Add(time.Minute), Peak: epoch.Add(time.Minute), End: epoch.Add(time.Minute),
				Node: 2, Unit: "packets", PeakDepth: 64, AboveDepth: 20, BelowDepth: 10, UncertaintyNs: 7,
			}},
		})
		if got := fmt.Sprint(sqlOf(t, s, `SELECT q.unit, occupancy_max, b.unit, peak_depth, above_depth, below_depth,
			uncertainty, peak_bytes IS NULL FROM queues_1s q, bursts b WHERE q.node = 2 AND b.id = 'b'`)); got !=
			"[[packets 64 packets 64 20 10 7 true]]" {
			t.Errorf("version %d: got %s", version, got)
		}
		// Nobody knows which packets older records tell of.
		if got, want := fmt.Sprint(ask(t, s, store.Query{
			Table: store.Flows, From: epoch, To: epoch.Add(time.Minute), Values: []string{"sample_kind"},
		}).Rows), fmt.Sprintf("[[%s]]", telemetry.SampleUnknown.Kind()); got != want {
			t.Errorf("version %d: flows tell of %s, want %s", version, got, want)
		}
		roll(t, s, epoch.Add(7*time.Hour))
		// in the old files; of the new ones, those that are not too late for minutes
		packets, told, rolled := 300, 30, 1
		switch version {
		case 1: // has no links
			packets, told, rolled = 0, 0, 2
		case 2:
			told = 0
		}
		for table, added := range map[string]int{"links_10s": 2, "links_1m": rolled, "links_1h": rolled} {
			want := fmt.Sprintf("[[%d %d 8]]", packets+10*added, told+added)
			if got := fmt.Sprint(sqlOf(t, s, "SELECT sum(packets), sum(utilization_samples), max(utilization_max) FROM "+
				table)); got != want {
				t.Errorf("version %d: %s has %s, want %s", version, table, got, want)
			}
		}
	}
}

// TestMigrations: the statements of a version are executed once, all or none, and a file of a newer one is refused.
func TestMigrations(t *testing.T) {
	c := unpack(t, 1)
	s, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	p := s.partitions[0]
	next := append(slices.Clone(migrations), []string{
		"ALTER TABLE IF EXISTS CATALOG.flows_10s ADD COLUMN ttl UTINYINT DEFAULT 64",
		"ALTER TABLE IF EXISTS CATALOG.nothing ADD COLUMN ttl UTINYINT",
	})
	newest := len(migrations) + 1
	half := append(slices.Clone(migrations), []string{next[len(migrations)][0], "SELECT nothing"})
	err = s.migrate(p, half)
	version := fmt.Sprint(sqlOf(t, s, "SELECT max(version) FROM "+p.catalog+".waybill_schema"))
	if err == nil || version != fmt.Sprintf("[[%d]]", newest) {
		t.Errorf("half of a migration: %v, version %s", err, version)
	}
	for range 2 {
		if err := s.migrate(p, next); err != nil {
			t.Fatal(err)
		}
	}
	if got := fmt.Sprint(sqlOf(t, s, "SELECT count(*), max(ttl), (SELECT version FROM "+p.catalog+
		".waybill_schema) FROM "+p.catalog+".flows_10s")); got != fmt.Sprintf("[[30 64 %d]]", newest+1) {
		t.Errorf("got %s", got)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = Open(c)
	want := fmt.Sprintf("seconds-20261121T090000Z.duckdb was written by a newer waybill: its schema has version %d, this program knows up to %d; run that waybill, or give another directory", newest+1, newest)
	if err == nil || !strings.HasSuffix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestDamagedFile: a file that is no database is refused in one line that names it.
func TestDamagedFile(t *testing.T) {
	c := DefaultConfig(t.TempDir())
	name := filepath.Join(c.Dir, "seconds-20261121T090000Z.duckdb")
	if err := os.WriteFile(name, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(c); err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
}
