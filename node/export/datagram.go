package export

// A Datagram is the UDP payload of one packet, and what its headers say. It is valid until the function that got it
// returns; a Batch keeps it for longer.
type Datagram struct {
	Destination int // index of Config.Destinations
	SourcePort  uint16
	DF          bool   // set DF; always over IPv6, where routers do not fragment
	IPID        uint16 // IPv4 identification; 0 if DF is set
	HWID        uint8
	Sequence    uint32 // as in the payload
	Reports     int    // in the payload
	Payload     []byte
}
