package report_test

import (
	"encoding/hex"
	"fmt"

	"github.com/waybill-int/waybill/wire/report"
)

// A packet of version 2.0 with two reports: a drop without a fragment, and a hop latency.
func ExampleReports() {
	payload, _ := hex.DecodeString("2040000700000303" + // group header
		"10030180" + "0001000000000000" + "00470000" + // a report with drop reason 71
		"10030100" + "2000000000000000" + "00000064") // a report with hop latency 100

	var group report.Group
	n, err := group.Decode(payload)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("node %#x, hw_id %d, sequence %d\n", group.NodeID, group.HWID, group.Sequence)

	reasons, _ := report.DropReasons("fabric-tna")
	var reports report.Reports
	var r report.V20
	reports.Reset(payload[n:])
	for reports.Next(&r) {
		if err := reports.Err(); err != nil {
			fmt.Println("unusable report:", err)
			continue
		}
		if r.Metadata.Bits&report.MDDrop != 0 {
			fmt.Println("dropped:", reasons[r.Metadata.DropReason].Text)
		}
		if r.Metadata.Bits&report.MDHopLatency != 0 {
			fmt.Println("hop latency:", r.Metadata.HopLatency)
		}
	}
	if err := reports.Err(); err != nil {
		fmt.Println("rest of the packet lost:", err)
	}
	// Output:
	// node 0x303, hw_id 1, sequence 7
	// dropped: dropped by the traffic manager: queue or buffer full
	// hop latency: 100
}
