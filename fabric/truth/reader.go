package truth

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// A Reader reads the records of a truth file.
type Reader struct {
	lines *bufio.Scanner
	line  int
}

// maxLine is the length of the longest line in bytes: a burst with some 100,000 flows.
const maxLine = 4 << 20

// NewReader returns a Reader from r.
func NewReader(r io.Reader) *Reader {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	return &Reader{lines: lines}
}

// fresh returns an empty record of a type.
func fresh(kind string) Record {
	switch kind {
	case "run":
		return &Run{}
	case "switch":
		return &Switch{}
	case "host":
		return &Host{}
	case "link":
		return &Link{}
	case "flow":
		return &Flow{}
	case "path":
		return &Path{}
	case "hop":
		return &Hop{}
	case "drop":
		return &Drop{}
	case "burst":
		return &Burst{}
	case "fault":
		return &Fault{}
	case "report", "report_lost":
		return &Report{Lost: kind == "report_lost"}
	case "end":
		return &End{}
	}
	return nil
}

// Next returns the next record, and io.EOF behind the last one. A line that is not a record is an error that names it.
func (r *Reader) Next() (Record, error) {
	if !r.lines.Scan() {
		if err := r.lines.Err(); err != nil {
			return nil, fmt.Errorf("line %d: %w", r.line+1, err)
		}
		return nil, io.EOF
	}
	r.line++
	kind, err := kindOf(r.lines.Bytes())
	if err != nil {
		return nil, fmt.Errorf("line %d: %w", r.line, err)
	}
	record := fresh(kind)
	if record == nil {
		return nil, fmt.Errorf("line %d: unknown type %q", r.line, kind)
	}
	if err := json.Unmarshal(r.lines.Bytes(), record); err != nil {
		return nil, fmt.Errorf("line %d: %w", r.line, err)
	}
	return record, nil
}

// kindOf returns the type of a record. Append writes it first, where it is found without reading the line twice.
func kindOf(line []byte) (string, error) {
	if rest, ok := bytes.CutPrefix(line, []byte(`{"type":"`)); ok {
		if end := bytes.IndexByte(rest, '"'); end >= 0 {
			return string(rest[:end]), nil
		}
	}
	var record struct {
		Type string `json:"type"`
	}
	err := json.Unmarshal(line, &record)
	return record.Type, err
}
