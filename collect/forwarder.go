package collect

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// A Forwarder reads datagrams from one socket and gives them to somebody who passes them on, divided by the flows of
// their reports. Of the allow-list it knows the sources only: what nodes a source may report of is looked at where
// datagrams are accounted for.
type Forwarder struct {
	reader
	gate       *gate // nil: everybody may send reports
	partitions int
	decoder    *telemetry.Decoder
	batch      telemetry.Batch
	header     telemetry.Header
	lastNs     int64 // when the latest datagram arrived
	forward    Forward

	received, refused, unsent atomic.Uint64
}

// A Forward takes a copy of a datagram of a partition, see PartitionOf, that arrived on a port at atNs, nanoseconds
// since 1970. It may wait until ctx is done; an error says that the datagram is lost.
type Forward func(ctx context.Context, d *Datagram, partition int, port uint16, atNs int64) error

// NewForwarder returns a Forwarder for socket; Run starts it. There are so many partitions. Of the settings, the
// AllowList is nil if everybody may send reports.
func NewForwarder(socket *Socket, settings *Settings, partitions int, forward Forward) *Forwarder {
	f := &Forwarder{
		reader: reader{socket: socket}, partitions: partitions, decoder: telemetry.NewDecoder(settings.Points),
		forward: forward,
	}
	if settings.AllowList != nil {
		f.gate = &gate{permits: settings.AllowList}
	}
	return f
}

// Run forwards until ctx is done, then takes what the kernel still holds. It closes the socket.
func (f *Forwarder) Run(ctx context.Context) error {
	return f.run(ctx, func(list []Datagram, port uint16, nowNs int64) {
		for i := range list {
			d := &list[i]
			if f.gate != nil && f.gate.find(d.Source.Addr()) == nil {
				f.refused.Add(1)
			} else if f.forward(ctx, d, f.partitionOf(d, port), port, f.arrived(d, nowNs)) != nil {
				f.unsent.Add(1)
			}
		}
		f.received.Add(uint64(len(list)))
	})
}

// partitionOf returns that of the first report in a datagram that has one. What has no flow stays with what its source
// sent.
func (f *Forwarder) partitionOf(d *Datagram, port uint16) int {
	f.batch.Reset()
	f.decoder.Decode(d.Payload, d.Source, port, &f.batch, &f.header)
	for i := range f.batch.Reports {
		if r := &f.batch.Reports[i]; r.Is(telemetry.HasFlow) {
			return PartitionOf(r, f.partitions)
		}
	}
	return SocketOf(d.Source.Addr(), f.partitions)
}

// arrived returns when a datagram arrived: no two at the same moment, so that those of an exporter can be put in their
// order again whatever partitions they are in. A clock that was set back is followed.
func (f *Forwarder) arrived(d *Datagram, nowNs int64) int64 {
	atNs := nowNs
	if d.ArrivedNs > 0 {
		atNs = min(d.ArrivedNs, nowNs)
	}
	if behind := f.lastNs - atNs; behind >= 0 && behind < int64(time.Second) {
		atNs = f.lastNs + 1
	}
	f.lastNs = atNs
	return atNs
}

// ForwarderStats are the counters of a Forwarder: Received = forwarded + Refused + Unsent.
type ForwarderStats struct {
	Address     string // HOST:PORT
	Received    uint64 // datagrams
	KernelDrops uint64 // datagrams for which the receive buffer had no room
	Refused     uint64 // because of who sent them
	Unsent      uint64 // that nobody took: at the end, if there was no room
}

// Stats returns the counters as they are now. It may be called from any goroutine.
func (f *Forwarder) Stats() ForwarderStats {
	s := ForwarderStats{
		Address: f.socket.String(), Received: f.received.Load(), Refused: f.refused.Load(),
		Unsent: f.unsent.Load(),
	}
	if drops, err := f.socket.Drops(); err == nil {
		s.KernelDrops = drops
	}
	return s
}
