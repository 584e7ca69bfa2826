package fabric

// meterNs is the period over which a meter counts.
const meterNs = 100_000

// A meter measures how much has left a port of late.
type meter struct {
	startNs int64  // of the period that is counted
	bytes   uint64 // in it
	bps     uint64 // of the last one that is over
}

// add counts bytes that begin to leave now.
func (m *meter) add(nowNs int64, bytes uint64) {
	m.turn(nowNs)
	m.bytes += bytes
}

// rate returns bit/s in the last period that is over.
func (m *meter) rate(nowNs int64) uint64 {
	m.turn(nowNs)
	return m.bps
}

// turn ends periods. One that began long ago, because nothing left since, counts as that long.
func (m *meter) turn(nowNs int64) {
	if elapsed := nowNs - m.startNs; elapsed >= meterNs {
		m.bps = m.bytes * 8e9 / uint64(elapsed)
		m.bytes, m.startNs = 0, nowNs
	}
}
