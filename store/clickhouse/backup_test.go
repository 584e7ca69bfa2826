package clickhouse

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/waybill-int/waybill/internal/test/chdb"
	"github.com/waybill-int/waybill/telemetry"
)

// TestBackup: what BACKUP and RESTORE of docs/how-to/back-up-and-restore.md leave is the store as it was: it answers,
// takes records and is maintained.
func TestBackup(t *testing.T) {
	address := chdb.Start(t)
	s := open(t, address)
	g := maker{rand.New(rand.NewPCG(3, 0))}
	if err := s.Write([]*telemetry.Intervals{g.intervals(50, 0)}); err != nil {
		t.Fatal(err)
	}
	to, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	database := strings.Trim(to.Path, "/")
	count := func(s *Store) (n uint64) {
		t.Helper()
		a, err := s.Select(t.Context(), "SELECT count() FROM flows_10s", 1)
		if err != nil {
			t.Fatal(err)
		}
		return a.Rows[0][0].(uint64)
	}
	before := count(s)
	to.Path = "/default"
	o, err := options(&Config{Address: to.String()})
	if err != nil {
		t.Fatal(err)
	}
	outside, err := clickhouse.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer outside.Close()
	place := fmt.Sprintf("File('%s')", filepath.Join(t.TempDir(), "waybill"))
	for _, statement := range []string{
		"BACKUP DATABASE " + database + " TO " + place,
		"DROP DATABASE " + database,
		"RESTORE DATABASE " + database + " FROM " + place,
	} {
		if err := outside.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	again := open(t, address)
	if n := count(again); n != before || n == 0 {
		t.Errorf("%d flows, want %d", n, before)
	}
	if err := again.Write([]*telemetry.Intervals{g.intervals(50, 1)}); err != nil {
		t.Fatal(err)
	}
	if n := count(again); n != before+50 {
		t.Errorf("%d flows after a write, want %d", n, before+50)
	}
	if err := again.Maintain(t.Context(), epoch.Add(90*60e9)); err != nil {
		t.Fatal(err)
	}
}
