package fabric

// Stats counts what has happened. At any time Sent + Copies = Delivered + all of Dropped + InFlight.
type Stats struct {
	Sent      uint64 // packets that hosts have made
	Copies    uint64 // copies and follow-up packets that switches have made
	Delivered uint64
	InFlight  uint64
	Dropped   [256]uint64 // by Reason
	Hops      uint64      // packets that have arrived at switches

	Reports     uint64 // telemetry reports that devices have sent
	ReportsLost uint64 // of these, thrown away by a report_loss fault
}

// Lost returns the number of packets that were dropped for any reason.
func (s *Stats) Lost() uint64 {
	sum := uint64(0)
	for _, n := range s.Dropped {
		sum += n
	}
	return sum
}
