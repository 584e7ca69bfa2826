package tables

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/collect"
	"github.com/waybill-int/waybill/internal/flat"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// A Config says where servers are.
type Config struct {
	Addresses []string    // HOST:PORT
	TLS       *tls.Config // nil: connections are in the clear
	Version   string
	Points    *codepoint.Config // compiled
	// Partitions are those of the bus, which the shards have in turn. Direct says that servers may take messages from
	// the bus themselves.
	Partitions int
	Direct     bool
	// Delivered returns up to when all that arrived was handed over, at nowNs, see analyze.Shard.
	Delivered func(nowNs int64) int64
	Log       *slog.Logger
}

// An Analyzer asks the shards of servers.
type Analyzer struct {
	config  Config
	id      uint64
	owners  []*owner
	remotes []*analyze.Remote // of them
	gone    chan error        // one error, when a server is gone
	// partitions are how many parts of the flows the shards have in turn; direct: all servers take them from the bus.
	partitions int
	direct     bool
}

// An owner is a shard of a server.
type owner struct {
	analyzer *Analyzer
	address  string
	slot     int
	index    int
	inOrder  *link
	asking   chan struct{} // one for each link that may ask beside it

	mu   sync.Mutex
	idle []*link

	relayed atomic.Uint64 // bytes of datagrams
	told    atomic.Uint64 // number of the latest message of which it told
}

const (
	// window is how many frames may be on their way to a shard: then who relays waits.
	window = 256
	// mostAsking is how many questions a shard is asked at a time.
	mostAsking = 8
	// silentFor is how long an answer may take to what comes in order, which the server does at once. Behind that it is
	// taken for gone. A question beside it may be about all flows.
	silentFor, thinksFor = 20 * time.Second, 5 * time.Minute
	// flushAfter is how long datagrams may wait for others to be sent with them.
	flushAfter = time.Millisecond
	// againAfter is how often a server is tried that is not there at the start.
	againAfter = time.Second
)

// Open connects to all servers, each of which gets an empty set of tables. It waits for those that are not there yet.
func Open(ctx context.Context, c Config) (*Analyzer, error) {
	for {
		a, err := open(ctx, c)
		if err == nil || isRefused(err) || ctx.Err() != nil {
			return a, err
		}
		c.Log.Warn("lost a table server while connecting; retrying", "error", err)
	}
}

// Check returns an error if one of the servers does not answer. What has tables of theirs goes on.
func Check(c Config) error {
	a := &Analyzer{config: c}
	for _, address := range c.Addresses {
		l, _, err := a.greet(address, &hello{})
		if err != nil {
			return err
		}
		l.conn.Close()
	}
	return nil
}

// open connects to all servers, when all of them are there. It is an error if one of them is gone then.
func open(ctx context.Context, c Config) (*Analyzer, error) {
	a := &Analyzer{config: c, id: rand.Uint64() | 1, gone: make(chan error, 1), direct: c.Direct}
	for _, address := range c.Addresses {
		w, err := a.await(ctx, address)
		if err != nil {
			return nil, err
		}
		a.direct = a.direct && w.Bus
		for slot := range w.Shards {
			o := &owner{
				analyzer: a, address: address, slot: slot, index: len(a.owners),
				asking: make(chan struct{}, mostAsking),
			}
			a.owners = append(a.owners, o)
			a.remotes = append(a.remotes, &analyze.Remote{Transport: o, Delivered: c.Delivered})
		}
	}
	if a.direct && len(a.owners) > c.Partitions {
		a.direct = false
		c.Log.Warn("datagrams are relayed to the tables: there are more of them than partitions of the bus", "tables",
			len(a.owners), "partitions", c.Partitions, "help", "bus.partitions of all collectors and of the analyzer")
	}
	if a.partitions = len(a.owners); a.direct {
		a.partitions = c.Partitions
	}
	for _, o := range a.owners {
		var err error
		if o.inOrder, err = o.dial(true); err != nil {
			a.Close()
			return nil, err
		}
	}
	a.Use(c.Points)
	return a, nil
}

// Partitions returns how many there are, see Config.
func (a *Analyzer) Partitions() int { return a.partitions }

// Direct reports whether the servers take messages from the bus. Otherwise datagrams have to be relayed to them.
func (a *Analyzer) Direct() bool { return a.direct }

// await returns what a server says of itself, when it is there.
func (a *Analyzer) await(ctx context.Context, address string) (w welcome, err error) {
	for told := false; ; {
		l, w, err := a.greet(address, &hello{})
		if err == nil {
			l.conn.Close()
			return w, nil
		}
		if isRefused(err) {
			return w, err
		}
		if !told {
			told = true
			a.config.Log.Warn("waiting for a table server", "address", address, "error", err)
		}
		select {
		case <-time.After(againAfter):
		case <-ctx.Done():
			return w, context.Cause(ctx)
		}
	}
}

// A refusal is what a server says that wants no such analyzer.
type refusal struct{ address, why string }

func (r *refusal) Error() string { return fmt.Sprintf("table server %s: %s", r.address, r.why) }

func isRefused(err error) bool {
	var r *refusal
	return errors.As(err, &r)
}

// greet opens a connection, without anybody who reads its answers.
func (a *Analyzer) greet(address string, h *hello) (l *link, w welcome, err error) {
	h.Magic, h.Types, h.Version = magic, analyze.Questions.Types(), a.config.Version
	dialer := &net.Dialer{Timeout: 5 * time.Second, KeepAliveConfig: net.KeepAliveConfig{
		Enable: true, Idle: 5 * time.Second, Interval: 5 * time.Second, Count: 3,
	}}
	var conn net.Conn
	if a.config.TLS != nil {
		conn, err = tls.DialWithDialer(dialer, "tcp", address, a.config.TLS)
	} else {
		conn, err = dialer.Dial("tcp", address)
	}
	if err != nil {
		return nil, w, fmt.Errorf("table server %s: %w", address, err)
	}
	l = &link{
		conn: conn, r: bufio.NewReaderSize(conn, 1<<16), w: bufio.NewWriterSize(conn, 1<<16),
		waiting: make(chan pending, window), stopped: make(chan struct{}),
	}
	_ = conn.SetDeadline(time.Now().Add(greetingTakes))
	if err = writeFrame(l.w, byte(kindHello), flat.Append(nil, h)); err == nil {
		err = l.w.Flush()
	}
	var buf bytes.Buffer
	var outcome byte
	var content []byte
	if err == nil {
		outcome, content, err = readFrame(l.r, &buf, 4096)
	}
	if err == nil && outcome != done {
		err = &refusal{address, string(content)}
	}
	if err == nil {
		_, err = flat.Read(content, &w)
	}
	if err != nil {
		conn.Close()
		return nil, w, fmt.Errorf("table server %s: %w", address, err)
	}
	_ = conn.SetDeadline(time.Time{})
	return l, w, nil
}

// dial opens a connection to the shard.
func (o *owner) dial(inOrder bool) (*link, error) {
	a := o.analyzer
	h := o.hello()
	h.InOrder = inOrder
	l, _, err := a.greet(o.address, h)
	if err != nil {
		return nil, err
	}
	l.fail = func(err error) { a.fail(fmt.Errorf("table server %s: %w", o.address, err)) }
	if l.patience = thinksFor; inOrder {
		l.patience = silentFor
	}
	go l.read()
	return l, nil
}

// hello returns what a connection to the shard begins with.
func (o *owner) hello() *hello {
	a := o.analyzer
	return &hello{
		Session: a.id, Slot: o.slot, Index: o.index, Of: len(a.owners), Partitions: a.Partitions(),
	}
}

// Owners returns what stands for the shards.
func (a *Analyzer) Owners() (list []analyze.Owner) {
	for _, r := range a.remotes {
		list = append(list, r)
	}
	return list
}

// Relays returns what takes the datagrams of the shards, in the same order.
func (a *Analyzer) Relays() (list []collect.Relay) {
	for _, o := range a.owners {
		list = append(list, o)
	}
	return list
}

// Gone has an error when a server is gone. After that, who relays or asks waits for ever: nobody may go on with a part
// of the answers.
func (a *Analyzer) Gone() <-chan error { return a.gone }

func (a *Analyzer) fail(err error) {
	select {
	case a.gone <- err:
	default: // it is known
	}
}

// Close closes all connections. Nobody may relay or ask any more.
func (a *Analyzer) Close() {
	for _, o := range a.owners {
		if o.inOrder != nil {
			o.inOrder.close()
		}
		o.mu.Lock()
		for _, l := range o.idle {
			l.close()
		}
		o.mu.Unlock()
	}
}

// Use has servers read datagrams with other points from now on.
func (a *Analyzer) Use(c *codepoint.Config) {
	b := flat.Append(nil, pointsOf(c))
	for _, o := range a.owners {
		o.inOrder.send(kindPoints, nil, nil, b)
	}
}

// Run tells the time to the shards until ctx is done.
func (a *Analyzer) Run(ctx context.Context) {
	var ticking sync.WaitGroup
	for _, o := range a.remotes {
		ticking.Go(func() {
			ticker := time.NewTicker(100 * time.Millisecond)
			defer ticker.Stop()
			for {
				select {
				case <-ticker.C: // maybe a while ago
					o.Tick(time.Now().UnixNano())
				case <-ctx.Done():
					return
				}
			}
		})
	}
	ticking.Wait()
}

// A ServerState is what is known of a server.
type ServerState struct {
	Address string
	Shards  int
	Relayed uint64 // bytes of datagrams, since the start
	analyze.Counters
	Partitions []int // of the bus, that it takes; empty: datagrams are relayed to it
}

// Servers returns what is known of all servers.
func (a *Analyzer) Servers() (list []ServerState) {
	for first := 0; first < len(a.owners); {
		s := ServerState{Address: a.owners[first].address}
		var c analyze.Collector
		for i := first; i < len(a.owners) && a.owners[i].address == s.Address; i++ {
			s.Shards++
			s.Relayed += a.owners[i].relayed.Load()
			c.Owners = append(c.Owners, a.remotes[i])
			for p := i; a.direct && p < a.partitions; p += len(a.owners) {
				s.Partitions = append(s.Partitions, p)
			}
		}
		slices.Sort(s.Partitions)
		s.Counters = c.Counters()
		list = append(list, s)
		first += s.Shards
	}
	return list
}

// Relay implements collect.Relay.
func (o *owner) Relay(datagrams []byte, origin telemetry.Origin, nowNs int64) {
	var head [headBytes]byte
	o.relayed.Add(uint64(len(datagrams)))
	o.inOrder.send(kindDatagrams, nil, nil, appendHead(head[:0], &origin, nowNs), datagrams)
}

// Ask implements ask.Transport.
func (o *owner) Ask(question string, inOrder bool, args []byte, read func(answer []byte) error) {
	answered := make(chan struct{})
	name := flat.Append(nil, &question)
	if inOrder {
		o.inOrder.send(kindQuestion, read, answered, name, args)
		<-answered
		return
	}
	o.asking <- struct{}{}
	l := o.takeLink()
	l.send(kindQuestion, read, answered, name, args)
	<-answered
	o.mu.Lock()
	o.idle = append(o.idle, l)
	o.mu.Unlock()
	<-o.asking
}

// takeLink returns a link that nobody asks by. If there can be none, the server is gone.
func (o *owner) takeLink() *link {
	o.mu.Lock()
	if n := len(o.idle); n > 0 {
		l := o.idle[n-1]
		o.idle = o.idle[:n-1]
		o.mu.Unlock()
		return l
	}
	o.mu.Unlock()
	l, err := o.dial(false)
	if err != nil {
		o.analyzer.fail(err)
		select {}
	}
	return l
}

// A link is a connection to a shard, with what waits for its answer.
type link struct {
	conn     net.Conn
	r        *bufio.Reader
	fail     func(error)
	patience time.Duration

	mu       sync.Mutex // of w
	w        *bufio.Writer
	flushing bool // w is flushed soon
	waiting  chan pending
	stopped  chan struct{} // closed when nobody asks any more
}

// A pending is a frame whose answer has not come. Who waits for it is told by closing answered.
type pending struct {
	read     func([]byte) error // nil: there is nothing to read
	answered chan struct{}      // nil: nobody waits
}

// send sends a frame: at once if somebody waits for the answer, or else with those that come within flushAfter. It
// waits while too many are on their way, and for ever when the server is gone.
func (l *link) send(k kind, read func([]byte) error, answered chan struct{}, parts ...[]byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case l.waiting <- pending{read, answered}:
	default:
		l.flush() // what is answered makes room
		l.waiting <- pending{read, answered}
	}
	if err := writeFrame(l.w, byte(k), parts...); err != nil {
		l.broken(err)
	}
	switch {
	case answered != nil:
		l.flush()
	case !l.flushing:
		l.flushing = true
		time.AfterFunc(flushAfter, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.flushing = false
			l.flush()
		})
	}
}

// flush sends what was written. The link is locked.
func (l *link) flush() {
	if err := l.w.Flush(); err != nil {
		l.broken(err)
	}
}

// read reads answers until the connection is closed.
func (l *link) read() {
	var buf bytes.Buffer
	for {
		var p pending
		select {
		case p = <-l.waiting:
		case <-l.stopped:
			return
		}
		_ = l.conn.SetReadDeadline(time.Now().Add(l.patience))
		outcome, content, err := readFrame(l.r, &buf, maxAnswer)
		switch {
		case err != nil:
		case outcome != done:
			err = errors.New(string(content))
		case p.read != nil:
			err = p.read(content)
		}
		if err != nil {
			l.broken(err)
			return // the next ones wait for ever
		}
		if p.answered != nil {
			close(p.answered)
		}
		if buf.Cap() > maxKept {
			buf = bytes.Buffer{}
		}
	}
}

// broken says that there is nothing more to expect.
func (l *link) broken(err error) {
	select {
	case <-l.stopped:
	default:
		l.fail(err)
	}
	l.conn.Close()
}

func (l *link) close() {
	close(l.stopped)
	l.conn.Close()
}
