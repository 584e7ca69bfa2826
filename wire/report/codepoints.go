package report

// Values of V05.NProto: what follows the fixed header (TR 0.5 §3.2.1).
const (
	NProtoEthernet    uint8 = 0 // the fragment
	NProtoDrop        uint8 = 1 // a drop header, then the fragment
	NProtoSwitchLocal uint8 = 2 // a switch local header, then the fragment
)

// Values of V10.NProt: the first header of the fragment (TR 1.0 §3.2). They are not those of V05.NProto.
const (
	NProtEthernet uint8 = 0
	NProtIPv4     uint8 = 1
	NProtIPv6     uint8 = 2
)

// Values of V20.RepType: what the main contents of a report are (TR 2.0 §3.3).
const (
	RepInnerOnly uint8 = 0 // no main contents
	RepINT       uint8 = 1
	RepIOAM      uint8 = 2 // contents undefined
)

// Values of V20.InType: what the inner contents of a report are (TR 2.0 §3.3).
const (
	InNone        uint8 = 0
	InTLV         uint8 = 1
	InDSExtension uint8 = 2 // domain specific extension data
	InEthernet    uint8 = 3
	InIPv4        uint8 = 4
	InIPv6        uint8 = 5
)

// Values of TLV.Type (TR 2.0 §3.3.2). They are not those of V20.InType; TLV.InType translates.
const (
	TLVDSExtension uint8 = 0 // domain specific extension data
	TLVEthernet    uint8 = 1
	TLVIPv4        uint8 = 2
	TLVIPv6        uint8 = 3
)

// TSDomain is the Domain Specific ID of the Transparent Security profile, "TS" in ASCII.
const TSDomain uint16 = 0x5453
