package ioam

// An Action is what a node did to a packet.
type Action uint8

// The actions.
const (
	Forwarded Action = iota // nothing: the frame is as it was
	Inserted                // an option was inserted
	Added                   // a record was added to a trace
	Marked                  // O was set in a trace, and nothing was added
	Removed                 // options were removed
	Exported                // a record is to be exported; the frame is as it was
)

var actionTexts = [...]string{"forwarded", "inserted", "added", "marked", "removed", "exported"}

// String returns the name that counters use, for example "inserted".
func (a Action) String() string { return actionTexts[min(int(a), len(actionTexts)-1)] }

// A Why is the reason why a node did less than it was asked to.
type Why uint8

// The reasons. To add one: a constant here and its text in whyTexts.
const (
	Done             Why = iota // it did not do less
	NotIPv6                     // the frame holds no IPv6 packet, or one that cannot be read
	NoIOAM                      // the packet has no option that the function is for
	UnknownNamespace            // the option is of a namespace that the domain does not have
	MalformedIOAM               // Packet.Malformed or Option.Malformed says how
	NoRecord                    // the node has no data of its own
	Overflow                    // RemainingLen does not allow the record, or O was set before
	MTU                         // the packet would exceed the MTU
	CarrierFull                 // a length field cannot say more: of the option, its header or the packet
	AlreadyIOAM                 // the packet has an option of that type and namespace
	BadRequest                  // Request.Check says what is wrong, or the domain does not know the namespace
)

var whyTexts = [...]string{
	Done:             "done",
	NotIPv6:          "not_ipv6",
	NoIOAM:           "no_ioam",
	UnknownNamespace: "unknown_namespace",
	MalformedIOAM:    "malformed_ioam",
	NoRecord:         "no_record",
	Overflow:         "overflow",
	MTU:              "mtu",
	CarrierFull:      "carrier_full",
	AlreadyIOAM:      "already_ioam",
	BadRequest:       "bad_request",
}

// String returns the name that counters use, for example "carrier_full".
func (w Why) String() string { return whyTexts[min(int(w), len(whyTexts)-1)] }

// A Result is what a node did to a packet.
type Result struct {
	Action  Action
	Why     Why  // with several options: of the last one that got less
	Grown   int  // bytes that the frame is longer; negative if it is shorter
	Records int  // records of this node that were added
	SetO    bool // O was set in a trace: the node could not add its record
}
