package duckdb

import (
	"errors"
	"slices"
	"strings"
)

// collectingFunctions are aggregates that put the values of all rows of a group into one value, which can be as long as a table.
var collectingFunctions = []string{"array_agg", "group_concat", "json_group_array", "json_group_object", "list", "listagg", "string_agg"}

// costlyFunctions look for each part of a value in another, or keep a table of its parts in memory that DuckDB does not count. A value as long as a
// table would keep them busy for hours, and nothing could stop them.
var costlyFunctions = []string{
	"list_distinct", "array_distinct", "list_unique", "array_unique", "list_intersect", "array_intersect", "list_has_all", "array_has_all", "list_has_any", "array_has_any", "@>", "<@", "&&",
	"list_mode", "list_entropy", "list_histogram", "list_position", "array_position", "list_indexof", "array_indexof", "list_contains", "array_contains", "list_has", "array_has", "json_contains",
	"contains", "instr", "position", "strpos", "replace", "translate", "trim", "ltrim", "rtrim", "~~", "!~~", "~~*", "!~~*", "~~~",
	"string_split", "split", "str_split", "string_to_array", "string_split_regex", "str_split_regex", "regexp_split_to_array", "regexp_extract_all", "split_part",
}

// errCollected is what may not be done with the long values of collectingFunctions: each row could have one of them, and DuckDB computes 2048 rows
// at once, in memory that it does not count.
var errCollected = errors.New("lists and texts of many rows (list, string_agg and the like) are not allowed in joins, windows, expressions or beside unnest: " +
	"put them together in the outermost SELECT")

var errCostly = errors.New("functions such as list_distinct, contains and replace are not allowed for lists and texts of many rows (list, string_agg and the like): " +
	"use them before rows are put together, or write list(DISTINCT x)")

// checkCollected refuses a statement in which values that are put together from many rows could come to be in many rows. So many SELECTs of ours
// are around it, which do nothing with them.
func checkCollected(statement any, ours int) error {
	c := collected{}
	c.look(statement, around{selects: -ours})
	if c.searched || c.costly > 0 && c.costly < c.deepest {
		return errCostly
	}
	if c.copied || c.deepest > 1 && c.multiplied {
		return errCollected
	}
	return nil
}

// collected is what a statement has.
type collected struct {
	searched   bool // one of costlyFunctions has such a value
	costly     int  // in how many SELECTs the outermost of costlyFunctions is; 0: there is none
	deepest    int  // in how many SELECTs the innermost is that puts rows together; 0: none does
	multiplied bool // rows or values are joined, unnested, or looked at in windows
	copied     bool // what is put together is given to each row
}

// around is what a part of a statement is in: so many SELECTs, one of costlyFunctions, a subquery of an expression.
type around struct {
	selects        int
	costly, nested bool
}

func (c *collected) look(tree any, in around) {
	switch tree := tree.(type) {
	case []any:
		for _, child := range tree {
			c.look(child, in)
		}
	case map[string]any:
		name, _ := tree["function_name"].(string)
		name = strings.ToLower(name)
		switch {
		case tree["class"] == "CONSTANT":
			return
		case tree["class"] == "SUBQUERY":
			in.nested = true
		case tree["type"] == "SELECT_NODE":
			in.selects++
		case tree["class"] == "WINDOW", name == "unnest", tree["type"] == "JOIN", tree["type"] == "RECURSIVE_CTE_NODE":
			c.multiplied = true
		}
		if slices.Contains(collectingFunctions, name) {
			c.deepest = max(c.deepest, in.selects)
			c.searched = c.searched || in.costly
			c.copied = c.copied || in.nested || tree["class"] == "WINDOW"
		}
		if slices.Contains(costlyFunctions, name) {
			in.costly = true
			if c.costly == 0 || in.selects < c.costly {
				c.costly = in.selects
			}
		}
		for _, child := range tree {
			c.look(child, in)
		}
	}
}
