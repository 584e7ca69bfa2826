package duckdb

import (
	"fmt"
	"maps"
	"strings"
)

// What a statement may have. Nothing ends DuckDB while it plans, and joins of hundreds of relations it plans for ever.
const (
	maxStatement = 8 << 10 // bytes of text
	maxRelations = 16      // in FROM, with those of the CTEs and subqueries that are used
	maxColumns   = 256     // of the answer, and of each SELECT
)

// checkShape refuses a statement with more relations or columns than it may have. tree is that of json_serialize_sql.
func checkShape(tree any) error {
	s := shape{}
	if n := max(s.relations(tree, nil), s.relationsOfCTE); n > maxRelations {
		return fmt.Errorf("the statement joins more than %d relations", maxRelations)
	}
	return checkColumns(s.columns)
}

func checkColumns(n int) error {
	if n > maxColumns {
		return fmt.Errorf("the statement selects %d columns, limit %d", n, maxColumns)
	}
	return nil
}

// A shape is what a tree has at most.
type shape struct {
	columns        int // in one SELECT
	relationsOfCTE int // in the largest CTE, which may be used or not
}

// relations is how many relations a tree has. A CTE has its relations wherever it is used.
func (s *shape) relations(tree any, ctes map[string]int) (n int) {
	switch tree := tree.(type) {
	case []any:
		for _, child := range tree {
			n += s.relations(child, ctes)
		}
	case map[string]any:
		if definitions, ok := tree["cte_map"].(map[string]any); ok {
			list, _ := definitions["map"].([]any)
			for _, item := range list {
				if definition, ok := item.(map[string]any); ok {
					ctes = s.define(ctes, definition["key"], definition["value"])
				}
			}
		}
		switch tree["type"] {
		case "CTE_NODE":
			ctes = s.define(ctes, tree["ctename"], tree["query"])
			return s.relations(tree["child"], ctes)
		case "BASE_TABLE":
			name, _ := tree["table_name"].(string)
			n = max(ctes[strings.ToLower(name)], 1)
		case "TABLE_FUNCTION", "EXPRESSION_LIST":
			n = 1
		}
		if list, ok := tree["select_list"].([]any); ok {
			s.columns = max(s.columns, len(list))
		}
		for key, child := range tree {
			if key != "cte_map" {
				n += s.relations(child, ctes)
			}
		}
	}
	return min(n, maxRelations+1) // CTEs of CTEs double it each time
}

// define adds a CTE.
func (s *shape) define(ctes map[string]int, name, query any) map[string]int {
	ctes = maps.Clone(ctes)
	if ctes == nil {
		ctes = map[string]int{}
	}
	text, _ := name.(string)
	n := s.relations(query, ctes)
	ctes[strings.ToLower(text)] = n
	s.relationsOfCTE = max(s.relationsOfCTE, n)
	return ctes
}
