package inventory

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// A fakeSource answers as a test wants.
type fakeSource struct {
	name  string
	asked atomic.Int64
	read  func(n int64) (*Known, error)
}

func (s *fakeSource) Origin() telemetry.InventoryOrigin { return SNMP }
func (s *fakeSource) String() string                    { return s.name }
func (s *fakeSource) Every() time.Duration              { return time.Minute }
func (s *fakeSource) Read(context.Context) (*Known, error) {
	time.Sleep(time.Second)
	return s.read(s.asked.Add(1))
}

func named(name string) *Known {
	return &Known{Nodes: map[uint32]telemetry.InventoryNode{1: {Name: name}}}
}

// TestKeeper: sources are asked again and again, what fails is asked sooner and keeps what it said, also one that a
// library cannot read, and a restart begins with what was known before.
func TestKeeper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := slog.New(slog.NewTextHandler(io.Discard, nil))
		good := &fakeSource{name: "good", read: func(n int64) (*Known, error) {
			switch n {
			case 1:
				return named("a"), nil
			case 2:
				return nil, errors.New("no answer")
			case 3:
				panic("index out of range")
			}
			return named("b"), nil
		}}
		c, err := Parse("i.yaml", []byte("nodes: {2: {name: two}}"))
		if err != nil {
			t.Fatal(err)
		}
		c.Sources = []Source{good}
		k := NewKeeper(c, log)
		var changes atomic.Int64
		k.Changed = func() { changes.Add(1) }
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { k.Run(ctx); close(done) }()
		expect := func(after time.Duration, name string, state telemetry.SourceState, failures uint64, changed int) {
			t.Helper()
			time.Sleep(after)
			synctest.Wait()
			v, s := k.Inventory(), k.Sources()[0]
			if v.Nodes[1].Name != name || v.Nodes[2].Name != "two" || s.State != state || s.Failures != failures ||
				int(changes.Load()) != changed {
				t.Errorf("got %+v, %+v, %d changes, want %s, %s, %d and %d", v.Nodes, s, changes.Load(), name, state,
					failures, changed)
			}
		}
		expect(time.Millisecond, "", telemetry.SourceWaiting, 0, 0)
		expect(3*time.Second, "a", telemetry.SourceAnswering, 0, 1)
		expect(60*time.Second, "a", telemetry.SourceFailing, 1, 1)
		expect(10*time.Second, "a", telemetry.SourceFailing, 2, 1)
		expect(22*time.Second, "b", telemetry.SourceAnswering, 2, 2)
		text, err := k.Save()
		if err != nil {
			t.Fatal(err)
		}
		if v := k.Use(c); v.Nodes[1].Name != "b" {
			t.Errorf("a reload forgets: %+v", v)
		}
		if v := k.Use(nil); v != nil || len(k.Sources()) != 0 {
			t.Errorf("got %+v without a configuration", v)
		}
		stop()
		<-done
		other := NewKeeper(c, log)
		if err := other.Restore(text); err != nil || other.Inventory().Nodes[1].Name != "b" {
			t.Errorf("got %v, %+v", err, other.Inventory())
		}
		if err := other.Restore([]byte("{")); err == nil {
			t.Error("no error of what cannot be read")
		}
	})
}

// TestManySources: no more are asked at a time than may be, and all of them are.
func TestManySources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &Config{file: &Known{}}
		var running, most, done atomic.Int64
		for i := range 100 {
			c.Sources = append(c.Sources, &fakeSource{name: string(rune('A' + i)), read: func(int64) (*Known, error) {
				most.Store(max(most.Load(), running.Add(1)))
				time.Sleep(time.Second)
				running.Add(-1)
				done.Add(1)
				return &Known{}, nil
			}})
		}
		k := NewKeeper(c, slog.New(slog.NewTextHandler(io.Discard, nil)))
		k.Changed = func() {}
		ctx, stop := context.WithCancel(t.Context())
		var ended atomic.Bool
		go func() { k.Run(ctx); ended.Store(true) }()
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if done.Load() != 100 || most.Load() > maxReads {
			t.Errorf("%d asked, %d at a time", done.Load(), most.Load())
		}
		stop()
		synctest.Wait()
		if !ended.Load() {
			t.Error("it goes on")
		}
	})
}
