package bus

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waybill-int/waybill/internal/test"
)

// A testElection is that of an analyzer with a directory of its own.
type testElection struct {
	*Election
	dir  string
	keep func() // ends what renews
}

func openTestElection(t testing.TB, url, name string) *testElection {
	t.Helper()
	c := Config{URLs: []string{url}, Name: name, Stream: StreamConfig{MaxBytes: 1 << 29}}
	e, err := OpenElection(ElectionConfig{
		Bus: c, Name: name, Home: "home-" + name, Log: testLog(t).With("analyzer", name),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return &testElection{Election: e, dir: t.TempDir()}
}

// win waits until the analyzer is elected, and renews that from then on.
func (e *testElection) win(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := e.Win(ctx, func(string) {}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var renewing sync.WaitGroup
	renewing.Go(func() { e.Keep(ctx) })
	e.keep = sync.OnceFunc(func() { stop(); renewing.Wait() })
	t.Cleanup(e.keep)
}

// resign ends as an analyzer that is told to.
func (e *testElection) resign(t *testing.T) {
	t.Helper()
	e.keep()
	if err := e.Resign(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func grows(name string) bool { return strings.HasPrefix(name, "grow") }

// content returns the files of a directory, by their name.
func content(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		all[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestElection: one of two is elected, the other one follows when that has ended or says nothing, and who was elected
// before saves nothing any more, and has not counted on being elected when the other one was.
func TestElection(t *testing.T) {
	t.Parallel()
	address := test.FreePort(t, "tcp")
	server := openTestServer(t, address, t.TempDir())
	t.Cleanup(func() { server.Close() })
	a, b := openTestElection(t, server.URL(), "a"), openTestElection(t, server.URL(), "b")
	a.win(t)
	write := func(e *testElection, text string) error {
		if err := os.WriteFile(filepath.Join(e.dir, "checkpoint"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return e.Save(t.Context(), e.dir, []string{"checkpoint"}, grows)
	}
	if err := write(a, "of a"); err != nil {
		t.Fatal(err)
	}
	won := make(chan time.Time)
	told := ""
	waitFor := func(e *testElection) {
		ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
		defer cancel()
		if err := e.Win(ctx, func(by string) { told = by }); err != nil {
			t.Error(err)
		}
		won <- time.Now()
	}
	go waitFor(b)
	test.Eventually(t, "one that stands by", func() bool {
		return len(a.Standing()) == 1 && a.Standing()[0].Name == "b"
	})
	select {
	case <-won:
		t.Fatal("two are elected")
	case <-time.After(3 * time.Second):
	}
	if !a.Elected() || b.Elected() {
		t.Error("who is elected?")
	}
	// a says nothing any more, as one that hangs.
	a.keep()
	var until time.Time
	for a.Elected() {
		until = time.Now()
		time.Sleep(10 * time.Millisecond)
	}
	if at := <-won; at.Before(until.Add(silentFor - electedFor - 2*time.Second)) {
		t.Errorf("the next one was elected %v after a counted on it", at.Sub(until))
	}
	if told != "a" || b.Term() <= a.Term() || b.SavedBy() != a.Term() {
		t.Errorf("told %q, terms %d and %d, saved by %d", told, a.Term(), b.Term(), b.SavedBy())
	}
	if err := b.Load(t.Context(), b.dir, []string{"checkpoint"}); err != nil {
		t.Fatal(err)
	}
	if got := content(t, b.dir)["checkpoint"]; got != "of a" {
		t.Errorf("loaded %q", got)
	}
	if err := write(a, "of a, late"); !errors.Is(err, errOther) {
		t.Errorf("a saves behind b: %v", err)
	}
	a.Keep(t.Context()) // it goes on, and notices
	if err := <-a.Lost(); !errors.Is(err, errOther) {
		t.Error(err)
	}
	if err := write(b, "of b"); err != nil {
		t.Fatal(err)
	}
	// b ends as told: a is elected at once, and has what b has saved.
	go waitFor(a)
	time.Sleep(2 * time.Second)
	begun := time.Now()
	if err := b.Resign(t.Context()); err != nil {
		t.Fatal(err)
	}
	if took := (<-won).Sub(begun); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	if err := a.Load(t.Context(), a.dir, nil); err != nil {
		t.Fatal(err)
	}
	if got := content(t, a.dir)["checkpoint"]; got != "of b" {
		t.Errorf("loaded %q", got)
	}
}

// TestElectedThroughOutage: while the bus is away, nobody counts on being elected for long, and when it is back the
// same analyzer is, however long that took. One that begins anew with the same directory is elected soon, unless one
// with a copy of it works.
func TestElectedThroughOutage(t *testing.T) {
	t.Parallel()
	address, dir := test.FreePort(t, "tcp"), t.TempDir()
	server := openTestServer(t, address, dir)
	a, b := openTestElection(t, server.URL(), "a"), openTestElection(t, server.URL(), "b")
	a.win(t)
	ctx, cancel := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	waiting.Go(func() {
		if b.Win(ctx, func(string) {}) == nil {
			t.Error("b is elected")
		}
	})
	test.Eventually(t, "one that stands by", func() bool { return len(a.Standing()) == 1 })
	server.Close()
	time.Sleep(silentFor + 2*time.Second)
	if a.Elected() {
		t.Error("a counts on being elected")
	}
	server = openTestServer(t, address, dir)
	t.Cleanup(func() { server.Close() })
	test.Eventually(t, "the same one", a.Elected)
	time.Sleep(2 * time.Second)
	cancel()
	waiting.Wait()
	a.keep()
	again := openTestElection(t, server.URL(), "a")
	begun := time.Now()
	again.win(t)
	if took := time.Since(begun); took > homeFor+4*time.Second {
		t.Errorf("it took %v", took)
	}
	// A copy of the directory is no reason to take the place of one that works.
	copied := openTestElection(t, server.URL(), "a")
	ctx, cancel = context.WithTimeout(t.Context(), homeFor+2*time.Second)
	defer cancel()
	if copied.Win(ctx, func(string) {}) == nil {
		t.Error("a copy is elected")
	}
}

// TestResign: an analyzer that has not heard of its last renewal, since it was told to stop meanwhile, resigns all the
// same.
func TestResign(t *testing.T) {
	t.Parallel()
	server := openTestServer(t, test.FreePort(t, "tcp"), t.TempDir())
	t.Cleanup(func() { server.Close() })
	e := openTestElection(t, server.URL(), "a")
	e.win(t)
	e.keep()
	own := candidate{Name: e.config.Name, Home: e.config.Home, Term: e.term}
	if _, err := e.bucket.Update(t.Context(), electedKey, encode(own), e.revision); err != nil {
		t.Fatal(err)
	}
	e.resign(t)
	if entry, _, err := get[candidate](t.Context(), e.bucket, electedKey); err != nil || !entry.Over {
		t.Errorf("got %+v, %v", entry, err)
	}
}

// TestSaved: whatever files are written, grow, shrink and go, an analyzer that is elected next has those that were
// saved last, or, if saving was cut off, those of that or of the time before.
func TestSaved(t *testing.T) {
	t.Parallel()
	server := openTestServer(t, test.FreePort(t, "tcp"), t.TempDir())
	t.Cleanup(func() { server.Close() })
	g := rand.New(rand.NewPCG(5, 0))
	names := []string{"checkpoint", "grow/1", "grow/2", "views"}
	random := func(n int) []byte {
		b := make([]byte, g.IntN(n))
		for i := range b {
			b[i] = byte(g.Uint32())
		}
		return b
	}
	var before, after map[string]string // saved; that, or what was to be
	cut := 0
	for turn := range 12 {
		e := openTestElection(t, server.URL(), fmt.Sprint("analyzer", turn))
		e.win(t)
		for _, name := range names {
			if g.IntN(2) == 0 {
				_ = os.MkdirAll(filepath.Join(e.dir, filepath.Dir(name)), 0o700)
				_ = os.WriteFile(filepath.Join(e.dir, name), []byte("of nobody"), 0o600)
			}
		}
		if err := e.Load(t.Context(), e.dir, names); err != nil {
			t.Fatal(err)
		}
		loaded := content(t, e.dir)
		if turn > 0 && !reflect.DeepEqual(loaded, before) && !reflect.DeepEqual(loaded, after) {
			t.Fatalf("turn %d: loaded other files", turn)
		}
		after = loaded
		for range 8 {
			for _, name := range names {
				path := filepath.Join(e.dir, name)
				_ = os.MkdirAll(filepath.Dir(path), 0o700)
				var err error
				switch x := g.IntN(8); {
				case x == 0:
					err = os.RemoveAll(path)
				case x < 4 && grows(name):
					to, _ := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
					_, err = to.Write(random(300_000))
					to.Close()
				case x < 4:
					err = errors.Join(os.WriteFile(path+".new", random(700_000), 0o600), os.Rename(path+".new", path))
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			before, after = after, content(t, e.dir)
			ctx, cancel := context.WithCancel(t.Context())
			if g.IntN(3) == 0 {
				time.AfterFunc(time.Duration(g.IntN(4000))*time.Microsecond, cancel)
			}
			err := e.Save(ctx, e.dir, names, grows)
			cancel()
			if err != nil {
				cut++
				// Saving goes on behind that, or the analyzer ends here.
				if g.IntN(2) == 0 {
					break
				}
				test.Eventually(t, "files that are saved", func() bool {
					return e.Save(t.Context(), e.dir, names, grows) == nil
				})
			}
			before = after
			entries, _ := e.bucket.Keys(t.Context())
			var bound int
			for _, text := range after {
				bound += len(text)/pieceBytes + 1
			}
			if len(entries) > 2*bound+64+turn {
				t.Fatalf("%d keys, want pieces of %d at most twice", len(entries), bound)
			}
		}
		e.resign(t)
	}
	if cut == 0 {
		t.Error("nothing was cut off: this tests little")
	}
}
