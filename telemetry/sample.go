package telemetry

import (
	"fmt"
	"math"
	"strconv"
)

// A Sample says of which packets a figure tells.
type Sample struct {
	Kind string  `json:"kind" choice:"sample" live:"ask for the list of now" doc:"which packets the figures tell of"`
	Rate *uint32 `json:"rate,omitempty" filter:"-" doc:"1 packet in so many, where the kind is one_in_n"`
	// Complete is what TCP streams and postcards show of the places and flows that were looked at.
	Complete *float64 `json:"complete,omitempty" kind:"ratio" filter:"-" doc:"share of the packets that the figures tell of, where it is known"`
}

// A SampleRate says which packets a node tells of: 1 in so many, or one of these.
type SampleRate uint32

// SampleRates, from the one that is nearest to all packets on. Means and percentiles of the last two are not those of
// all packets.
const (
	SampleUnknown SampleRate = 0
	SampleEvery   SampleRate = 1
	SamplePart    SampleRate = math.MaxUint32 - 1 // some packets, and how the node chooses them is not known
	SampleOnEvent SampleRate = math.MaxUint32     // those that differ from the packet before
)

// EveryShare is the share of its packets, or of their data, from which on a node reports every packet: some reports are
// lost.
const EveryShare = 0.9

// MaxSampleRate is the largest rate: of 1 packet in so many.
const MaxSampleRate = math.MaxUint32 - 2

// sampleKinds are the kinds of Sample. The word for a rate stands for all of them.
var sampleKinds = map[SampleRate]string{
	SampleUnknown: "unknown", SampleEvery: "every_packet", 2: "one_in_n", SamplePart: "partial",
	SampleOnEvent: "on_event",
}

// Kind returns the kind of a Sample.
func (r SampleRate) Kind() string {
	if r > 2 && r <= MaxSampleRate {
		r = 2
	}
	return sampleKinds[r]
}

// Worse returns the rate of what is told of packets that both nodes tell of.
func (r SampleRate) Worse(o SampleRate) SampleRate {
	if max(r, o) <= SampleEvery {
		return min(r, o)
	}
	return max(r, o)
}

func (r SampleRate) String() string {
	text, _ := r.MarshalText()
	return string(text)
}

// MarshalText writes a number, or a kind.
func (r SampleRate) MarshalText() ([]byte, error) {
	if r >= 2 && r <= MaxSampleRate || r == SampleEvery {
		return strconv.AppendUint(nil, uint64(r), 10), nil
	}
	return []byte(r.Kind()), nil
}

// UnmarshalText reads N for 1 packet in N, every_packet or on_event.
func (r *SampleRate) UnmarshalText(text []byte) error {
	switch string(text) {
	case SampleEvery.Kind():
		*r = SampleEvery
		return nil
	case SampleOnEvent.Kind():
		*r = SampleOnEvent
		return nil
	}
	n, err := strconv.ParseUint(string(text), 10, 64)
	if err != nil || n < 1 || n > MaxSampleRate {
		return fmt.Errorf("got %s, want N from 1 on, for 1 packet in N, every_packet or on_event", text)
	}
	*r = SampleRate(n)
	return nil
}

// Sample returns what the API says of figures of which so large a share is there; below 0: that is not known.
func (r SampleRate) Sample(complete float64) *Sample {
	s := &Sample{Kind: r.Kind()}
	if r >= 2 && r <= MaxSampleRate {
		rate := uint32(r)
		s.Rate = &rate
	}
	if complete >= 0 {
		s.Complete = &complete
	}
	return s
}

// knownShare is the share of the packets from which on their rate is known: of the first ones after a start it is not.
const knownShare = 0.9

// A SampleSum adds up which packets figures tell of, over places and over pieces of time.
type SampleSum struct {
	Low   SampleRate `store:"low,low" known:"Low"`    // the lowest of the rates that are known
	High  SampleRate `store:"high,high" known:"High"` // the highest
	Known uint64     `store:"known,sum"`              // packets whose rate is known
	// Seen are the packets of nodes that show which share of their packets they tell of, All how many there were by
	// that.
	Seen uint64  `store:"seen,sum"`
	All  float64 `store:"all,sum"`
}

// Add adds packets of which a node tells at a rate; complete is the share that it tells of, below 0: not known.
func (s *SampleSum) Add(rate SampleRate, complete float64, packets uint64) {
	more := SampleSum{Low: rate, High: rate}
	if rate != SampleUnknown {
		more.Known = packets
	}
	if complete > 0 {
		more.Seen, more.All = packets, float64(packets)/complete
	}
	s.Merge(&more)
}

// Merge adds what others tell of.
func (s *SampleSum) Merge(o *SampleSum) {
	if s.Low == SampleUnknown || o.Low != SampleUnknown && o.Low < s.Low {
		s.Low = o.Low
	}
	s.High = max(s.High, o.High)
	s.Known += o.Known
	s.Seen += o.Seen
	s.All += o.All
}

// Rate returns at which rate figures of so many packets tell of them. Different rates make SamplePart of them.
func (s *SampleSum) Rate(packets uint64) SampleRate {
	switch {
	case float64(s.Known) < knownShare*float64(packets):
		return SampleUnknown
	case s.High == SampleOnEvent || s.Low == s.High:
		return s.High
	}
	return SamplePart
}

// Complete returns the share that so many packets are of those that there were, of which incomplete more are known, of
// which some postcards are missing; below 0: it is not known. Where nodes tell of 1 packet in N postcards do not
// show it.
func (s *SampleSum) Complete(packets uint64, incomplete int64) float64 {
	rate := s.Rate(packets)
	if s.Seen == 0 && (incomplete <= 0 || rate > SampleEvery && rate <= MaxSampleRate) {
		return -1
	}
	share := float64(packets) / float64(int64(packets)+max(incomplete, 0))
	if s.Seen > 0 {
		share *= float64(s.Seen) / s.All
	}
	return min(math.Round(share*1e6)/1e6, 1) // the sum of the same parts in another order is the same share
}

// Sample returns what the API says of figures of so many packets, and incomplete more as in Complete; nil without any.
func (s *SampleSum) Sample(packets uint64, incomplete int64) *Sample {
	if packets == 0 && incomplete <= 0 {
		return nil
	}
	return s.Rate(packets).Sample(s.Complete(packets, incomplete))
}
