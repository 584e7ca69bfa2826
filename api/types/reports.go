package types

import (
	"net/netip"
	"time"
)

// A RawReport is a datagram as it came, and what the report in it says; of several reports, the first that was asked
// for.
type RawReport struct {
	ID           string      `json:"id" table:"ID" doc:"id of the datagram"`
	Time         time.Time   `json:"time" table:"TIME" doc:"when it was received"`
	Exporter     netip.Addr  `json:"exporter" table:"EXPORTER" doc:"address that sent it"`
	ExporterPort uint16      `json:"exporter_port" table:"PORT,wide" doc:"port that sent it"`
	Listener     string      `json:"listener" table:"LISTENER,wide" doc:"address and port that received it"`
	Version      string      `json:"version,omitempty" table:"VERSION" doc:"version of the report, such as 2.0"`
	Dialect      string      `json:"dialect,omitempty" table:"DIALECT,wide" doc:"dialect that it was read as"`
	Outcome      string      `json:"outcome" table:"OUTCOME" choice:"outcome" doc:"what could be understood of it"`
	Reason       string      `json:"reason,omitempty" doc:"code of the first rule that it broke"`
	Node         *uint32     `json:"node" filter:"sender" kind:"node" table:"NODE,named=name" doc:"the node that sent it"`
	Name         string      `json:"name,omitempty" filter:"-" doc:"its name, if it has one"`
	Sequence     *uint32     `json:"sequence,omitempty" table:"SEQUENCE,wide" doc:"its sequence number"`
	Reports      int         `json:"reports" table:"REPORTS,wide" doc:"reports that are in it"`
	Nodes        []uint32    `json:"nodes" table:"NODES" doc:"nodes that the report tells of, source first"`
	Flow         *ReportFlow `json:"flow" table:"" doc:"the flow that the report is about"`
	Length       int         `json:"length" kind:"size" table:"BYTES" doc:"length of its UDP payload"`
	Truncated    bool        `json:"truncated,omitempty" doc:"the datagram was longer than what was kept of it"`
}

// A ReportFlow is the flow that a report is about.
type ReportFlow struct {
	ID   string `json:"id" table:"FLOW ID,wide" doc:"id of the flow"`
	Text string `json:"text" table:"FLOW" doc:"its 5-tuple and tunnel"`
}

// A ReportList answers GET /api/v1/reports. Total is how many items the answer has.
type ReportList struct {
	Head
	Since   time.Time   `json:"since"`
	Until   time.Time   `json:"until"`                 // not part of it
	Scanned int         `json:"scanned"`               // datagrams that were looked at
	Next    string      `json:"next_cursor,omitempty"` // asks for those that follow; missing at the end
	Reports []RawReport `json:"reports"`
}

// A ReportAnswer answers GET /api/v1/reports/ID.
type ReportAnswer struct {
	RawReport
	Bytes  []byte         `json:"bytes"` // the UDP payload
	Layers []DecodedLayer `json:"layers"`
}
