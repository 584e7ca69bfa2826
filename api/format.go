package api

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"
)

const mediaJSON = "application/json"

// A format is a way to write a list. All but JSON have the items only.
type format struct {
	name, media string
	write       func(a *answer, to io.Writer, now time.Time) error
}

var formats = []format{
	{"json", mediaJSON, (*answer).write},
	{"ndjson", "application/x-ndjson", writeNDJSON},
	{"csv", "text/csv", writeCSV},
	{"parquet", "application/vnd.apache.parquet", writeParquet},
}

// format returns the format that the parameter format names, else the one that Accept (RFC 9110 §12.5.1) prefers. Who
// accepts none of them gets JSON, which the same section allows: a browser that is led here shows it.
func (p *params) format(header http.Header) format {
	var names []string
	for _, f := range formats {
		names = append(names, f.name)
	}
	if _, given := p.values["format"]; given {
		name := p.choice("format", names...)
		return formats[max(0, slices.Index(names, name))]
	}
	p.asked["format"] = true
	best, most := formats[0], 0.0
	for _, value := range header.Values("Accept") {
		for element := range strings.SplitSeq(value, ",") {
			media, parameters, err := mime.ParseMediaType(element)
			if err != nil {
				continue
			}
			for _, f := range formats {
				q := 1.0
				if text, weighted := parameters["q"]; weighted {
					q = weight("q=" + text)
				}
				if (media == f.media || f.name == "json" && (media == "*/*" || media == "application/*")) && q > most {
					best, most = f, q
				}
			}
		}
	}
	return best
}

// writeNDJSON writes an object for each item, each on a line of its own.
func writeNDJSON(a *answer, to io.Writer, _ time.Time) error {
	w := bufio.NewWriterSize(to, 32<<10)
	encoder := json.NewEncoder(w)
	for i := range a.count {
		if err := encoder.Encode(a.item(i)); err != nil {
			return err
		}
	}
	return w.Flush()
}

// writeCSV writes a line of names, and a line for each item (RFC 4180). What is not known is empty, a list is JSON.
func writeCSV(a *answer, to io.Writer, _ time.Time) error {
	w := csv.NewWriter(to)
	columns := columnsOf(a.kind)
	line := make([]string, len(columns))
	for i, c := range columns {
		line[i] = c.name
	}
	if err := w.Write(line); err != nil {
		return err
	}
	for i := range a.count {
		cells, err := cellsOf(columns, a.item(i))
		if err != nil {
			return err
		}
		for j, cell := range cells {
			line[j] = cell.text()
		}
		if err := w.Write(line); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}
