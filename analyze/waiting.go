package analyze

import (
	"bytes"
	"encoding/gob"

	"github.com/waybill-int/waybill/analyze/join"
	"github.com/waybill-int/waybill/telemetry"
)

// A waitingPacket is a packet that waits for the reports of other nodes, for the process that follows.
type waitingPacket struct {
	Head  join.Head
	Outer telemetry.FlowKey // of a tunnelled flow
	Hops  []telemetry.Hop
}

// Hold stops the time by which packets wait for reports of other nodes, until Release is called as often. While nothing
// is handed to the shards either, their tables stand still.
func (c *Collector) Hold() { c.hold(1) }

// Release ends Hold.
func (c *Collector) Release() { c.hold(-1) }

func (c *Collector) hold(n int) {
	for _, s := range c.Owners {
		s.hold(n)
	}
}

func (s *Shard) hold(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held += n
}

// Waiting returns the packets that wait for reports of other nodes, for RestoreWaiting; nil: none do.
func (c *Collector) Waiting() ([]byte, error) {
	var list []waitingPacket
	for _, s := range c.Owners {
		list = append(list, s.waiting()...)
	}
	if len(list) == 0 {
		return nil, nil
	}
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(list)
	return b.Bytes(), err
}

// RestoreWaiting takes what Waiting returned in the process before this one, before anything is received: the packets
// wait anew. They count as that process did not count them; their reports it has counted.
func (c *Collector) RestoreWaiting(content []byte, nowNs int64) error {
	if len(content) == 0 {
		return nil
	}
	var list []waitingPacket
	if err := gob.NewDecoder(bytes.NewReader(content)).Decode(&list); err != nil {
		return err
	}
	of := make([][]waitingPacket, len(c.Owners))
	for _, w := range list {
		owner := w.Head.Key.ShardOf(len(of))
		of[owner] = append(of[owner], w)
	}
	for owner, list := range of {
		c.Owners[owner].restoreWaiting(list, nowNs)
	}
	return nil
}

// waiting returns the packets of s that wait.
func (s *Shard) waiting() (list []waitingPacket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for p := range s.join.All() {
		list = append(list, waitingPacket{p.Head, s.outer[p.Key], append([]telemetry.Hop(nil), p.Hops()...)})
	}
	return list
}

// restoreWaiting lets packets wait anew.
func (s *Shard) restoreWaiting(list []waitingPacket, nowNs int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range list {
		s.waitAnew(&list[i], nowNs)
	}
}

func (s *Shard) waitAnew(w *waitingPacket, nowNs int64) {
	key := &w.Head.Key
	tag := s.flows.tagOf(key)
	place, _, ok := s.flows.find(key, tag)
	var f *flow
	if ok {
		f = s.flows.at(place)
	} else {
		f = s.flows.insert(key, tag, s.forget)
		f.first, f.last = nowNs, nowNs
		if key.Tunnel != telemetry.TunnelNone {
			s.outer[*key] = w.Outer
		}
	}
	f.partial = f.partial || w.Head.Kind == join.Stack
	w.Head.Counted = false // for attacks: this process has counted nothing
	s.makeRoom(nowNs)      // there may be less than before
	s.join.Restore(&w.Head, tag, w.Hops)
}
