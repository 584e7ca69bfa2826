package embed

// An Action is what a node did to a packet.
type Action uint8

// The actions.
const (
	Forwarded Action = iota // nothing: the frame is as it was
	Inserted                // INT was started
	Pushed                  // a record was added
	Marked                  // a flag was set in the INT header, nothing was added
	Popped                  // the stack was taken out
)

func (a Action) String() string {
	return [...]string{"forwarded", "inserted", "pushed", "marked", "popped"}[min(a, Popped)]
}

// A Why is the reason why a node did less than it was asked to.
type Why uint8

// The reasons. To add one: a constant here and its text in whyTexts.
const (
	Done            Why = iota // it did not do less
	NotIP                      // the frame holds no IP packet, or one whose lengths are wrong
	NoINT                      // the packet has no INT of the domain
	AlreadyINT                 // the packet has INT already
	NoCarrier                  // the packet has no header that the domain's INT can stand in
	IsFragment                 // the packet is a fragment
	BadInstruction             // CheckInstruction says what is wrong
	MTU                        // the packet would exceed the MTU
	HopLimit                   // no more nodes may add a record
	CarrierFull                // a length field cannot say more: of IP, UDP, shim or option
	NothingAsked               // the instructions ask for nothing
	NoMetadata                 // the node has no metadata of its own
	MalformedINT               // INT.Malformed says how
	UnknownVersion             // the INT header is of a version that the domain does not have
	UnknownType                // the INT header is of a type that is not defined
	DestinationOnly            // only the sink looks at a destination header
	WrongMode                  // packets of the mode are not changed in that way
)

var whyTexts = [...]string{
	Done:            "done",
	NotIP:           "not_ip",
	NoINT:           "no_int",
	AlreadyINT:      "already_int",
	NoCarrier:       "no_carrier",
	IsFragment:      "fragment",
	BadInstruction:  "bad_instruction",
	MTU:             "mtu",
	HopLimit:        "hop_limit",
	CarrierFull:     "carrier_full",
	NothingAsked:    "nothing_asked",
	NoMetadata:      "no_metadata",
	MalformedINT:    "malformed_int",
	UnknownVersion:  "unknown_version",
	UnknownType:     "unknown_type",
	DestinationOnly: "destination_only",
	WrongMode:       "wrong_mode",
}

// String returns the name that counters use, for example "carrier_full".
func (w Why) String() string { return whyTexts[min(int(w), len(whyTexts)-1)] }

// A Result is what a node did to a packet.
type Result struct {
	Action Action
	Why    Why
	Added  int  // bytes that the frame is longer; negative if it is shorter
	Record bool // a record of this node is in it
	SetM   bool // M was set: metadata are missing because of the MTU
	SetE   bool // E was set: metadata are missing because of the maximum hop count
}
