package telemetry

import "net/netip"

// An ExporterKey tells exporters apart: by the collector that received them, since reports that go to several
// collectors are numbered for each (TR 2.0 §3.1.1), by source address, and by node, subsystem and version as far as a
// datagram says.
type ExporterKey struct {
	Collector string // by name; "": this process received it
	Source    netip.Addr
	Node      uint32
	Domain    uint32 // see Header
	HWID      uint8
	Version   Version
	HasNode   bool
	Header    bool // the datagram had a readable header; without it only the source is known
}

// Describe returns node, hardware id and version as far as the reports say.
func (k *ExporterKey) Describe() (node *uint32, hwID *uint8, version string) {
	if k.HasNode {
		id := k.Node
		node = &id
	}
	if k.Header {
		hw := k.HWID
		hwID, version = &hw, k.Version.String()
	}
	return node, hwID, version
}
