package packet

// EtherTypes (IEEE 802 Numbers, IANA). GRE and Geneve use the same numbers for their payload.
const (
	EtherTypeIPv4          = 0x0800
	EtherTypeARP           = 0x0806
	EtherTypeTEB           = 0x6558 // Transparent Ethernet Bridging: an Ethernet frame follows
	EtherTypeVLAN          = 0x8100 // IEEE 802.1Q customer tag
	EtherTypeIPv6          = 0x86dd
	EtherTypeMPLS          = 0x8847
	EtherTypeMPLSMulticast = 0x8848
	EtherTypeServiceVLAN   = 0x88a8 // IEEE 802.1ad service tag, the outer one of QinQ
	EtherTypeNSH           = 0x894f
	EtherTypeQinQ          = 0x9100 // outer tag of QinQ before IEEE 802.1ad
)

// IP protocol numbers, which are IPv6 next header numbers too (IANA).
const (
	ProtoHopByHop    = 0 // IPv6Options
	ProtoICMP        = 1
	ProtoIPv4        = 4
	ProtoTCP         = 6
	ProtoUDP         = 17
	ProtoIPv6        = 41
	ProtoRouting     = 43 // IPv6Routing
	ProtoFragment    = 44 // IPv6Fragment
	ProtoGRE         = 47
	ProtoESP         = 50 // everything behind it is encrypted
	ProtoAH          = 51 // IPv6Auth, in IPv4 too
	ProtoICMPv6      = 58
	ProtoNone        = 59 // nothing follows
	ProtoDestOptions = 60 // IPv6Options
	ProtoSCTP        = 132
)

// UDP destination ports of tunnels (IANA).
const (
	PortVXLAN    = 4789
	PortVXLANGPE = 4790
	PortGeneve   = 6081
)

// Next Protocol numbers of VXLAN-GPE and NSH. The two registries agree on these four only: number 5 is MPLS in NSH
// (RFC 8300 §9.3), and in VXLAN-GPE it depends on the deployment.
const (
	NextIPv4     = 1
	NextIPv6     = 2
	NextEthernet = 3
	NextNSH      = 4
	NextINT2016  = 5 // INT of June 2016 and 0.5; others claim it too

	NSHMPLS = 5
)
