package duckdb

import (
	"fmt"
	"strings"

	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/store/schema"
)

// makeViews makes a view over all partitions for each table, under the name that it has in docs/reference/store.md.
func (s *Store) makeViews() error {
	var statements []string
	for i := range schema.Tiers {
		for _, t := range tables.In(i) {
			var parts []string
			for _, p := range s.partitions {
				if p.tier == i {
					parts = append(parts, "SELECT * FROM "+p.catalog+"."+t.Name(t.Step))
				}
			}
			statements = append(statements, view(&t, parts))
		}
	}
	return inTransaction(s.ctx, s.write, append(append(statements, nodeNames(*s.names.Load())), topologyMacros()...))
}

// view is the statement that makes the view over a table of these queries for its rows.
func view(t *schema.Placed, parts []string) string {
	from := strings.Join(parts, " UNION ALL ")
	var none, texts []string
	switch {
	case len(parts) == 0:
		for _, c := range t.At(t.Step) {
			none = append(none, fmt.Sprintf("CAST(NULL AS %s) AS %s", c.Kind, c.Name))
		}
		from = "SELECT " + strings.Join(none, ", ") + " WHERE false"
	case t.ID == store.Events: // the last version of each
		from = "SELECT * FROM (" + from + ") QUALIFY row_number() OVER (PARTITION BY id ORDER BY version DESC) = 1"
	case t.ID == store.Routes:
		from = "SELECT * FROM (" + from + ") QUALIFY row_number() OVER (PARTITION BY path_id ORDER BY start DESC) = 1"
	}
	for _, c := range t.At(t.Step) { // addresses also as text, which costs those who ask for it only
		if name, isHigh := strings.CutSuffix(c.Name, "_hi"); isHigh {
			texts = append(texts, fmt.Sprintf(", address(%s_hi, %[1]s_lo) AS %[1]s", name))
		}
	}
	if len(texts) > 0 {
		from = "SELECT *" + strings.Join(texts, "") + " FROM (" + from + ")"
	}
	return fmt.Sprintf("CREATE OR REPLACE VIEW memory.main.%s AS %s", t.Name(t.Step), from)
}
