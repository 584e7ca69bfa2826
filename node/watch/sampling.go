package watch

// Sampling is a way to choose 1 in N packets; see Sampler.
type Sampling uint8

// The ways.
const (
	// SampleByHash decides by the hash of the packet: all nodes that hash packets alike choose the same ones.
	SampleByHash Sampling = iota
	// SampleAtRandom decides by the node's own random numbers.
	SampleAtRandom
)

var samplingNames = []string{SampleByHash: "hash", SampleAtRandom: "random"}

// UnmarshalText reads "hash" or "random".
func (s *Sampling) UnmarshalText(text []byte) error {
	i, err := find(samplingNames, string(text))
	*s = Sampling(i)
	return err
}

// String returns what UnmarshalText reads.
func (s Sampling) String() string { return nameOf(samplingNames, int(s)) }

// MarshalText returns what String does.
func (s Sampling) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
