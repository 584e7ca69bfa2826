package watch

// An Action is what to do with a packet that matches an entry.
type Action struct {
	Entry        int // the index of the entry in the list that was compiled, for counters
	Instructions Instructions
	Mode         Mode
	Sample       uint32 // 1 in this many packets, at least 1; see Sampler.Take
	Sampling     Sampling
	ReportAll    bool
}
