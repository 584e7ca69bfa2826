package clickhouse

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/internal/test/chdb"
)

// TestReplicatedTables: the engine takes all definitions as they are in a database of the engine Replicated, which
// would give the paths itself. Nothing can be written to them here: that needs servers, and Keeper.
func TestReplicatedTables(t *testing.T) {
	s := open(t, chdb.Start(t))
	if s.replicated {
		return // all tests have shown it
	}
	path := regexp.MustCompile(`ENGINE = (Replicated\w+)(\(?)`)
	all := append(allTables(s.config.Keep), schemaTable)
	for i, d := range all {
		d.name, d.view = d.name+"_on_replicas", ""
		statements := layout{replicated: true}.create(d, false)
		text := statements[0]
		if len(statements) != 1 || strings.Count(text, "Replicated") != 1 {
			t.Fatalf("not replicated: %s", statements)
		}
		text = path.ReplaceAllStringFunc(text, func(engine string) string {
			if name, ok := strings.CutSuffix(engine, "("); ok {
				return fmt.Sprintf("%s('/test/%d', 'r', ", name, i)
			}
			return fmt.Sprintf("%s('/test/%d', 'r')", engine, i)
		})
		if err := s.conn.Exec(t.Context(), text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	if len(all) < 30 {
		t.Errorf("%d tables", len(all))
	}
}

// TestServers: what is written to one server of a cluster is answered by all, and another one goes on with it.
func TestServers(t *testing.T) {
	addresses := chdb.StartServers(t)
	if len(addresses) == 1 {
		t.Skip("needs WAYBILL_TEST_CLICKHOUSE with the addresses of several servers, between spaces")
	}
	g := maker{rand.New(rand.NewPCG(6, 0))}
	first := openFiles(t)
	var second *Store
	for round, address := range addresses[:2] {
		if second = open(t, address); !second.replicated {
			t.Fatal("the database is not replicated")
		}
		writeTwice(t, g, first, second, round)
	}
	now := epoch.Add(85 * time.Minute)
	if err := errors.Join(first.Maintain(t.Context(), now), second.Maintain(t.Context(), now)); err != nil {
		t.Fatal(err)
	}
	for _, address := range addresses {
		reader, err := Open(t.Context(), readOnly(address))
		if err != nil {
			t.Fatal(err)
		}
		askBoth(t, g, first, reader, 60, now)
		if err := reader.Close(); err != nil {
			t.Error(err)
		}
	}
}
