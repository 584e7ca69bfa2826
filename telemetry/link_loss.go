package telemetry

// How the loss of a link is known, see LinkLoss.
const (
	// LossByPostcards compares what both ends tell of each packet.
	LossByPostcards = "postcards"
	// LossByTCP counts the holes in TCP streams that senders fill.
	LossByTCP = "tcp"
	// LossBySequence counts the packets of a flow that are missing in the numbers that its source gives them.
	LossBySequence = "sequence"
)

// A LinkLoss estimates how many packets a link lost of those that it was sent, without a reason that a node tells, in
// the last minute. What is nil is not known, and Unknown says why.
type LinkLoss struct {
	Share *float64 `json:"share" kind:"ratio" filter:",main" table:"LOSS" doc:"share of its packets that the link loses, as it seems, in the last minute"`
	// The true share is between these, as sure as Confidence says.
	Lower      *float64 `json:"lower" kind:"ratio" table:"AT LEAST,wide" doc:"the link loses no smaller share"`
	Upper      *float64 `json:"upper" kind:"ratio" table:"AT MOST,wide" doc:"the link loses no larger share"`
	Confidence float64  `json:"confidence" kind:"ratio" filter:"-" doc:"how sure it is that the share is between the two"`
	// of which it is known what became of them
	Sent   uint64 `json:"sent" doc:"packets sent on the link of which it is known whether they were lost"`
	Lost   uint64 `json:"lost" doc:"packets lost on the link, of these"`
	Method string `json:"method,omitempty" table:"LOSS BY,wide" doc:"how it is known: postcards, sequence (numbers that sources give to packets) or tcp"`
	// e.g. that only UDP crosses it
	Unknown string `json:"unknown,omitempty" filter:"-" table:"LOSS UNKNOWN,wide" doc:"why the loss is not known"`
}
