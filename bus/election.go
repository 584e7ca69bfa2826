package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// An Election says which of several analyzers works, by a bucket of NATS, and has there what the elected one knows, for
// the next one: see Save and Load.
//
// The elected one renews its entry every second. One that stands by takes its place when the entry has not changed for
// silentFor by its own clock, while the bus took what was written: an analyzer is not elected because the bus was away.
// An analyzer counts on being elected for electedFor behind the last renewal, by its own clock. Each election has a
// term of its own, and nothing of an earlier term is saved behind it.
type Election struct {
	config ElectionConfig
	link   *natsLink
	bucket jetstream.KeyValue

	// What the elected one has, of one goroutine: Win, then Keep.
	term     uint64
	revision uint64 // of its entry
	saved    saved  // of Win, then of who calls Save

	mu       sync.Mutex
	until    time.Time // it is elected at least until then
	standing map[string]Standby
	lost     chan error
}

// An ElectionConfig describes an analyzer.
type ElectionConfig struct {
	Bus  Config
	Name string // on the bus
	// Home tells the directories of analyzers apart. One process has a directory at a time: so who is elected, has the
	// same and does not renew that is gone.
	Home string
	Log  *slog.Logger
}

// A Standby is an analyzer that is not elected.
type Standby struct {
	Name string
	Seen time.Time // when it last said that it stands by
}

// candidate is what an analyzer says of itself. It is written as JSON.
type candidate struct {
	Name string `json:"name"`
	Home string `json:"home"`
	Term uint64 `json:"term,omitempty"` // of who is elected
	Over bool   `json:"over,omitempty"` // it has ended
}

const (
	electionBucket = "WAYBILL_ANALYZER"
	electedKey     = "elected"
	// standbyPrefix is before the home of one that stands by.
	standbyPrefix = "standby."

	// maxSaved bounds the bucket: servers set aside what a stream may take.
	maxSaved = 2 << 30

	renewEvery = time.Second
	electedFor = 6 * time.Second
	silentFor  = 10 * time.Second
	// homeFor is silentFor for who has the same home: it is gone, unless the directory was copied.
	homeFor = 3 * time.Second
)

// errOther says that another analyzer is elected.
var errOther = errors.New("another analyzer is elected")

// OpenElection opens the connection, which need not succeed at once.
func OpenElection(c ElectionConfig) (*Election, error) {
	if c.Bus.isKafka() {
		return nil, errors.New("an election needs servers of NATS")
	}
	e := &Election{config: c, standing: map[string]Standby{}, lost: make(chan error, 1)}
	l, err := c.Bus.openNATS(func(bool, string, error) {}) // the Consumer tells of it
	if err != nil {
		return nil, err
	}
	e.link = l.(*natsLink)
	return e, nil
}

// Close closes the connection. The next one takes its time to notice, unless Resign was called.
func (e *Election) Close() { e.link.close() }

// Win returns when this analyzer is elected; ctx ends it. said is called with the name of who is elected, whenever that
// is another one than before.
func (e *Election) Win(ctx context.Context, said func(elected string)) error {
	var w waiting
	told, failing := "", false
	for {
		won, by, err := e.try(ctx, &w)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case won:
			return nil
		case err != nil:
			w = waiting{} // the bus does not take what is written
			if !failing {
				e.config.Log.Warn("no election: the bus does not answer; retrying", "error", err)
			}
		case by != told:
			told = by
			said(by)
		}
		failing = err != nil
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(renewEvery):
		}
	}
}

// waiting is how long the entry of who is elected has not changed.
type waiting struct {
	revision uint64
	since    time.Time
	looked   time.Time // last
}

// longestGap is the longest time between two looks at an entry that may have been renewed in between.
const longestGap = 3 * time.Second

// look notes the revision of the entry, and returns for how long it has been the same.
func (w *waiting) look(revision uint64, now time.Time) time.Duration {
	if revision != w.revision || now.Sub(w.looked) > longestGap {
		w.revision, w.since = revision, now
	}
	w.looked = now
	return now.Sub(w.since)
}

// try says that this analyzer stands by, looks who is elected, and takes the place of one that is gone.
func (e *Election) try(ctx context.Context, w *waiting) (won bool, by string, err error) {
	ctx, cancel := context.WithTimeout(ctx, longestGap)
	defer cancel()
	if e.bucket == nil {
		e.bucket, err = e.link.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
			Bucket: electionBucket, Description: "Which analyzer of Waybill works, and what it knows",
			Storage: jetstream.FileStorage, Replicas: max(e.config.Bus.Stream.Replicas, 1),
			MaxBytes: min(e.config.Bus.Stream.MaxBytes, maxSaved),
		})
		if err != nil {
			return false, "", err
		}
	}
	own := candidate{Name: e.config.Name, Home: e.config.Home}
	if _, err = e.bucket.Put(ctx, standbyPrefix+own.Home, encode(own)); err != nil {
		return false, "", err
	}
	entry, revision, err := get[candidate](ctx, e.bucket, electedKey)
	if err != nil {
		return false, "", err
	}
	silent := silentFor
	if entry.Home == own.Home {
		silent = homeFor
	}
	if w.look(revision, time.Now()) < silent && !entry.Over && entry.Term > 0 {
		return false, entry.Name, nil
	}
	own.Term = entry.Term + 1
	begun := time.Now()
	if revision, err = e.bucket.Update(ctx, electedKey, encode(own), revision); err != nil {
		if errors.Is(err, jetstream.ErrKeyExists) { // another one was faster
			return false, entry.Name, nil
		}
		return false, "", err
	}
	e.term, e.revision = own.Term, revision
	if err := e.saved.take(ctx, e.bucket, own.Term); err != nil {
		return false, "", err
	}
	e.elected(begun)
	return true, own.Name, nil
}

// encode returns v as JSON; v is one of this package's, which all can be written.
func encode(v any) []byte {
	text, _ := json.Marshal(v)
	return text
}

// get returns the value of a key, and its revision; 0: there is none.
func get[T any](ctx context.Context, bucket jetstream.KeyValue, key string) (v T, revision uint64, err error) {
	entry, err := bucket.Get(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return v, 0, nil
	}
	if err != nil {
		return v, 0, err
	}
	if err := json.Unmarshal(entry.Value(), &v); err != nil {
		return v, 0, fmt.Errorf("%s in the bucket %s cannot be read: %w", key, electionBucket, err)
	}
	return v, entry.Revision(), nil
}

// elected notes that this analyzer is elected, as of when it asked for that.
func (e *Election) elected(asked time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.until = asked.Add(electedFor)
}

// Elected reports whether no other analyzer can be elected now. The clock of the day is asked as well: the other one
// stands still with a machine that does.
func (e *Election) Elected() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := time.Now()
	return now.Before(e.until) && now.Round(0).Before(e.until.Round(0))
}

// Term is that of this analyzer, which has won. Each is higher than those before.
func (e *Election) Term() uint64 { return e.term }

// Lost has an error when another analyzer was elected in the place of this one.
func (e *Election) Lost() <-chan error { return e.lost }

// Standing returns the analyzers that stand by, by name.
func (e *Election) Standing() []Standby {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := []Standby{}
	for _, s := range e.standing {
		if time.Since(s.Seen) < silentFor {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b Standby) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Keep renews what was won until ctx is done, or another one is elected.
func (e *Election) Keep(ctx context.Context) {
	var watching sync.WaitGroup
	defer watching.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watching.Go(func() { e.watch(ctx) })
	ticker := time.NewTicker(renewEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := e.renew(ctx); errors.Is(err, errOther) {
			e.mu.Lock()
			e.until = time.Time{}
			e.mu.Unlock()
			e.lost <- err
			return
		}
	}
}

// renew renews the entry. While that fails for other reasons, Elected says when it is too long ago.
func (e *Election) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, longestGap)
	defer cancel()
	begun := time.Now()
	own := candidate{Name: e.config.Name, Home: e.config.Home, Term: e.term}
	revision, err := e.bucket.Update(ctx, electedKey, encode(own), e.revision)
	if errors.Is(err, jetstream.ErrKeyExists) {
		return e.find(ctx)
	}
	if err == nil {
		e.revision = revision
		e.elected(begun)
	}
	return err
}

// find looks who has written the entry since this analyzer last did: another one, or itself, and the answer was lost.
func (e *Election) find(ctx context.Context) error {
	entry, at, err := get[candidate](ctx, e.bucket, electedKey)
	switch {
	case err != nil || entry.Term < e.term: // a server of the bus that is behind says what was
		return err
	case entry.Term > e.term:
		return fmt.Errorf("%w: %s", errOther, entry.Name)
	}
	e.revision = at
	return nil
}

// Resign lets the next analyzer be elected at once. Keep has ended.
func (e *Election) Resign(ctx context.Context) error {
	e.mu.Lock()
	e.until = time.Time{}
	e.mu.Unlock()
	own := encode(candidate{Name: e.config.Name, Home: e.config.Home, Term: e.term, Over: true})
	_, err := e.bucket.Update(ctx, electedKey, own, e.revision)
	if errors.Is(err, jetstream.ErrKeyExists) { // Keep may have ended before it heard of its last renewal
		if err = e.find(ctx); err == nil {
			_, err = e.bucket.Update(ctx, electedKey, own, e.revision)
		}
	}
	return err
}

// watch notes who stands by until ctx is done.
func (e *Election) watch(ctx context.Context) {
	for ctx.Err() == nil {
		watcher, err := e.bucket.Watch(ctx, standbyPrefix+"*", jetstream.IgnoreDeletes())
		if err != nil {
			select {
			case <-ctx.Done():
			case <-time.After(renewEvery):
			}
			continue
		}
		e.hear(ctx, watcher.Updates())
		_ = watcher.Stop()
	}
}

// maxStanding bounds the analyzers of which it is known that they stand by.
const maxStanding = 64

// hear notes who stands by, until there is nothing to hear.
func (e *Election) hear(ctx context.Context, updates <-chan jetstream.KeyValueEntry) {
	seen := func(entry jetstream.KeyValueEntry) time.Time { return entry.Created() } // by the clock of the bus
	for {
		var entry jetstream.KeyValueEntry
		var open bool
		select {
		case <-ctx.Done():
			return
		case entry, open = <-updates:
		}
		switch {
		case !open:
			return
		case entry == nil: // what comes now is new
			seen = func(jetstream.KeyValueEntry) time.Time { return time.Now() }
			continue
		}
		var c candidate
		if err := json.Unmarshal(entry.Value(), &c); err != nil || c.Home == e.config.Home {
			continue
		}
		e.mu.Lock()
		if _, has := e.standing[c.Home]; has || len(e.standing) < maxStanding {
			e.standing[c.Home] = Standby{c.Name, seen(entry)}
		}
		e.mu.Unlock()
	}
}
