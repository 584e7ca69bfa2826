package telemetry

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"slices"
)

// An Extent says whom an event hit: packets that were dropped, lost, or waited in a queue. Of path changes it has the
// flows alone. Events that share one must not write to it: Plus returns another.
type Extent struct {
	Packets uint64   `json:"packets" doc:"packets that were dropped, lost, or waited in a queue"`
	Bytes   uint64   `json:"bytes" doc:"IP length of these packets, INT not counted"`
	Flows   Distinct `json:"flows" doc:"hashes of their flows"`
	Hosts   Distinct `json:"hosts" doc:"hashes of the addresses that they came from and went to"`
	// Packets of which these say nothing make the others a lower bound.
	Flowless   uint64 `json:"flowless,omitempty" doc:"packets whose flow is not known"`
	Lengthless uint64 `json:"lengthless,omitempty" doc:"packets whose length is not known"`
	// Partly says that packets are a lower bound.
	Partly bool `json:"partly,omitempty" doc:"nothing tells of all packets"`
}

// Add adds packets of a flow, which together have so many bytes; 0: it is not known how many. A nil flow is not known.
func (x *Extent) Add(flow *FlowKey, packets, bytes uint64) {
	x.Packets += packets
	x.Bytes += bytes
	if bytes == 0 {
		x.Lengthless += packets
	}
	if flow == nil {
		x.Flowless += packets
		return
	}
	x.AddFlow(flow)
}

// AddFlow adds a flow, with the hosts that it is between.
func (x *Extent) AddFlow(flow *FlowKey) {
	x.Flows.Add(scatter(flow.Hash()))
	x.Hosts.Add(flow.Src.hash())
	x.Hosts.Add(flow.Dst.hash())
}

// Merge adds another one, which may be nil.
func (x *Extent) Merge(o *Extent) {
	if o == nil {
		return
	}
	x.Packets += o.Packets
	x.Bytes += o.Bytes
	x.Flowless += o.Flowless
	x.Lengthless += o.Lengthless
	x.Partly = x.Partly || o.Partly
	x.Flows.Merge(o.Flows)
	x.Hosts.Merge(o.Hosts)
}

// Plus returns both together. Either may be nil, and neither changes.
func (x *Extent) Plus(o *Extent) *Extent {
	switch {
	case o == nil:
		return x
	case x == nil:
		return o
	}
	sum := &Extent{}
	sum.Merge(x)
	sum.Merge(o)
	return sum
}

const (
	// MaxDistinct is how many hashes a Distinct keeps.
	MaxDistinct = 256
	// surelyBelow is what of MaxDistinct numbers that come by chance at least so many are in 999 of 1000 cases.
	surelyBelow = 209
)

// A Distinct counts different things in bounded memory, and can be merged with others: it has the least of their
// hashes, in order, at most MaxDistinct (Bar-Yossef et al. 2002). Fewer things than that are counted exactly.
type Distinct []uint64

// Add adds something by its hash.
func (d *Distinct) Add(hash uint64) {
	list := *d
	if len(list) == MaxDistinct && hash >= list[MaxDistinct-1] {
		return
	}
	at, there := slices.BinarySearch(list, hash)
	switch {
	case there:
	case len(list) == MaxDistinct:
		copy(list[at+1:], list[at:])
		list[at] = hash
	default:
		*d = slices.Insert(list, at, hash)
	}
}

// Merge adds what another one has.
func (d *Distinct) Merge(o Distinct) {
	for _, hash := range o {
		d.Add(hash)
	}
}

// Has reports whether a hash is among those that it has.
func (d Distinct) Has(hash uint64) bool {
	_, there := slices.BinarySearch(d, hash)
	return there
}

// Count returns how many there are. If that is not exact there are at least so many, but for one of 1000 cases.
func (d Distinct) Count() (n uint64, exact bool) {
	if len(d) < MaxDistinct {
		return uint64(len(d)), true
	}
	return max(MaxDistinct, uint64(surelyBelow/(float64(d[MaxDistinct-1])/math.MaxUint64))), false
}

// MarshalText returns the hashes in base64.
func (d Distinct) MarshalText() ([]byte, error) {
	b := make([]byte, 0, 8*len(d))
	for _, hash := range d {
		b = binary.BigEndian.AppendUint64(b, hash)
	}
	return base64.StdEncoding.AppendEncode(nil, b), nil
}

// UnmarshalText reads them.
func (d *Distinct) UnmarshalText(text []byte) error {
	b, err := base64.StdEncoding.AppendDecode(nil, text)
	*d = nil
	for ; len(b) >= 8; b = b[8:] {
		d.Add(binary.BigEndian.Uint64(b))
	}
	return err
}

// hash spreads over all numbers, of addresses that follow each other too. It is the same in every process, so that what
// was counted before a restart can be merged.
func (a Addr) hash() uint64 { return scatter(scatter(a.Hi) ^ a.Lo) }

// scatter is the finalizer of SplitMix64.
func scatter(h uint64) uint64 {
	h += 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
