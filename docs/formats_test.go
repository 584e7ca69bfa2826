// Package docs_test holds the pages to the code and to the bytes that they quote.
package docs_test

import (
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gopacket/gopacket/pcapgo"

	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/codepoint"
)

var (
	rowName  = regexp.MustCompile("(?m)^\\| `([^`]+)` \\|") // first cell of a table row, if it is a name
	fence    = regexp.MustCompile("(?ms)^```([^\n]*)\n(.*?)^```$")
	inline   = regexp.MustCompile("`[^`\n]*`")
	link     = regexp.MustCompile(`\]\(([^)\s]*)\)`)
	heading  = regexp.MustCompile(`(?m)^#+ (.*)$`)
	notASlug = regexp.MustCompile(`[^a-z0-9 _-]`)
	repoPath = regexp.MustCompile("`((?:wire|testdata)/[a-z][^` ]*)`")
	vector   = regexp.MustCompile(`^(bad|int\d+|ifa2|tr\d+)_\w+$`)
)

func TestReferencePagesNameEverything(t *testing.T) {
	var codes, dialects []string
	for e := wire.Error(1); e < wire.NumErrors; e++ {
		codes = append(codes, e.Error())
	}
	for _, d := range codepoint.Dialects {
		dialects = append(dialects, d.Name)
	}
	for page, want := range map[string][]string{
		"errors.md": codes, "dialects.md": slices.Clone(dialects),
		"code-points.md": slices.Collect(maps.Keys(codepoint.Keys())),
	} {
		for _, m := range rowName.FindAllStringSubmatch(read(t, "reference/"+page), -1) {
			i := slices.Index(want, m[1])
			if i < 0 {
				t.Errorf("%s: %s is not in the code, or twice on the page", page, m[1])
				continue
			}
			want = slices.Delete(want, i, i+1)
		}
		if len(want) > 0 {
			t.Errorf("%s: no row for %s", page, strings.Join(want, ", "))
		}
	}
	for _, d := range dialects {
		if !strings.Contains(read(t, "reference/dialects.md"), "\n## "+d+"\n") {
			t.Errorf("dialects.md: %s has no section", d)
		}
	}
}

// TestDecodeFieldsPage looks for every layer and field of the vectors in decode-fields.md.
func TestDecodeFieldsPage(t *testing.T) {
	page := read(t, "reference/decode-fields.md")
	var visit func(v any)
	visit = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				visit(item)
			}
		case map[string]any:
			names := slices.Collect(maps.Keys(v))
			if layer, ok := v["layer"].(string); ok {
				names = append(names, layer)
			}
			for _, name := range names {
				if !strings.Contains(page, "`"+name+"`") && !strings.HasPrefix(name, "reserved_bit") {
					t.Errorf("decode-fields.md: no %s", name)
				}
				visit(v[name])
			}
		}
	}
	files, err := filepath.Glob("../testdata/vectors/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	for _, file := range files {
		var vec struct{ Expect any }
		if err := json.Unmarshal([]byte(read(t, file)), &vec); err != nil {
			t.Fatal(err)
		}
		if layers, ok := vec.Expect.([]any); ok {
			visit(layers)
		}
	}
}

// TestQuotedBytes compares the bytes behind "```text FILE" with those of the vector, or of the frame of the capture. A
// line has the offset in columns 1-4, the bytes in columns 7-41, and then a remark.
func TestQuotedBytes(t *testing.T) {
	eachPage(t, func(t *testing.T, _, text string) {
		for _, block := range fence.FindAllStringSubmatch(text, -1) {
			file, ok := strings.CutPrefix(block[1], "text testdata/")
			if !ok {
				continue
			}
			b := bytesOf(t, file)
			for line := range strings.Lines(block[2]) {
				line = strings.TrimRight(line, "\n")
				off, err := strconv.Atoi(strings.TrimSpace(line[:4]))
				want, hexErr := hex.DecodeString(strings.ReplaceAll(line[6:min(41, len(line))], " ", ""))
				switch {
				case err != nil || hexErr != nil || len(want) == 0:
					t.Errorf("%s: want offset and bytes, got %q", file, line)
				case off+len(want) > len(b) || !slices.Equal(want, b[off:off+len(want)]):
					t.Errorf("%s: not these bytes: %q", file, line)
				}
			}
		}
	})
}

// TestBoxes checks that the rows of a header's box have 32 bits and that its lines stand between bits.
func TestBoxes(t *testing.T) {
	eachPage(t, func(t *testing.T, _, text string) {
		for _, block := range fence.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(block[2], "\n+-+-+") {
				continue
			}
			for row := range strings.Lines(block[2]) {
				row = strings.TrimRight(row, "\n")
				if row[0] == ' ' { // the numbers of the bits
					continue
				}
				if len(row) != 65 || !strings.ContainsRune("+|", rune(row[0])) ||
					!strings.ContainsRune("+|", rune(row[64])) {
					t.Errorf("want 65 columns, got %d: %s", len(row), row)
				}
				for i, c := range row {
					if (c == '|' || c == '+') && i%2 != 0 {
						t.Errorf("line inside a bit, column %d: %s", i+1, row)
					}
				}
			}
		}
	})
}

func TestLinksAndPaths(t *testing.T) {
	eachPage(t, func(t *testing.T, page, text string) {
		text = fence.ReplaceAllString(text, "")
		for _, m := range link.FindAllStringSubmatch(inline.ReplaceAllString(text, ""), -1) {
			if strings.Contains(m[1], ":") || strings.HasPrefix(m[1], "/") {
				continue
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			target := page
			if file != "" {
				target = filepath.Join(filepath.Dir(page), file)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("link to %s: no such file", m[1])
			} else if anchor != "" && !slices.Contains(anchors(t, target), anchor) {
				t.Errorf("link to %s: no such heading", m[1])
			}
		}
		for _, m := range repoPath.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat("../" + m[1]); err != nil {
				t.Errorf("%s: no such file", m[1])
			}
		}
		for _, name := range inline.FindAllString(text, -1) {
			if name = strings.Trim(name, "`"); vector.MatchString(name) {
				bytesOf(t, "vectors/"+name+".json")
			}
		}
	})
}

// anchors returns the names of the headings of a page, as links call them.
func anchors(t *testing.T, page string) []string {
	var list []string
	for _, m := range heading.FindAllStringSubmatch(read(t, page), -1) {
		slug := notASlug.ReplaceAllString(strings.ToLower(m[1]), "")
		list = append(list, strings.ReplaceAll(slug, " ", "-"))
	}
	return list
}

// bytesOf returns the bytes of "vectors/NAME.json" or of "captures/NAME.pcap frame N".
func bytesOf(t *testing.T, source string) []byte {
	t.Helper()
	name, frame, isCapture := strings.Cut(source, " frame ")
	f, err := os.Open("../testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if !isCapture {
		var vec struct{ Hex string }
		if err := json.NewDecoder(f).Decode(&vec); err != nil {
			t.Fatal(err)
		}
		b, err := hex.DecodeString(vec.Hex)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	n, err := strconv.Atoi(frame)
	if err != nil {
		t.Fatal(err)
	}
	r, err := pcapgo.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var b []byte
	for range n {
		if b, _, err = r.ReadPacketData(); err != nil {
			t.Fatalf("%s: %v", source, err)
		}
	}
	return b
}

// eachPage runs check on every page under docs.
func eachPage(t *testing.T, check func(t *testing.T, page, text string)) {
	err := filepath.WalkDir(".", func(page string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(page) == ".md" {
			t.Run(page, func(t *testing.T) { check(t, page, read(t, page)) })
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
