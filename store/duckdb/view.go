package duckdb

import (
	"fmt"
	"strings"
)

// makeViews makes a view over all partitions for each table, under the name that it has in docs/reference/store.md.
func (s *Store) makeViews() error {
	var statements []string
	for i := range tiers {
		for _, t := range tiers[i].tables() {
			statements = append(statements, fmt.Sprintf("CREATE OR REPLACE VIEW memory.main.%s AS %s", t.name(t.step), s.viewOf(i, t)))
		}
	}
	return inTransaction(s.ctx, s.write, append(statements, topologyMacros()...))
}

// viewOf is the query of the view over a table.
func (s *Store) viewOf(tier int, t placed) string {
	var parts, none []string
	for _, p := range s.partitions {
		if p.tier == tier {
			parts = append(parts, "SELECT * FROM "+p.catalog+"."+t.name(t.step))
		}
	}
	from := strings.Join(parts, " UNION ALL ")
	if len(parts) == 0 {
		for _, c := range t.at(t.step) {
			none = append(none, fmt.Sprintf("CAST(NULL AS %s) AS %s", c.kind, c.name))
		}
		return "SELECT " + strings.Join(none, ", ") + " WHERE false"
	}
	switch t.id.String() {
	case "events": // the last version of each
		return "SELECT * FROM (" + from + ") QUALIFY row_number() OVER (PARTITION BY id ORDER BY version DESC) = 1"
	case "routes":
		return "SELECT * FROM (" + from + ") QUALIFY row_number() OVER (PARTITION BY path_id ORDER BY start DESC) = 1"
	}
	return from
}
