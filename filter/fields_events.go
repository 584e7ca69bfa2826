package filter

import (
	"slices"

	"github.com/waybill-int/waybill/telemetry"
)

// eventFields are those of telemetry.Event: what happened, to whom, when. What could be taken for a port of the flow is
// egress_port here, and node is either end.
var eventFields = slices.Concat(
	[]Field{
		{Name: "id", Kind: Text, Doc: "id of the event"},
		{Name: "kind", Kind: Enum, Choices: eventKinds, Doc: "what happened"},
		{Name: "severity", Kind: Enum, Choices: severities, Ordered: true, Doc: "how bad it is"},
		{Name: "start", Kind: Time, Doc: "when it began"},
		{Name: "end", Kind: Time, Column: `"end"`, Doc: "when it ended, unless it goes on"},
		{Name: "duration", Kind: Duration, Doc: "end minus start, unless it goes on"},
		{Name: "count", Kind: Uint, Column: `"count"`, Doc: "packets, flows, drops or reports, whatever it is about"},
		{Name: "text", Kind: Text, Column: `"text"`, Doc: "what happened, in words"},
		{Name: "node", Kind: Node, Many: true, Doc: "each node that takes part"},
		{Name: "name", Kind: Text, Many: true, Doc: "name of each node that takes part and has one"},
		{Name: "egress_port", Kind: Uint, Doc: "level 1 interface by which packets left the node"},
		{Name: "queue_id", Aliases: []string{"queue"}, Kind: Uint, Doc: "the queue"},
		{Name: "to_node", Kind: Node, Doc: "the node at the other end, if it is about a link"},
		{Name: "to_port", Kind: Uint, Doc: "level 1 interface by which packets came in there"},
		{Name: "reason", Kind: Uint, Doc: "number of the drop reason, if it is about drops"},
		{Name: "reason_name", Kind: Text, Doc: "name of the drop reason in the dialect's table, else reason_N"},
		{Name: "source", Kind: Address, Doc: "address of the exporter, if it is about one"},
		{Name: "path", Kind: Text, Doc: "id of a path that shows it"},
		{Name: "rule", Kind: Text, Doc: "rule of the policy, if it is about one"},
	},
	endpoints(" of a flow that it met"),
)

var eventKinds = []Choice{
	eventKind(telemetry.EventNewFlow, "a flow was seen for the first time"),
	eventKind(telemetry.EventPathChange, "flows took another way out of a node than before"),
	eventKind(telemetry.EventECMPImbalance, "the links of a group carry unequal shares"),
	eventKind(telemetry.EventPathNotAllowed, "a path that the policy does not allow"),
	eventKind(telemetry.EventLinkLost, "a link is not seen any more while its ends still report"),
	eventKind(telemetry.EventLatencyAnomaly, "a latency far from what is usual"),
	eventKind(telemetry.EventMicroburst, "a queue filled and emptied again"),
	eventKind(telemetry.EventIncast, "many sources met at one egress port"),
	eventKind(telemetry.EventDropStorm, "many packets were dropped"),
	eventKind(telemetry.EventBlackhole, "all packets of some flows are dropped"),
	eventKind(telemetry.EventGrayFailure, "a link loses a share of its packets without a reason"),
	eventKind(telemetry.EventLoop, "packets came to the same node twice"),
	eventKind(telemetry.EventHopLimit, "a packet met more nodes than INT allowed (E)"),
	eventKind(telemetry.EventMTUExceeded, "a node had no room to add its metadata (M)"),
	eventKind(telemetry.EventHopWithoutINT, "the TTL tells of nodes that added no metadata"),
	eventKind(telemetry.EventMalformed, "checksums or lengths that break the rules"),
	eventKind(telemetry.EventUnexpectedNode, "a node or interface that should not be there"),
	eventKind(telemetry.EventWaypointMissed, "a flow went around a node that it should pass"),
	eventKind(telemetry.EventReportLoss, "reports were lost"),
	eventKind(telemetry.EventNodeRestart, "an exporter began to count anew"),
	eventKind(telemetry.EventClockJump, "the clock of a node jumped"),
}

func eventKind(k telemetry.EventKind, doc string) Choice {
	return Choice{Name: k.String(), Number: uint64(k), Doc: doc}
}

var severities = []Choice{
	severity(telemetry.Info, "worth knowing"),
	severity(telemetry.Warning, "worth a look"),
	severity(telemetry.Critical, "needs somebody now"),
}

func severity(s telemetry.Severity, doc string) Choice {
	return Choice{Name: s.String(), Number: uint64(s), Doc: doc}
}
