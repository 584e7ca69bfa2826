package types

import (
	"net/netip"
	"time"
)

// A RawReport is a datagram as it came, and what the report in it says; of several reports, the first that was asked for.
type RawReport struct {
	ID           string      `json:"id"`
	Time         time.Time   `json:"time"` // of arrival
	Exporter     netip.Addr  `json:"exporter"`
	ExporterPort uint16      `json:"exporter_port"`
	Listener     string      `json:"listener"` // address and port of the socket
	Version      string      `json:"version,omitempty"`
	Dialect      string      `json:"dialect,omitempty"`
	Outcome      string      `json:"outcome"`          // decoded, damaged or malformed
	Reason       string      `json:"reason,omitempty"` // code of the first rule that it broke
	Node         *uint32     `json:"node"`             // that sent it
	Name         string      `json:"name,omitempty"`
	Sequence     *uint32     `json:"sequence,omitempty"`
	Reports      int         `json:"reports"` // that are in it
	Nodes        []uint32    `json:"nodes"`   // that the report tells of, source first
	Flow         *ReportFlow `json:"flow"`
	Length       int         `json:"length"`              // of the UDP payload, bytes
	Truncated    bool        `json:"truncated,omitempty"` // the datagram was longer
}

// A ReportFlow is the flow that a report is about.
type ReportFlow struct {
	ID   string `json:"id"`
	Text string `json:"text"` // 5-tuple and tunnel
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
