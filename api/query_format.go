package api

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"io"
	"math/big"
	"net/http"
	"reflect"
	"slices"
	"time"

	"github.com/waybill-int/waybill/api/types"
)

// writeTable answers with a table in the format of that name. All but JSON have the rows only.
func (h *handler) writeTable(w http.ResponseWriter, r *http.Request, name string, t *types.Table) {
	w.Header().Add("Vary", "Accept")
	write := map[string]func(*types.Table, io.Writer) error{
		"csv": writeTableCSV, "ndjson": writeTableNDJSON, "parquet": tableInGrid(writeParquet), "arrow": tableInGrid(writeArrow),
	}[name]
	if write == nil {
		writeAnswer(w, *t)
		return
	}
	i := slices.IndexFunc(formats, func(f format) bool { return f.name == name })
	w.Header().Set("Content-Type", formats[i].media)
	w.Header().Set("Cache-Control", "no-store")
	if err := write(t, w); err != nil {
		h.cfg.Logger.Debug("answer not delivered", "path", r.URL.Path, "error", err)
	}
}

// writeTableCSV writes the names and the rows. NULL is empty; lists and structures are JSON.
func writeTableCSV(t *types.Table, to io.Writer) error {
	w := csv.NewWriter(to)
	if err := w.Write(t.Columns); err != nil {
		return err
	}
	line := make([]string, len(t.Columns))
	for _, row := range t.Rows {
		for i, v := range row {
			c, err := tableCell(v)
			if err != nil {
				return err
			}
			line[i] = c.text()
		}
		if err := w.Write(line); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// writeTableNDJSON writes an object for each row, with its columns in their order.
func writeTableNDJSON(t *types.Table, to io.Writer) error {
	w := bufio.NewWriterSize(to, 32<<10)
	names := make([][]byte, len(t.Columns))
	for i, name := range t.Columns {
		text, err := json.Marshal(name)
		if err != nil {
			return err
		}
		names[i] = append(text, ':')
	}
	for _, row := range t.Rows {
		w.WriteByte('{')
		for i, v := range row {
			text, err := json.Marshal(v)
			if err != nil {
				return err
			}
			if i > 0 {
				w.WriteByte(',')
			}
			w.Write(names[i])
			w.Write(text)
		}
		w.WriteString("}\n")
	}
	return w.Flush()
}

// tableCell returns a value that a store answered as a cell.
func tableCell(v any) (cell, error) {
	switch v := v.(type) {
	case nil:
		return cell{}, nil
	case time.Time:
		return cell{v}, nil
	case *big.Int: // sums are of 128 bits
		switch {
		case v.IsInt64():
			return cell{v.Int64()}, nil
		case v.IsUint64():
			return cell{v.Uint64()}, nil
		}
		return cell{v.String()}, nil
	}
	return cellOf(reflect.ValueOf(v))
}
