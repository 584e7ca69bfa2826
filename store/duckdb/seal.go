package duckdb

import (
	"context"
	"slices"
	"time"

	"github.com/waybill-int/waybill/store/schema"
)

// sealAfter is how long a file is over before it is sealed: hardly anything is written to it then.
const sealAfter = 2 * time.Minute

// seal opens files that are over READ_ONLY, so that the processes of statements can open them too: DuckDB lets nobody
// else open a file that it may write to. What has to be written to one later opens all for writing again. maintaining
// is held.
func (s *Store) seal(now time.Time) error {
	defer s.sealedOnce.Store(true)
	list := s.list()
	for i, p := range list {
		over := slices.ContainsFunc(list[i+1:],
			func(q *partition) bool { return q.tier == p.tier && now.Sub(q.start) > sealAfter })
		if p.sealed || !over || p.tier == schema.Seconds && !p.compacted {
			continue
		}
		if err := s.sealFile(p); err != nil {
			return err
		}
	}
	return nil
}

// sealFile seals a file, unless queries run: then it is done later.
func (s *Store) sealFile(p *partition) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if !s.reading.TryLock() {
		return nil
	}
	defer s.reading.Unlock()
	for _, text := range []string{"CHECKPOINT " + p.catalog, "DETACH " + p.catalog} {
		if _, err := s.write.ExecContext(s.ctx, text); err != nil {
			return err
		}
	}
	if err := p.endTally(); err != nil {
		return err
	}
	p.sealed = true
	s.tail.forget(p)
	_, err := s.write.ExecContext(s.ctx, p.attachment())
	return err
}

// sealBefore seals files before the first statement asks for them, as Maintain does later: else all that there is would
// be exported.
func (s *Store) sealBefore(ctx context.Context) error {
	for !s.sealedOnce.Load() {
		if s.maintaining.TryLock() {
			err := s.seal(time.Now())
			s.maintaining.Unlock()
			if err != nil {
				return trouble(ctx, err)
			}
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return s.ended(ctx)
		}
	}
	return nil
}
