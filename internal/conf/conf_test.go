package conf_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/internal/conf"
	"github.com/waybill-int/waybill/internal/conf/conftest"
	"github.com/waybill-int/waybill/internal/conf/unit"
)

// sample has all that a file can have.
type sample struct {
	Name   string                        `yaml:"name"`
	On     bool                          `yaml:"on"`
	Count  uint8                         `yaml:"count"`
	Change int                           `yaml:"change"`
	Factor float64                       `yaml:"factor"`
	Wait   unit.Duration                 `yaml:"wait"`
	Size   *unit.Bytes                   `yaml:"size"`
	Rows   []row                         `yaml:"rows"`
	ByName map[string]*row               `yaml:"by_name"`
	Names  map[uint32]string             `yaml:"names"`
	Pair   [2]string                     `yaml:"pair"`
	Ports  conf.List[unit.Range[uint16]] `yaml:"ports"`
	Any    map[string]any                `yaml:"any"`
	Part   conf.Raw                      `yaml:"part"`
	Time   time.Time                     `yaml:"time"`
	common `yaml:",inline"`
	Points *points `yaml:"-"`
	Own    int     `yaml:"-"`
}

type row struct {
	Prefix unit.Prefix `yaml:"prefix"`
	Inner  *struct {
		Deep bool `yaml:"deep"`
	} `yaml:"inner"`
}

type common struct {
	CA string `yaml:"ca"`
}

// points is a Keyed.
type points struct{ got map[string]any }

func (p *points) Keys() map[string]string {
	return map[string]string{"int_port": "a port", "lengths": ""}
}

func (p *points) Set(key string, value any) error {
	if value == "0" {
		return fmt.Errorf("%s: got 0, want a port", key)
	}
	p.got[key] = value
	return nil
}

func newSample() *sample {
	return &sample{Name: "usual", Names: map[uint32]string{1: "one"}, Points: &points{map[string]any{}}}
}

const full = `# all of it
name: "1.0"
on: true
count: 0x10
change: -3
factor: 1e3
wait: 2d
size: 64kB
rows:
  - prefix: 10.0.0.0/8
    inner:
      deep: true
  - {inner: {deep: false}}
by_name: {a: {prefix: 192.0.2.1, inner: {deep: true}}}
names: {2: two}
pair: [x, y]
ports: 80-90
any: {b: [c, {d: 1}]}
part:
  mode: md
ca: /x
time: 2026-01-01T00:00:00Z
int_port: 7
lengths: {1: {2: 8}}
`

func TestParse(t *testing.T) {
	s := newSample()
	if _, err := (conf.Kind{}).Parse("f", []byte(full), s); err != nil {
		t.Fatal(err)
	}
	if s.Name != "1.0" || !s.On || s.Count != 16 || s.Change != -3 || s.Factor != 1000 ||
		s.Wait != unit.Duration(48*time.Hour) || *s.Size != 64000 ||
		len(s.Rows) != 2 || s.Rows[0].Prefix.String() != "10.0.0.0/8" || !s.Rows[0].Inner.Deep ||
		s.ByName["a"].Prefix.Bits() != 32 ||
		s.Names[1] != "one" || s.Names[2] != "two" || s.Pair[1] != "y" || s.Ports[0].High != 90 || s.CA != "/x" ||
		s.Time.Year() != 2026 {
		t.Errorf("got %+v", s)
	}
	if got := fmt.Sprint(s.Any, s.Points.got); got != "map[b:[c map[d:1]]] map[int_port:7 lengths:map[1:map[2:8]]]" {
		t.Error(got)
	}
	if got := string(s.Part.Text); strings.Count(got, "\n") != 20 || strings.TrimSpace(got) != "mode: md" {
		t.Errorf("got %q", s.Part.Text)
	}
	for _, text := range []string{"", "# nothing\n", "~", "---\n...\n", "name:\nrows:\nby_name: null\n"} {
		s := newSample()
		if _, err := (conf.Kind{}).Parse("", []byte(text), s); err != nil || s.Name != "usual" || len(s.Names) != 1 {
			t.Errorf("%q: %v, %+v", text, err, s)
		}
	}
	if _, err := (conf.Kind{}).Parse("", []byte("{\n\t\"name\": \"json\",\n\t\"on\": true\n}"), s); err != nil ||
		s.Name != "json" {
		t.Error(err, s.Name)
	}
}

// Every rule of a file, and what is said of it.
func TestBad(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"nam: x", `f:1: unknown key "nam"; did you mean name?`},
		{"a: 1\ncolour: x", "f:1: unknown key \"a\"; known are any, by_name, ca, change,"},
		{
			"rows:\n  - prefix: 10.0.0.0/8\n    inner:\n      deeep: true",
			`f:4: rows[0].inner: unknown key "deeep"; did you mean deep?`,
		},
		{"by_name:\n  a:\n    x: 1", `f:3: by_name.a: unknown key "x"; known are inner, prefix`},
		{"on: true\non: false", "f:2: on: the key is there twice, first in line 1"},
		{"names:\n  1: a\n  0x1: b", "f:3: names.0x1: the key is there twice"},
		{"any: {a: {b: 1, b: 2}}", "f:1: any.a.b: the key is there twice, first in line 1"},
		{"count: 256", `f:1: count: got "256", want a whole number from 0 to 255`},
		{"count: 010", `f:1: count: got "010", want a whole number`},
		{"change: 1.5", `f:1: change: got "1.5", want a whole number`},
		{"factor: .inf", `f:1: factor: got ".inf", want a number`},
		{"on: yes", `f:1: on: got "yes", want true or false`},
		{"wait:\n  - 1s", "f:2: wait: got a list, want a duration with its unit"},
		{"wait:", "f:1: wait: got nothing, want a duration"},
		{"size: many", `f:1: size: got "many", want a number of bytes`},
		{"name: [x]", "f:1: name: got a list, want a text"},
		{"rows: {}", "f:1: rows: got a map, want a list"},
		{"rows: [x]", "f:1: rows[0]: got a single value, want keys and values; known are inner, prefix"},
		{"names: [x]", "f:1: names: got a list, want keys and values"},
		{"names: {x: y}", `f:1: names.x: got "x", want a whole number from 0 to 4294967295`},
		{"pair: [x]", "f:1: pair: got a list of 1, want one of 2"},
		{"ports: []", "f:1: ports: the list is empty"},
		{"ports: [80, x]", `f:1: ports[1]: got "x", want a number from 0 to 65535 or a range`},
		{"time: now", `f:1: time: `},
		{"int_port: 0", "f:1: int_port: got 0, want a port"},
		{"rows: &a []", "f:1: rows: want a plain value, without tags, anchors and aliases"},
		{"any: {a: !x 1}", "f:1: any.a: want a plain value"},
		{"any: {<<: {b: 1}}", "f:1: any: want a word or a number as key"},
		{"? [a]\n: b", "f:1: want a word or a number as key"},
		{"- a", "f:1: got a list, want keys and values; known are"},
		{"a: b: c", "f:1: mapping values are not allowed"},
		{"on: true\nname: [x,\nca: y\n", "f:4: did not find expected ',' or ']' of what begins in line 2"},
		{"on: true\nname: 'x\n", "f:3: found unexpected end of stream of what begins in line 2"},
		{"name: `x`", "f:1: found character that cannot start any token"},
		{"name: a\n---\nname: b", "f:3: a second YAML document, want one"},
		{"name: \x00", "f: this is not a text file, want YAML in UTF-8"},
		{"\xff\xfen\x00", "f: this is not a text file"},
		{strings.Repeat(" ", 1<<20+1), "f: the file is too large, want at most 1MiB"},
		{
			"count: x\non: x\nrows: x",
			"f:1: count: got \"x\", want a whole number from 0 to 255\nf:2: on: got \"x\", want true or false\nf:3: rows: got \"x\", want a list",
		},
	} {
		_, err := (conf.Kind{}).Parse("f", []byte(c.text), newSample())
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%.80q:\ngot  %v\nwant %s", c.text, err, c.want)
		}
	}
	if _, err := (conf.Kind{Want: "rows"}).Parse("", []byte("# nothing"), newSample()); err == nil ||
		err.Error() != "line 1: the file is empty, want rows" {
		t.Error(err)
	}
	_, err := (conf.Kind{}).Parse("f", []byte("any:\n"+strings.Repeat("  - x\n", 3)+strings.Repeat("x: 1\n", 30)),
		newSample())
	if err == nil || strings.Count(err.Error(), "\n") != 20 || !strings.HasSuffix(err.Error(), "\nand 11 more") {
		t.Error(err)
	}
}

// A misplaced secret is in no message.
func TestSecret(t *testing.T) {
	for _, text := range []string{
		"wait: hunter2", "count: hunter2", "size: [hunter2]", "names: {1: [hunter2]}",
		"rows: hunter2", "name: {a: hunter2}", "on: hunter2",
	} {
		if _, err := (conf.Kind{Secret: true}).Parse("", []byte(text), newSample()); err == nil ||
			strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestSay(t *testing.T) {
	d, err := (conf.Kind{}).Parse("", []byte(full), newSample())
	if err != nil {
		t.Fatal(err)
	}
	d.Say("rows[0].inner.deep", "want %d", 1)
	d.Say("rows[1].prefix", "is missing")
	d.Say("other", "is missing")
	want := "x:12: rows[0].inner.deep: want 1\nx:13: rows[1].prefix: is missing\nx:2: other: is missing"
	if err := conf.InFile("x", d.Err()); err.Error() != want {
		t.Errorf("got %v", err)
	}
}

// A file that is no configuration is refused at once, whatever its size.
func TestLargeFiles(t *testing.T) {
	name := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(name, 125e6); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := (conf.Kind{}).Load(name, newSample())
	runtime.ReadMemStats(&after)
	if taken := after.TotalAlloc - before.TotalAlloc; err == nil || !strings.Contains(err.Error(), "too large") ||
		taken > 16<<20 {
		t.Errorf("%v, with %d bytes taken", err, taken)
	}
}

func TestMisspelt(t *testing.T) {
	conftest.Misspell(t, reflect.TypeFor[sample](), []string{full}, func(text []byte) error {
		_, err := (conf.Kind{}).Parse("f", text, newSample())
		return err
	})
}

// FuzzParse: no text makes the loader panic, or take more memory than its size can explain; each problem has its line.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		full, "? : :", "&a [*a]", "a: *a", "{a: [", "- - - -", "0:\n...{0}", "name: |\n  x\n",
		"<<: {a: b}", "%YAML 1.2\n---\n", "names: {1: a, ~: b, {}: c}",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s := newSample()
		_, err := (conf.Kind{Limit: 1 << 12}).Parse("f", text, s)
		runtime.ReadMemStats(&after)
		if taken := after.TotalAlloc - before.TotalAlloc; taken > 64<<20 {
			t.Errorf("%d bytes for %d", taken, len(text))
		}
		if err == nil {
			return
		}
		lines := bytes.Count(text, []byte("\n")) + bytes.Count(text, []byte("\r")) +
			bytes.Count(text, []byte("\u2028")) +
			bytes.Count(text, []byte("\u2029")) + bytes.Count(text, []byte("\u0085")) + 2
		for _, p := range err.(conf.Problems) {
			if p.File != "f" || p.Rule == "" || p.Line < 0 || p.Line > lines {
				t.Errorf("%+v in %d lines", p, lines)
			}
		}
	})
}

func TestFormat(t *testing.T) {
	text, err := conf.Format(map[string]any{
		"a": unit.Bytes(1 << 20), "b": []int{1}, "c": unit.Duration(time.Hour),
		"d": "1",
	})
	if want := "a: 1MiB\nb:\n- 1\nc: 1h\nd: '1'\n"; err != nil || string(text) != want {
		t.Errorf("got %q, %v", text, err)
	}
}

func TestKeys(t *testing.T) {
	var got []string
	for _, k := range conftest.Keys(reflect.TypeFor[sample]()) {
		got = append(got, k.Path)
	}
	for _, want := range []string{"name", "rows[].prefix", "rows[].inner.deep", "by_name.*.inner.deep", "ca", "part"} {
		if !slices.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	if i := slices.Index(got, ""); i >= 0 || len(got) != len(maps.Collect(slices.All(got))) {
		t.Error(got)
	}
}
