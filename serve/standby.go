package serve

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/bus"
	"github.com/waybill-int/waybill/internal/datadir"
	"github.com/waybill-int/waybill/mitigate"
	"github.com/waybill-int/waybill/telemetry"
)

// checkStandby refuses several analyzers where the next one would not find what the last one knew.
func (c *Config) checkStandby() error {
	switch {
	case !c.Bus.Standby:
		return nil
	case c.Role != roleAnalyze:
		return fmt.Errorf("bus: standby: got role %s, want analyze", c.Role)
	case c.Bus.Embedded != "":
		return errors.New("bus: standby: the embedded bus ends with its analyzer; want urls of servers of NATS")
	case bus.IsKafka(c.Bus.URLs):
		return errors.New("bus: standby: analyzers are elected by servers of NATS; Kafka has nothing for that")
	case c.Data == "":
		return errors.New("bus: standby: there is no directory for what the analyzer keeps; data names one")
	case c.Store.ClickHouse == nil:
		return errors.New(
			"bus: standby: files of records are of one machine, and the next analyzer would not have them; want store.clickhouse")
	}
	return nil
}

// A tenure is the component that keeps an analyzer elected, while others stand by. It does so from when the analyzer
// is, which may have to wait for tables before anything starts. A nil tenure is that of an analyzer that is the only
// one.
type tenure struct {
	keeping  *tasks
	election *bus.Election
	name     string
	dir      *datadir.Dir
}

// tenureName is the file with the home of an analyzer, and the term in which it was elected last.
const tenureName = "elected"

// A lastTenure is that file, as JSON.
type lastTenure struct {
	Home string `json:"home"`
	Term uint64 `json:"term"`
}

const (
	// resignFor is how long an analyzer that ends waits for the bus to take that.
	resignFor = 5 * time.Second
	// loadFor is how long one that is elected waits for what the one before has saved.
	loadFor = 30 * time.Second
)

// standBy waits until this analyzer is elected, if there are several, and takes what the last one knew.
func (s *Server) standBy(ctx context.Context) error {
	b := &s.Config.Bus
	if !b.Standby {
		return nil
	}
	dir, err := datadir.Open(s.Config.Data)
	if err != nil {
		return fmt.Errorf("data: %w", err)
	}
	s.dir = dir
	s.opened = append(s.opened, func() { dir.Close() })
	last, err := readTenure(dir)
	if err != nil {
		return fmt.Errorf("data: %w", err)
	}
	config, err := b.config("waybill analyze: election")
	if err != nil {
		return fmt.Errorf("bus: %w", err)
	}
	t := &tenure{dir: dir}
	if t.name, err = b.ownName(); err != nil {
		return err
	}
	t.election, err = bus.OpenElection(bus.ElectionConfig{Bus: config, Name: t.name, Home: last.Home, Log: s.log})
	if err != nil {
		return err
	}
	s.opened = append(s.opened, t.election.Close)
	if err := s.awaitElection(ctx, t); err != nil {
		return err
	}
	t.keeping = background(t.election.Keep)
	t.keeping.Start()
	s.opened = append(s.opened, func() { _ = t.resign(context.Background()) })
	by := t.election.SavedBy()
	s.log.Info("elected", "term", t.election.Term(), "state_of_term", by)
	if by != 0 && by != last.Term { // what this one has in its directory is older
		if err := t.load(ctx); err != nil {
			return err
		}
	}
	last.Term = t.election.Term()
	if err := last.write(dir); err != nil {
		return fmt.Errorf("data: %w", err)
	}
	s.tenure = t
	return nil
}

// readTenure reads what is known of the last time, and gives the directory a name if it has none.
func readTenure(dir *datadir.Dir) (*lastTenure, error) {
	t := &lastTenure{}
	text, err := os.ReadFile(dir.Path(tenureName))
	if err == nil {
		err = json.Unmarshal(text, t)
	}
	if err == nil && t.Home != "" {
		return t, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w; with the file gone, what the last analyzer has saved on the bus is taken",
			dir.Path(tenureName), err)
	}
	t.Home = rand.Text()
	return t, t.write(dir)
}

func (t *lastTenure) write(dir *datadir.Dir) error {
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return dir.Write(tenureName, append(text, '\n'))
}

// awaitElection waits until the analyzer is elected. Until then it says, where its API will be, that it stands by.
func (s *Server) awaitElection(ctx context.Context, t *tenure) error {
	_, secure, err := openAccess(s.Config, toldBy(s.log))
	if err != nil {
		return err
	}
	waiting, err := listenHTTP(s.Config.HTTP, secure)
	if err != nil {
		return err
	}
	var why atomic.Pointer[string]
	why.Store(new("waiting for the bus to say which analyzer is elected"))
	waiting.failed = func(err error) { s.log.Error("nobody hears that this analyzer stands by", "error", err) }
	waiting.answer(standingBy(&why), s.log)
	waiting.Start()
	s.log.Info("waiting to be elected", "name", t.name, "url", waiting.URL())
	err = t.election.Win(ctx, func(elected string) {
		why.Store(new("this analyzer stands by"))
		s.log.Info("standing by", "elected", elected)
	})
	return errors.Join(err, waiting.Stop())
}

// standingBy answers in the place of an API.
func standingBy(why *atomic.Pointer[string]) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintln(w, `{"status":"ok"}`)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "1")
		types.NewProblem(http.StatusServiceUnavailable, "not ready: %s; another one answers", *why.Load()).Write(w)
	})
	return mux
}

// files are those that the next analyzer needs, by their names in the directory.
func (t *tenure) files() []string {
	names := []string{checkpointName, viewsName, inventoryName, mitigate.StateFile, mitigate.AuditFile}
	journals, _ := os.ReadDir(t.dir.Path(journalDir(""))) // there is none until something was counted
	for _, entry := range journals {
		names = append(names, filepath.Join(journalDir(""), entry.Name()))
	}
	return names
}

// grows reports whether a file is written at its end alone.
func grows(name string) bool {
	return name == mitigate.AuditFile || strings.HasPrefix(name, journalDir("")+string(filepath.Separator))
}

// load takes what the last analyzer has saved.
func (t *tenure) load(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, loadFor)
	defer cancel()
	if err := insist(ctx, func() error { return t.election.Load(ctx, t.dir.Path(""), t.files()) }); err != nil {
		return fmt.Errorf("what the last analyzer has saved cannot be had: %w", err)
	}
	return nil
}

// insist tries again while the bus does not do what is asked, until ctx is done: its servers may be electing a leader.
func insist(ctx context.Context, try func() error) error {
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(time.Second):
		}
	}
}

// save saves what the next analyzer needs.
func (t *tenure) save(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.election.Save(ctx, t.dir.Path(""), t.files(), grows)
}

// term is that in which this analyzer was elected; 0: it is the only one.
func (t *tenure) term() uint64 {
	if t == nil {
		return 0
	}
	return t.election.Term()
}

// standing lists those that stand by.
func (t *tenure) standing() []types.Standby {
	list := []types.Standby{}
	if t == nil {
		return list
	}
	for _, s := range t.election.Standing() {
		list = append(list, types.Standby{Name: s.Name, Seen: s.Seen.UTC()})
	}
	return list
}

// metrics are those of several analyzers.
func (t *tenure) metrics() prometheus.Gatherer {
	r := prometheus.NewRegistry()
	if t == nil {
		return r
	}
	r.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "waybill_analyzer_elected", Help: "1 while no other analyzer can be elected.",
		}, func() float64 {
			if t.election.Elected() {
				return 1
			}
			return 0
		}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "waybill_analyzer_term", Help: "The number of this election.",
		}, func() float64 { return float64(t.election.Term()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "waybill_analyzer_standing_by", Help: "Analyzers that stand by for this one.",
		}, func() float64 { return float64(len(t.election.Standing())) }),
	)
	return r
}

// lost has an error when another analyzer is elected.
func (t *tenure) lost() <-chan error {
	if t == nil {
		return nil
	}
	return t.election.Lost()
}

// Start implements component.
func (t *tenure) Start() {}

// Stop implements component: it lets the next analyzer be elected.
func (t *tenure) Stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), resignFor)
	defer cancel()
	err := insist(ctx, func() error {
		err := t.save(ctx)
		if err != nil && !t.election.Elected() {
			cancel()
		}
		return err
	})
	err = errors.Join(err, t.resign(context.Background()))
	t.election.Close()
	return err
}

// resign lets the next analyzer be elected.
func (t *tenure) resign(ctx context.Context) error {
	_ = t.keeping.Stop()
	ctx, cancel := context.WithTimeout(ctx, resignFor)
	defer cancel()
	return t.election.Resign(ctx)
}

// errNotElected says why nothing is written to a store that several analyzers have.
var errNotElected = errors.New("the bus does not say that this analyzer is still the elected one")

// An electedStore is a store that this analyzer writes while it is elected.
type electedStore struct {
	namedBackend
	election *bus.Election
}

// Write implements store.Backend.
func (s *electedStore) Write(batches []*telemetry.Intervals) error {
	if !s.election.Elected() {
		return errNotElected
	}
	return s.namedBackend.Write(batches)
}

// Maintain implements store.Backend.
func (s *electedStore) Maintain(ctx context.Context, now time.Time) error {
	if !s.election.Elected() {
		return errNotElected
	}
	return s.namedBackend.Maintain(ctx, now)
}
