package serve

import (
	"context"
	"time"

	"github.com/waybill-int/waybill/analyze"
)

// tick tells the time to the shards that no queue does it for.
func (s *Server) tick(ctx context.Context) {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C: // maybe a while ago
			s.Collector.Shards[0].Tick(time.Now().UnixNano())
		case <-ctx.Done():
			return
		}
	}
}

// scan looks for events until ctx is done.
func (s *Server) scan(ctx context.Context) {
	scanner := analyze.NewScanner(s.Collector, s.Events)
	scanner.KeepBursts(s.Config.burstConfig(), s.bursts)
	ticker := time.NewTicker(time.Duration(analyze.TickNs))
	defer ticker.Stop()
	for {
		select {
		case now := <-ticker.C:
			s.ledger.Tick(now.UnixNano())
			scanner.Scan(now.UnixNano())
		case <-ctx.Done():
			return
		}
	}
}

// shardTasks returns what lets the shards take their reports and know the time.
func (s *Server) shardTasks() []func(context.Context) {
	if len(s.queues) == 0 {
		return []func(context.Context){s.tick}
	}
	var list []func(context.Context)
	for _, q := range s.queues {
		list = append(list, q.Run)
	}
	return list
}
