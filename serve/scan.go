package serve

import (
	"context"
	"time"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/analyze/attack"
	"github.com/waybill-int/waybill/analyze/scan"
)

// tick tells the time to the shards that no queue does it for.
func (s *Server) tick(ctx context.Context) {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C: // maybe a while ago
			s.shards[0].Tick(time.Now().UnixNano())
		case <-ctx.Done():
			return
		}
	}
}

// newScanner makes what looks for events: after the last process's counts are back, which are no news, and before the
// first report comes, which may be.
func (s *Server) newScanner() error {
	s.scanner = analyze.NewScanner(s.Collector, s.Events)
	s.scanner.KeepBursts(s.Config.burstConfig(), s.bursts)
	s.scanner.Delivered = s.delivered
	var before *attack.Usual
	var away time.Duration
	if c := s.checkpoints; c != nil {
		before, away = c.usual(), c.away
		c.usual = s.scanner.Usual
	}
	s.scanner.FindAttacks(s.Config.attackConfig(), before, away)
	return nil
}

// delivered returns up to when all that arrived was handed to the shards: by the receiver that is behind the most.
func (s *Server) delivered(nowNs int64) int64 {
	if s.bus != nil {
		return s.bus.consumer.Delivered(nowNs)
	}
	at := nowNs
	for _, r := range s.Receivers {
		at = min(at, r.Delivered(nowNs))
	}
	return at
}

// scan looks for events until ctx is done.
func (s *Server) scan(ctx context.Context) {
	ticker := time.NewTicker(time.Duration(scan.TickNs))
	defer ticker.Stop()
	for {
		select {
		case now := <-ticker.C:
			nowNs := s.clock(now)
			s.ledger.Tick(nowNs)
			s.scanner.Scan(nowNs)
		case <-ctx.Done():
			return
		}
	}
}

// shardTasks returns what lets the shards take their reports and know the time.
func (s *Server) shardTasks() []func(context.Context) {
	switch {
	case s.tables != nil:
		return []func(context.Context){s.tables.Run}
	case len(s.queues) == 0:
		return []func(context.Context){s.tick}
	}
	var list []func(context.Context)
	for _, q := range s.queues {
		list = append(list, q.Run)
	}
	return list
}
