package analyze

import (
	"fmt"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// burstConfig has fixed thresholds: packets that met no queue are not sampled, so that its usual length is not known.
func burstConfig() BurstConfig {
	c := DefaultBurstConfig()
	c.AboveBytes, c.BelowBytes = burstAbove, burstBelow
	c.MaxSamples, c.MaxQueues = 1<<18, 1024
	return c
}

// scanQueues puts the samples of all shards together and notes the bursts that are over.
func (s *Scanner) scanQueues(nowNs int64) {
	for _, shard := range s.collector.Shards {
		list, overflow := shard.takeSamples(s.samples)
		s.unsampled += overflow
		for i := range list {
			s.bursts.Observe(&list[i])
		}
		s.samples = list
	}
	s.bursts.Advance(nowNs)
	for _, b := range s.bursts.Take() {
		s.burst(&b, nowNs)
	}
}

// maxClockError is how far the clock of a node may be off for its times to be shown.
const maxClockError = int64(time.Minute)

// burst notes a burst, which is over. Its times are exact by the clock of the node; of a node that counts from its start, or
// whose clock is far off, only its length is, and it ends now.
func (s *Scanner) burst(b *Burst, nowNs int64) {
	start, end := int64(b.StartNs), int64(b.EndNs)
	if off := nowNs - end; off > maxClockError || off < -maxClockError {
		start, end = start+off, nowNs
	}
	key := eventKey{kind: telemetry.EventMicroburst, node: b.Node, port: b.Port, queue: b.Queue}
	if b.Incast {
		key.kind = telemetry.EventIncast
	}
	s.log.note(key, start, end, b.Packets, func(e *telemetry.Event) {
		e.Severity = telemetry.Info
		if b.Drops > 0 {
			e.Severity = telemetry.Warning
		}
		s.at(e, &station{node: b.Node, out: b.Port, has: telemetry.HasNode | telemetry.HasEgressPort})
		queue := b.Queue
		e.Queue = &queue
		e.Text = fmt.Sprintf("a queue of %s grew to %d bytes for %s", s.name(b.Node), b.PeakBytes, time.Duration(b.EndNs-b.StartNs).Round(time.Microsecond))
		if b.Incast {
			e.Text += fmt.Sprintf(", as %d senders came together", b.Sources)
		}
		if len(b.Culprits) > 0 {
			e.Flow = s.flow(b.Culprits[0].Flow)
		}
		e.Evidence = append(
			e.Evidence,
			telemetry.Evidence{Name: "peak", Value: float64(b.PeakBytes), Unit: "B"},
			telemetry.Evidence{Name: "peak_after", Value: float64(b.PeakNs - b.StartNs), Unit: "ns"},
			telemetry.Evidence{Name: "bytes", Value: float64(b.Bytes), Unit: "B"},
			telemetry.Evidence{Name: "drops", Value: float64(b.Drops)},
			telemetry.Evidence{Name: "culprits", Value: float64(len(b.Culprits))},
			telemetry.Evidence{Name: "victims", Value: float64(len(b.Victims))},
			telemetry.Evidence{Name: "complete", Value: b.Complete},
		)
		if len(b.Culprits) > 0 {
			e.Evidence = append(e.Evidence, telemetry.Evidence{Name: "share_of_first_culprit", Value: b.Culprits[0].Share})
		}
	})
	s.log.end(key, end)
}

// flow returns the endpoints of a flow, nil if it gave way to others.
func (s *Scanner) flow(ref FlowRef) *telemetry.Endpoints {
	for _, shard := range s.collector.Shards {
		shard.mu.Lock()
		key, ok := shard.flowOf(ref)
		shard.mu.Unlock()
		if ok {
			e := telemetry.EndpointsOf(&key)
			return &e
		}
	}
	return nil
}
