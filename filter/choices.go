package filter

import (
	"fmt"
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

// choice is what a field has as a number, and people read and write as a text.
func choice[T interface {
	~uint8
	fmt.Stringer
}](value T, doc string) Choice {
	return Choice{Name: value.String(), Number: uint64(value), Doc: doc}
}

var eventKinds = []Choice{
	choice(telemetry.EventNewFlow, "a flow was seen for the first time"),
	choice(telemetry.EventPathChange, "flows took another way out of a node than before"),
	choice(telemetry.EventECMPImbalance, "the links of a group carry unequal shares"),
	choice(telemetry.EventPathNotAllowed, "a path that the policy does not allow"),
	choice(telemetry.EventLinkLost, "a link is not seen any more while its ends still report"),
	choice(telemetry.EventLatencyAnomaly, "a latency far from what is usual"),
	choice(telemetry.EventMicroburst, "a queue filled and emptied again"),
	choice(telemetry.EventIncast, "many sources met at one egress port"),
	choice(telemetry.EventDropStorm, "many packets were dropped"),
	choice(telemetry.EventBlackhole, "all packets of some flows are dropped"),
	choice(telemetry.EventGrayFailure, "a link loses a share of its packets without a reason"),
	choice(telemetry.EventLoop, "packets came to the same node twice"),
	choice(telemetry.EventHopLimit, "a packet met more nodes than INT allowed (E)"),
	choice(telemetry.EventMTUExceeded, "a node had no room to add its metadata (M)"),
	choice(telemetry.EventHopWithoutINT, "the TTL tells of nodes that added no metadata"),
	choice(telemetry.EventMalformed, "checksums or lengths that break the rules"),
	choice(telemetry.EventUnexpectedNode, "a node or interface that should not be there"),
	choice(telemetry.EventWaypointMissed, "a flow went around a node that it should pass"),
	choice(telemetry.EventReportLoss, "reports were lost"),
	choice(telemetry.EventNodeRestart, "an exporter began to count anew"),
	choice(telemetry.EventClockJump, "the clock of a node jumped"),
	choice(telemetry.EventImplausible, "metadata of a node that cannot be so"),
	choice(telemetry.EventDuplicateNode, "two devices have the same node id"),
	choice(telemetry.EventExporterSilent, "a node reports no more, and packets still pass it"),
	choice(telemetry.EventContradiction, "a node tells two stories of one packet"),
	choice(telemetry.EventAttack, "far more traffic to a target than is usual there"),
}

var attackKinds = []Choice{
	choice(telemetry.AttackUDP, "UDP that nobody answers"),
	choice(telemetry.AttackSYN, "TCP connections that are opened, and never used"),
	choice(telemetry.AttackReflection, "UDP from services that answer with more than they are asked"),
	choice(telemetry.AttackFragments, "fragments of packets"),
	choice(telemetry.AttackICMP, "ICMP"),
	choice(telemetry.AttackTCP, "TCP that nobody answers"),
	choice(telemetry.AttackOther, "another protocol"),
	choice(telemetry.AttackCarpet, "many addresses of a prefix, each with little"),
	choice(telemetry.AttackSurge, "much traffic, and signs that it is wanted: no attack"),
}

var attackStates = []Choice{
	choice(telemetry.AttackSuspected, "too few packets were counted to tell what it is"),
	choice(telemetry.AttackActive, "it goes on"),
	choice(telemetry.AttackMitigated, "filters drop most of it"),
	choice(telemetry.AttackEnded, "nothing of it comes or is dropped any more"),
}

var severities = []Choice{
	choice(telemetry.Info, "worth knowing"),
	choice(telemetry.Warning, "worth a look"),
	choice(telemetry.Critical, "needs somebody now"),
}

// outcomes are the choices of an Outcome, the better first.
func outcomes() []Choice {
	return []Choice{
		{Name: "decoded", Number: uint64(telemetry.Decoded), Doc: "all of it"},
		{Name: "damaged", Number: uint64(telemetry.Damaged), Doc: "a part of it"},
		{Name: "malformed", Number: uint64(telemetry.Malformed), Doc: "nothing"},
	}
}
