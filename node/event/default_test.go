package event

// DefaultConfig returns what SD-Fabric has: steps of 256 ns and a report at least every second, for 65,536 flows; and
// an end after 30 s.
func DefaultConfig() Config {
	return Config{Flows: 1 << 16, LatencyQuantumNs: 256, PeriodNs: 1e9, IdleNs: 30e9}
}
