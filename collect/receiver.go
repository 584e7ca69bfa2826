package collect

import (
	"context"
	"net/netip"
	"sync/atomic"

	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// An Account takes note of every datagram, in the order of arrival. Reports of those that it calls Repeated reach no
// owner; the others carry their Account.
type Account interface {
	Observe(headers []telemetry.Header, nowNs int64) telemetry.Origin
}

// A Recorder keeps datagrams as they came.
type Recorder interface {
	// Record takes a copy of a payload that source sent and that arrived at nowNs; truncated: the datagram was longer.
	// It must not wait.
	Record(nowNs int64, source netip.AddrPort, payload []byte, truncated bool)
}

// A Decoder reads datagrams of another format, as telemetry.Decoder reads telemetry reports. One goroutine calls it.
type Decoder interface {
	Decode(payload []byte, src netip.AddrPort, dstPort uint16, batch *telemetry.Batch, h *telemetry.Header)
	Use(config *codepoint.Config)
}

// A Receiver takes datagrams from a socket, or from whoever calls Receive, decodes each once, accounts for it and
// hands its reports to the owners of their flows. All datagrams of an exporter come to the same receiver (see
// Config.Sockets), so that its account needs no lock that another receiver takes.
type Receiver struct {
	reader
	decoder Decoder
	account Account
	owners  []Dispatcher
	raw     Recorder // nil: datagrams are not kept

	settings atomic.Pointer[Settings]
	using    *Settings // those of the batch at hand
	gate     *gate     // of using; nil: everybody may send reports

	headers    []telemetry.Header
	scratch    telemetry.Batch
	filling    []*telemetry.Batch // one for each owner, while a batch of datagrams is distributed
	places     []int              // of datagrams that were not refused, in the batch at hand
	relays     []Relay            // owners in other processes, instead of owners
	relayed    []relayed          // one for each of them
	partitions int                // of which each of them owns some
	dialects   map[string]string  // of datagrams that they keep

	received, decoded, damaged, malformed atomic.Uint64
	reasons                               [wire.NumErrors]atomic.Uint64
	refused                               refusals
}

// Settings say how datagrams are read, and who may send them. They must not change: Use replaces them.
type Settings struct {
	Points    *codepoint.Config // compiled
	AllowList *AllowList        // nil: everybody may send reports; otherwise those of others are refused
}

// NewReceiver returns a receiver for socket; Run starts it. Without a socket there is nothing to run, and who calls
// Receive gives it datagrams. A flow belongs to the owner that FlowKey.ShardOf says.
func NewReceiver(socket *Socket, settings *Settings, account Account, owners []Dispatcher) *Receiver {
	r := &Receiver{
		reader: reader{socket: socket}, decoder: telemetry.NewDecoder(settings.Points), account: account,
		owners:  owners,
		headers: make([]telemetry.Header, DefaultBatchSize),
		filling: make([]*telemetry.Batch, len(owners)),
	}
	r.Use(settings)
	return r
}

// Use replaces the settings, from the next batch of datagrams on. It may be called from any goroutine.
func (r *Receiver) Use(settings *Settings) { r.settings.Store(settings) }

// apply begins to use settings.
func (r *Receiver) apply(settings *Settings) {
	r.using, r.gate = settings, nil
	r.decoder.Use(settings.Points)
	if settings.AllowList != nil {
		r.gate = &gate{permits: settings.AllowList}
	}
}

// Read has r read datagrams of another format than telemetry reports. It must be called before Run.
func (r *Receiver) Read(decoder Decoder) { r.decoder = decoder }

// Keep gives every datagram that is not refused to raw. It must be called before Run.
func (r *Receiver) Keep(raw Recorder) { r.raw = raw }

// Run receives until ctx is done, then takes what the kernel still holds. It closes the socket.
func (r *Receiver) Run(ctx context.Context) error { return r.run(ctx, r.Receive) }

// Receive decodes datagrams that arrived on a port at nowNs, nanoseconds since 1970, and passes them on. Nothing of
// them is kept. One goroutine may call it.
func (r *Receiver) Receive(list []Datagram, port uint16, nowNs int64) {
	for len(list) > 0 {
		n := min(len(list), len(r.headers))
		r.take(list[:n], port, nowNs)
		list = list[n:]
	}
}

func (r *Receiver) take(list []Datagram, port uint16, nowNs int64) {
	if settings := r.settings.Load(); settings != r.using {
		r.apply(settings)
	}
	one := len(r.owners) == 1
	into := &r.scratch
	if one {
		into = r.owners[0].take()
	} else {
		into.Reset()
	}
	var damaged, malformed uint64
	kept := 0 // headers of datagrams that were not refused
	r.places = r.places[:0]
	for i := range list {
		d := &list[i]
		h := &r.headers[kept]
		if r.gate == nil {
			r.decode(d, port, into, h)
		} else if !r.decodeAllowed(d, port, into, h, nowNs) {
			continue
		}
		if r.raw != nil {
			r.raw.Record(nowNs, d.Source, d.Payload, d.Truncated)
		}
		h.Collector = d.Collector
		r.places = append(r.places, i)
		kept++
		switch h.Outcome {
		case telemetry.Damaged:
			damaged++
			r.reasons[h.Reason].Add(1)
		case telemetry.Malformed:
			malformed++
			r.reasons[h.Reason].Add(1)
		}
	}
	r.decoded.Add(uint64(kept) - damaged - malformed)
	r.damaged.Add(damaged)
	r.malformed.Add(malformed)
	origin := r.account.Observe(r.headers[:kept], nowNs)
	switch {
	case r.relays != nil:
		r.relay(list, into, origin, port, nowNs)
	case one:
		into.Attribute(origin, r.headers[:kept])
		r.owners[0].put(into, nowNs)
	default:
		into.Attribute(origin, r.headers[:kept])
		r.distribute(into, nowNs)
	}
	r.received.Add(uint64(len(list))) // behind their outcomes, see Stats
}

// decode reads a datagram, or what is said of one that is kept elsewhere.
func (r *Receiver) decode(d *Datagram, port uint16, into *telemetry.Batch, h *telemetry.Header) {
	if d.Kept.Is && readHeader(d.Payload, d.Source.Addr(), r.dialects, h) {
		return
	}
	d.Kept.Is = false
	r.decoder.Decode(d.Payload, d.Source, port, into, h)
}

// decodeAllowed decodes d as the decoder does, unless its source may not send it; then nothing of it is left in into,
// and its exporter's account does not see it.
func (r *Receiver) decodeAllowed(
	d *Datagram, port uint16, into *telemetry.Batch, h *telemetry.Header, nowNs int64,
) bool {
	source := d.Source.Addr()
	permit := r.gate.find(source)
	if permit == nil {
		r.refused.add(source, nil, nil, nowNs)
		return false
	}
	before, counters := len(into.Reports), len(into.Counters)
	r.decode(d, port, into, h)
	if !permit.allows(h) {
		into.Reports, into.Counters = into.Reports[:before], into.Counters[:counters]
		r.refused.add(source, permit, h, nowNs)
		return false
	}
	return true
}

// distribute copies each report into a batch for the owner of its flow. What has no flow is the first owner's.
func (r *Receiver) distribute(b *telemetry.Batch, nowNs int64) {
	for i := range b.Reports {
		report := &b.Reports[i]
		owner := PartitionOf(report, len(r.owners))
		to := r.filling[owner]
		if to == nil {
			to = r.fill(owner, b)
		}
		to.Add(report)
	}
	if len(b.Counters) > 0 {
		to := r.filling[0]
		if to == nil {
			to = r.fill(0, b)
		}
		to.Counters = append(to.Counters, b.Counters...)
	}
	for owner, to := range r.filling {
		if to != nil {
			r.owners[owner].put(to, nowNs)
			r.filling[owner] = nil
		}
	}
}

// fill begins a batch for an owner, with what of b is its own.
func (r *Receiver) fill(owner int, b *telemetry.Batch) *telemetry.Batch {
	to := r.owners[owner].take()
	to.Origin = b.Origin
	r.filling[owner] = to
	return to
}

// Stats are the counters of a receiver. Every datagram that it received has one outcome:
// Received = Decoded + Damaged + Malformed + Refused. While a batch is counted its outcomes are there before Received
// has it, and so is what the tables of a single worker know by it.
type Stats struct {
	Address                     string // of the socket
	ReceiveBufferWanted         int    // bytes that were asked for
	ReceiveBuffer               int    // bytes that the kernel granted
	Received                    uint64
	KernelDrops                 uint64 // datagrams for which the receive buffer had no room
	Decoded, Damaged, Malformed uint64
	Refused                     uint64            // because of who sent them, see Settings.AllowList
	RefusedUnlisted             uint64            // of these, datagrams of sources that are not in Receiver.Refused
	Reasons                     map[string]uint64 // of damaged and malformed datagrams, by error code
}

// Stats returns the counters as they are now. It may be called from any goroutine.
func (r *Receiver) Stats() Stats {
	// Received first
	s := Stats{Received: r.received.Load(), Reasons: map[string]uint64{}}
	s.Decoded, s.Damaged, s.Malformed = r.decoded.Load(), r.damaged.Load(), r.malformed.Load()
	s.Refused, s.RefusedUnlisted = r.refused.counts()
	if r.socket != nil {
		s.Address = r.socket.String()
		s.ReceiveBufferWanted, s.ReceiveBuffer = r.socket.ReceiveBuffer()
		if drops, err := r.socket.Drops(); err == nil {
			s.KernelDrops = drops
		}
	}
	for reason := range r.reasons {
		if n := r.reasons[reason].Load(); n > 0 {
			s.Reasons[wire.Error(reason).Error()] = n
		}
	}
	return s
}
