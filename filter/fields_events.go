package filter

import "slices"

// eventFields describe an event: what happened, to whom, when.
var eventFields = slices.Concat(
	[]Field{
		{Name: "id", Kind: Text, Doc: "id of the event"},
		{Name: "kind", Kind: Enum, Choices: eventKinds, Doc: "what happened"},
		{Name: "severity", Kind: Enum, Choices: severities, Ordered: true, Doc: "how bad it is"},
		{Name: "start", Kind: Time, Doc: "when it began"},
		{Name: "end", Kind: Time, Column: `"end"`, Doc: "when it ended, unless it lasts"},
		{Name: "duration", Kind: Duration, Doc: "end minus start, unless it lasts"},
		{Name: "subject", Kind: Text, Doc: "the flow, path, link, queue or node in words"},
		{Name: "node", Kind: Node, Many: true, Doc: "each node that takes part"},
	},
	endpoints(" of the flow, if it is about one"),
)

// To add a kind of event: its row at the end, with the next number. Numbers are stored and do not change.
var eventKinds = []Choice{
	{"new_flow", 1, "a flow was seen for the first time"},
	{"path_change", 2, "a flow took another path"},
	{"ecmp_imbalance", 3, "the links of a group carry unequal shares"},
	{"path_not_allowed", 4, "a path that the policy does not allow"},
	{"link_lost", 5, "a link is not seen any more while its ends still report"},
	{"latency_anomaly", 6, "a latency far from what is usual"},
	{"microburst", 7, "a queue filled and emptied again"},
	{"incast", 8, "many sources met at one egress port"},
	{"drop_storm", 9, "many packets were dropped"},
	{"blackhole", 10, "all packets of some flows are dropped"},
	{"gray_failure", 11, "a link loses a share of its packets without a reason"},
	{"loop", 12, "a packet came to the same node twice"},
	{"hop_limit", 13, "a packet met more nodes than INT allowed (E)"},
	{"mtu_exceeded", 14, "a node had no room to add its metadata (M)"},
	{"hop_without_int", 15, "the TTL tells of nodes that added no metadata"},
	{"malformed", 16, "checksums or lengths that break the rules"},
	{"unexpected_node", 17, "a node or interface that should not be there"},
	{"waypoint_missed", 18, "a flow went around a node that it should pass"},
	{"report_loss", 19, "reports were lost"},
	{"node_restart", 20, "a node began anew"},
	{"clock_jump", 21, "the clock of a node jumped"},
}

var severities = []Choice{
	{"info", 0, "worth knowing"},
	{"warning", 1, "worth a look"},
	{"critical", 2, "needs somebody now"},
}
