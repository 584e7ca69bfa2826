package duckdb

import (
	"database/sql"
	"database/sql/driver"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/waybill-int/waybill/telemetry"
)

// functions are those of statements that need more than SQL. What is NULL gives NULL.
var functions = map[string][]duckdb.ScalarFunc{
	// address(hi, lo) is the text of an address in two columns.
	"address": {function{
		[]duckdb.Type{duckdb.TYPE_UBIGINT, duckdb.TYPE_UBIGINT},
		duckdb.TYPE_VARCHAR,
		func(in []driver.Value) (any, error) {
			return addressIn(in).String(), nil
		},
	}},
	// in_prefix(hi, lo, text) says whether an address is in a prefix, or is that address; in_prefix(address, text) is
	// of the text of one.
	"in_prefix": {
		function{
			[]duckdb.Type{duckdb.TYPE_UBIGINT, duckdb.TYPE_UBIGINT, duckdb.TYPE_VARCHAR},
			duckdb.TYPE_BOOLEAN,
			func(in []driver.Value) (any, error) { return isIn(addressIn(in), in[2].(string)) },
		},
		function{
			[]duckdb.Type{duckdb.TYPE_VARCHAR, duckdb.TYPE_VARCHAR},
			duckdb.TYPE_BOOLEAN,
			func(in []driver.Value) (any, error) {
				a, err := netip.ParseAddr(in[0].(string))
				if err != nil {
					return nil, err
				}
				return isIn(a.Unmap(), in[1].(string))
			},
		},
	},
}

// isIn reports whether an address is in a prefix, or is that address.
func isIn(a netip.Addr, text string) (bool, error) {
	if b, err := netip.ParseAddr(text); err == nil {
		return a == b.Unmap(), nil
	}
	p, err := netip.ParsePrefix(text)
	return p.Contains(a), err
}

func addressIn(in []driver.Value) netip.Addr {
	a := telemetry.Addr{Hi: in[0].(uint64), Lo: in[1].(uint64)}
	return a.IP()
}

// SetNames replaces the names of nodes, for statements that come. It may be called from any goroutine.
func (s *Store) SetNames(names map[uint32]string) { s.names.Store(&names) }

// nodeNames is the statement that makes the view node_names.
func nodeNames(names map[uint32]string) string {
	rows := []string{"(CAST(NULL AS UINTEGER), CAST(NULL AS VARCHAR))"} // their types
	for _, node := range slices.Sorted(maps.Keys(names)) {
		rows = append(rows, fmt.Sprintf("(%d, '%s')", node, quoted(names[node])))
	}
	return "CREATE OR REPLACE VIEW memory.main.node_names AS SELECT * FROM (VALUES " + strings.Join(rows, ", ") +
		") AS n(node, name) WHERE node IS NOT NULL"
}

// A function implements duckdb.ScalarFunc.
type function struct {
	takes []duckdb.Type
	gives duckdb.Type
	do    duckdb.RowExecutorFn
}

// Config implements duckdb.ScalarFunc. Its types are all simple: there is no error.
func (f function) Config() (c duckdb.ScalarFuncConfig) {
	for _, t := range f.takes {
		info, _ := duckdb.NewTypeInfo(t)
		c.InputTypeInfos = append(c.InputTypeInfos, info)
	}
	c.ResultTypeInfo, _ = duckdb.NewTypeInfo(f.gives)
	return c
}

// Executor implements duckdb.ScalarFunc.
func (f function) Executor() duckdb.ScalarFuncExecutor {
	return duckdb.ScalarFuncExecutor{RowExecutor: f.do}
}

// addFunctions adds the functions to the database of conn.
func addFunctions(conn *sql.Conn) error {
	for name, forms := range functions {
		if err := duckdb.RegisterScalarUDFSet(conn, name, forms...); err != nil {
			return err
		}
	}
	return nil
}
