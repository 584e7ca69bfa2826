package serve

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/waybill-int/waybill/internal/conf/conftest"
)

var update = flag.Bool("update", false, "write the table of keys in docs/reference/configuration.md")

const (
	pagePath = "../docs/reference/configuration.md"
	pageHead = "| Key | Flag | Variable | Default | Reloads | Meaning |\n|---|---|---|---|---|---|\n"
)

// TestConfigurationPage holds the table of keys to the tags of Config, and its defaults to what the program has.
func TestConfigurationPage(t *testing.T) {
	c := DefaultConfig()
	defaults, err := c.Dump()
	if err != nil {
		t.Fatal(err)
	}
	var values map[string]any
	if err := yaml.Unmarshal([]byte(defaults), &values); err != nil {
		t.Fatal(err)
	}
	table := pageHead
	for _, k := range conftest.Keys(reflect.TypeFor[Config]()) {
		if k.Doc == "" {
			t.Errorf("nothing says what %s is", k.Path)
		}
		variable := ""
		if !strings.ContainsAny(k.Path, ".[*") {
			variable = "`WAYBILL_" + strings.ToUpper(k.Path) + "`"
		}
		flag, reloads := tagsOf(k.Path)
		if flag != "" {
			flag = "`--" + flag + "`"
		}
		table += fmt.Sprintf("| `%s` | %s | %s | %s | %s | %s |\n", k.Path, flag, variable, shown(k.Path, values),
			reloads, k.Doc)
	}
	page, err := os.ReadFile(pagePath)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(page), pageHead)
	_, after, _ := strings.Cut(rest, "| every [code point]")
	want := before + table + "| every [code point]" + after
	switch {
	case !found:
		t.Fatalf("%s has no table of keys", pagePath)
	case *update:
		if err := os.WriteFile(pagePath, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	case want != string(page):
		t.Errorf("%s is not what the tags of Config say: go test ./serve -run Page -update", pagePath)
	}
}

// tagsOf returns the flag that stands for a key, and whether the key, or the one around it, reloads.
func tagsOf(path string) (flag, reloads string) {
	of := reflect.TypeFor[Config]()
	for name := range strings.SplitSeq(path, ".") {
		if of.Kind() != reflect.Struct {
			return "", reloads
		}
		name = strings.TrimSuffix(name, "[]")
		for f := range of.Fields() {
			if key, _, _ := strings.Cut(f.Tag.Get("yaml"), ","); key == name {
				of, flag = f.Type, f.Tag.Get("flag")
				if f.Tag.Get("reload") != "" {
					reloads = f.Tag.Get("reload")
				}
				break
			}
		}
	}
	return flag, reloads
}

// shown is the default of a key, empty where it has none or those below it have.
func shown(path string, values map[string]any) string {
	if path == "workers" {
		return "half of the processors, at least 1"
	}
	var v any = values
	for name := range strings.SplitSeq(path, ".") {
		object, _ := v.(map[string]any)
		v = object[name]
	}
	switch v := v.(type) {
	case nil, map[string]any:
		return ""
	case []any:
		if len(v) == 0 {
			return ""
		}
	case string:
		if v == "" {
			return ""
		}
	}
	return fmt.Sprintf("`%v`", v)
}
