package telemetry

import (
	"net/netip"
	"time"
)

// A LossCount says what became of datagrams of an exporter. Arrived + Lost = Sent. What is not known, because sequence
// numbers do not count, is nil and never 0.
//
// A sum over all time is corrected by what came late: Received = Arrived + Duplicate, and Late are some of those that
// arrived. An interval that is closed stays as it was then, and so does a sum of intervals: Received = Arrived + Late +
// Duplicate, where Late arrived in these intervals but belong to the loss of others, or earlier ones.
type LossCount struct {
	Sent    *uint64 `json:"sent" table:"SENT" doc:"how far the sequence numbers advanced"`
	Arrived *uint64 `json:"arrived" table:"ARRIVED" doc:"different numbers that arrived"`
	Lost    *uint64 `json:"lost" table:"LOST" doc:"numbers that did not arrive"`
	// Where the numbers count records, as in IPFIX: what is missing of them. Below 0: more came late than are missing.
	RecordsLost *int64  `json:"records_lost,omitempty" table:"RECORDS LOST,wide" doc:"data records that did not arrive, where sequence numbers count these"`
	Away        *uint64 `json:"away" table:"AWAY,wide" doc:"of these, those that went by while no collector was running"`
	Late        *uint64 `json:"late" table:"LATE" doc:"numbers that arrived after their interval was closed"`
	// datagrams with a number that was there before, or that is too old to tell
	Duplicate *uint64 `json:"duplicate" table:"DUPLICATE" doc:"datagrams with a number that was there before"`
	Reordered *uint64 `json:"reordered" table:"REORDERED,wide" doc:"datagrams that came after a later one"`
	// times that the numbers began anew
	Restarted uint64 `json:"restarted" doc:"how often the numbers began anew"`

	// Revised is what was found out in these intervals about this and earlier ones. Nil: nothing, or the sum is
	// corrected.
	Revised *LossRevision `json:"revised,omitempty"`

	// Received = Decoded + Damaged + Malformed, in datagrams.
	Received uint64 `json:"received" table:"RECEIVED" doc:"datagrams received"`
	Decoded  uint64 `json:"decoded" table:"DECODED" doc:"datagrams of which all could be read"`
	// by error code
	Damaged map[string]uint64 `json:"damaged" table:"DAMAGED,bad" doc:"datagrams of which a part could be read"`
	// by error code
	Malformed map[string]uint64 `json:"malformed" table:"MALFORMED,bad" doc:"datagrams of which nothing could be read"`
	// usable ones in these datagrams
	Reports uint64 `json:"reports" table:"REPORTS" doc:"usable reports in them"`
	// of these, reports of datagrams that came again: they are in no table
	Repeated uint64 `json:"repeated" table:"REPEATED,wide" doc:"of these, reports of datagrams that came again"`

	// Fate is what became of the reports. Nil for intervals of before the process began.
	Fate *ReportFate `json:"fate,omitempty" table:",wide"`
}

// A ReportFate says what became of the usable reports of an exporter that were received since the process began:
// Reports = Repeated + Waiting + Flowless + KeptOut + InFlows, for each interval in which they arrived, and for all
// time.
//
// Of all time InFlows = Held + Unfollowed + Evicted + Queued + Stored + StoreDropped, where those that are nil are
// none. In intervals, all of these but Held and Queued are what happened there, also to reports that had arrived
// before.
type ReportFate struct {
	Reports uint64 `json:"reports" doc:"usable reports since the process began"`
	// of datagrams that came again: in no table
	Repeated uint64 `json:"repeated" doc:"of datagrams that came again"`
	Waiting  uint64 `json:"waiting" table:"WAITING" doc:"on their way to the tables"`
	Flowless uint64 `json:"flowless" table:"NO FLOW" doc:"they name no flow, or are about many packets"`
	KeptOut  uint64 `json:"kept_out" table:"REJECTED" doc:"their flow was rejected: the table of flows was full"`
	InFlows  uint64 `json:"in_flows" table:"IN FLOWS" doc:"a flow of the tables counted them"`

	// in a flow of the tables, and nowhere else yet; nil in intervals
	Held *uint64 `json:"held" table:"HELD" doc:"in a flow of the tables, and nowhere else yet"`
	// in flows of more exporters than are told apart: nobody knows what became of them
	Unfollowed uint64 `json:"unfollowed" table:"UNFOLLOWED" doc:"in flows of more exporters than are told apart"`
	Evicted    uint64 `json:"evicted" table:"EVICTED" doc:"their flow was evicted before it was stored"`
	// on their way to the disk; nil in intervals, and without a store
	Queued *uint64 `json:"queued" table:"QUEUED" doc:"on their way to the disk"`
	// the records of their flows are on disk; nil without a store
	Stored *uint64 `json:"stored" table:"STORED" doc:"the records of their flows are on disk"`
	// the store had no room for the records of their flows; nil without a store
	StoreDropped *uint64 `json:"store_dropped" table:"STORE DROPPED" doc:"the store had no room for the records of their flows"`
}

// A LossRevision says what has to be added to sums of intervals because later numbers told more: datagrams that counted
// as duplicates were the first after a restart, or what was taken for a restart or an outage were old datagrams. What
// is added to Arrived is taken off Duplicate; Sent less Arrived is added to Lost.
type LossRevision struct {
	Sent      int64 `json:"sent" doc:"to be added to sent"`
	Arrived   int64 `json:"arrived" doc:"to be added to arrived"`
	Away      int64 `json:"away" doc:"to be added to away"`
	Restarted int64 `json:"restarted" doc:"to be added to restarted"`
}

// A Loss is the ledger of one exporter at one socket.
type Loss struct {
	Socket  int        `json:"socket" doc:"number of its socket"` // its number among the sockets of the answer
	Source  netip.Addr `json:"source" table:"SOURCE" doc:"address that sends the reports"`
	Node    *uint32    `json:"node" kind:"node" table:"NODE,named=name" doc:"the node"`
	Name    string     `json:"name,omitempty" doc:"its name, if it has one"`
	HWID    *uint8     `json:"hw_id" table:"HW ID" doc:"hardware id in the reports"`
	Version string     `json:"version" table:"VERSION,wide" doc:"version of the reports"`
	LossCount
	// KernelDrops are, of the lost, those that the kernel dropped at the socket; nil if some were dropped there and
	// nobody knows which exporter's.
	KernelDrops *uint64 `json:"kernel_drops" table:"BY KERNEL,wide" doc:"of the lost, those that the kernel dropped at the socket"`
	// LossKnown is yes, or "no:" and why.
	LossKnown string         `json:"loss_known" table:"NOTE,end" doc:"yes, or no: and why"`
	Intervals []LossInterval `json:"intervals,omitempty" table:"INTERVAL" doc:"the same for each interval"`
	// Collector is that which received them, where others than this server do.
	Collector string `json:"collector,omitempty" table:"COLLECTOR,wide" doc:"collector that received them, where others than this server do"`
}

// A LossInterval is what became of the datagrams of an exporter from Start to End. While it is open, its counts are
// those so far.
type LossInterval struct {
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
	Open  bool      `json:"open,omitempty"`
	LossCount
}

// A SocketLoss is what a UDP socket was offered.
type SocketLoss struct {
	Address   string `json:"address"`
	Exporters int    `json:"exporters"`
	Received  uint64 `json:"received"` // datagrams
	// Unplaced are datagrams of exporters for which there was no account, UnplacedReports the reports in them.
	Unplaced        uint64 `json:"unplaced"`
	UnplacedReports uint64 `json:"unplaced_reports"`
	// Forgotten are datagrams of exporters that somebody had forgotten.
	Forgotten uint64 `json:"forgotten,omitempty"`
	// KernelDrops are datagrams that the kernel dropped: they are among the lost of some exporter. Nil where the system
	// does not count them.
	KernelDrops *uint64          `json:"kernel_drops"`
	Intervals   []SocketInterval `json:"intervals,omitempty"`
}

// A SocketInterval is what a socket was offered from Start to End. KernelDrops are read a moment after End.
type SocketInterval struct {
	Start       time.Time `json:"start"`
	End         time.Time `json:"end"`
	Received    uint64    `json:"received"`
	KernelDrops *uint64   `json:"kernel_drops"`
}

// A TableLoss says what became of the usable reports since the tables began: Reports = Stored + Repeated + Waiting.
// What the tables had no room for is among the stored.
type TableLoss struct {
	Reports       uint64 `json:"reports"`
	Stored        uint64 `json:"stored"`         // taken by the tables
	Repeated      uint64 `json:"repeated"`       // of datagrams that came again: in no table
	Waiting       uint64 `json:"waiting"`        // on their way there
	Flowless      uint64 `json:"flowless"`       // reports that do not say which flow they are about
	DropsUnplaced uint64 `json:"drops_unplaced"` // reports of drops that are in no list of drops
	FlowsEvicted  uint64 `json:"flows_evicted"`  // flows that gave way to others, with what was stored of them
	PathsEvicted  uint64 `json:"paths_evicted"`
	JoinsCut      uint64 `json:"joins_cut"` // packets that did not wait for all their postcards
}

// A LossGap is a time in which nothing was received because no collector was running.
type LossGap struct {
	From time.Time `json:"from"` // the last thing known from before it
	To   time.Time `json:"to"`
}

// A Completeness says which share of the reports arrived that an answer rests on.
type Completeness struct {
	Since time.Time `json:"since"` // when the tables began to fill
	// Ratio is arrived by sent, over all exporters whose sequence numbers count; nil if there are none.
	Ratio   *float64      `json:"ratio"`
	Sent    uint64        `json:"sent"`
	Lost    uint64        `json:"lost"`
	Below   []NodeArrival `json:"below"`   // the worst of those that are not complete, the worst first
	Lossy   int           `json:"lossy"`   // how many exporters are not complete
	Unknown int           `json:"unknown"` // exporters whose loss is not known
}

// A NodeArrival is an exporter of which reports were lost.
type NodeArrival struct {
	Source netip.Addr `json:"source"`
	Node   *uint32    `json:"node"`
	Name   string     `json:"name,omitempty"`
	Ratio  float64    `json:"ratio"`
	Sent   uint64     `json:"sent"`
	Lost   uint64     `json:"lost"`
}
