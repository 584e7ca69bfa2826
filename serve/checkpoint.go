package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/analyze/attack"
	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/ledger"
	"github.com/waybill-int/waybill/bus"
	"github.com/waybill-int/waybill/collect"
	"github.com/waybill-int/waybill/internal/datadir"
	"github.com/waybill-int/waybill/store"
)

const (
	checkpointName = "checkpoint"
	// checkpointEvery is the time between two checkpoints. A large one is written less often: writing takes at most a
	// twentieth of the time.
	checkpointEvery  = time.Second
	checkpointsShare = 20
)

// A checkpoint file is a line with version, checksum and length, and the State as JSON.
const checkpointHead = "waybill checkpoint %d crc32c=%08x bytes=%d\n"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errNewer says that a later version wrote a checkpoint.
var errNewer = errors.New("written by a newer version of Waybill")

func encodeCheckpoint(s *analyze.State) ([]byte, error) {
	body, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	head := fmt.Sprintf(checkpointHead, analyze.StateVersion, crc32.Checksum(body, castagnoli), len(body))
	return append([]byte(head), body...), nil
}

// noteOf returns the number of the note that the checkpoint in a directory names, 0 if there is none.
func noteOf(dir string) (uint64, error) {
	content, err := os.ReadFile(filepath.Join(dir, checkpointName))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	s, err := decodeCheckpoint(content)
	switch {
	case errors.Is(err, errNewer):
		return 0, fmt.Errorf("checkpoint: %w", err)
	case err != nil:
		return 0, nil // as a server that starts
	}
	return s.Note, nil
}

func decodeCheckpoint(content []byte) (*analyze.State, error) {
	head, body, _ := bytes.Cut(content, []byte("\n"))
	var number, length int
	var sum uint32
	n, err := fmt.Sscanf(string(head)+"\n", checkpointHead, &number, &sum, &length)
	switch {
	case n >= 1 && number > analyze.StateVersion:
		return nil, errNewer
	case err != nil || number != analyze.StateVersion:
		return nil, errors.New("damaged: its first line is not that of a checkpoint")
	case length != len(body):
		return nil, fmt.Errorf("damaged: got %d bytes, want %d", len(body), length)
	case sum != crc32.Checksum(body, castagnoli):
		return nil, errors.New("damaged: the checksum is wrong")
	}
	var s analyze.State
	if err := json.Unmarshal(body, &s); err != nil {
		return nil, fmt.Errorf("damaged: %w", err)
	}
	return &s, nil
}

// A checkpointer keeps what was learned in a directory.
type checkpointer struct {
	*tasks
	dir       *datadir.Dir
	ledger    *ledger.Ledger
	events    *eventlog.Log
	collector *analyze.Collector
	// usual is what is usual at the targets of attacks: that of the last process, until there is a Scanner.
	usual func() *attack.Usual
	// consumer takes from the bus, of which the checkpoint says how far: nil without one. Then the keeper writes the
	// checkpoints, see keeper.commit. bus, note and waiting are what the last one said, also of the last process: how
	// far that is, the number of the note in the journal that tells what was counted until then, and the packets that
	// wait for other reports.
	consumer *bus.Consumer
	bus      json.RawMessage
	note     uint64
	waiting  []byte
	away     time.Duration // from the last process's checkpoint to the start
	// troubles hears what the disk does not take, log of everything else.
	troubles *store.Troubles
	log      *slog.Logger

	failures atomic.Uint64
	savedNs  atomic.Int64
}

// restore takes what the last process left, if there is anything, and writes the first checkpoint, so that what cannot
// be written is known at the start. A damaged file is moved aside; one of a newer version is left for that.
func (c *checkpointer) restore(listen []string) error {
	content, err := os.ReadFile(c.dir.Path(checkpointName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c.begin()
	case err != nil:
		return fmt.Errorf("data: %w", err)
	}
	state, err := decodeCheckpoint(content)
	switch {
	case errors.Is(err, errNewer):
		return fmt.Errorf("data: %s is %w; run that version, or move the file away to begin anew",
			c.dir.Path(checkpointName), err)
	case err != nil:
		aside, moveErr := c.dir.MoveAside(checkpointName)
		if moveErr != nil {
			return fmt.Errorf("data: %w", moveErr)
		}
		c.log.Error("the checkpoint cannot be read and was moved aside; exporters, ledger and events begin anew",
			"error", err, "file", aside)
		return c.begin()
	}
	now := time.Now()
	c.usual, c.away = func() *attack.Usual { return state.Usual }, now.Sub(state.SavedAt)
	from := now
	if state.Bus != nil {
		from = state.SavedAt // what arrived since then is on the bus
	}
	left := state.Restore(c.ledger, c.events, from.UnixNano(), func(address string, source netip.Addr) (int, bool) {
		first, n := slices.Index(listen, address), 0
		for _, a := range listen {
			if a == address {
				n++
			}
		}
		return first + collect.SocketOf(source, n), n > 0
	})
	c.collector.RestoreDropCounters(state.DropCounters)
	c.bus, c.note, c.waiting = state.Bus, state.Note, state.Waiting
	c.log.Info("restored exporters, ledger and events", "saved", state.SavedAt, "not_running",
		c.away.Round(time.Millisecond).String())
	if left > 0 {
		c.log.Warn("accounts of exporters were left out: their address is no longer listened on, or there is no room",
			"accounts", left)
	}
	return c.begin()
}

// begin writes the first checkpoint. A disk that is full is no reason not to start: it is said as it is later on, and
// the checkpoint is written when there is room.
func (c *checkpointer) begin() error {
	err := c.save()
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		c.report(err)
		return nil
	}
	return err
}

// save writes a checkpoint.
func (c *checkpointer) save() error {
	now := time.Now()
	return c.write(c.state(now), now)
}

// state returns what a checkpoint says at a time.
func (c *checkpointer) state(now time.Time) *analyze.State {
	s := analyze.StateOf(c.ledger, c.events, c.usual(), c.collector.DropCounters(), now.UnixNano())
	s.Bus, s.Note, s.Waiting = c.bus, c.note, c.waiting
	return s
}

// write writes a checkpoint that says s.
func (c *checkpointer) write(s *analyze.State, now time.Time) error {
	content, err := encodeCheckpoint(s)
	if err == nil {
		err = c.dir.Write(checkpointName, content)
	}
	if err != nil {
		c.failures.Add(1)
		return fmt.Errorf("data: %w", err)
	}
	c.savedNs.Store(now.UnixNano())
	return nil
}

// metrics are those of checkpoints.
func (c *checkpointer) metrics() prometheus.Gatherer {
	r := prometheus.NewRegistry()
	r.MustRegister(
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "waybill_checkpoint_failures_total", Help: "Checkpoints that could not be written.",
		}, func() float64 { return float64(c.failures.Load()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "waybill_checkpoint_timestamp_seconds",
			Help: "When the latest checkpoint was written, in seconds since 1970.",
		}, func() float64 { return float64(c.savedNs.Load()) / 1e9 }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "waybill_disk_full", Help: "1 while the disk has no room for what should be written.",
		}, func() float64 {
			if _, full := c.troubles.Failing(); full {
				return 1
			}
			return 0
		}),
	)
	return r
}

// attempt writes a checkpoint, and says it once if that fails, and once when it works again.
func (c *checkpointer) attempt() {
	c.report(c.save())
}

// report says once that checkpoints fail, and once that they work again.
func (c *checkpointer) report(err error) {
	c.troubles.Note("checkpoint", err,
		"the checkpoint cannot be written; what is learned from now on would not outlive a restart",
		"the checkpoint can be written again")
}

// run writes checkpoints until ctx is done, unless the keeper does.
func (c *checkpointer) run(ctx context.Context) {
	if c.consumer != nil {
		return
	}
	timer := time.NewTimer(checkpointEvery)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		start := time.Now()
		c.attempt()
		timer.Reset(max(checkpointEvery, checkpointsShare*time.Since(start)))
	}
}

// Stop implements component: it writes the last checkpoint, unless the keeper has, and gives the directory back.
func (c *checkpointer) Stop() error {
	err := c.tasks.Stop()
	if c.consumer == nil {
		c.attempt()
	}
	c.dir.Close()
	return err
}
