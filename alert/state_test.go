package alert

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A state that is damaged anywhere is moved aside and never half used; one of a newer version is refused and kept.
func TestStateDamaged(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, oneRule, dir, &script{})
		b.begin(lost(1))
		time.Sleep(10 * time.Second)
		b.stop()
	})
	file := filepath.Join(dir, stateFile)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v", info.Mode(), err)
	}
	open := func() (*Engine, string, error) {
		var logged bytes.Buffer
		e, err := New(configOf(t, oneRule),
			Deps{Events: &script{}, Dir: dir, Logger: slog.New(slog.NewTextHandler(&logged, nil))})
		return e, logged.String(), err
	}
	if e, logged, err := open(); err != nil || len(e.Alerts()) != 1 || logged != "" {
		t.Fatalf("got %v, %s", err, logged)
	}
	for name, text := range map[string][]byte{
		"cut":     whole[:len(whole)/2],
		"empty":   {},
		"changed": bytes.Replace(whole, []byte("link lost"), []byte("link gone"), 1),
		"no sum":  []byte(`{"version":1,"state":{}}`),
	} {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		e, logged, err := open()
		if err != nil || len(e.Alerts()) != 0 || !strings.Contains(logged, "begin anew") {
			t.Errorf("%s: got %v, %s", name, err, logged)
		}
		if aside, err := os.ReadFile(file + ".damaged"); err != nil || !bytes.Equal(aside, text) {
			t.Errorf("%s: it was not moved aside: %v", name, err)
		}
	}
	newer := bytes.Replace(whole, []byte(`"version":1`), []byte(`"version":2`), 1)
	if err := os.WriteFile(file, newer, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := open(); err == nil || !strings.Contains(err.Error(), "its version is 2") {
		t.Errorf("got %v", err)
	}
	if kept, err := os.ReadFile(file); err != nil || !bytes.Equal(kept, newer) {
		t.Errorf("it was written to: %v", err)
	}
}

// Without a place to write to, an engine does not begin; one that loses it goes on, says so once and counts.
func TestStateUnwritable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(configOf(t, oneRule), Deps{Events: &script{}, Dir: file}); err == nil {
		t.Error("a file passed for a directory")
	}
	dir := filepath.Join(t.TempDir(), "state")
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, oneRule, dir, &script{})
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		b.begin(lost(1))
		time.Sleep(10 * time.Second)
		b.box.want(t, "6 firing 1")
		if n := b.Counters().SaveErrors; n < 2 {
			t.Errorf("got %d errors", n)
		}
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		b.stop()
		if _, err := os.Stat(filepath.Join(dir, stateFile)); err != nil {
			t.Error(err)
		}
	})
}

// FuzzState: no file makes an engine panic, whatever it restores is used by the next look.
func FuzzState(f *testing.F) {
	for _, text := range []string{
		`{}`, `{"alerts":[null,{"rule":"lost","state":"firing","fired":"2026-01-01T00:00:00Z"},{"rule":"x","state":"firing"}]}`,
		`{"silences":[null,{"filter":"a"},{"filter":"kind = loop","until":"2999-01-01T00:00:00Z"}],"resolved":[{}]}`,
		`{"queues":{"box":[{}]}}`,
		`{"queues":{"box":[null,{"type":"alert.firing"}],"gone":[]},"alerts":[{"rule":"lost","state":"resolved","fired":"2026-01-01T00:00:00Z"}]}`,
	} {
		f.Add([]byte(text))
	}
	c, err := parseText([]byte(oneRule), nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		e, err := New(c, Deps{Events: &script{}, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		s, err := parseState(text)
		if err != nil {
			return
		}
		e.take(s)
		e.look(time.Now())
		e.look(time.Now().Add(time.Hour))
		for _, q := range e.queues {
			for _, d := range q.waiting {
				if d.line(); d.Data.Fired == nil { // senders rely on it
					t.Fatalf("an alert that never fired waits: %+v", d)
				}
				d.json()
			}
		}
		if _, err := e.seal(); err != nil {
			t.Fatal(err)
		}
	})
}
