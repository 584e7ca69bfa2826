package bus

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A Consumer takes the messages of all collectors, each number once and in order, and delivers their datagrams in the
// order in which they arrived at the collectors, as far as the clocks of these agree: so packets that look alike are
// told apart by the order of their postcards as well as by one process.
type Consumer struct {
	config ConsumerConfig
	link   link
	now    func() int64 // nanoseconds since 1970

	mu        sync.Mutex        // held while a message is delivered
	sequence  uint64            // of the newest message of the stream
	base      uint64            // of that up to which all were taken of partitions that sequences does not have
	sequences map[uint16]uint64 // of the newest of each partition; nil: there are no Holders
	pending   uint64            // messages of the stream behind it, as it was told last
	pendingAt []uint64          // the same of each holder
	stream    string            // which it is
	keys      map[Key]*keyState
	held      int // messages that wait for others of their key
	heldBytes int

	queued      byArrival // those with messages in order that wait for other collectors
	queuedBytes int
	free        []*queuedMessage // whose memory goes round
	finished    []*queuedMessage // that were delivered in full, of list
	list        []Datagram       // goes round

	duplicates uint64 // messages
	damaged    uint64 // messages that cannot be read

	// The clock has a lock of its own, which nobody holds who waits: whoever receives datagrams may ask for the time.
	clock      sync.Mutex
	collectors map[string]*collectorState
	clockNs    int64 // what Delivered returned last
	drainedNs  int64 // up to when all that arrived was delivered when drain looked last
	isQueued   bool  // it left something
	caughtUp   bool  // everything that was in the stream at the start was taken

	kernelDrops atomic.Uint64 // of all collectors

	confirmed map[Key]uint64 // that outlive a crash
	purge     purgeable
}

// purgeable is up to which message the stream may forget, 0: none, or for each partition.
type purgeable struct {
	upTo       uint64
	partitions map[uint16]uint64
}

// A ConsumerConfig describes an analyzer.
type ConsumerConfig struct {
	Bus Config
	// From is where an analyzer before this one was; nil: there was none.
	From *Positions
	// Deliver gets datagrams in the order in which they arrived, which are its own until it returns.
	Deliver func(list []Datagram)
	// Connected is called before the first delivery, when the stream is there; nil: nobody wants to know.
	Connected func()
	// Holders take the messages and keep datagrams of them; nil: the Consumer takes them.
	Holders Holders
	Log     *slog.Logger
}

// Holders take messages of the stream for a Consumer, each of some partitions, by a Reader. What they say of a message
// is a head, see AppendHead. They keep the message until they let it go.
type Holders interface {
	// Len returns how many there are.
	Len() int
	// Read gives take what the holders say of messages, which are theirs until it returns, until ctx is done or
	// something is in the way. After that nothing is taken. from returns the first message to take of a partition, for
	// all partitions that may be. A holder begins with no head, which says how many messages are behind it.
	Read(ctx context.Context, stream string, from func(partition uint16) uint64,
		take func(holder int, id, sequence, behind uint64, head []byte)) error
	// LetGo says that nobody will ask for datagrams of a message any more.
	LetGo(holder int, id uint64)
}

// Positions say which messages were delivered. They are written as JSON.
type Positions struct {
	Stream   string `json:"stream_created"` // which stream it is; of NATS when it was made
	Sequence uint64 `json:"sequence"`       // in it, up to which all were delivered
	// Partitions are those of which it is another one.
	Partitions  map[uint16]uint64 `json:"partitions,omitempty"`
	DeliveredNs int64             `json:"delivered_ns"` // up to when all that arrived at collectors was delivered
	Keys        []KeyPosition     `json:"keys"`
}

// A KeyPosition is how far the messages of a key were delivered.
type KeyPosition struct {
	Key
	Number    uint64 `json:"number"`
	Datagrams uint64 `json:"datagrams"` // in all messages up to it, with those that were lost
	Before    uint64 `json:"before"`    // of these, in messages that an analyzer took whose data are not here
	Lost      uint64 `json:"lost"`      // datagrams in messages that were given up
	SeenNs    int64  `json:"seen_ns"`
	Part      uint64 `json:"part,omitempty"` // datagrams of the message behind Number
}

type keyState struct {
	KeyPosition                      // of what was delivered
	of          *collectorState      // nil: no message was queued
	accepted    uint64               // number of the last message in queue, or Number
	queue       []*queuedMessage     // in order
	headNs      int64                // nextNs of the first
	waiting     map[uint64]*received // by number, for those before them
	sinceNs     int64                // since when a number is missing; 0: none is
}

// A received is a message, or what a holder says of one.
type received struct {
	sequence uint64 // in the stream
	content  []byte
	holder   int // below 0: none
	id       uint64
}

type collectorState struct {
	seenNs int64 // when its last message came
	// Up to when all that arrived there was taken, by its clock, and when it said so, by the one here.
	wholeNs, wholeSeenNs int64
	said                 []promise
	kept                 bool  // wholeNs is what it said to this process
	aheadNs              int64 // by how much its clock is ahead
	aheadMost            int64 // by how much it was since aheadSince
	aheadSince           int64
	toldAhead            bool  // the log was told
	limitNs              int64 // see setLimits
	askedNs              int64 // when it was asked for messages of which nothing was heard
	run                  uint64
	Counters
}

// A promise is what a message says of all that arrived at its collector before some time. It holds when the messages
// are there that it names: they may have been lost on the bus, or come another way.
type promise struct {
	run             uint64
	wholeNs, seenNs int64
	numbers         []uint64
}

const (
	// missingFor is how long messages are waited for that the bus has lost, and maxHeld and maxHeldBytes how many
	// others wait behind them.
	missingFor   = 10 * time.Second
	maxHeld      = 4096
	maxHeldBytes = 64 << 20
	// forgetAfter is how long keys are remembered of which nothing comes; maxKeys bounds them.
	forgetAfter = 24 * time.Hour
	maxKeys     = 65536
	// aliveFor is how long the tables wait for a collector of which nothing comes.
	aliveFor = 2 * time.Second
	// unheardFor is how often a collector is asked again for messages that it named, maxUnheard for how many of them.
	unheardFor, maxUnheard = 5 * time.Second, 64
	// maxPromises is of how many messages a collector's time may wait for others.
	maxPromises = 1024
	// longestBehind is how far behind now the tables' clock stays for a collector that is late.
	longestBehind = 5 * time.Second
)

// OpenConsumer opens the connection, which need not succeed at once.
func OpenConsumer(c ConsumerConfig) (*Consumer, error) {
	n := &Consumer{config: c, now: func() int64 { return time.Now().UnixNano() }}
	n.goOn()
	var err error
	n.link, err = c.Bus.open(logChanges(c.Log, "collectors keep what arrives"))
	return n, err
}

// goOn makes the state that begins where the process before this one was.
func (n *Consumer) goOn() {
	n.keys, n.collectors, n.confirmed = map[Key]*keyState{}, map[string]*collectorState{}, map[Key]uint64{}
	from := n.config.From
	if from == nil {
		return
	}
	n.stream, n.sequence, n.base, n.sequences = from.Stream, from.Sequence, from.Sequence, from.Partitions
	for _, sequence := range from.Partitions {
		n.sequence = max(n.sequence, sequence)
	}
	n.clockNs = from.DeliveredNs + 1 // so that no interval of this analyzer begins with one of those before
	for _, at := range from.Keys {
		n.keys[at.Key] = &keyState{KeyPosition: at, accepted: at.Number}
		n.confirmed[at.Key] = at.Number
		if from.DeliveredNs-at.SeenNs < int64(aliveFor) {
			n.collectors[at.Collector] = &collectorState{wholeNs: from.DeliveredNs, wholeSeenNs: from.DeliveredNs}
		}
	}
}

// Run takes messages until ctx is done.
func (n *Consumer) Run(ctx context.Context) {
	stop, err := n.link.answer(n.answer)
	if err != nil {
		n.config.Log.Error("collectors are not told what is confirmed", "error", err)
	} else {
		defer stop()
	}
	taking := consumption{
		begin: n.begin, take: n.take, confirmed: n.purgeable,
		tick: func() { n.expireMissing(n.now()) },
	}
	if n.config.Holders != nil {
		taking.elsewhere = n.takeFromHolders
	}
	for failing := false; ctx.Err() == nil; {
		begun := time.Now()
		err := n.link.consume(ctx, &taking)
		failing = failing && time.Since(begun) < time.Minute // it consumed
		if ctx.Err() != nil {
			break
		}
		if err != nil && !failing {
			failing = true
			n.config.Log.Warn("cannot consume from the bus; retrying", "error", err)
		}
		select {
		case <-time.After(500 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	n.link.close()
}

// begin notes which stream it is, and returns the first message to take. In another stream than before everything is
// new, but for the numbers.
func (n *Consumer) begin(stream string, newest uint64) (from uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if stream != n.stream || newest < n.sequence {
		if n.sequence > 0 {
			n.config.Log.Warn("the stream is another one than before; collectors send again what it has lost",
				"is", stream, "before", n.stream)
		}
		n.stream, n.sequence, n.base, n.sequences, n.purge = stream, 0, 0, nil, purgeable{}
	}
	if n.config.Holders == nil {
		for _, sequence := range n.sequences {
			n.base = min(n.base, sequence)
		}
		if n.sequences != nil {
			n.sequence, n.sequences = n.base, nil
		}
		n.pending = newest - n.sequence
	} else {
		if n.sequences == nil {
			n.base, n.sequences = n.sequence, map[uint16]uint64{}
		}
		n.pendingAt, n.pending = make([]uint64, n.config.Holders.Len()), newest-n.base
		for i := range n.pendingAt {
			n.pendingAt[i] = n.pending // until it says something
		}
	}
	n.awaitCollectors(n.now())
	if n.config.Connected != nil {
		n.config.Connected()
		n.config.Connected = nil
	}
	n.catchUp()
	return n.sequence + 1
}

// awaitCollectors lets the clock wait for the collectors that were there when the process before this one took its last
// message: they may have to connect again.
func (n *Consumer) awaitCollectors(nowNs int64) {
	n.clock.Lock()
	defer n.clock.Unlock()
	for _, c := range n.collectors {
		if c.seenNs == 0 {
			c.seenNs = nowNs + int64(longestBehind-aliveFor)
		}
	}
}

// take accepts a message of the stream.
func (n *Consumer) take(sequence, behind uint64, content []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sequence, n.pending = sequence, behind
	n.accept(&received{sequence: sequence, content: content, holder: -1})
	n.catchUp()
	n.drain(n.now())
}

// takeFromHolders accepts what holders say until ctx is done or something is in the way.
func (n *Consumer) takeFromHolders(ctx context.Context, stream string) error {
	from := func(partition uint16) uint64 {
		n.mu.Lock()
		defer n.mu.Unlock()
		return n.taken(partition) + 1
	}
	return n.config.Holders.Read(ctx, stream, from, func(holder int, id, sequence, behind uint64, head []byte) {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.sequence, n.pendingAt[holder], n.pending = max(n.sequence, sequence), behind, 0
		for _, behind := range n.pendingAt {
			n.pending += behind
		}
		if len(head) > 0 {
			n.accept(&received{sequence, head, holder, id})
		}
		n.catchUp()
		n.drain(n.now())
	})
}

// taken returns the sequence of the message up to which all of a partition were taken. The Consumer is locked.
func (n *Consumer) taken(partition uint16) uint64 {
	if sequence, ok := n.sequences[partition]; ok {
		return sequence
	}
	return n.base
}

// letGo says that nobody will ask for datagrams of a message.
func (n *Consumer) letGo(holder int, id uint64) {
	if holder >= 0 {
		n.config.Holders.LetGo(holder, id)
	}
}

// catchUp notes whether everything was taken that was in the stream at the start.
func (n *Consumer) catchUp() {
	if n.pending > 0 {
		return
	}
	n.clock.Lock()
	defer n.clock.Unlock()
	n.caughtUp = true
}

// accept queues a message if it is the next of its key, holds it if others are missing before it, and drops it if
// it was delivered. The Consumer is locked.
func (n *Consumer) accept(r *received) {
	h, _, err := DecodeHeader(r.content)
	if err == nil && isHead(r.content) != (r.holder >= 0) {
		err = ErrNotAMessage
	}
	if err != nil {
		n.damaged++
		n.config.Log.Error("a message of the bus cannot be read; the collector sends it again if it is one",
			"error", err, "sequence", r.sequence)
		n.letGo(r.holder, r.id)
		return
	}
	if n.sequences != nil {
		n.sequences[h.Partition] = max(n.taken(h.Partition), r.sequence)
	}
	key := h.Key()
	at := n.keys[key]
	if at == nil {
		if len(n.keys) >= maxKeys {
			n.forgetOldest()
		}
		at = &keyState{KeyPosition: KeyPosition{Key: key}}
		n.keys[key] = at
	}
	switch {
	case h.Number <= at.accepted:
		n.duplicates++
		n.letGo(r.holder, r.id)
	case h.Number > at.accepted+1:
		if at.waiting == nil {
			at.waiting, at.sinceNs = map[uint64]*received{}, n.now()
		}
		if _, has := at.waiting[h.Number]; has {
			n.duplicates++
			n.letGo(r.holder, r.id)
		} else {
			r.content = slices.Clone(r.content)
			at.waiting[h.Number] = r
			n.held++
			n.heldBytes += len(r.content)
		}
		if n.held > maxHeld || n.heldBytes > maxHeldBytes {
			n.skip(at)
		}
	default:
		n.queue(at, r)
		n.release(at)
	}
}

// hear notes what a message says of its collector.
func (n *Consumer) hear(at *keyState, h *Header) {
	c := at.of
	at.SeenNs = n.now()
	n.clock.Lock()
	defer n.clock.Unlock()
	c.seenNs = at.SeenNs
	if h.Run >= c.run {
		if h.Run > c.run {
			c.Counters = Counters{} // they begin anew; what was before stays counted
		}
		if dropped := h.Counters.KernelDrops; dropped > c.KernelDrops {
			n.kernelDrops.Add(dropped - c.KernelDrops)
		}
		c.run, c.Counters = h.Run, h.Counters
	}
	if h.WholeNs > 0 {
		c.said = append(c.said, promise{h.Run, h.WholeNs, c.seenNs, h.Numbers})
	}
	n.keepPromises(h.Collector, c)
}

// collectorOf returns what is known of a collector.
func (n *Consumer) collectorOf(name string) *collectorState {
	n.clock.Lock()
	defer n.clock.Unlock()
	c := n.collectors[name]
	if c == nil {
		c = &collectorState{}
		n.collectors[name] = c
	}
	return c
}

// keepPromises moves the time of a collector on as far as all is there that arrived before it. The Consumer and the
// clock are locked.
func (n *Consumer) keepPromises(collector string, c *collectorState) {
	for len(c.said) > 0 && (len(c.said) > maxPromises || c.seenNs-c.said[0].seenNs > int64(missingFor) ||
		n.firstMissing(collector, &c.said[0]) < 0) {
		c.wholeNs, c.wholeSeenNs, c.kept = c.said[0].wholeNs, c.said[0].seenNs, true
		c.said = slices.Delete(c.said, 0, 1)
	}
}

// firstMissing returns the first partition of which messages are missing that a promise names; -1: all are there, or
// were given up.
func (n *Consumer) firstMissing(collector string, p *promise) int {
	for partition, number := range p.numbers {
		if number > n.accepted(Key{collector, p.run, uint16(partition)}) {
			return partition
		}
	}
	return -1
}

// accepted returns the number of the last message of a key up to which all were taken, or given up.
func (n *Consumer) accepted(key Key) uint64 {
	if at := n.keys[key]; at != nil {
		return at.accepted
	}
	return 0
}

// release queues what waited for the message that was queued.
func (n *Consumer) release(at *keyState) {
	for len(at.waiting) > 0 {
		next, has := at.waiting[at.accepted+1]
		if !has {
			at.sinceNs = n.now()
			return
		}
		delete(at.waiting, at.accepted+1)
		n.held--
		n.heldBytes -= len(next.content)
		n.queue(at, next)
	}
	at.waiting, at.sinceNs = nil, 0
}

// skip gives up what is missing before the first message that waits.
func (n *Consumer) skip(at *keyState) {
	first := slices.Min(slices.Collect(maps.Keys(at.waiting)))
	var taken uint64
	if last := len(at.queue) - 1; last >= 0 {
		taken = at.queue[last].Before + uint64(at.queue[last].Datagrams)
	} else { // a part of the first that is missing was delivered by the process before this one
		at.Datagrams, at.Part = at.Datagrams+at.Part, 0
		taken = at.Datagrams
	}
	h, _, _ := DecodeHeader(at.waiting[first].content)
	if at.accepted == 0 {
		// The collector has it confirmed, by an analyzer whose data are not here.
		n.config.Log.Warn("earlier messages of a collector were delivered to another analyzer",
			"collector", at.Collector, "partition", at.Partition, "messages", first-1, "datagrams", h.Before)
		at.Before, at.Datagrams = h.Before, h.Before
	} else {
		n.config.Log.Error("datagrams are lost: neither the bus nor the collector has them", "collector", at.Collector,
			"partition", at.Partition, "messages", first-at.accepted-1, "datagrams", h.Before-taken)
	}
	at.accepted = first - 1 // takeFrom counts what is lost
	n.release(at)
}

// expireMissing gives up what was missing for too long, and forgets keys of which nothing came for a day.
func (n *Consumer) expireMissing(nowNs int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for key, at := range n.keys {
		if at.sinceNs > 0 && nowNs-at.sinceNs > int64(missingFor) {
			n.skip(at)
		}
		if at.waiting == nil && len(at.queue) == 0 && nowNs-at.SeenNs > int64(forgetAfter) {
			delete(n.keys, key)
			delete(n.confirmed, key)
		}
	}
	n.drain(nowNs)
}

// forgetOldest makes room for a key.
func (n *Consumer) forgetOldest() {
	var oldest *keyState
	for _, at := range n.keys {
		if at.waiting == nil && len(at.queue) == 0 && (oldest == nil || at.SeenNs < oldest.SeenNs) {
			oldest = at
		}
	}
	if oldest != nil {
		delete(n.keys, oldest.Key)
		delete(n.confirmed, oldest.Key)
	}
}

// Hold calls f between two messages, with what was delivered.
func (n *Consumer) Hold(f func(*Positions)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	f(n.positions())
}

// positions returns what was delivered. What waits is delivered again, or dropped, by the next analyzer. The Consumer
// is locked.
func (n *Consumer) positions() *Positions {
	p := &Positions{Stream: n.stream, Sequence: n.sequence, DeliveredNs: n.Delivered(n.now())}
	if n.sequences != nil {
		p.Sequence, p.Partitions = n.base, maps.Clone(n.sequences)
	}
	for key, at := range n.keys {
		for _, m := range at.waiting {
			p.before(key.Partition, m.sequence)
		}
		for _, m := range at.queue {
			p.before(key.Partition, m.sequence)
		}
		p.Keys = append(p.Keys, at.KeyPosition)
	}
	slices.SortFunc(p.Keys, func(a, b KeyPosition) int {
		return cmp.Or(cmp.Compare(a.Collector, b.Collector), cmp.Compare(a.Run, b.Run),
			cmp.Compare(a.Partition, b.Partition))
	})
	return p
}

// before says that a message was not delivered.
func (p *Positions) before(partition uint16, sequence uint64) {
	if p.Partitions == nil {
		p.Sequence = min(p.Sequence, sequence-1)
	} else {
		p.Partitions[partition] = min(p.Partitions[partition], sequence-1)
	}
}

// Confirm says that what was delivered up to p outlives a crash.
func (n *Consumer) Confirm(p *Positions) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, at := range p.Keys {
		n.confirmed[at.Key] = at.Number
	}
	if p.Stream == n.stream {
		n.purge = purgeable{p.Sequence, p.Partitions}
	}
}

// purgeable returns what the stream may forget.
func (n *Consumer) purgeable() purgeable {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.purge
}

// answer tells a collector what is confirmed, and what is missing.
func (n *Consumer) answer(collector string) []byte {
	n.mu.Lock()
	list := []Position{}
	for key, at := range n.keys {
		if key.Collector != collector {
			continue
		}
		p := Position{Run: key.Run, Partition: key.Partition, Confirmed: n.confirmed[key]}
		if at.waiting != nil {
			p.MissingFrom, p.MissingTo = at.accepted+1, slices.Min(slices.Collect(maps.Keys(at.waiting)))-1
		}
		list = append(list, p)
	}
	list = append(list, n.unheard(collector, n.now())...)
	n.mu.Unlock()
	content, _ := json.Marshal(list) // of numbers
	return content
}

// unheard lists messages that a collector named, and behind which nothing came that tells that they are missing: some,
// and not again soon, since they may be on their way. The Consumer is locked.
func (n *Consumer) unheard(collector string, nowNs int64) (list []Position) {
	n.clock.Lock()
	defer n.clock.Unlock()
	c := n.collectors[collector]
	late := int64(pollEvery) // in a stream, what is named comes first
	if n.sequences != nil {
		late = int64(unheardFor)
	}
	if c == nil || len(c.said) == 0 || nowNs-c.said[0].seenNs < late || nowNs-c.askedNs < int64(unheardFor) {
		return nil
	}
	promised := &c.said[0]
	for partition, number := range promised.numbers {
		key := Key{collector, promised.run, uint16(partition)}
		accepted := n.accepted(key)
		if at := n.keys[key]; number > accepted && (at == nil || at.waiting == nil) {
			c.askedNs = nowNs
			list = append(list, Position{
				Run: key.Run, Partition: key.Partition, Confirmed: n.confirmed[key],
				MissingFrom: accepted + 1, MissingTo: min(number, accepted+maxUnheard),
			})
		}
	}
	return list
}

// Delivered returns up to when all that arrived at collectors was delivered, nanoseconds since 1970; nowNs is now. It
// never goes back. At the start it follows what was in the stream already; after that it waits for the collector that
// is behind the most, but not for one of which nothing comes, and not for long: what such a collector sends later is
// late.
func (n *Consumer) Delivered(nowNs int64) int64 {
	n.clock.Lock()
	defer n.clock.Unlock()
	at := n.drainedNs
	if !n.isQueued {
		at = n.wholeOf(nowNs)
	}
	n.clockNs = max(n.clockNs, min(at, nowNs))
	return n.clockNs
}

// wholeOf returns up to when all that arrived at collectors was taken, or is late. The clock is locked.
func (n *Consumer) wholeOf(nowNs int64) int64 {
	at, latest := nowNs, int64(0)
	for _, c := range n.collectors {
		if latest = max(latest, c.whole()); nowNs-c.seenNs < int64(aliveFor) {
			at = min(at, c.whole())
		}
	}
	switch {
	case n.caughtUp:
		latest = nowNs
	case latest == 0 && n.clockNs > 0: // no collector is known
		return n.clockNs
	case latest == 0:
		return nowNs
	}
	return max(min(at, latest), latest-int64(longestBehind))
}

// KernelDrops returns how many datagrams the kernels dropped at all collectors, as far as these told since the Consumer
// was opened. It takes no lock: whoever holds the Consumer may wait for who asks.
func (n *Consumer) KernelDrops() uint64 { return n.kernelDrops.Load() }

// A CollectorState is what is known of a collector.
type CollectorState struct {
	Name       string
	Run        uint64
	SeenNs     int64  // when its last message came
	WholeNs    int64  // up to when all that arrived there was delivered
	Delivered  uint64 // datagrams, of all its lives that are remembered
	Lost       uint64 // datagrams in messages that were given up
	Missing    int    // messages that wait for others that are missing
	Counters   Counters
	Partitions []PartitionState // of the run that it is in, by number
}

// A PartitionState is what is known of a partition of a collector, since its run began.
type PartitionState struct {
	KeyPosition
	Confirmed uint64 // message up to which all outlive a crash
	Missing   int    // messages that wait for others that are missing
}

// Collectors returns what is known of the collectors, by name.
func (n *Consumer) Collectors() []CollectorState {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.clock.Lock()
	defer n.clock.Unlock()
	states := map[string]*CollectorState{}
	for key, at := range n.keys {
		s := states[at.Collector]
		if s == nil {
			s = &CollectorState{Name: at.Collector}
			states[at.Collector] = s
		}
		s.Delivered += at.Datagrams - at.Before - at.Lost + at.Part
		s.Lost += at.Lost
		s.Missing += len(at.waiting)
		s.SeenNs = max(s.SeenNs, at.SeenNs)
		if c := n.collectors[at.Collector]; c != nil {
			s.Run, s.WholeNs, s.Counters = c.run, c.whole(), c.Counters
			if key.Run == c.run {
				s.Partitions = append(s.Partitions, PartitionState{at.KeyPosition, n.confirmed[key], len(at.waiting)})
			}
		}
	}
	list := make([]CollectorState, 0, len(states))
	for _, name := range slices.Sorted(maps.Keys(states)) {
		s := states[name]
		slices.SortFunc(s.Partitions, func(a, b PartitionState) int { return cmp.Compare(a.Partition, b.Partition) })
		list = append(list, *s)
	}
	return list
}

// ConsumerStats are counters of a Consumer.
type ConsumerStats struct {
	Connected  bool
	Sequence   uint64 // in the stream, of the newest message that was delivered
	Pending    uint64 // messages in the stream behind it
	Duplicates uint64 // messages that came again
	Damaged    uint64 // messages that could not be read
	Held       int    // messages that wait for others that are missing
}

// Stats returns the counters as they are now.
func (n *Consumer) Stats() ConsumerStats {
	n.mu.Lock()
	defer n.mu.Unlock()
	return ConsumerStats{n.link.connected(), n.sequence, n.pending, n.duplicates, n.damaged, n.held}
}
