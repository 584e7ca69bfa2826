package dropreason

import (
	"github.com/waybill-int/waybill/telemetry"
)

// noNumber is the number of a name that has none of 8 bits, or not the same in every version.
const noNumber = -1

// An alias is what a source calls a reason.
type alias struct {
	number int // in the 8 bits of a telemetry report, or noNumber
	name   string
	id     string // of the Reason
}

// A source is somebody who names reasons for drops.
type source struct {
	name     string
	from     string   // where its list is kept
	prefixes []string // that may stand in front of its names
	aliases  []alias
}

// sources begins with the tables of wire/report, in the order of telemetry.ReasonTable.
var sources = []source{
	{name: "fabric-tna", from: "github.com/stratum/fabric-tna, p4src/shared/define.p4", aliases: fabricTNA},
	{
		name: "int-host-reporter", from: "github.com/opennetworkinglab/int-host-reporter, pkg/common",
		aliases: intHostReporter,
	},
	{
		name: "p4lang-switch", from: "github.com/p4lang/switch, p4src/includes/drop_reason_codes.h",
		aliases: p4langSwitch,
	},
	{
		name:    "transparent-security",
		from:    "the controller of Transparent Security, which reports every drop with one number",
		aliases: transparentSecurity,
	},
	{name: "waybill-fabric", from: "Waybill's nodes, fabric/reason.go and node/kernel", aliases: waybillFabric},
	{
		name: "host-int", from: "github.com/intel/host-int, docs/Host_INT_fmt.md: gaps in the sequence of a flow",
		aliases: hostINT,
	},
	{
		name: "switch-p4-16", from: "github.com/p4lang/open-p4studio, switch-p4-16, p4src/shared/types.p4",
		aliases: switchP416,
	},
	{name: "sflow", from: "sflow.org/sflow_drops.txt, numbers from 64 on for codes from 256 on", aliases: sflow},
	{name: "netflow", from: "RFC 7270, forwardingStatus of IPFIX and NetFlow 9", aliases: netflow},
	{
		name:     "sai",
		from:     "github.com/opencomputeproject/SAI, inc/saidebugcounter.h; SONiC has the same names without the prefix",
		prefixes: []string{"sai_in_drop_reason_", "sai_out_drop_reason_"}, aliases: sai,
	},
	{
		name: "linux", from: "Linux, include/net/dropreason-core.h, the names of version 6.8 and later",
		prefixes: []string{"skb_drop_reason_"}, aliases: linux,
	},
}

// byNumber has a row for each telemetry.ReasonTable but 0.
var byNumber = func() [][256]*Reason {
	tables := make([][256]*Reason, numTables)
	for t := range tables {
		for n := range tables[t] {
			tables[t][n] = Unmapped
		}
		for _, a := range sources[t].aliases {
			tables[t][a.number] = byID[a.id]
		}
	}
	return tables
}()

// numTables is how many of sources are tables of telemetry.
const numTables = 9

// Of returns the reason that a number means in a table of telemetry: Unmapped if the table does not have it, or is
// none. It does not allocate.
func Of(table telemetry.ReasonTable, number uint8) *Reason {
	if table == 0 || int(table) > len(byNumber) {
		return Unmapped
	}
	return byNumber[table-1][number]
}
