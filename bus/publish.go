package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// A Publisher puts datagrams into messages, keeps these in a spool, and publishes them until they are confirmed.
type Publisher struct {
	config PublisherConfig
	run    uint64
	link   link
	spool  *Spool
	parts  []part

	published, republished, failures atomic.Uint64 // messages; those that were missing; attempts that failed
	sent                             atomic.Uint64 // place in the spool up to which the bus has everything
	confirmedNs                      atomic.Int64  // when the analyzer last answered
}

// A PublisherConfig describes a collector.
type PublisherConfig struct {
	Bus        Config
	Collector  string // name: see CheckName
	Partitions int    // among which Add's caller divides the datagrams
	// Spool is the directory of the spool, which is in memory without it; SpoolBytes bounds it.
	Spool      string
	SpoolBytes int64
	// Counters are those of the sockets; Spooled is filled in.
	Counters func() Counters
	// Whole returns up to when all that arrived was given to Add, nanoseconds since 1970; nowNs is now.
	Whole func(nowNs int64) int64
	Log   *slog.Logger
}

// A part collects the next message of a partition.
type part struct {
	mu     sync.Mutex
	header Header
	body   []byte
	memory []byte // of the message; goes round

	confirmed atomic.Uint64 // message of this run up to which the analyzer has all
}

const (
	// flushEvery is how long a datagram waits for others.
	flushEvery = 100 * time.Millisecond
	// bodyBytes is when a message is long enough: compressed it must be less than MaxMessageBytes, whatever is in it.
	bodyBytes = 256 << 10
	// sendAtOnce is how many messages are published before their acknowledgements are waited for.
	sendAtOnce = 64
)

// OpenPublisher opens the spool, and the connection, which need not succeed at once.
func OpenPublisher(c PublisherConfig) (*Publisher, error) {
	if err := CheckName(c.Collector); err != nil {
		return nil, fmt.Errorf("name of the collector: got %q, %w", c.Collector, err)
	}
	spool, err := OpenSpool(c.Spool, c.SpoolBytes)
	if err != nil {
		return nil, err
	}
	p := &Publisher{
		config: c, run: uint64(time.Now().UnixNano()), spool: spool, parts: make([]part, max(c.Partitions, 1)),
	}
	for i := range p.parts {
		p.parts[i].header = Header{Collector: c.Collector, Run: p.run, Partition: uint16(i), Number: 1}
	}
	p.link, err = c.Bus.open(logChanges(c.Log, "datagrams are kept in the spool"))
	if err != nil {
		spool.Close()
		return nil, err
	}
	return p, nil
}

// Partitions returns how many there are.
func (p *Publisher) Partitions() int { return len(p.parts) }

// Add takes a copy of a datagram. It waits while the spool is full, until ctx is done: then the socket's buffer fills,
// and what it has no room for is counted there.
func (p *Publisher) Add(ctx context.Context, partition int, d *Datagram) error {
	part := &p.parts[partition]
	part.mu.Lock()
	defer part.mu.Unlock()
	if len(part.body) > 0 && len(part.body)+len(d.Payload)+datagramBytes > bodyBytes {
		if err := p.seal(ctx, part, 0); err != nil {
			return err
		}
	}
	part.body = AppendDatagram(part.body, d)
	part.header.Datagrams++
	return nil
}

// seal puts what a partition has into the spool. The partition is locked.
func (p *Publisher) seal(ctx context.Context, part *part, wholeNs int64) error {
	h := &part.header
	h.WholeNs = wholeNs
	h.Counters = p.config.Counters()
	h.Counters.Spooled = uint64(p.spool.Bytes())
	part.memory = AppendMessage(part.memory[:0], h, part.body)
	if err := p.spool.Add(ctx, h, part.memory); err != nil {
		return err
	}
	h.Number++
	h.Before += uint64(h.Datagrams)
	h.Datagrams, part.body = 0, part.body[:0]
	return nil
}

// flush seals all partitions. Partition 0 comes last, and also if it is empty: its message says that all that arrived
// before was sent, and which messages that are.
func (p *Publisher) flush(ctx context.Context) error {
	whole := p.config.Whole(time.Now().UnixNano())
	numbers := make([]uint64, len(p.parts))
	for i := len(p.parts) - 1; i >= 0; i-- {
		if err := p.flushPart(ctx, i, whole, numbers); err != nil {
			return err
		}
	}
	return nil
}

// flushPart seals a partition, and notes its last message that is not confirmed.
func (p *Publisher) flushPart(ctx context.Context, i int, whole int64, numbers []uint64) error {
	part := &p.parts[i]
	part.mu.Lock()
	defer part.mu.Unlock()
	switch {
	case i == 0:
		part.header.Numbers = numbers
		err := p.seal(ctx, part, whole)
		part.header.Numbers = nil
		return err
	case part.header.Datagrams > 0:
		if err := p.seal(ctx, part, 0); err != nil {
			return err
		}
	}
	if last := part.header.Number - 1; last > part.confirmed.Load() {
		numbers[i] = last
	}
	return nil
}

// Run publishes until ctx is done; then it waits up to a few seconds until what is in the spool is published. What is
// not stays in the spool, if that has a directory.
func (p *Publisher) Run(ctx context.Context) {
	sending, stopSending := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() { p.send(sending) })
	all.Go(func() { p.pollPositions(sending) })
	ticker := time.NewTicker(flushEvery)
	defer ticker.Stop()
	failing := false
	flushing, stopFlushing := context.WithCancel(context.Background())
	defer stopFlushing()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(stopWithin, stopFlushing) })()
	for n := 0; ctx.Err() == nil; n++ {
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
		err := p.flush(flushing)
		if err == nil && n%10 == 0 {
			err = p.spool.Sync()
		}
		if (err != nil) != failing && !errors.Is(err, context.Canceled) {
			if failing = err != nil; failing {
				p.config.Log.Error("the spool cannot be written; datagrams wait in the sockets", "error", err)
			} else {
				p.config.Log.Info("the spool can be written again")
			}
		}
	}
	p.awaitPublished()
	stopSending()
	all.Wait()
	p.link.close()
	if err := errors.Join(p.spool.Sync(), p.spool.Close()); err != nil {
		p.config.Log.Error("the spool was not closed", "error", err)
	}
}

// stopWithin is how long a collector that stops waits for the bus.
const stopWithin = 5 * time.Second

// awaitPublished waits until the bus has everything.
func (p *Publisher) awaitPublished() {
	end := p.spool.End()
	for until := time.Now().Add(stopWithin); p.sent.Load() < end; time.Sleep(10 * time.Millisecond) {
		if time.Now().Before(until) {
			continue
		}
		if p.config.Spool == "" {
			p.config.Log.Error("datagrams are lost: publishing to the bus failed, and the spool is in memory",
				"help", "data gives the spool a directory")
		} else {
			p.config.Log.Info("datagrams stay in the spool until the next start", "bytes", p.spool.Bytes())
		}
		return
	}
}

// send publishes what the spool has until ctx is done.
func (p *Publisher) send(ctx context.Context) {
	place := uint64(0)
	for ctx.Err() == nil {
		next, err := p.sendSome(ctx, place)
		if err == nil {
			place = next
			p.sent.Store(place)
			continue
		}
		if ctx.Err() != nil || errors.Is(err, os.ErrClosed) {
			return
		}
		if n := p.failures.Add(1); p.link.connected() && n&(n-1) == 0 {
			p.config.Log.Warn("publishing to the bus failed; datagrams stay in the spool", "error", err)
		}
		select {
		case <-time.After(500 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// sendSome publishes some messages from a place on, and returns the place behind those that are acknowledged. If one
// is not, all are published again: the bus and the analyzer drop what they have.
func (p *Publisher) sendSome(ctx context.Context, place uint64) (next uint64, err error) {
	var acks []func(context.Context) error
	next = place
	waiting := ctx
	for range sendAtOnce {
		key, number, message, behind, err := p.spool.Next(waiting, next, nil)
		if err != nil {
			if len(acks) > 0 && ctx.Err() == nil && !errors.Is(err, os.ErrClosed) {
				break // there are no more
			}
			return place, err
		}
		ack, err := p.link.publish(key, number, message, "")
		if err != nil {
			return place, err
		}
		acks, next = append(acks, ack), behind
		waiting = done // for the first only
	}
	for _, acknowledged := range acks {
		if err := acknowledged(ctx); err != nil {
			return place, err
		}
		p.published.Add(1)
	}
	return next, nil
}

// done is a context that is over.
var done = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// A Position is how far the analyzer has taken the messages of a key.
type Position struct {
	Run       uint64 `json:"run"`
	Partition uint16 `json:"partition"`
	// Confirmed is the newest message up to which all outlive a crash of the analyzer.
	Confirmed uint64 `json:"confirmed"`
	// MissingFrom and MissingTo are messages that it waits for, while it has some behind them; 0: it does not.
	MissingFrom uint64 `json:"missing_from,omitempty"`
	MissingTo   uint64 `json:"missing_to,omitempty"`
}

// pollPositions asks the analyzer, once in a while, what it has, and sends again what it misses.
func (p *Publisher) pollPositions(ctx context.Context) {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for round := 0; ; round++ {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		reply, err := p.link.ask(p.config.Collector)
		if err != nil {
			continue // the spool keeps what is not confirmed
		}
		var list []Position
		if json.Unmarshal(reply, &list) != nil {
			continue
		}
		p.confirmedNs.Store(time.Now().UnixNano())
		for _, at := range list {
			key := Key{p.config.Collector, at.Run, at.Partition}
			if at.Run == p.run && int(at.Partition) < len(p.parts) {
				p.parts[at.Partition].confirmed.Store(at.Confirmed)
			}
			if err := p.spool.Confirm(key, at.Confirmed); err != nil {
				p.config.Log.Warn("a file of the spool cannot be removed", "error", err)
			}
			if at.MissingTo > 0 {
				p.republish(key, at.MissingFrom, at.MissingTo, round)
			}
		}
	}
}

// pollEvery is how often a collector asks what is confirmed.
const pollEvery = 500 * time.Millisecond

// republish publishes messages that the bus has lost.
func (p *Publisher) republish(key Key, from, to uint64, round int) {
	err := p.spool.Find(key, from, to, func(number uint64, message []byte) error {
		_, err := p.link.publish(key, number, message, fmt.Sprint("-", round))
		if err == nil {
			p.republished.Add(1)
		}
		return err
	})
	if err != nil {
		p.config.Log.Warn("what the bus has lost cannot be sent again yet", "error", err)
	}
}

// PublisherStats are counters of a Publisher.
type PublisherStats struct {
	Connected   bool
	Published   uint64 // messages that the bus acknowledged
	Republished uint64 // messages that the bus had lost
	Failures    uint64 // attempts to publish that failed
	SpoolBytes  int64  // that wait to be confirmed
	ConfirmedNs int64  // when the analyzer last answered; 0: never
}

// Stats returns the counters as they are now.
func (p *Publisher) Stats() PublisherStats {
	return PublisherStats{
		p.link.connected(), p.published.Load(), p.republished.Load(), p.failures.Load(), p.spool.Bytes(),
		p.confirmedNs.Load(),
	}
}
