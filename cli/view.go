package cli

import (
	"cmp"
	"encoding/json"
	"io"
	"os"
	"strings"
	"time"

	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/internal/conf"
)

// A view is how tables look.
type view struct {
	wide     bool
	terminal bool
	color    bool
	unicode  bool      // the locale can show more than ASCII
	now      time.Time // the server's clock
	bare     bool      // without titles
	grows    bool      // one table, to which rows are added
	alone    bool      // rows are not below others that they belong to
	widths   []int     // of its columns so far
	columns  int       // of the terminal, or of what is taken for one
}

// newView returns the view for w: colours on a terminal only (no-color.org), Unicode where the locale has UTF-8.
func newView(w io.Writer, wide bool) view {
	locale := strings.ToLower(cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG")))
	v := view{wide: wide, terminal: command.IsTerminal(w), columns: command.ColumnsOf(w)}
	v.color = v.terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	v.unicode = strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
	return v
}

// pick returns the first text if the locale can show it, else the second.
func (v *view) pick(unicode, ascii string) string {
	if v.unicode {
		return unicode
	}
	return ascii
}

// isDocument reports whether an output is one document in the shape of the API.
func isDocument(output string) bool { return output == "json" || output == "yaml" }

// WriteDocument writes a list in the shape of the API, as JSON or YAML.
func WriteDocument(w io.Writer, output string, list any) error {
	if output != "yaml" {
		return writeJSON(w, list)
	}
	text, err := json.Marshal(list)
	if err == nil {
		text, err = conf.FromJSON(text)
	}
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}

// writeJSON writes a list in the shape of the API.
func writeJSON(w io.Writer, list any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(list)
}

// writeLines writes items as JSON, one on each line; object is what is written of an item, nil for nothing, or is nil
// itself.
func writeLines[T any](w io.Writer, object func(*T) any, items []T) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for i := range items {
		var v any = &items[i]
		if object != nil {
			v = object(&items[i])
		}
		if v == nil {
			continue
		}
		if err := e.Encode(v); err != nil {
			return err
		}
	}
	return nil
}
