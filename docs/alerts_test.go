package docs_test

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/alert"
)

// TestAlertsPage looks for every key of the file of rules, and every field of templates, on its page.
func TestAlertsPage(t *testing.T) {
	page := read(t, "reference/alerts.md")
	for _, part := range []reflect.Type{
		reflect.TypeFor[alert.Config](), reflect.TypeFor[alert.Rule](), reflect.TypeFor[alert.Silence](),
		reflect.TypeFor[alert.Output](),
		reflect.TypeFor[alert.Webhook](), reflect.TypeFor[alert.HTTP](), reflect.TypeFor[alert.Syslog](),
		reflect.TypeFor[alert.Command](),
	} {
		for i := range part.NumField() {
			key := part.Field(i).Tag.Get("yaml")
			if key == "" || key == "-" || key == ",inline" {
				continue
			}
			row, heading := "| `"+key+"`", strings.ToUpper(key[:1])+key[1:]
			if !strings.Contains(page, row) && !strings.Contains(page, ", `"+key+"`") &&
				!strings.Contains(page, "# "+key+"\n") && !strings.Contains(page, "# "+heading+"\n") {
				t.Errorf("alerts.md: no %s of %s", key, part.Name())
			}
		}
	}
	fields := reflect.TypeFor[alert.Fields]()
	for i := range fields.NumField() {
		if !strings.Contains(page, "`."+fields.Field(i).Name+"`") {
			t.Errorf("alerts.md: no .%s", fields.Field(i).Name)
		}
	}
	for o := range alert.NumOutcomes {
		if name := alert.Outcome(o).String(); o > 1 && !strings.Contains(page, "`"+name+"`") {
			t.Errorf("alerts.md: no %s", name)
		}
	}
}

// TestAlertExamples reads the files of rules that pages show.
func TestAlertExamples(t *testing.T) {
	examples := 0
	eachPage(t, func(t *testing.T, page, text string) {
		for _, m := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(text, -1) {
			if !strings.Contains(m[1], "\nrules:\n  - name:") && !strings.HasPrefix(m[1], "rules:\n  - name:") &&
				!strings.HasPrefix(m[1], "outputs:") {
				continue
			}
			examples++
			name, secret := filepath.Join(t.TempDir(), "alerts.yaml"), filepath.Join(t.TempDir(), "secret")
			rules := strings.ReplaceAll(m[1], "/etc/waybill/noc.secret", secret)
			for file, text := range map[string]string{name: rules, secret: "0123456789abcdef"} {
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := alert.Load(name, map[uint32]string{1: "leaf1", 2: "leaf2"}); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	})
	if examples < 3 {
		t.Errorf("%d examples", examples)
	}
}
