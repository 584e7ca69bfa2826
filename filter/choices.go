package filter

import (
	"strconv"

	"github.com/waybill-int/waybill/telemetry"
)

// choices are the lists of choices by the names that the tag choice has.
var choices = map[string][]Choice{
	"attack": attackKinds, "attack_state": attackStates,
	"event": eventKinds, "outcome": outcomes(), "protocol": protocols(), "severity": severities, "sample": sampleKinds, "tunnel": tunnels(),
}

var sampleKinds = []Choice{
	{telemetry.SampleUnknown.Kind(), 0, "nothing shows how the node chooses them"},
	{telemetry.SampleEvery.Kind(), 1, "all packets, but for lost reports"},
	{telemetry.SampleRate(2).Kind(), 2, "1 packet in so many: means and percentiles are those of all packets"},
	{telemetry.SamplePart.Kind(), 3, "some packets, and nothing shows how the node chooses them"},
	{telemetry.SampleOnEvent.Kind(), 4, "packets that differ from the one before: no mean and no percentile is that of all packets"},
}

// protocols are the IP protocols that have a name.
func protocols() []Choice {
	var choices []Choice
	for n := range 256 {
		if name := telemetry.ProtocolName(uint8(n)); name != strconv.Itoa(n) {
			choices = append(choices, Choice{Name: name, Number: uint64(n)})
		}
	}
	return choices
}

func tunnels() []Choice {
	var choices []Choice
	for t := telemetry.TunnelVXLAN; t <= telemetry.TunnelIP; t++ {
		choices = append(choices, Choice{Name: t.String(), Number: uint64(t)})
	}
	return choices
}

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
	eventKind(telemetry.EventImplausible, "metadata of a node that cannot be so"),
	eventKind(telemetry.EventDuplicateNode, "two devices have the same node id"),
	eventKind(telemetry.EventExporterSilent, "a node reports no more, and packets still pass it"),
	eventKind(telemetry.EventContradiction, "a node tells two stories of one packet"),
	eventKind(telemetry.EventAttack, "far more traffic to a target than is usual there"),
}

func eventKind(k telemetry.EventKind, doc string) Choice {
	return Choice{Name: k.String(), Number: uint64(k), Doc: doc}
}

var attackKinds = []Choice{
	attackKind(telemetry.AttackUDP, "UDP that nobody answers"),
	attackKind(telemetry.AttackSYN, "TCP connections that are opened, and never used"),
	attackKind(telemetry.AttackReflection, "UDP from services that answer with more than they are asked"),
	attackKind(telemetry.AttackFragments, "fragments of packets"),
	attackKind(telemetry.AttackICMP, "ICMP"),
	attackKind(telemetry.AttackTCP, "TCP that nobody answers"),
	attackKind(telemetry.AttackOther, "another protocol"),
	attackKind(telemetry.AttackCarpet, "many addresses of a prefix, each with little"),
	attackKind(telemetry.AttackSurge, "much traffic, and signs that it is wanted: no attack"),
}

func attackKind(k telemetry.AttackKind, doc string) Choice {
	return Choice{Name: k.String(), Number: uint64(k), Doc: doc}
}

var attackStates = []Choice{
	attackState(telemetry.AttackSuspected, "too few packets were counted to tell what it is"),
	attackState(telemetry.AttackActive, "it goes on"),
	attackState(telemetry.AttackMitigated, "filters drop most of it"),
	attackState(telemetry.AttackEnded, "nothing of it comes or is dropped any more"),
}

func attackState(s telemetry.AttackState, doc string) Choice {
	return Choice{Name: s.String(), Number: uint64(s), Doc: doc}
}

var severities = []Choice{
	severity(telemetry.Info, "worth knowing"),
	severity(telemetry.Warning, "worth a look"),
	severity(telemetry.Critical, "needs somebody now"),
}

func severity(s telemetry.Severity, doc string) Choice {
	return Choice{Name: s.String(), Number: uint64(s), Doc: doc}
}

// outcomes are the choices of an Outcome, the better first.
func outcomes() []Choice {
	return []Choice{
		{Name: "decoded", Number: uint64(telemetry.Decoded), Doc: "all of it"},
		{Name: "damaged", Number: uint64(telemetry.Damaged), Doc: "a part of it"},
		{Name: "malformed", Number: uint64(telemetry.Malformed), Doc: "nothing"},
	}
}
