package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waybill-int/waybill/internal/test"
)

var (
	mutate = flag.Bool("mutate", false, "break the code of every rule in turn, not of one")
	only   = flag.Int("rule", 0, "break the code of this rule only")
)

// mutationLimit is how long the tests of a rule may take, compiling included: they take seconds, and a test that a
// mutation keeps from ending notices nothing.
const mutationLimit = 3 * time.Minute

// Every rule that a test holds has a mutation, and each of them is of code that there is.
func TestMutations(t *testing.T) {
	root, tests := tree(t)
	for _, s := range sections {
		for i := range s.rules {
			r := &s.rules[i]
			of := func(m mutation) bool { return m.rule == r.id }
			if has := len(r.of(tests)) > 0; has != slices.ContainsFunc(mutations, of) {
				t.Errorf("R-%d: has a test: %v, want a mutation then and only then", r.id, has)
			}
		}
	}
	for _, m := range mutations {
		if _, err := m.apply(root); err != nil {
			t.Error(err)
		}
	}
}

// A mutation is made in an overlay that leaves the tree alone, and the tests of its rule run with it: of one mutation,
// which differs from commit to commit, with -mutate of all. Those that survive are listed: the tests prove less than
// the rule.
func TestMutationsAreNoticed(t *testing.T) {
	root, tests := tree(t)
	made := mutations
	if chosen, all := test.Seed(t); !*mutate && !all && *only == 0 {
		made = mutations[chosen%uint64(len(mutations)):][:1]
	}
	var survivors []string
	var mu sync.Mutex
	var group sync.WaitGroup
	free := make(chan bool, runtime.GOMAXPROCS(0))
	for _, m := range made {
		if *only != 0 && m.rule != *only {
			continue
		}
		group.Add(1)
		free <- true
		go func() {
			defer func() { <-free; group.Done() }()
			if err := m.run(root, t.TempDir(), tests); err != nil {
				mu.Lock()
				survivors = append(survivors, err.Error())
				mu.Unlock()
			}
		}()
	}
	group.Wait()
	slices.Sort(survivors)
	for _, text := range survivors {
		t.Error(text)
	}
}

func (m *mutation) String() string {
	return fmt.Sprintf("R-%03d: %s: %q for %q", m.rule, m.file, m.new, m.old)
}

// apply returns the file with the mutation.
func (m *mutation) apply(root string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, m.file))
	if err != nil {
		return nil, err
	}
	out, parts := string(text), strings.Split(m.new, between)
	for i, old := range strings.Split(m.old, between) {
		if n := strings.Count(out, old); n != 1 || i >= len(parts) || old == parts[i] {
			return nil, fmt.Errorf("%s: the text is there %d times, want once", m, n)
		}
		out = strings.Replace(out, old, parts[i], 1)
	}
	return []byte(out), nil
}

// run runs the tests of the rule with the mutation. It is an error if none of them fails.
func (m *mutation) run(root, dir string, tests []found) error {
	text, err := m.apply(root)
	if err != nil {
		return err
	}
	mutated, overlay := filepath.Join(dir, "mutated.go"), filepath.Join(dir, "overlay.json")
	list, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, m.file): mutated}})
	if err != nil {
		return err
	}
	if err := os.WriteFile(mutated, text, 0o600); err != nil {
		return err
	}
	if err := os.WriteFile(overlay, list, 0o600); err != nil {
		return err
	}
	r := ruleOf(m.rule)
	var names, folders []string
	for _, f := range r.of(tests) {
		names, folders = append(names, f.name), append(folders, "./"+f.folder())
	}
	slices.Sort(folders)
	args := append([]string{
		"test", "-overlay", overlay, "-vet=off", "-count=1", "-timeout", mutationLimit.String(),
		"-run", "^(" + strings.Join(names, "|") + ")$",
	}, slices.Compact(folders)...)
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	switch {
	case err == nil:
		return fmt.Errorf("%s: no test notices", m)
	case strings.Contains(string(out), "panic: test timed out"):
		return fmt.Errorf("%s: a test does not end", m)
	case !strings.Contains(string(out), "--- FAIL: Test") && !strings.Contains(string(out), "panic: "):
		return fmt.Errorf("%s: %v\n%s", m, err, out)
	}
	return nil
}

// ruleOf returns a rule by its number.
func ruleOf(id int) *rule {
	for _, s := range sections {
		for i := range s.rules {
			if s.rules[i].id == id {
				return &s.rules[i]
			}
		}
	}
	return &rule{}
}
