package api

import (
	"io"
	"iter"
	"reflect"
	"time"

	"github.com/waybill-int/waybill/api/types"
)

// A grid is what a list or a statement answers, for the formats that have a type for each column.
type grid struct {
	name    string
	columns []column
	rows    iter.Seq2[[]cell, error] // each has a cell for each column, of its type or nil; it is good until the next
}

// listInGrid writes a list in a format for grids.
func listInGrid(write func(grid, io.Writer) error) func(*answer, io.Writer, time.Time) error {
	return func(a *answer, to io.Writer, _ time.Time) error { return write(a.grid(), to) }
}

// tableInGrid writes a table in a format for grids.
func tableInGrid(write func(grid, io.Writer) error) func(*types.Table, io.Writer) error {
	return func(t *types.Table, to io.Writer) error {
		g, err := tableGrid(t)
		if err != nil {
			return err
		}
		return write(g, to)
	}
}

// grid returns the items in columns.
func (a *answer) grid() grid {
	columns := columnsOf(a.kind)
	return grid{a.name, columns, func(yield func([]cell, error) bool) {
		for i := range a.count {
			if !yield(cellsOf(columns, a.item(i))) {
				return
			}
		}
	}}
}

// tableGrid returns the rows of a table. The type of a column is that of its values, or text if they have several.
func tableGrid(t *types.Table) (grid, error) {
	text := reflect.TypeFor[string]()
	rows := make([][]cell, len(t.Rows))
	kinds := make([]reflect.Type, len(t.Columns)) // nil: there was no value yet
	for i, row := range t.Rows {
		rows[i] = make([]cell, len(row))
		for j, v := range row {
			c, err := tableCell(v)
			if err != nil {
				return grid{}, err
			}
			rows[i][j] = c
			if kind := reflect.TypeOf(c.value); kind != nil && kinds[j] == nil {
				kinds[j] = kind
			} else if kind != nil && kind != kinds[j] {
				kinds[j] = text
			}
		}
	}
	columns := make([]column, len(t.Columns)) // each name once: see duckdb.Store.SQL
	for j, name := range t.Columns {
		if kinds[j] == nil {
			kinds[j] = text
		}
		columns[j] = column{name: name, kind: kinds[j]}
	}
	return grid{"query", columns, func(yield func([]cell, error) bool) {
		for _, row := range rows {
			for j := range row {
				if kinds[j] == text && row[j].value != nil {
					row[j] = cell{row[j].text()}
				}
			}
			if !yield(row, nil) {
				return
			}
		}
	}}, nil
}
