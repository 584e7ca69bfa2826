package analyze

import (
	"github.com/waybill-int/waybill/analyze/drop"
	"github.com/waybill-int/waybill/analyze/finding"
	"github.com/waybill-int/waybill/analyze/ledger"
	"github.com/waybill-int/waybill/analyze/portcount"
	"github.com/waybill-int/waybill/analyze/queue"
	"github.com/waybill-int/waybill/analyze/reporting"
	"github.com/waybill-int/waybill/analyze/sampled"
	"github.com/waybill-int/waybill/analyze/scan"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// An Owner owns flows, and counts all that is reported of them: a Shard, or a Remote. What it gives and takes are
// values, and what it adds to stays its caller's.
type Owner interface {
	scan.Owner

	// Tick tells the time, see Shard.Tick.
	Tick(nowNs int64)
	// Finish counts the packets that wait for reports of other nodes as they are.
	Finish(nowNs int64)
	// SetPolicy replaces what paths are compared with; nil: nothing.
	SetPolicy(p finding.Policy)

	// for Collector
	hold(n int)
	waiting() []waitingPacket
	restoreWaiting(list []waitingPacket, nowNs int64)
	dropCounters() drop.TableCounters
	restoreDropCounters(counters []drop.Counter)
	rankFlows(q *flowRanking, stop <-chan struct{}, told *samples) (best flowHeap, total int)
	answerFlows(refs []flowRef, told *samples) []telemetry.Flow
	addPaths(to pathSums)
	addQueues(to queue.Sums)
	addDrops(to drop.Sums)
	addHosts(to *topology.Hosts)
	addReporting(to reporting.Stats)
	addPorts(inner topology.Inner, units map[uint32]telemetry.QueueUnit)
	sampledNodes() map[uint32]sampled.Node
	countedPorts() []portcount.Port
	counters() Counters
	takeDispositions(list []ledger.AccountDisposition) []ledger.AccountDisposition

	// for Intervals
	keepIntervals() (begun bool)
	pathsSince(from int, told *samples) (list []pathCount, next int)
	queuesSince(give bool) []queueCount
	dropsSince(give bool) []telemetry.DropInterval
	flowsSince(from int) flowCounts
	flowsSoFar(from int) flowCounts
	ungiven() Ungiven
}
