package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/waybill-int/waybill/cli"
	"github.com/waybill-int/waybill/fabric"
)

// A fabricSummary is what a run of waybill fabric was, with the JSON of -o json.
type fabricSummary struct {
	Scenario    string  `json:"scenario"`
	Seed        uint64  `json:"seed"`
	Interrupted bool    `json:"interrupted"`
	VirtualNs   int64   `json:"virtual_ns"`
	WallNs      int64   `json:"wall_ns"`
	Speed       float64 `json:"speed"` // virtual time / wall time

	Sent      uint64        `json:"sent"` // = delivered + dropped + in flight
	Delivered uint64        `json:"delivered"`
	Dropped   uint64        `json:"dropped"`
	InFlight  uint64        `json:"in_flight"`
	Drops     []fabricDrops `json:"drops"`

	PacketHops       uint64  `json:"packet_hops"` // packets that arrived at switches
	PacketHopsPerSec float64 `json:"packet_hops_per_second"`

	Reports       uint64 `json:"reports"`        // that switches sent
	ReportsLost   uint64 `json:"reports_lost"`   // of these, by a report_loss fault
	ReportsFailed uint64 `json:"reports_failed"` // of these, not taken by the system

	lastFailure error
	late        bool // was to run in real time, and did not
}

// fabricDrops counts the packets that were dropped for one reason.
type fabricDrops struct {
	Reason  string `json:"reason"`
	Code    uint8  `json:"code"`
	Packets uint64 `json:"packets"`
}

func newFabricSummary(f *fabric.Fabric, wall time.Duration) *fabricSummary {
	n := f.Stats()
	s := &fabricSummary{
		VirtualNs: int64(f.Now()), WallNs: int64(wall), Speed: f.Now().Seconds() / wall.Seconds(),
		Sent: n.Sent, Delivered: n.Delivered, Dropped: n.Lost(), InFlight: n.InFlight, Drops: []fabricDrops{},
		PacketHops: n.Hops, PacketHopsPerSec: float64(n.Hops) / wall.Seconds(),
		Reports: n.Reports, ReportsLost: n.ReportsLost,
	}
	for code, packets := range n.Dropped {
		if packets > 0 {
			s.Drops = append(s.Drops, fabricDrops{fabric.Reason(code).String(), uint8(code), packets})
		}
	}
	return s
}

func (s *fabricSummary) addCollectors(c *collectors) {
	_, s.ReportsFailed, s.lastFailure = c.sent()
}

// summarize prints s to standard output, or to standard error if something else went there.
func (c *fabricCommand) summarize(s *fabricSummary) error {
	w := c.out
	if c.toStdout() {
		w = c.log
	}
	if c.format != "text" {
		return writeSummary(w, c.format, s)
	}
	s.print(w)
	if s.late {
		fmt.Fprintf(c.log, "this machine was too slow for real time: %s of virtual time took %s\n",
			time.Duration(s.VirtualNs).Round(time.Millisecond), time.Duration(s.WallNs).Round(time.Millisecond))
	}
	if s.ReportsFailed > 0 {
		fmt.Fprintf(c.log, "%d reports could not be sent, the last one: %v; does the collector run?\n", s.ReportsFailed,
			s.lastFailure)
	}
	return nil
}

// writeSummary writes a summary as a line of JSON, or as YAML.
func writeSummary(w io.Writer, format string, summary any) error {
	if format == "json" {
		return json.NewEncoder(w).Encode(summary)
	}
	return cli.WriteDocument(w, format, summary)
}

func (s *fabricSummary) print(w io.Writer) {
	interrupted := ""
	if s.Interrupted {
		interrupted = ", interrupted"
	}
	virtual, wall := time.Duration(s.VirtualNs).Round(time.Millisecond), time.Duration(s.WallNs)
	fmt.Fprintf(w, "scenario %s, seed %d%s: %s in %.3f s, %.3g times real time\n", s.Scenario, s.Seed, interrupted,
		virtual, wall.Seconds(), s.Speed)
	fmt.Fprintf(w, "packets: %d sent = %d delivered + %d dropped%s + %d in flight\n", s.Sent, s.Delivered, s.Dropped,
		s.dropsText(), s.InFlight)
	fmt.Fprintf(w, "packet-hops: %d, %.0f/s\n", s.PacketHops, s.PacketHopsPerSec)
	fmt.Fprintf(w, "reports: %d sent", s.Reports)
	if s.ReportsLost > 0 {
		fmt.Fprintf(w, ", %d of them lost by a fault", s.ReportsLost)
	}
	if s.ReportsFailed > 0 {
		fmt.Fprintf(w, ", %d of them not taken by the network of this machine", s.ReportsFailed)
	}
	fmt.Fprintln(w)
}

// dropsText says why packets were dropped.
func (s *fabricSummary) dropsText() string {
	if len(s.Drops) == 0 {
		return ""
	}
	reasons := make([]string, len(s.Drops))
	for i, d := range s.Drops {
		reasons[i] = fmt.Sprintf("%s %d", d.Reason, d.Packets)
	}
	return " (" + strings.Join(reasons, ", ") + ")"
}
