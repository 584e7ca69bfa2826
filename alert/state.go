package alert

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

const (
	stateFile    = "alerts.json"
	stateVersion = 1
)

// A sealed is the file of the state: what is in it, and a hash that tells whether it is whole.
type sealed struct {
	Version int             `json:"version"`
	SHA256  string          `json:"sha256"` // of the bytes of State
	State   json.RawMessage `json:"state"`
}

// A state is what goes on after a restart.
type state struct {
	Alerts   []*instance            `json:"alerts"`
	Resolved []telemetry.Alert      `json:"resolved"`
	Silences []*Silence             `json:"silences"` // those that are not in the file of the rules
	Queues   map[string][]*delivery `json:"queues"`   // by output
}

// errDamaged is why a state cannot be used.
var errDamaged = errors.New("it is damaged")

// restore takes the state in a directory, if there is one. One that is damaged is moved aside; one of a newer version
// is an error, since writing would destroy it.
func (e *Engine) restore(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("state of alerts: %w", err)
	}
	e.file = filepath.Join(dir, stateFile)
	text, err := os.ReadFile(e.file)
	if errors.Is(err, fs.ErrNotExist) {
		return e.firstSave()
	}
	if err != nil {
		return fmt.Errorf("state of alerts: %w", err)
	}
	s, err := unseal(text)
	if errors.Is(err, errDamaged) {
		aside := e.file + ".damaged"
		if err := os.Rename(e.file, aside); err != nil {
			return fmt.Errorf("state of alerts: %w", err)
		}
		e.log.Error("the state of alerts cannot be read; alerts, silences and messages begin anew", "moved_to", aside,
			"error", err)
		return e.firstSave()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", e.file, err)
	}
	e.take(s)
	return e.firstSave()
}

// firstSave writes the state, so that a directory that cannot be written to is known now. A full disk may have room
// later.
func (e *Engine) firstSave() error {
	err := e.save()
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		e.failing = true
		e.log.Error("alerts go on in memory only", "error", err)
		e.changed() // to try again
		return nil
	}
	return err
}

// unseal reads the file of a state. The error is errDamaged, or that it is of a newer version.
func unseal(text []byte) (*state, error) {
	var file sealed
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	if file.Version > stateVersion {
		return nil, fmt.Errorf("its version is %d, this program knows %d; use a newer one, or move the file away",
			file.Version, stateVersion)
	}
	if sum := sha256.Sum256(file.State); hex.EncodeToString(sum[:]) != file.SHA256 {
		return nil, fmt.Errorf("%w: the checksum is wrong", errDamaged)
	}
	return parseState(file.State)
}

func parseState(text []byte) (*state, error) {
	s := &state{}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	return s, nil
}

// take puts what a state holds into e, as far as there is room.
func (e *Engine) take(s *state) {
	for _, i := range s.Alerts {
		if i != nil && len(e.instances) < maxAlerts &&
			(i.State == telemetry.AlertPending || i.State == telemetry.AlertFiring && i.Fired != nil) {
			i.restored = true
			e.instances[alertKey{i.Rule, subjectOf(&i.Event)}] = i
		}
	}
	e.resolved = s.Resolved[:min(len(s.Resolved), maxResolved)]
	for _, made := range s.Silences {
		if made == nil {
			continue
		}
		if _, err := made.check(e.config.schema); err != nil {
			e.log.Warn("silence dropped: the rules no longer know its filter", "silence", made.ID, "filter", made.Filter, "error", err)
			continue
		}
		made.InFile = false
		e.silences = append(e.silences, made)
	}
	for name, waiting := range s.Queues {
		q := e.queues[name]
		if q == nil {
			e.log.Warn("messages are dropped with their output", "output", name, "messages", len(waiting))
			continue
		}
		for _, d := range waiting {
			if d != nil && d.Data.Fired != nil && slices.Contains(types, d.Type) {
				q.add(d)
			}
		}
	}
}

// seal returns the file of the state of now.
func (e *Engine) seal() ([]byte, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := state{Resolved: e.resolved, Queues: map[string][]*delivery{}}
	for _, i := range e.instances {
		s.Alerts = append(s.Alerts, i)
	}
	for _, made := range e.silences {
		if !made.InFile {
			s.Silences = append(s.Silences, made)
		}
	}
	for name, q := range e.queues {
		if len(q.waiting) > 0 {
			s.Queues[name] = q.waiting
		}
	}
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	var b bytes.Buffer // json.Marshal would write the state anew
	fmt.Fprintf(&b, "{\"version\":%d,\"sha256\":%q,\"state\":%s}\n", stateVersion, hex.EncodeToString(sum[:]), text)
	return b.Bytes(), nil
}

// save writes the state, whole or not at all.
func (e *Engine) save() error {
	text, err := e.seal()
	if err == nil {
		err = writeWhole(e.file, text)
	}
	if err != nil {
		return fmt.Errorf("state of alerts: %w", err)
	}
	return nil
}

// writeWhole replaces a file by one that is on the disk.
func writeWhole(name string, text []byte) error {
	f, err := os.OpenFile(name+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(name+".new", name)
	}
	if err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(name))
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

// saveChanges writes the state whenever it changed, until ctx is done, and then once more.
func (e *Engine) saveChanges(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case <-e.dirty:
		case <-ctx.Done():
		}
		begin := time.Now()
		err := e.save()
		pause := max(saveEvery, 9*time.Since(begin)) // a large state must not take more than a tenth of the time
		e.mu.Lock()
		if err != nil {
			e.unsaved++
			if !e.failing {
				e.log.Error("alerts go on in memory only", "error", err)
			}
			e.changed() // to try again
		} else if e.failing {
			e.log.Info("the state of alerts is written again")
		}
		e.failing = err != nil
		e.mu.Unlock()
		if err != nil {
			pause *= 10
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}
