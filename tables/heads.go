package tables

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/waybill-int/waybill/bus"
)

// Len implements bus.Holders.
func (a *Analyzer) Len() int { return len(a.owners) }

// OwnerOf returns the address of the server that takes a partition, where Direct.
func (a *Analyzer) OwnerOf(partition uint16) string {
	return a.owners[int(partition)%len(a.owners)].address
}

// LetGo implements bus.Holders.
func (a *Analyzer) LetGo(holder int, message uint64) {
	if message > 0 { // else it was not kept
		a.owners[holder].inOrder.send(kindLetGo, nil, nil, binary.BigEndian.AppendUint64(nil, message))
	}
}

// Read implements bus.Holders: shards tell by a connection each what they take.
func (a *Analyzer) Read(
	ctx context.Context, stream string, from func(partition uint16) uint64,
	take func(holder int, message, sequence, behind uint64, head []byte),
) error {
	reading, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var all sync.WaitGroup
	for _, o := range a.owners {
		first := from(uint16(o.index))
		for p := o.index; p < bus.MaxPartitions; p += len(a.owners) {
			first = min(first, from(uint16(p)))
		}
		all.Go(func() { stop(o.readHeads(reading, stream, first, take)) })
	}
	all.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return context.Cause(reading)
}

// readHeads gives take what the shard tells, until ctx is done or something is in the way.
func (o *owner) readHeads(
	ctx context.Context, stream string, from uint64,
	take func(holder int, message, sequence, behind uint64, head []byte),
) error {
	h := o.hello()
	h.Stream, h.From, h.Told = stream, from, o.told.Load()
	l, _, err := o.analyzer.greet(o.address, h)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { l.conn.Close() })()
	defer l.conn.Close()
	var buf bytes.Buffer
	for {
		outcome, content, err := readFrame(l.r, &buf, maxFrame)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return fmt.Errorf("table server %s: %w", o.address, err)
		case outcome != done:
			return &refusal{o.address, string(content)}
		case len(content) < headOf:
			return fmt.Errorf("table server %s: %w", o.address, bus.ErrMalformed)
		}
		message := binary.BigEndian.Uint64(content)
		o.told.Store(max(message, o.told.Load()))
		take(o.index, message, binary.BigEndian.Uint64(content[8:]), binary.BigEndian.Uint64(content[16:]),
			content[headOf:])
	}
}
