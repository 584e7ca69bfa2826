package export

// Stats counts what an Exporter did. Reports in and refused add up to the calls of Add.
type Stats struct {
	Reports   uint64            // taken
	Refused   [NumErrors]uint64 // not taken, by reason
	Datagrams uint64
	Bytes     uint64 // UDP payload
	Cut       uint64 // reports whose fragment was cut
	CutShort  uint64 // of those, before the end of the stack or the first L4 header
	ForcedDF  uint64 // datagrams that got DF because there was no IPv4 identification left
}
