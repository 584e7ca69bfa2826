package duckdb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/store/schema"
)

// Maintain implements store.Backend: rollups, retention, and a new file before the current one is too large a part of
// all.
func (s *Store) Maintain(ctx context.Context, now time.Time) error {
	s.maintaining.Lock()
	defer s.maintaining.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.mu.Lock()
	s.interrupt = cancel
	s.mu.Unlock()
	err := s.room()
	if err == nil {
		err = s.mend()
	}
	if err != nil {
		// A disk that is full is a reason to drop what is too old, not to leave it.
		return errors.Join(err, s.retain(now))
	}
	ctx, done := s.boundSpill(ctx)
	defer done()
	if err := s.maintain(ctx, now); err != nil {
		// What was ended on the way has broken nothing.
		s.broken.Store(s.broken.Load() || ctx.Err() == nil)
		return fmt.Errorf("store: %s", oneLine(err))
	}
	return nil
}

func (s *Store) maintain(ctx context.Context, now time.Time) error {
	if err := s.seal(now); err != nil {
		return err
	}
	// The current file grows while intervals are rolled up, which may take long.
	if err := s.rotate(now); err != nil {
		return err
	}
	if err := s.rollUp(ctx, now); err != nil {
		return err
	}
	if err := s.retain(now); err != nil { // not before all that it removes is rolled up
		return err
	}
	if err := s.compactOnce(ctx, now); err != nil {
		return fmt.Errorf("compact: %w", err)
	}
	if err := s.applyTableLimits(ctx, now); err != nil {
		return fmt.Errorf("thin: %w", err)
	}
	return nil
}

// rotateBytes is how large a file of seconds gets before the next one begins, so that it is compacted soon.
const rotateBytes = 512 << 20

// rotate begins a new file of seconds when the current one is large, or has an eighth of all bytes, so that dropping
// the oldest file does not drop nearly everything.
func (s *Store) rotate(now time.Time) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	p := s.findPartition(schema.Seconds, now)
	if p == nil || p.size() < min(s.config.MaxBytes/8, rotateBytes) {
		return nil
	}
	next := s.newPartition(schema.Seconds, now.Truncate(time.Minute).Add(time.Minute))
	if q := s.findPartition(schema.Seconds, next.start); q != p {
		return nil // it is there
	}
	if err := s.attach(next); err != nil {
		return err
	}
	return s.makeViews()
}

// retain drops partitions that are too old, and the oldest ones while all together are too large. The newest of each
// tier stays.
func (s *Store) retain(now time.Time) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.closeDoomed(); err != nil {
		return err
	}
	var total int64
	sizes := map[*partition]int64{}
	for _, p := range s.partitions {
		sizes[p] = p.size()
		total += sizes[p]
	}
	var drop []*partition
	for tier := range schema.Tiers {
		var list []*partition
		for _, p := range s.partitions {
			if p.tier == tier {
				list = append(list, p)
			}
		}
		for len(list) > 1 {
			p := list[0]
			// It ends where the next one starts.
			if now.Sub(list[1].start) < s.config.Keep[tier] && total <= s.config.MaxBytes {
				break
			}
			total -= sizes[p]
			drop, list = append(drop, p), list[1:]
		}
	}
	if len(drop) == 0 {
		return nil
	}
	s.mu.Lock()
	s.partitions = slices.DeleteFunc(slices.Clone(s.partitions),
		func(p *partition) bool { return slices.Contains(drop, p) })
	s.dropped += len(drop)
	s.mu.Unlock()
	s.doomed = append(s.doomed, drop...)
	if err := s.makeViews(); err != nil {
		return err
	}
	return s.closeDoomed()
}

// closeDoomed closes and removes the files that were dropped, unless queries still run: then it is done later.
func (s *Store) closeDoomed() error {
	if len(s.doomed) == 0 || !s.reading.TryLock() {
		return nil
	}
	defer s.reading.Unlock()
	for len(s.doomed) > 0 {
		p := s.doomed[0]
		if _, err := s.write.ExecContext(s.ctx, "DETACH "+p.catalog); err != nil {
			return fmt.Errorf("close %s: %w", p.file, err)
		}
		if err := removeFiles(p); err != nil {
			return err
		}
		s.doomed = s.doomed[1:]
	}
	return nil
}

// Stats implements store.Backend.
func (s *Store) Stats() (store.Stats, error) {
	s.mu.Lock()
	list := s.partitions
	stats := store.Stats{Partitions: len(list), Dropped: s.dropped, Lost: s.lost}
	s.mu.Unlock()
	for _, p := range list {
		stats.Bytes += p.size()
	}
	if len(list) > 0 {
		stats.Oldest = list[0].start
	}
	return stats, nil
}
