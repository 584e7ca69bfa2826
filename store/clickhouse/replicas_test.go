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
	var made []string
	statements := append(createAll(s.config.Keep), createSchema, createCopied)
	for i, statement := range statements {
		if !strings.HasPrefix(statement, "CREATE TABLE ") {
			continue
		}
		text := onReplicas(statement)
		if text == statement || strings.Count(text, "Replicated") != 1 {
			t.Fatalf("not replicated: %s", text)
		}
		table := strings.Fields(statement)[5]
		text = strings.Replace(text, "IF NOT EXISTS "+table, table+"_on_replicas", 1)
		path := fmt.Sprintf("'/test/%d', 'r'", i)
		text = regexp.MustCompile(`ENGINE = (Replicated\w+)\(`).ReplaceAllString(text, "ENGINE = $1("+path+", ")
		text = regexp.MustCompile(`ENGINE = (Replicated\w+) `).ReplaceAllString(text, "ENGINE = $1("+path+") ")
		if err := s.conn.Exec(t.Context(), text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		made = append(made, table)
	}
	if len(made) < 30 {
		t.Errorf("%d tables: %v", len(made), made)
	}
	if got := onReplicas("ALTER TABLE x DELETE WHERE y SETTINGS mutations_sync = 2"); !strings.HasSuffix(got, "= 1") {
		t.Errorf("got %s", got)
	}
	if got := onReplicas("CREATE OR REPLACE VIEW x AS SELECT 'ENGINE = a'"); strings.Contains(got, "Replicated") {
		t.Errorf("got %s", got)
	}
}
