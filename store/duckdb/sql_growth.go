package duckdb

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// DuckDB counts what it keeps against its limit of memory, but not what it computes of a vector of 2048 rows before that. So a
// statement that makes long values of short ones could take all the memory of the machine, and nothing could stop it on the way.
// Statements are refused that could make a value more than maxGrowth times as long as those that are stored, which have a few
// kilobytes at most.
const maxGrowth = 64

// longestText is how long a text in a statement may be, in bytes; longestArray how many elements a type may have.
const (
	longestText  = 1024
	longestArray = 64
)

// Functions that put several values together into one, those that make a value so many times as long, and those that call a lambda.
var (
	joiningFunctions = []string{
		"||", "concat", "concat_ws", "list_concat", "array_concat", "list_cat", "array_cat", "list_value", "list_pack", "array_value", "row",
		"struct_pack", "struct_insert", "struct_concat", "struct_update", "list_zip", "array_zip", "map", "map_concat", "json_object", "json_array", "json_merge_patch",
	}
	lengtheningFunctions = map[string]float64{
		"bin": 8, "to_binary": 8, "to_base": 8, "hex": 2, "to_hex": 2, "base64": 2, "to_base64": 2, "url_encode": 3, "regexp_escape": 2, "json_quote": 2, "to_json": 2,
		// Each character becomes an element of a list, which takes 16 bytes.
		"string_split": 16, "split": 16, "str_split": 16, "string_to_array": 16, "string_split_regex": 16, "str_split_regex": 16, "regexp_split_to_array": 16, "regexp_extract_all": 16,
	}
	// Aggregates that give that many rows of a group.
	severalFunctions = map[string]int{
		"max": 1, "min": 1, "arg_max": 2, "arg_min": 2, "argmax": 2, "argmin": 2, "max_by": 2, "min_by": 2,
	}
	// Functions that call the aggregate of that name with the elements of a list.
	aggregatingFunctions = []string{"aggregate", "list_aggr", "list_aggregate", "array_aggr", "array_aggregate"}
	// Functions that try each part of a text for each % of a pattern, and so take forever for some; LIKE without _ does not.
	patternFunctions  = []string{"~~", "!~~", "~~*", "!~~*", "~~~", "like_escape", "ilike_escape", "not_like_escape", "not_ilike_escape"}
	reducingFunctions = []string{"list_reduce", "array_reduce", "reduce"}
	lambdaFunctions   = []string{"list_transform", "list_apply", "array_transform", "array_apply", "apply"}
)

// A growth finds out how many times as long as what is stored the values of a statement can become.
type growth struct {
	inner   float64            // of the values that a subquery gives
	aliases map[string]float64 // of the columns of this SELECT
	short   bool               // values may be of one byte each, so that texts of the statement make them much longer
	refused error
}

// checkGrowth refuses a statement whose values could become too long.
func checkGrowth(statement any) error {
	g := &growth{inner: 1}
	n := g.query(statement)
	if g.refused == nil && n > maxGrowth {
		g.refused = fmt.Errorf("values of this statement could become %.3g times as long as those that are stored, and at most %d are allowed: put fewer together", n, maxGrowth)
	}
	return g.refused
}

// query is the growth of the values of a statement or a subquery.
func (g *growth) query(tree any) float64 {
	in := &growth{inner: g.inner, short: g.short}
	n := in.node(tree)
	if g.refused == nil {
		g.refused = in.refused
	}
	return n
}

// node is that of a tree. What it selects from comes first.
func (g *growth) node(tree any) float64 {
	switch tree := tree.(type) {
	case []any:
		n := 1.0
		for _, child := range tree {
			n = max(n, g.node(child))
		}
		return n
	case map[string]any:
		switch class, _ := tree["class"].(string); {
		case class == "SUBQUERY":
			return g.query(tree["subquery"])
		case class != "":
			return g.expression(tree)
		}
		n := 1.0
		ctes, _ := tree["cte_map"].(map[string]any)
		g.inner = max(g.inner, g.sub(ctes["map"]))
		switch tree["type"] {
		case "TABLE_FUNCTION":
			function, _ := tree["function"].(map[string]any) // checkFunctions knows which may be here
			return g.node(function["children"])
		case "CTE_NODE":
			g.inner = max(g.inner, g.sub(tree["query"]))
			return g.node(tree["child"])
		case "RECURSIVE_CTE_NODE":
			if n = max(g.sub(tree["left"]), g.sub(tree["right"])); n > 1 {
				return 2 * maxGrowth * n // each turn makes them longer
			}
			return n
		}
		g.inner = max(g.inner, g.sub(tree["from_table"]))
		g.aliases = map[string]float64{}
		selected, _ := tree["select_list"].([]any)
		for _, item := range selected {
			k := g.node(item)
			if item, ok := item.(map[string]any); ok {
				if alias, _ := item["alias"].(string); alias != "" {
					g.aliases[strings.ToLower(alias)] = k
				}
			}
			n = max(n, k)
		}
		for key, child := range tree {
			if key != "cte_map" && key != "from_table" && key != "select_list" {
				n = max(n, g.node(child))
			}
		}
		return max(n, g.inner)
	}
	return 1
}

// sub is the growth of what a SELECT selects from: several that follow each other may each use the one before.
func (g *growth) sub(tree any) float64 {
	switch tree := tree.(type) {
	case []any:
		in := &growth{inner: g.inner}
		for _, child := range tree {
			in.inner = max(in.inner, in.sub(child))
		}
		if g.refused == nil {
			g.refused = in.refused
		}
		return in.inner
	case map[string]any:
		return g.query(tree)
	}
	return g.inner
}

// expression is the growth of one.
func (g *growth) expression(e map[string]any) float64 {
	children, _ := e["children"].([]any)
	name, _ := e["function_name"].(string)
	name = strings.ToLower(name)
	most := func() float64 {
		n := 1.0
		for key, child := range e {
			if key != "value" { // of a constant, which may look like anything
				n = max(n, g.node(child))
			}
		}
		return n
	}
	switch {
	case e["class"] == "COLUMN_REF":
		names, _ := e["column_names"].([]any)
		if len(names) == 1 {
			last, _ := names[0].(string)
			return max(g.inner, g.aliases[strings.ToLower(last)])
		}
		return g.inner
	case e["class"] == "PARAMETER":
		g.refusef("parameters are not allowed, as there is nothing to give them: write their values")
		return 1
	case e["class"] == "CONSTANT":
		if text, _ := constantOf([]any{e}, 0).(string); len(text) > longestText {
			g.refusef("texts of more than %d bytes are not allowed", longestText)
		}
		return 1
	case e["class"] == "CAST" && elements(e["cast_type"]) > longestArray:
		g.refusef("arrays of more than %d elements are not allowed: cast to a list, such as INTEGER[]", longestArray)
		return 1
	case e["class"] == "LAMBDA":
		return g.node(e["expr"])
	case e["class"] != "FUNCTION" && e["class"] != "WINDOW":
		return most()
	case !allowedFunctions[name]:
		g.refuse(name, "")
		return 1
	case slices.Contains(joiningFunctions, name):
		sum := 0.0
		for i, child := range children {
			n := g.node(child)
			if child, ok := child.(map[string]any); ok && child["class"] != "CONSTANT" {
				sum += n
			} else if text, _ := textOf(children, i); g.short {
				sum += float64(len(text))
			}
		}
		return max(1, sum)
	case name == "array_to_string" && len(children) > 1:
		return g.node(children[0]) * g.separated(children, 1)
	case slices.Contains(aggregatingFunctions, name):
		if aggregate, ok := textOf(children, 1); !ok || !allowedFunctions[strings.ToLower(aggregate)] {
			g.refuse(name, "aggregate is no name of one that is allowed")
			return 1
		}
		return g.node(children[0]) * g.separated(children, 2)
	case severalFunctions[name] > 0 && len(children) > severalFunctions[name]:
		n, ok := numberOf(children, severalFunctions[name])
		if !ok || n > maxGrowth {
			g.refuse(name, "number of values is no number up to %d", maxGrowth)
		}
		return most() * max(1, n)
	case name == "repeat" || name == "lpad" || name == "rpad":
		n, ok := numberOf(children, 1)
		if !ok || n > maxGrowth {
			g.refuse(name, "length is no number up to %d", maxGrowth)
			return 1
		}
		return g.node(children[0]) * max(1, n)
	case slices.Contains(patternFunctions, name):
		pattern, ok := textOf(children, 1)
		if wild := strings.Count(pattern, "%") + strings.Count(pattern, "*"); !ok || wild > 2 && (name != "~~" && name != "!~~" || strings.Contains(pattern, "_")) {
			g.refusef("patterns of LIKE, ILIKE and GLOB are not allowed that are no text, or have more than two %% or *: regexp_matches takes others")
		}
		return most()
	case name == "printf" || name == "format":
		text, ok := textOf(children, 0)
		if !ok || longWidth.MatchString(text) {
			g.refuse(name, "format is no text with widths up to 99")
		}
		return most() * max(1, float64(strings.Count(text, "%")+strings.Count(text, "{"))) // each may be the same value
	case (name == "replace" || name == "regexp_replace") && len(children) > 2:
		text, constant := textOf(children, 2)
		if !constant {
			return 2 * maxGrowth // by what somebody else has chosen
		}
		return g.node(children[0]) * float64(1+len(text))
	case slices.Contains(lambdaFunctions, name), slices.Contains(reducingFunctions, name):
		for _, child := range children {
			if lambda, ok := child.(map[string]any); ok && lambda["class"] == "LAMBDA" && usesOthers(lambda["expr"], lambda["lhs"]) {
				return 2 * maxGrowth // each element could be as long as a list
			}
		}
		defer func(short bool) { g.short = short }(g.short)
		g.short = true // elements are
		n := most()
		if n > g.inner && slices.Contains(reducingFunctions, name) {
			return 2 * maxGrowth // each turn makes the value longer
		}
		return n
	}
	return most() * max(1, lengtheningFunctions[name])
}

// longWidth is in a format that makes a value longer than 99 characters, or as long as another value says.
var longWidth = regexp.MustCompile(`[1-9][0-9]{2}|\*|\{[^}]*\{`)

// separated is the growth of elements of one byte by the separator between them.
func (g *growth) separated(children []any, i int) float64 {
	if i >= len(children) {
		return 2 // for a comma
	}
	text, constant := textOf(children, i)
	if !constant {
		return 2 * maxGrowth // by what somebody else has chosen
	}
	return 1 + float64(len(text))
}

// elements is how many elements a value of a type has at least, with those of the arrays in it.
func elements(kind any) float64 {
	node, _ := kind.(map[string]any)
	info, _ := node["type_info"].(map[string]any)
	n := 1.0
	switch node["id"] {
	case "ARRAY":
		size, _ := info["size"].(float64)
		n = max(1, size) * elements(info["child_type"])
	case "LIST", "MAP":
		n = elements(info["child_type"])
	case "STRUCT", "UNION":
		fields, _ := info["child_types"].([]any)
		n = 0
		for _, field := range fields {
			field, _ := field.(map[string]any)
			n += elements(field["second"])
		}
	}
	return n
}

// refusef refuses the statement, unless something was refused already.
func (g *growth) refusef(why string, args ...any) {
	if g.refused == nil {
		g.refused = fmt.Errorf(why, args...)
	}
}

// refuse refuses a function, or what it is given.
func (g *growth) refuse(name, why string, args ...any) {
	if why == "" {
		g.refusef("the function %s is not allowed", name)
		return
	}
	g.refusef("the function %s is not allowed whose "+why, append([]any{name}, args...)...)
}

// constantOf is the value of an argument that is a constant, nil if it is none.
func constantOf(arguments []any, i int) any {
	if i >= len(arguments) {
		return nil
	}
	e, _ := arguments[i].(map[string]any)
	value, _ := e["value"].(map[string]any)
	return value["value"]
}

func textOf(arguments []any, i int) (string, bool) {
	text, ok := constantOf(arguments, i).(string)
	return text, ok
}

func numberOf(arguments []any, i int) (float64, bool) {
	n, ok := constantOf(arguments, i).(float64)
	return n, ok
}

// usesOthers reports whether an expression uses columns that are not the parameters of its lambda.
func usesOthers(expr, parameters any) bool {
	known := columnsOf(parameters, nil)
	return slices.ContainsFunc(columnsOf(expr, nil), func(name string) bool { return !slices.Contains(known, name) })
}

// columnsOf appends the names of the columns in a tree.
func columnsOf(tree any, list []string) []string {
	switch tree := tree.(type) {
	case []any:
		for _, child := range tree {
			list = columnsOf(child, list)
		}
	case map[string]any:
		if names, ok := tree["column_names"].([]any); ok && len(names) > 0 {
			first, _ := names[0].(string)
			return append(list, strings.ToLower(first))
		}
		for _, child := range tree {
			list = columnsOf(child, list)
		}
	}
	return list
}
