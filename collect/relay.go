package collect

import (
	"encoding/binary"
	"errors"
	"net/netip"

	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// A Relay takes datagrams for an owner of flows that is in another process. What it is given is valid until it returns.
type Relay interface {
	Relay(datagrams []byte, origin telemetry.Origin, nowNs int64)
}

// RelayTo has r give datagrams to owners in other processes, and reports to nobody here. A datagram goes to each of
// them that owns a flow of one of its reports. It must be called before Run.
func (r *Receiver) RelayTo(list []Relay) {
	r.relays, r.relayed = list, make([]relayed, len(list))
}

// relayed is what of a batch goes to an owner.
type relayed struct {
	datagrams []byte
	latest    int // datagram among them, from 1
}

// relay gives the datagrams of a batch, which has their reports, to their owners. places are those of datagrams in list
// by their headers.
func (r *Receiver) relay(list []Datagram, places []int, b *telemetry.Batch, port uint16, nowNs int64) {
	next := 0
	for i, place := range places {
		h := &r.headers[i]
		if h.Repeated {
			continue
		}
		for range h.Reports {
			report := &b.Reports[next]
			next++
			to := &r.relayed[ownerOf(report, len(r.relays))]
			if to.latest != i+1 {
				to.latest = i + 1
				to.datagrams = appendRelayed(to.datagrams, &list[place], port, h.Account)
			}
		}
	}
	for i := range r.relayed {
		if to := &r.relayed[i]; to.latest > 0 {
			r.relays[i].Relay(to.datagrams, b.Origin, nowNs)
			*to = relayed{datagrams: to.datagrams[:0]}
		}
	}
}

// PartitionOf returns the partition of a report, of so many: that of its flow. What has no flow is in the first.
func PartitionOf(r *telemetry.Report, partitions int) int { return ownerOf(r, partitions) }

// ownerOf returns the owner of a report, of so many. What has no flow is the first one's.
func ownerOf(r *telemetry.Report, owners int) int {
	if !r.Is(telemetry.HasFlow) {
		return 0
	}
	return r.Flow.ShardOf(owners)
}

// relayedHead is what stands before the payload of a datagram that is relayed: source address and port, port here,
// account and length.
const relayedHead = 16 + 2 + 2 + 4 + 2

func appendRelayed(b []byte, d *Datagram, port uint16, account uint32) []byte {
	source := d.Source.Addr().As16()
	b = append(b, source[:]...)
	b = binary.BigEndian.AppendUint16(b, d.Source.Port())
	b = binary.BigEndian.AppendUint16(b, port)
	b = binary.BigEndian.AppendUint32(b, account)
	b = binary.BigEndian.AppendUint16(b, uint16(len(d.Payload)))
	return append(b, d.Payload...)
}

// ErrRelayed says that what was relayed is cut.
var ErrRelayed = errors.New("datagrams that were relayed are cut")

// A Relayed reads again what was relayed to an owner, and gives it the reports that are its own.
type Relayed struct {
	shard     Shard
	index, of int
	decoder   *telemetry.Decoder
	batch     telemetry.Batch
	header    telemetry.Header
}

// NewRelayed returns a Relayed for a shard that is the owner of the flows of which FlowKey.ShardOf(of) returns index.
// points are as in Settings.
func NewRelayed(shard Shard, points *codepoint.Config, index, of int) *Relayed {
	return &Relayed{shard: shard, index: index, of: of, decoder: telemetry.NewDecoder(points)}
}

// Use replaces the points.
func (r *Relayed) Use(points *codepoint.Config) { r.decoder.Use(points) }

// Take takes what a Relay got.
func (r *Relayed) Take(datagrams []byte, origin telemetry.Origin, nowNs int64) error {
	b := &r.batch
	b.Reset()
	b.Origin = origin
	for len(datagrams) > 0 {
		if len(datagrams) < relayedHead {
			return ErrRelayed
		}
		address := netip.AddrFrom16([16]byte(datagrams)).Unmap()
		source := netip.AddrPortFrom(address, binary.BigEndian.Uint16(datagrams[16:]))
		port := binary.BigEndian.Uint16(datagrams[18:])
		account := binary.BigEndian.Uint32(datagrams[20:])
		length := int(binary.BigEndian.Uint16(datagrams[24:]))
		datagrams = datagrams[relayedHead:]
		if len(datagrams) < length {
			return ErrRelayed
		}
		first := len(b.Reports)
		r.decoder.Decode(datagrams[:length:length], source, port, b, &r.header)
		datagrams = datagrams[length:]
		kept := first
		for i := first; i < len(b.Reports); i++ {
			if ownerOf(&b.Reports[i], r.of) != r.index {
				continue
			}
			if kept != i {
				b.Reports[kept] = b.Reports[i]
			}
			b.Reports[kept].Account = account
			kept++
		}
		b.Reports = b.Reports[:kept]
	}
	r.shard.Process(b, nowNs)
	return nil
}
