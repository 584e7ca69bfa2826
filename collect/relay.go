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
// them that owns a flow of one of its reports: of so many partitions, that with the number p is the p-th owner's, and
// the first one's again behind the last. It must be called before Run.
func (r *Receiver) RelayTo(list []Relay, partitions int) {
	r.relays, r.relayed, r.partitions = list, make([]relayed, len(list)), partitions
	r.dialects = map[string]string{}
}

// relayed is what of a batch goes to an owner.
type relayed struct {
	datagrams []byte
	latest    int // datagram among them, from 1
}

// relay gives the datagrams of a batch, which has their reports, to their owners.
func (r *Receiver) relay(list []Datagram, b *telemetry.Batch, origin telemetry.Origin, port uint16, nowNs int64) {
	reports := b.Reports
	for i, place := range r.places {
		h, d := &r.headers[i], &list[place]
		switch {
		case d.Kept.Is && !h.Repeated:
			if to := &r.relayed[d.Kept.Holder]; h.Reports > 0 {
				to.latest = i + 1
				to.datagrams = appendKept(to.datagrams, d, h.Account)
			}
		case !d.Kept.Is:
			for k := 0; k < h.Reports && !h.Repeated; k++ {
				to := &r.relayed[ownerOf(&reports[k], r.partitions, len(r.relays))]
				if to.latest != i+1 {
					to.latest = i + 1
					to.datagrams = appendRelayed(to.datagrams, d, port, h.Account)
				}
			}
			reports = reports[h.Reports:]
		}
	}
	for i := range r.relayed {
		if to := &r.relayed[i]; to.latest > 0 {
			r.relays[i].Relay(to.datagrams, origin, nowNs)
			*to = relayed{datagrams: to.datagrams[:0]}
		}
	}
}

// PartitionOf returns the partition of a report, of so many: that of its flow. What has no flow is in the first.
func PartitionOf(r *telemetry.Report, partitions int) int {
	if !r.Is(telemetry.HasFlow) {
		return 0
	}
	return r.Flow.ShardOf(partitions)
}

// ownerOf returns the owner of a report, of so many.
func ownerOf(r *telemetry.Report, partitions, owners int) int {
	return PartitionOf(r, partitions) % owners
}

// IsOwned reports whether all reports of a batch are those of an owner, of so many, and there is one.
func IsOwned(reports []telemetry.Report, owner, partitions, owners int) bool {
	for i := range reports {
		if ownerOf(&reports[i], partitions, owners) != owner {
			return false
		}
	}
	return len(reports) > 0
}

// relayedHead is what stands before the payload of a datagram that is relayed: isRelayed, source address and port, port
// here, account and length. keptBytes is isKept, the account, and which datagram it is.
const (
	isRelayed   = 0
	isKept      = 1
	relayedHead = 1 + 16 + 2 + 2 + 4 + 2
	keptBytes   = 1 + 4 + 8 + 4
)

func appendKept(b []byte, d *Datagram, account uint32) []byte {
	b = append(b, isKept)
	b = binary.BigEndian.AppendUint32(b, account)
	b = binary.BigEndian.AppendUint64(b, d.Kept.Message)
	return binary.BigEndian.AppendUint32(b, uint32(d.Kept.At))
}

func appendRelayed(b []byte, d *Datagram, port uint16, account uint32) []byte {
	source := d.Source.Addr().As16()
	b = append(b, isRelayed)
	b = append(b, source[:]...)
	b = binary.BigEndian.AppendUint16(b, d.Source.Port())
	b = binary.BigEndian.AppendUint16(b, port)
	b = binary.BigEndian.AppendUint32(b, account)
	b = binary.BigEndian.AppendUint16(b, uint16(len(d.Payload)))
	return append(b, d.Payload...)
}

// ErrRelayed says that what was relayed is cut.
var ErrRelayed = errors.New("datagrams that were relayed are cut")

// A Keeper has the datagrams that an owner keeps: at is the place in the message. The points are those by which it was
// found out that all of its reports are the owner's.
type Keeper func(message uint64, at int) (d *Datagram, port uint16, points *codepoint.Config, ok bool)

// A Relayed reads again what was relayed to an owner, and gives it the reports that are its own.
type Relayed struct {
	RelayedConfig
	using    *codepoint.Config
	decoder  *telemetry.Decoder
	batch    telemetry.Batch
	header   telemetry.Header
	datagram Datagram // that was read last
}

// A RelayedConfig says whose the reports are.
type RelayedConfig struct {
	Shard      Shard
	Owner, Of  int               // its number, of so many
	Partitions int               // as RelayTo got them
	Points     *codepoint.Config // as in Settings
	Kept       Keeper            // nil: nothing is kept
}

// NewRelayed returns a Relayed.
func NewRelayed(c RelayedConfig) *Relayed {
	return &Relayed{RelayedConfig: c, using: c.Points, decoder: telemetry.NewDecoder(c.Points)}
}

// Take takes what a Relay got.
func (r *Relayed) Take(datagrams []byte, origin telemetry.Origin, nowNs int64) error {
	b := &r.batch
	b.Reset()
	b.Origin = origin
	for len(datagrams) > 0 {
		d, port, account, points, length := r.next(datagrams)
		if length == 0 {
			return ErrRelayed
		}
		datagrams = datagrams[length:]
		if points != r.using {
			r.using = points
			r.decoder.Use(points)
		}
		first := len(b.Reports)
		r.decoder.Decode(d.Payload, d.Source, port, b, &r.header)
		kept := first
		for i := first; i < len(b.Reports); i++ {
			if ownerOf(&b.Reports[i], r.Partitions, r.Of) != r.Owner {
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
	r.Shard.Process(b, nowNs)
	return nil
}

// next reads the first datagram, and returns the length of what it was read of; 0: it is cut, or is not kept.
func (r *Relayed) next(b []byte) (d *Datagram, port uint16, account uint32, points *codepoint.Config, length int) {
	switch {
	case b[0] == isKept && len(b) >= keptBytes && r.Kept != nil:
		account = binary.BigEndian.Uint32(b[1:])
		d, port, points, ok := r.Kept(binary.BigEndian.Uint64(b[5:]), int(binary.BigEndian.Uint32(b[13:])))
		if !ok {
			return nil, 0, 0, nil, 0
		}
		return d, port, account, points, keptBytes
	case b[0] == isRelayed && len(b) >= relayedHead:
		b = b[1:]
		payload := int(binary.BigEndian.Uint16(b[24:]))
		if len(b) < relayedHead-1+payload {
			return nil, 0, 0, nil, 0
		}
		d = &r.datagram
		*d = Datagram{
			Source:  netip.AddrPortFrom(netip.AddrFrom16([16]byte(b)).Unmap(), binary.BigEndian.Uint16(b[16:])),
			Payload: b[relayedHead-1:][:payload:payload],
		}
		return d, binary.BigEndian.Uint16(b[18:]), binary.BigEndian.Uint32(b[20:]), r.Points, relayedHead + payload
	}
	return nil, 0, 0, nil, 0
}
