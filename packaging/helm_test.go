package packaging_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/waybill-int/waybill/internal/test"
)

const chart = "packaging/helm/waybill"

// The schema of the chart's values knows each value that there is, of the kind that it has, and no other.
func TestChartSchema(t *testing.T) {
	type schema struct {
		Type       string
		Properties map[string]*schema
		Enum       []string
	}
	var s schema
	var values map[string]any
	if err := json.Unmarshal([]byte(read(t, chart+"/values.schema.json")), &s); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(read(t, chart+"/values.yaml")), &values); err != nil {
		t.Fatal(err)
	}
	delete(s.Properties, "global") // of helm itself
	var compare func(path string, s *schema, value any)
	compare = func(path string, s *schema, value any) {
		kind := map[string]string{
			"string": "string", "bool": "boolean", "int": "integer", "map[string]interface {}": "object",
			"[]interface {}": "array",
		}[fmt.Sprintf("%T", value)]
		if s.Type != kind && !(kind == "string" && slices.Contains(s.Enum, fmt.Sprint(value))) {
			t.Errorf("%s is %q, want %q", path, kind, s.Type)
		}
		of, _ := value.(map[string]any)
		if s.Properties == nil {
			return
		}
		got, want := slices.Sorted(maps.Keys(of)), slices.Sorted(maps.Keys(s.Properties))
		if !slices.Equal(got, want) {
			t.Fatalf("%s has %v, want %v", path, got, want)
		}
		for name, v := range of {
			compare(path+"."+name, s.Properties[name], v)
		}
	}
	compare("values", &s, values)
}

type object = map[string]any

// dig returns what is below names, and the first of a list.
func dig(t *testing.T, o any, names ...string) any {
	t.Helper()
	for _, name := range names {
		if list, ok := o.([]any); ok && len(list) > 0 {
			o = list[0]
		}
		m, ok := o.(object)
		if !ok || m[name] == nil {
			t.Fatalf("there is no %s of %v in %v", name, names, o)
		}
		o = m[name]
	}
	return o
}

// helm finds nothing wrong with the chart. The program takes the arguments and files that pods get, and none of them is
// privileged or may write to its root.
func TestChart(t *testing.T) {
	need(t, "helm")
	run(t, nil, "helm", "lint", "--strict", chart)
	program := test.Program(t)
	for name, c := range map[string]struct {
		set  string
		want []string
	}{
		"collector": {"collector.config.memory=256MiB", []string{"ConfigMap", "Service", "Service", "StatefulSet"}},
		"log-in":    {"collector.loginSecret=waybill", []string{"ConfigMap", "Service", "Service", "StatefulSet"}},
		"node": {
			"collector.enabled=false,node.enabled=true,node.reports=127.0.0.1:8555,node.watch[0].sample=100",
			[]string{"ConfigMap", "DaemonSet"},
		},
	} {
		out := run(t, nil, "helm", "template", "wb", chart, "--set", c.set)
		files, kinds := object{}, []string{}
		d := yaml.NewDecoder(strings.NewReader(out))
		for {
			var o object
			if err := d.Decode(&o); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v\n%s", name, err, out)
			}
			kind := fmt.Sprint(o["kind"])
			kinds = append(kinds, kind)
			switch kind {
			case "ConfigMap":
				files = o["data"].(object)
			case "StatefulSet", "DaemonSet":
				checkPod(t, program, name, dig(t, o, "spec", "template", "spec"), files)
			}
		}
		if slices.Sort(kinds); !slices.Equal(kinds, c.want) {
			t.Errorf("%s: got %v, want %v", name, kinds, c.want)
		}
	}
	for set, want := range map[string]string{
		"collector.enabled=false,node.enabled=true": "node.reports: want HOST:PORT",
		"node.wach=1":                "additional properties 'wach' not allowed",
		"collector.reports.port=eve": "got string, want integer",
	} {
		out, err := exec.CommandContext(t.Context(), "helm", "template", "wb", filepath.Join(test.Root(), chart),
			"--set", set).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v, want %q, got %s", set, err, want, out)
		}
	}
}

func checkPod(t *testing.T, program, name string, pod any, files object) {
	t.Helper()
	may := dig(t, pod, "containers", "securityContext").(object)
	if may["readOnlyRootFilesystem"] != true || may["allowPrivilegeEscalation"] != false || may["privileged"] != nil {
		t.Errorf("%s: got %v", name, may)
	}
	dir := t.TempDir()
	for file, text := range files {
		text = strings.NewReplacer("/usr/bin/waybill", program, "/etc/waybill", dir, "/run/waybill", dir+"/run").
			Replace(text.(string))
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text.(string)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if name == "node" {
		run(t, nil, "mkdir", dir+"/run")
		run(t, []string{"MACHINE_ADDRESS=10.1.2.3", "MACHINE_NAME=worker7", "REPORTS=127.0.0.1:8555"},
			"bash", filepath.Join(dir, "start"), "--check")
		text, _ := os.ReadFile(dir + "/run/node.yaml")
		if s := string(text); !strings.Contains(s, "name: worker7\nid: 66051\n") ||
			!strings.Contains(s, `["127.0.0.1:8555"]`) || !strings.Contains(s, "sample: 100") {
			t.Errorf("got %s", s)
		}
		return
	}
	args := []string{}
	for _, a := range dig(t, pod, "containers", "args").([]any) {
		args = append(args, strings.ReplaceAll(a.(string), "/etc/waybill", dir))
	}
	if name == "log-in" {
		login := dir + "-login"
		if err := os.Mkdir(login, 0o755); err != nil {
			t.Fatal(err)
		}
		run(t, nil, program, "token", "create", "--tokens", login+"/tokens.yaml", "--name", "a", "--role", "read")
		test.NewAuthority(t).Issue("localhost", 1, login+"/tls.crt", login+"/tls.key")
	}
	run(t, nil, program, append(args, "--check")...)
}
