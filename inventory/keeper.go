package inventory

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

const (
	// maxReads is how many sources are asked at a time.
	maxReads = 16
	// readTimeout is how long one may take.
	readTimeout = 2 * time.Minute
	// firstRetry is when one is asked again that failed. Each failure after that doubles it, up to what is usual.
	firstRetry = 10 * time.Second
	// mergeEvery is how often at most all that is known is put together.
	mergeEvery = time.Second
)

// A Keeper asks sources again and again, and keeps what each one said last.
type Keeper struct {
	// Changed is called by Run when Inventory returns something else than before.
	Changed func()
	Log     *slog.Logger

	mu     sync.Mutex
	config *Config
	states map[string]*sourceState
	merged *telemetry.Inventory
	dirty  bool          // merged lacks something
	wake   chan struct{} // of one element
}

// A sourceState is a source with what it said last.
type sourceState struct {
	source  Source
	next    time.Time
	running bool
	known   *Known // nil: nothing yet
	status  telemetry.InventorySource
}

// NewKeeper returns one of what a configuration says; nil is none.
func NewKeeper(c *Config, log *slog.Logger) *Keeper {
	k := &Keeper{Log: log, states: map[string]*sourceState{}, wake: make(chan struct{}, 1)}
	k.Use(c)
	return k
}

// Use takes another configuration into effect, and returns what is known then. What sources said that are still there
// stays, and all of them are asked soon. Changed is not called.
func (k *Keeper) Use(c *Config) *telemetry.Inventory {
	if c == nil {
		c = &Config{}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	states := map[string]*sourceState{}
	for _, source := range c.Sources {
		name := source.String()
		s := k.states[name]
		if s == nil {
			s = &sourceState{status: telemetry.InventorySource{
				Source: name, Origin: source.Origin(), State: telemetry.SourceWaiting,
			}}
		}
		s.source, s.next = source, time.Time{}
		states[name] = s
	}
	k.config, k.states = c, states
	k.merged, k.dirty = k.merge(c), false
	k.notify()
	return k.merged
}

// merge puts together what the file of c says and what its sources said. It returns nil if nothing is known.
func (k *Keeper) merge(c *Config) *telemetry.Inventory {
	if c.file == nil {
		return nil
	}
	answers := []Answer{{File, c.file}}
	for _, source := range c.Sources {
		if s := k.states[source.String()]; s != nil && s.known != nil {
			answers = append(answers, Answer{source.Origin(), s.known})
		}
	}
	if len(answers) == 1 {
		return c.Inventory
	}
	return Merge(answers)
}

// Inventory returns what is known now; nil: nothing.
func (k *Keeper) Inventory() *telemetry.Inventory {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.merged
}

// Sources returns what became of all sources, by name.
func (k *Keeper) Sources() []telemetry.InventorySource {
	k.mu.Lock()
	defer k.mu.Unlock()
	list := []telemetry.InventorySource{}
	for _, source := range k.config.Sources {
		list = append(list, k.states[source.String()].status)
	}
	slices.SortFunc(list, func(a, b telemetry.InventorySource) int {
		if a.Source < b.Source {
			return -1
		}
		return 1
	})
	return list
}

func (k *Keeper) notify() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// Run asks sources until ctx is done.
func (k *Keeper) Run(ctx context.Context) {
	var reads sync.WaitGroup
	defer reads.Wait()
	var merged time.Time
	timer := time.NewTimer(0)
	defer timer.Stop()
	running := make(chan struct{}, maxReads)
	for {
		select {
		case <-ctx.Done():
			return
		case <-k.wake:
		case <-timer.C:
		}
		now := time.Now()
		k.mu.Lock()
		if k.dirty && now.Sub(merged) >= mergeEvery {
			merged, k.dirty, k.merged = now, false, k.merge(k.config)
			k.mu.Unlock()
			k.Changed()
			k.mu.Lock()
		}
		next := now.Add(time.Hour)
		if k.dirty {
			next = merged.Add(mergeEvery)
		}
		for _, source := range k.config.Sources {
			s := k.states[source.String()]
			if s.running {
				continue
			}
			if s.next.After(now) {
				if s.next.Before(next) {
					next = s.next
				}
				continue
			}
			select {
			case running <- struct{}{}:
				s.running = true
				reads.Go(func() {
					k.read(ctx, s, source)
					<-running
					k.notify()
				})
			default: // one that ends wakes this
			}
		}
		k.mu.Unlock()
		timer.Reset(max(next.Sub(now), 0))
	}
}

// read asks a source once.
func (k *Keeper) read(ctx context.Context, s *sourceState, source Source) {
	limited, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	known, err := readSafely(limited, source)
	if ctx.Err() != nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	s.running = false
	status := &s.status
	if err != nil {
		if status.Failures++; status.State != telemetry.SourceFailing {
			k.Log.Warn("a source of the inventory does not answer; what it said before stays", "source", status.Source,
				"error", err)
		}
		status.State, status.Error = telemetry.SourceFailing, cut(err.Error(), 4*maxText)
		s.next = now.Add(min(source.Every(), firstRetry<<min(status.InARow, 10)))
		status.InARow++
		status.Next = s.next.UTC()
		return
	}
	if status.State != telemetry.SourceAnswering {
		k.Log.Info("a source of the inventory answers", "source", status.Source)
	}
	status.Reads++
	status.State, status.Error, status.InARow, status.Last = telemetry.SourceAnswering, "", 0, now.UTC()
	s.next = now.Add(source.Every())
	status.Next = s.next.UTC()
	if s.source != source { // another configuration took effect meanwhile
		s.next = now
		return
	}
	if !reflect.DeepEqual(s.known, known) {
		s.keep(known)
		k.dirty = true
	}
}

// keep takes what a source said.
func (s *sourceState) keep(known *Known) {
	s.known = known
	s.status.Nodes, s.status.Hosts, s.status.Neighbours = len(known.Nodes), len(known.Hosts), len(known.Neighbours)
	s.status.LeftOut, s.status.Ports = known.LeftOut, 0
	for _, n := range known.Nodes {
		s.status.Ports += len(n.Ports)
	}
}

// readSafely asks a source. What others send may not end the process, whatever a library makes of it.
func readSafely(ctx context.Context, source Source) (known *Known, err error) {
	defer func() {
		if p := recover(); p != nil {
			known, err = nil, fmt.Errorf("the answer cannot be read: %v", p)
		}
	}()
	return source.Read(ctx)
}

// A saved is what a source said, as it is kept over a restart.
type saved struct {
	Last  time.Time `json:"last"`
	Known *Known    `json:"known"`
}

// Save returns what all sources said, for Restore.
func (k *Keeper) Save() ([]byte, error) {
	k.mu.Lock()
	all := map[string]saved{}
	for name, s := range k.states {
		if s.known != nil {
			all[name] = saved{s.status.Last, s.known}
		}
	}
	k.mu.Unlock()
	return json.Marshal(all)
}

// Restore takes what Save returned before, of sources that are still there and have said nothing since.
func (k *Keeper) Restore(text []byte) error {
	var all map[string]saved
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for name, s := range k.states {
		if before, ok := all[name]; ok && s.known == nil && before.Known != nil {
			s.status.Last = before.Last
			s.keep(before.Known)
		}
	}
	k.merged = k.merge(k.config)
	return nil
}
