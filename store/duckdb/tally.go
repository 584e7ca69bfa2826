package duckdb

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/store/schema"
)

// A tally is how many records of each table Write has put into a partition. It stands beside the file until all is
// merged into that: what was written lately is in a log, and if that is cut or missing DuckDB opens the file without a
// word.
type tally map[store.Table]int64

func (p *partition) tallyFile() string { return p.file + ".rows" }

// loadTally compares what a file has with its tally, and says what is lost.
func (s *Store) loadTally(p *partition) error {
	content, err := os.ReadFile(p.tallyFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	want := map[string]int64{}
	if p.compacted || json.Unmarshal(content, &want) != nil {
		return p.endTally()
	}
	if p.tally, err = s.count(p); err != nil {
		return err
	}
	loss := store.Loss{File: p.file}
	for id, n := range p.tally {
		if missing := want[id.String()] - n; missing > 0 && !p.emptied[id] {
			loss.Records[id] = uint64(missing)
		}
	}
	if loss.Records == (store.Counts{}) {
		return nil
	}
	s.mu.Lock()
	s.lost = append(s.lost, loss)
	s.mu.Unlock()
	return p.saveTally()
}

// count counts the records that Write has put into p.
func (s *Store) count(p *partition) (tally, error) {
	n := tally{}
	for id, t := range tables.Tables {
		if schema.TierOf(t, t.Finest) != p.tier {
			continue
		}
		var rows int64
		if err := s.write.QueryRowContext(s.ctx,
			fmt.Sprintf("SELECT count(*) FROM %s.%s", p.catalog, t.Name(t.Finest))).Scan(&rows); err != nil {
			return nil, err
		}
		n[store.Table(id)] = rows
	}
	return n, nil
}

// saveTally writes the tally of p. It is not synced: after a power cut an older one claims less.
func (p *partition) saveTally() error {
	names := map[string]int64{}
	for id, n := range p.tally {
		names[id.String()] = n
	}
	content, err := json.Marshal(names)
	if err != nil {
		return err
	}
	if err := os.WriteFile(p.tallyFile()+".new", content, 0o600); err != nil {
		return err
	}
	return os.Rename(p.tallyFile()+".new", p.tallyFile())
}

// endTally is called when all that was written is merged into the file of p, and before that is replaced.
func (p *partition) endTally() error {
	p.tally = nil
	if err := os.Remove(p.tallyFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
