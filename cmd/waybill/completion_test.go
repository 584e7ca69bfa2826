package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/serve"
)

// What is offered for --group-by and --sort is what a server takes, for every list that has records.
func TestCompletionsAreTaken(t *testing.T) {
	for _, name := range lists {
		if (client.GroupFields(name) == nil) != (client.OrderFields(name) == nil) {
			t.Errorf("%s: one without the other", name)
		}
	}
	s := startServer(t, func(c *serve.Config) { c.Data = t.TempDir() })
	for _, name := range []string{
		"flows", "paths", "hops", "queues", "links", "drops", "exporters", "events", "bursts",
		"loss",
	} {
		groups, numbers := client.GroupFields(name), client.OrderFields(name)
		if len(groups) == 0 || len(numbers) == 0 {
			t.Fatalf("%s has no records", name)
		}
		for _, flags := range [][]string{
			{"--group-by", strings.Join(groups, ",")},
			{"--sort", numbers[0]},
			{"--sort", numbers[len(numbers)-1] + ":asc"},
		} {
			// which have records of groups only
			if flags[0] == "--sort" && (name == "events" || name == "bursts" || name == "loss") {
				flags = append(flags, "--group-by", strings.Join(groups, ","))
			}
			args := append([]string{name, "--server", s.URL(), "--since", "10s"}, flags...)
			if _, stderr, code := runWaybill(t, args...); code != 0 {
				t.Errorf("%v: code %d, %s", args, code, stderr)
			}
		}
	}
}

// bashCompletion is what the script needs of the package bash-completion: which word the cursor is in.
const bashCompletion = `_get_comp_words_by_ref() { cur="${COMP_WORDS[COMP_CWORD]}"; prev="${COMP_WORDS[COMP_CWORD-1]}"; words=("${COMP_WORDS[@]}"); cword=$COMP_CWORD; }
compopt() { :; }
`

// bash completes with the script that waybill prints, in the directory of the program.
func TestCompletionInBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash here")
	}
	program, s := test.Program(t), startServer(t, nil)
	script, err := exec.Command(program, "completion", "bash").Output()
	if err != nil {
		t.Fatal(err)
	}
	for words, want := range map[string]string{
		"waybill flows --group-by src,ds":       "src,dst src,dst_port src,dscp",
		"waybill flows --since 1h --sort resi":  "residence_min_ns residence_mean_ns residence_max_ns",
		"waybill events --filter sever":         "severity",
		"waybill events --filter kind=drop":     "drop_storm", // to bash, a word begins behind the sign
		"waybill events --severity ":            "info warning critical",
		"waybill queues --filter occupancy.m":   "occupancy.max",
		"waybill bursts --filter peak_b":        "peak_bytes",
		"waybill queues --group-by no_such_one": "",
	} {
		list := strings.Split(words, " ")
		quoted := ""
		for _, word := range list {
			quoted += " '" + word + "'"
		}
		file := filepath.Join(t.TempDir(), "ask.bash")
		text := bashCompletion + string(script) + "\nCOMP_WORDS=(" + quoted +
			")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\nCOMP_LINE='" + words +
			"'\nCOMP_POINT=${#COMP_LINE}\nCOMP_TYPE=9\n__start_waybill\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		ask := exec.Command(bash, file)
		ask.Env = append(os.Environ(), "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"), "WAYBILL_SERVER="+s.URL())
		out, err := ask.Output()
		var got []string
		for line := range strings.Lines(string(out)) {
			candidate, _, _ := strings.Cut(strings.TrimSpace(line), " ") // its description follows
			got = append(got, candidate)
		}
		if text := strings.TrimSpace(strings.Join(got, " ")); err != nil || text != want {
			t.Errorf("%s: %v, got %q, want %q", words, err, text, want)
		}
	}
}
