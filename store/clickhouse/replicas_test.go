package clickhouse

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/test/chdb"
)

// TestReplicatedTables: the engine takes all definitions as they are in a database of the engine Replicated, which
// would give the paths itself. Nothing can be written to them here: that needs servers, and Keeper.
func TestReplicatedTables(t *testing.T) {
	s := open(t, chdb.Start(t))
	if s.replicated {
		return // WAYBILL_TEST_CLICKHOUSE names such a database: all tests have shown it
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
