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

	"github.com/waybill-int/waybill/api/types"
)

// A format is a way to write a list. All but JSON have the items only.
type format struct {
	name, media string
	write       func(a *answer, to io.Writer, now time.Time) error
}

var formats = []format{
	{"json", types.MediaJSON, (*answer).write},
	{"ndjson", "application/x-ndjson", writeNDJSON},
	{"csv", "text/csv", writeCSV},
	{"parquet", "application/vnd.apache.parquet", listInGrid(writeParquet)},
	{"arrow", "application/vnd.apache.arrow.stream", listInGrid(writeArrow)},
}

// format returns the format that the parameter format names, else the one that Accept (RFC 9110 §12.5.1) prefers. That none of them is
// accepted is a problem with status 406.
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
	return p.accepted(header, formats)
}

// onlyJSON notes a problem if a client does not take JSON, of what is not answered in another format.
func (p *params) onlyJSON(header http.Header) { p.accepted(header, formats[:1]) }

// accepted returns the one of offers that a client prefers: that with the highest weight, then what Accept has first, then what offers
// have first. Accept without anything that can be read takes all.
func (p *params) accepted(header http.Header, offers []format) format {
	ranges := mediaRanges(header)
	if len(ranges) == 0 {
		return offers[0]
	}
	best, at := -1, -1
	for i := range offers {
		r := rangeOf(ranges, offers[i].media)
		if r < 0 || ranges[r].weight <= 0 {
			continue
		}
		if at < 0 || ranges[r].weight > ranges[at].weight || ranges[r].weight == ranges[at].weight && r < at {
			best, at = i, r
		}
	}
	if best >= 0 {
		return offers[best]
	}
	if p.wrong == nil {
		var media []string
		for _, f := range offers {
			media = append(media, f.media)
		}
		p.wrong = types.NewProblem(http.StatusNotAcceptable, "Accept is %.200q, and there is nothing of this kind here", strings.Join(header.Values("Accept"), ", "))
		p.wrong.Allowed = strings.Join(media, ", ")
	}
	return offers[0]
}

// A mediaRange is an element of Accept: text/csv, text/* or */*, with its weight.
type mediaRange struct {
	media  string
	weight float64
}

// mediaRanges returns the elements of Accept that can be read.
func mediaRanges(header http.Header) []mediaRange {
	var ranges []mediaRange
	for _, value := range header.Values("Accept") {
		for element := range strings.SplitSeq(value, ",") {
			media, parameters, err := mime.ParseMediaType(element)
			if err != nil || !strings.Contains(media, "/") {
				continue
			}
			q := 1.0
			if text, weighted := parameters["q"]; weighted {
				q = weight("q=" + text)
			}
			ranges = append(ranges, mediaRange{media, q})
		}
	}
	return ranges
}

// rangeOf returns the index of the range that says most precisely what is with a media type; -1 if none does.
func rangeOf(ranges []mediaRange, media string) int {
	kind, _, _ := strings.Cut(media, "/")
	for _, name := range []string{media, kind + "/*", "*/*"} {
		if i := slices.IndexFunc(ranges, func(r mediaRange) bool { return r.media == name }); i >= 0 {
			return i
		}
	}
	return -1
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
