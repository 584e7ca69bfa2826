package test

import (
	"cmp"
	"encoding/binary"
	"net/netip"
)

// An SFlowAgent makes sFlow datagrams of version 5, as SFLOW-DATAGRAM5 has them.
type SFlowAgent struct {
	Address  netip.Addr
	SubAgent uint32
	Sequence uint32 // of the latest datagram
	UptimeMs uint32 // 0: a second for each datagram
	samples  uint32
}

// words appends 32 bit words.
func words(b []byte, list ...uint32) []byte {
	for _, w := range list {
		b = binary.BigEndian.AppendUint32(b, w)
	}
	return b
}

// Datagram returns the next datagram, with what Sample, Discard and Counters made.
func (a *SFlowAgent) Datagram(samples ...[]byte) []byte {
	a.Sequence++
	kind := uint32(1)
	if a.Address.Is6() {
		kind = 2
	}
	b := append(words(nil, 5, kind), a.Address.AsSlice()...)
	b = words(b, a.SubAgent, a.Sequence, cmp.Or(a.UptimeMs, 1000*a.Sequence), uint32(len(samples)))
	for _, s := range samples {
		b = append(b, s...)
	}
	return b
}

// rawHeader appends the record of a packet whose first bytes are told.
func rawHeader(b, frame []byte) []byte {
	told := frame[:min(len(frame), 128)]
	padded := (len(told) + 3) &^ 3
	b = words(b, 1, uint32(16+padded), 1, uint32(len(frame)+4), 4, uint32(len(told)))
	return append(append(b, told...), make([]byte, padded-len(told))...)
}

// Sample returns a flow sample of an Ethernet frame: 1 in rate, of pool, at the interface source; dropped samples could
// not be sent before it.
func (a *SFlowAgent) Sample(source, rate, pool, dropped, in, out uint32, frame []byte) []byte {
	a.samples++
	body := rawHeader(words(nil, a.samples, source, rate, pool, dropped, in, out, 1), frame)
	return append(words(nil, 1, uint32(len(body))), body...)
}

// Discard returns a notification of a frame that was discarded (sflow_drops); dropped ones could not be sent before it.
func (a *SFlowAgent) Discard(source, dropped, in, out, reason uint32, frame []byte) []byte {
	a.samples++
	body := rawHeader(words(nil, a.samples, 0, source, dropped, in, out, reason, 1), frame)
	return append(words(nil, 5, uint32(len(body))), body...)
}

// SFlowCounts are counters of an interface, of what came in or of what left.
type SFlowCounts struct {
	Octets                    uint64
	Unicast, Discards, Errors uint32
}

// Counters returns a counter sample of an interface of 100 Mbit/s that is up.
func (a *SFlowAgent) Counters(source uint32, in, out SFlowCounts) []byte {
	a.samples++
	record := words(nil, source, 6, 0, 100e6, 1, 3)
	for _, c := range []SFlowCounts{in, out} {
		record = words(record, uint32(c.Octets>>32), uint32(c.Octets), c.Unicast, 0, 0, c.Discards, c.Errors, 0)
	}
	body := append(words(nil, a.samples, source, 1, 1, uint32(len(record))), record...)
	return append(words(nil, 2, uint32(len(body))), body...)
}
