package tables

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"

	"github.com/waybill-int/waybill/bus"
	"github.com/waybill-int/waybill/collect"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// held are the messages that a shard has taken from the bus: it tells the analyzer what their datagrams say of their
// exporters, and keeps the datagrams until the analyzer has said in which order they are to be counted. They are read
// twice: reports take four times the memory of their datagram, and reading costs a tenth of what counting does.
type held struct {
	owner, of, partitions int
	most                  int // bytes of messages that are kept; beyond it, nothing is taken from the bus

	mu     sync.Mutex
	freed  *sync.Cond
	points *codepoint.Config // nil: the analyzer has not said what it has
	list   map[uint64]*heldMessage
	last   uint64         // number of the newest
	bytes  int            // of all of list
	free   []*heldMessage // whose memory goes round

	// Of the one connection by which heads are told.
	telling            sync.Mutex
	decoder            *telemetry.Decoder
	batch              telemetry.Batch
	header             telemetry.Header
	told, body, inHead []byte
}

type heldMessage struct {
	points    *codepoint.Config // by which it was read
	datagrams []bus.Datagram
	memory    []byte
	datagram  collect.Datagram // that was found last
}

// maxFree is of how many messages the memory goes round.
const maxFree = 16

func newHeld(h *hello, most int) *held {
	k := &held{owner: h.Index, of: h.Of, partitions: h.Partitions, most: most, list: map[uint64]*heldMessage{}}
	k.freed = sync.NewCond(&k.mu)
	return k
}

// use reads the next messages with other points.
func (k *held) use(points *codepoint.Config) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.points = points
	k.freed.Broadcast()
}

// find implements collect.Keeper.
func (k *held) find(message uint64, at int) (d *collect.Datagram, port uint16, points *codepoint.Config, ok bool) {
	k.mu.Lock()
	m := k.list[message]
	k.mu.Unlock()
	if m == nil || at >= len(m.datagrams) {
		return nil, 0, nil, false
	}
	from := &m.datagrams[at]
	m.datagram = collect.Datagram{Source: from.Source, Payload: from.Payload, Truncated: from.Truncated}
	return &m.datagram, from.Port, m.points, true
}

// letGo forgets a message.
func (k *held) letGo(message uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if m := k.list[message]; m != nil {
		k.forget(message, m)
		k.freed.Broadcast()
	}
}

func (k *held) forget(message uint64, m *heldMessage) {
	k.bytes -= len(m.memory)
	delete(k.list, message)
	if len(k.free) < maxFree {
		k.free = append(k.free, m)
	}
}

// newMessage returns what has room for a message.
func (k *held) newMessage() *heldMessage {
	k.mu.Lock()
	defer k.mu.Unlock()
	if last := len(k.free) - 1; last >= 0 {
		m := k.free[last]
		k.free = k.free[:last]
		return m
	}
	return &heldMessage{}
}

// letGoBehind forgets messages of which the analyzer was not told before a connection broke.
func (k *held) letGoBehind(told uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for message, m := range k.list {
		if message > told {
			k.forget(message, m)
		}
	}
}

// size returns how many bytes of messages are kept.
func (k *held) size() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.bytes
}

// await waits for room and for the points, until ctx is done.
func (k *held) await(ctx context.Context) (*codepoint.Config, error) {
	defer context.AfterFunc(ctx, func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.freed.Broadcast()
	})()
	k.mu.Lock()
	defer k.mu.Unlock()
	for k.bytes > k.most || k.points == nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		k.freed.Wait()
	}
	return k.points, nil
}

// keep takes a message, and returns by which number it is kept, and its head, which is valid until the next call.
// Nothing is kept of what cannot be read, and the analyzer finds out the same.
func (k *held) keep(content []byte, points *codepoint.Config) (message uint64, head []byte) {
	h, _, err := bus.DecodeHeader(content)
	if err != nil {
		return 0, content
	}
	m := k.newMessage()
	m.points = points
	if _, m.datagrams, m.memory, err = bus.Decode(content, m.memory, m.datagrams[:0]); err != nil {
		return 0, bus.AppendHead(nil, &h, nil)
	}
	if k.decoder == nil {
		k.decoder = telemetry.NewDecoder(points)
	}
	k.decoder.Use(points)
	k.body = k.body[:0]
	for i := range m.datagrams {
		d := m.datagrams[i]
		k.batch.Reset()
		k.decoder.Decode(d.Payload, d.Source, d.Port, &k.batch, &k.header)
		// What breaks rules, or has reports of others, the analyzer reads itself.
		if k.header.Outcome == telemetry.Decoded && !d.Truncated &&
			collect.IsOwned(k.batch.Reports, k.owner, k.partitions, k.of) {
			k.told = collect.AppendHeader(k.told[:0], &k.header)
			d.Kept.Is, d.Payload = true, k.told
		}
		k.body = bus.AppendDatagram(k.body, &d)
	}
	k.inHead = bus.AppendHead(k.inHead[:0], &h, k.body)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.last++
	k.list[k.last] = m
	k.bytes += len(m.memory)
	return k.last, k.inHead
}

// tellHeads takes messages from the bus and tells the analyzer of them, until that is gone.
func (s *Server) tellHeads(conn net.Conn, w *bufio.Writer, of *shard, h *hello) error {
	if s.config.Bus == nil {
		return errors.New("these tables have no bus")
	}
	k := of.held
	k.telling.Lock() // until the connection before it is over
	defer k.telling.Unlock()
	k.letGoBehind(h.Told)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() { // the analyzer says nothing more
		_, _ = io.Copy(io.Discard, conn)
		stop()
	}()
	var partitions []uint16
	for p := k.owner; p < bus.MaxPartitions; p += k.of { // collectors may have more than the analyzer
		partitions = append(partitions, uint16(p))
	}
	var head [headOf]byte
	return s.config.Bus.Read(ctx, h.Stream, h.From, partitions, func(sequence, behind uint64, content []byte) {
		points, err := k.await(ctx)
		if err != nil {
			return
		}
		s.taken.Add(uint64(len(content)))
		var message uint64
		var told []byte
		if len(content) > 0 {
			message, told = k.keep(content, points)
		}
		binary.BigEndian.PutUint64(head[:], message)
		binary.BigEndian.PutUint64(head[8:], sequence)
		binary.BigEndian.PutUint64(head[16:], behind)
		if writeFrame(w, done, head[:], told) != nil || w.Flush() != nil {
			stop()
		}
	})
}
