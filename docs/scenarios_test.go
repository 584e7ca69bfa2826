package docs_test

import (
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/fabric"
	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/fabric/truth"
)

// shared are the parts of a scenario that several keys have: a table of their own says what is in them.
var shared = map[reflect.Type]string{
	reflect.TypeFor[scenario.LinkSpec](): "LINK",
	reflect.TypeFor[scenario.Clock]():    "CLOCK",
}

// TestScenarioPage compares the rows of scenarios.md with the keys that package scenario reads, in both directions.
func TestScenarioPage(t *testing.T) {
	want := scenarioKeys(reflect.TypeFor[scenario.Scenario](), "")
	for part, name := range shared {
		want = append(want, scenarioKeys(part, name+".")...)
	}
	sameRows(t, "scenarios.md", read(t, "reference/scenarios.md"), want)
}

// scenarioKeys returns the paths of all values in a struct that have a YAML key.
func scenarioKeys(in reflect.Type, prefix string) (keys []string) {
	for i := range in.NumField() {
		f := in.Field(i)
		tag := f.Tag.Get("yaml")
		inner, list := f.Type, ""
		for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice {
			if inner.Kind() == reflect.Slice {
				list = "[]"
			}
			inner = inner.Elem()
		}
		switch {
		case tag == "-":
		case tag == ",inline":
			keys = append(keys, prefix+shared[inner])
		case isGroup(inner):
			keys = append(keys, scenarioKeys(inner, prefix+tag+list+".")...)
		default:
			keys = append(keys, prefix+tag)
		}
	}
	if in.NumField() == 0 {
		keys = append(keys, strings.TrimSuffix(prefix, "."))
	}
	return keys
}

// isGroup says whether a value is a map of keys of its own.
func isGroup(t reflect.Type) bool {
	_, reads := reflect.PointerTo(t).MethodByName("UnmarshalText")
	return t.Kind() == reflect.Struct && shared[t] == "" && !reads && t != reflect.TypeFor[scenario.Raw]()
}

// TestTruthPage compares the tables of truth.md with the records of package truth.
func TestTruthPage(t *testing.T) {
	page := read(t, "reference/truth.md")
	for _, record := range []truth.Record{
		&truth.Run{}, &truth.Switch{}, &truth.Host{}, &truth.Link{}, &truth.Flow{}, &truth.Path{}, &truth.Hop{},
		&truth.Drop{},
		&truth.Burst{}, &truth.Fault{}, &truth.Report{}, &truth.End{},
	} {
		name, _, _ := strings.Cut(strings.TrimPrefix(string(record.Append(nil)), `{"type":"`), `"`)
		_, section, ok := strings.Cut(page, "\n## "+name+"\n")
		if !ok {
			t.Errorf("truth.md: no section for %s", name)
			continue
		}
		section, _, _ = strings.Cut(section, "\n## ")
		sameRows(t, "truth.md, "+name, section, jsonKeys(reflect.TypeOf(record).Elem(), ""))
	}
}

// TestTruthReasons compares the drop reasons of truth.md with those of package fabric.
func TestTruthReasons(t *testing.T) {
	page := map[uint8]string{}
	for _, m := range regexp.MustCompile(`(?m)^\| (\d+) \| (\w+) \|`).FindAllStringSubmatch(
		read(t, "reference/truth.md"), -1) {
		code, err := strconv.ParseUint(m[1], 10, 8)
		if err != nil {
			t.Fatal(err)
		}
		page[uint8(code)] = m[2]
	}
	for code := range 256 {
		name := fabric.Reason(code).String()
		if strings.HasPrefix(name, "reason_") {
			name = "" // it has none
		}
		if page[uint8(code)] != name {
			t.Errorf("truth.md: reason %d is %q, want %q", code, page[uint8(code)], name)
		}
	}
}

// jsonKeys returns the paths of all values in a struct that have a JSON key.
func jsonKeys(in reflect.Type, prefix string) (keys []string) {
	for i := range in.NumField() {
		name, _, _ := strings.Cut(in.Field(i).Tag.Get("json"), ",")
		inner, list := in.Field(i).Type, ""
		for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice {
			if inner.Kind() == reflect.Slice {
				list = "[]"
			}
			inner = inner.Elem()
		}
		switch {
		case name == "-":
		case inner.Kind() == reflect.Struct:
			keys = append(keys, jsonKeys(inner, prefix+name+list+".")...)
		default:
			keys = append(keys, prefix+name)
		}
	}
	return keys
}

// sameRows fails unless the first cells of tables, if they are names, are these, each once.
func sameRows(t *testing.T, page, text string, want []string) {
	t.Helper()
	for _, m := range rowName.FindAllStringSubmatch(text, -1) {
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
