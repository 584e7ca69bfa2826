package dissect

import (
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/packet"
)

// config returns code points with pairs of key and value set.
func config(t testing.TB, pairs ...any) *codepoint.Config {
	t.Helper()
	cfg := codepoint.New()
	for i := 0; i < len(pairs); i += 2 {
		if err := cfg.Set(pairs[i].(string), pairs[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	cfg.Compile()
	return cfg
}

// header is what every header of package packet can do.
type header interface{ Append([]byte) []byte }

// stack appends headers and bytes in hex one after the other.
func stack(t testing.TB, parts ...any) []byte {
	t.Helper()
	var b []byte
	for _, p := range parts {
		switch p := p.(type) {
		case header:
			b = p.Append(b)
		case string:
			bytes, err := hex.DecodeString(strings.ReplaceAll(p, " ", ""))
			if err != nil {
				t.Fatal(err)
			}
			b = append(b, bytes...)
		}
	}
	return b
}

func ip4(protocol uint8) *packet.IPv4 {
	return &packet.IPv4{IHL: 5, TTL: 64, Protocol: protocol, Src: [4]byte{10, 0, 0, 1}, Dst: [4]byte{10, 0, 0, 2}}
}

func udpTo(port uint16) *packet.UDP { return &packet.UDP{SrcPort: 1000, DstPort: port} }

// shape writes the names of layers, with those of errors behind a "!" and of quirks behind a "~".
func shape(layers []Layer) string {
	var names []string
	for i := range layers {
		name := layers[i].Name
		if f := layers[i].Find(quirkField); f != nil {
			name += "~" + f.Text()
		}
		if f := layers[i].Find(errorField); f != nil {
			name += "!" + f.Value.(wire.Error).Error()
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

const (
	int05     = "01000500 0001100180000000 00000001 06005000"         // L4 shim, INT 0.5, one hop, tail
	int10     = "01000500 1000020790000000 00000001 01000002"         // L4 shim, INT 1.0, one hop
	int20     = "10050000 200002079000000000000000 00000001 01000002" // L4 shim NPT 0, INT-MD, one hop
	int20Port = "18050006 200002079000000000000000 00000001 01000002" // the same with NPT 2, TCP
	tcp20     = "03e8 0050 00000001 00000002 5010 1000 0000 0000"     // TCP header
	tcp24     = "03e8 0050 00000001 00000002 6010 1000 0000 0000"     // the same, with one word of options
	trace1    = "0001 0801 800000 00 00000000 40000005"               // IOAM trace, one free word, one node
	ethernet0 = "020000000002 020000000001 0800"                      // Ethernet, IPv4 follows
	report0   = "0000000100000001 00000001"                           // telemetry report 0.5 without the F bit
	report5F  = "0020000100000001 00000001"                           // telemetry report 0.5 with the F bit
)

// TestWalk reads packets of all kinds. Each line is one thing that decides what follows a header.
func TestWalk(t *testing.T) {
	mf := ip4(packet.ProtoUDP)
	mf.MF = true
	later := ip4(packet.ProtoUDP)
	later.FragmentOffset = 100
	options := ip4(packet.ProtoUDP)
	options.IHL, options.Options = 6, []byte{1, 1, 1, 0}
	padded := ip4(packet.ProtoUDP)
	padded.TotalLength = 30
	tooShort := ip4(packet.ProtoUDP)
	tooShort.TotalLength = 19
	marked := ip4(packet.ProtoTCP)
	marked.DSCP = 23
	markedUDP := ip4(packet.ProtoUDP)
	markedUDP.DSCP = 23
	ip6 := func(next uint8) *packet.IPv6 {
		return &packet.IPv6{NextHeader: next, HopLimit: 64, Src: [16]byte{15: 1}}
	}

	dscp := config(t, "int_dscp", 23)
	before := config(t, "int_dscp", 23, "int_before_tcp_options", true)
	port := config(t, "int_udp_port", 5000)
	port05 := config(t, "int_udp_port", 5000, "int_format_for_version_0", "v0.5")
	both := config(t, "int_dscp", 23, "int_udp_port", 5000)
	marker := config(t, "probe_marker", "0x1122334455667788")
	ioamGPE := config(t, "vxlan_gpe_ioam_next_protocol", 0x83)
	none := config(t)

	for _, c := range []struct {
		name  string
		cfg   *codepoint.Config
		start Start
		bytes []byte
		want  string
	}{
		{"empty", none, Ethernet, nil, "!truncated_ethernet"},
		{
			"QinQ", none, Ethernet,
			stack(t, "020000000002020000000001 88a8", "0064 8100", "0065 0800", ip4(packet.ProtoUDP), udpTo(53), "00"),
			"ethernet vlan vlan ipv4 udp payload",
		},
		{
			"cut VLAN", none, Ethernet, stack(t, "020000000002020000000001 8100", "0064"),
			"ethernet !truncated_vlan payload",
		},
		{
			"length instead of EtherType", none, Ethernet, stack(t, "020000000002020000000001 0004", "42420300"),
			"ethernet payload",
		},
		{
			"MPLS", none, Ethernet,
			stack(t, "020000000002020000000001 8847", "00064040", "00065140", ip4(packet.ProtoICMP),
				"0800000000010002"),
			"ethernet mpls mpls ipv4 icmp",
		},
		{"MPLS without bottom", none, MPLS, stack(t, "00064040", "0006"), "mpls !truncated_mpls payload"},
		{"pseudowire", none, MPLS, stack(t, "00065140", "00000000"), "mpls payload"},
		{
			"cooked", none, LinuxCooked, stack(t, "0000 0001 0006 020000000001 0000 0800", ip4(packet.ProtoTCP), tcp20),
			"linux_sll ipv4 tcp",
		},
		{
			"cooked 2", none, LinuxCooked2,
			stack(t, "86dd 0000 00000002 0001 00 06 0200000000010000", ip6(packet.ProtoNone)), "linux_sll2 ipv6",
		},
		{"cut cooked", none, LinuxCooked2, stack(t, "86dd"), "!truncated_ethernet payload"},
		{
			"loopback, little-endian", none, Loopback, stack(t, "02000000", ip4(packet.ProtoUDP), udpTo(53)),
			"loopback ipv4 udp",
		},
		{"loopback, network byte order", none, Loopback, stack(t, "00000018", ip6(packet.ProtoNone)), "loopback ipv6"},
		{"loopback of macOS", none, Loopback, stack(t, "1e000000", ip6(packet.ProtoNone)), "loopback ipv6"},
		{"loopback, another family", none, Loopback, stack(t, "07000000", "0000"), "loopback payload"},
		{"cut loopback", none, Loopback, stack(t, "0200"), "!truncated_ethernet payload"},
		{"raw 4", none, RawIP, stack(t, ip4(packet.ProtoUDP), udpTo(53)), "ipv4 udp"},
		{"raw 6", none, RawIP, stack(t, ip6(packet.ProtoICMPv6), "8000000000010002 ff"), "ipv6 icmpv6 payload"},
		{"raw neither", none, RawIP, stack(t, "5000"), "payload"},

		{"first fragment", none, IPv4, stack(t, mf, udpTo(53), "00"), "ipv4 udp payload"},
		{"later fragment", port, IPv4, stack(t, later, udpTo(5000), int20Port), "ipv4 payload"},
		{"IPv4 options", none, IPv4, stack(t, options, udpTo(53)), "ipv4 udp"},
		{"cut IPv4 options", none, IPv4, stack(t, options, udpTo(53))[:22], "ipv4!truncated_ipv4 payload"},
		{"padding", none, IPv4, stack(t, padded, udpTo(53), "0102 0000000000"), "ipv4 udp payload"},
		{"total length below header", none, IPv4, stack(t, tooShort, udpTo(53)), "ipv4!ipv4_header_length udp"},
		{"wrong version", none, IPv4, stack(t, ip6(6)), "!ipv4_version payload"},
		{
			"IP in IP", none, IPv4,
			stack(t, ip4(packet.ProtoIPv4), ip4(packet.ProtoIPv6), ip6(packet.ProtoUDP), udpTo(53)),
			"ipv4 ipv4 ipv6 udp",
		},

		{
			"router alert", none, IPv6, stack(t, ip6(0), "1100 05020000 0100", udpTo(53)),
			"ipv6 ipv6_hop_by_hop ipv6_option udp",
		},
		{
			"two IOAM options", none, IPv6,
			stack(t, ip6(0), "1105 0100 3112 0000", trace1, "00 00 3112 0000", trace1, "0100", udpTo(53)),
			"ipv6 ipv6_hop_by_hop ioam_trace ipv6_option ioam_trace udp",
		},
		{
			"unknown IOAM type", none, IPv6, stack(t, ip6(0), "1100 1104 0009 aabb", udpTo(53)),
			"ipv6 ipv6_hop_by_hop ioam!unknown_ioam_type udp",
		},
		{
			"short IOAM option", none, IPv6, stack(t, ip6(0), "1100 310100 010100", udpTo(53)),
			"ipv6 ipv6_hop_by_hop ipv6_option!truncated_ioam udp",
		},
		{
			"option overrun", none, IPv6, stack(t, ip6(60), "1100 05090000 0100", udpTo(53)),
			"ipv6 ipv6_destination_options !ipv6_option_overrun udp",
		},
		{
			"routing, auth", none, IPv6,
			stack(t, ip6(43), "3302 0401 00000000", strings.Repeat("00", 16), "1102 0000 00000001 00000002 00000000",
				udpTo(53)),
			"ipv6 ipv6_routing ipv6_auth udp",
		},
		{
			"IPv6 later fragment", none, IPv6, stack(t, ip6(44), "1100 0008 00000001", udpTo(53)),
			"ipv6 ipv6_fragment payload",
		},
		{
			"IPv6 first fragment", none, IPv6, stack(t, ip6(44), "1100 0001 00000001", udpTo(53)),
			"ipv6 ipv6_fragment udp",
		},
		{
			"cut extension", none, IPv6, stack(t, ip6(43), "3302 0401 00"),
			"ipv6 ipv6_routing!truncated_ipv6_extension payload",
		},

		{
			"GRE", none, GRE, stack(t, "b000 0800", "00000000 00000007 00000009", ip4(packet.ProtoUDP), udpTo(53)),
			"gre ipv4 udp",
		},
		{"GRE version 1", none, GRE, stack(t, "2001 880b 00000000"), "gre!gre_version payload"},
		{
			"NSH", none, NSH, stack(t, "0fc2 0203", "000001 ff", ethernet0, ip4(packet.ProtoUDP), udpTo(53)),
			"nsh ethernet ipv4 udp",
		},
		{
			"NSH with IOAM", none, NSH,
			stack(t, "0fc2 0206", "000001 ff", "00 05 00 01", trace1, ip4(packet.ProtoUDP), udpTo(53)),
			"nsh ioam_shim ioam_trace ipv4 udp",
		},
		{"NSH length", none, NSH, stack(t, "0fc1 0206 000001ff"), "nsh!nsh_length"},
		{
			"GPE without P", none, VXLANGPE, stack(t, "08000000 00000100", ethernet0, ip4(packet.ProtoUDP), udpTo(53)),
			"vxlan_gpe ethernet ipv4 udp",
		},
		{"GPE version", none, VXLANGPE, stack(t, "1c000003 00000100"), "vxlan_gpe!vxlan_gpe_version"},
		{
			"GPE IOAM length", ioamGPE, VXLANGPE, stack(t, "0c000083 00000100", "00 ff 00 01"),
			"vxlan_gpe ioam_shim!ioam_shim_length",
		},
		{
			"Geneve option overrun", none, Geneve, stack(t, "0100 0800 00000100", "01030109", ip4(packet.ProtoUDP)),
			"geneve geneve_option!geneve_option_overrun ipv4 !truncated_udp",
		},
		{
			"Geneve INT type", none, Geneve, stack(t, "0100 0800 00000100", "01030700", ip4(packet.ProtoNone)),
			"geneve geneve_option!unknown_int_type ipv4",
		},

		{"DSCP", dscp, IPv4, stack(t, marked, tcp20, int20, "aa"), "ipv4 tcp int_shim_l4_v2 int_md payload"},
		{"DSCP not configured", none, IPv4, stack(t, marked, tcp20, int20, "aa"), "ipv4 tcp payload"},
		{"DSCP without a shim", dscp, IPv4, stack(t, marked, tcp20), "ipv4 tcp !truncated_shim"},
		{
			"DSCP before something else", dscp, IPv4, stack(t, marked, tcp20, "ff000000"),
			"ipv4 tcp !unknown_int_type payload",
		},
		{
			"DSCP, NPT 2", dscp, IPv4, stack(t, markedUDP, udpTo(53), int20Port, tcp20),
			"ipv4 udp int_shim_l4_v2!unknown_npt int_md payload",
		},
		{
			"behind TCP options", dscp, IPv4, stack(t, marked, tcp24, "01010100", int10, "aa"),
			"ipv4 tcp int_shim_l4_v1 int_hbh_v1 payload",
		},
		{
			"before TCP options", before, IPv4, stack(t, marked, tcp24, int10, "01010100", "aa"),
			"ipv4 tcp int_shim_l4_v1 int_hbh_v1 tcp_options payload",
		},
		{
			"cut TCP options behind INT", before, IPv4, stack(t, marked, tcp24, int10, "0101"),
			"ipv4 tcp int_shim_l4_v1 int_hbh_v1 tcp_options!truncated_tcp_options",
		},
		{
			"port", port, IPv4, stack(t, ip4(packet.ProtoUDP), udpTo(5000), int20Port, tcp20),
			"ipv4 udp int_shim_l4_v2 int_md tcp",
		},
		{
			"port, NPT 0", port, IPv4, stack(t, ip4(packet.ProtoUDP), udpTo(5000), int20),
			"ipv4 udp int_shim_l4_v2!unknown_npt int_md",
		},
		{
			"TCP port of INT 0.5", port05, IPv4,
			stack(t, ip4(packet.ProtoTCP), strings.Replace(tcp20, "0050", "1388", 1), int05, "aa"),
			"ipv4 tcp int_shim_l4_v0_5 int_hbh_v0_5 int_tail_v0_5 payload",
		},
		{
			"TCP behind INT whose payload looks like INT 0.5", port05, IPv4,
			stack(t, ip4(packet.ProtoUDP), udpTo(5000), int20Port, tcp20, int05),
			"ipv4 udp int_shim_l4_v2 int_md tcp payload",
		},
		{
			"port and DSCP", both, IPv4, stack(t, markedUDP, udpTo(5000), int20Port, tcp20),
			"ipv4 udp int_shim_l4_v2!int_mark_conflict int_md tcp",
		},
		{
			"marker", marker, IPv4, stack(t, ip4(packet.ProtoUDP), udpTo(53), "1122334455667788", int10, "aa"),
			"ipv4 udp int_probe_marker int_shim_l4_v1 int_hbh_v1 payload",
		},
		{
			"INT outside and inside", dscp, IPv4, stack(t, ip4(packet.ProtoUDP), udpTo(4790), "0c000082 00000100",
				"10050003 200002079000000000000000 00000009 01000002", ethernet0, marked, tcp20, int20),
			"ipv4 udp vxlan_gpe int_shim_vxlan_gpe_v2 int_md ethernet ipv4 tcp int_shim_l4_v2 int_md",
		},
		{
			"marker without a shim", marker, IPv4,
			stack(t, ip4(packet.ProtoUDP), udpTo(53), "1122334455667788", "ff00"),
			"ipv4 udp payload",
		},
		{
			"DSCP copied from the packet in a tunnel", dscp, IPv4,
			stack(t, markedUDP, udpTo(4789), "08000000 00000100", ethernet0, marked, tcp20, int20),
			"ipv4 udp vxlan ethernet ipv4 tcp int_shim_l4_v2 int_md",
		},
		{
			"INT before VXLAN", dscp, IPv4,
			stack(t, markedUDP, udpTo(4789), int10, "08000000 00000100", ethernet0, ip4(packet.ProtoNone)),
			"ipv4 udp int_shim_l4_v1 int_hbh_v1 vxlan ethernet ipv4",
		},
		{
			"destination type", dscp, IPv4, stack(t, marked, tcp20, "02000500 1000020790000000 00000001 01000002"),
			"ipv4 tcp int_shim_l4_v1 int_contents",
		},
		{
			"unknown INT version", dscp, IPv4,
			stack(t, marked, tcp20, "10050000 3000020790000000", strings.Repeat("00", 12), "aa"),
			"ipv4 tcp int_shim_l4_v2 int_contents!unknown_int_version payload",
		},
		{
			"shim length 0", dscp, IPv4, stack(t, marked, tcp20, "01000000 aa"),
			"ipv4 tcp int_shim_l4_v1!int_header_truncated payload",
		},
		{
			"June 2016 by its look", none, VXLANGPE,
			stack(t, "0c000008 00000100", "01000503 0002100190000000 00000003 8000001e", ethernet0),
			"vxlan_gpe int_shim_vxlan_gpe_2016 int_2016 ethernet !truncated_ipv4",
		},

		{
			"report without F", dscp, TelemetryReport, stack(t, report0, ethernet0, marked, tcp20, int20),
			"telemetry_report_v0_5 ethernet ipv4 tcp payload",
		},
		{
			"report with F", dscp, TelemetryReport, stack(t, report5F, ethernet0, marked, tcp20, int20),
			"telemetry_report_v0_5 ethernet ipv4 tcp int_shim_l4_v2 int_md",
		},
		{
			"report about a packet to a report port", none, TelemetryReport,
			stack(t, report5F, ethernet0, ip4(packet.ProtoUDP), udpTo(8555), report0),
			"telemetry_report_v0_5 ethernet ipv4 udp payload",
		},
		{
			"report cut in the stack", dscp, TelemetryReport,
			stack(t, report5F, ethernet0, marked, tcp20, "10070000 200002069000000000000000 00000002 01000002 000000"),
			"telemetry_report_v0_5 ethernet ipv4 tcp int_shim_l4_v2!shim_length_overrun int_md",
		},
		{"report of nothing", none, TelemetryReport, nil, "!truncated_fixed_header"},
		{
			"v1.0 with unknown NProt", none, TelemetryReport, stack(t, "1460 0040 00000001 00000001 00000001 aa"),
			"telemetry_report_v1_0 payload",
		},
		{
			"v1.0 with more words", none, TelemetryReport,
			stack(t, "1500 0040 00000001 00000001 00000001 deadbeef", ethernet0),
			"telemetry_report_v1_0 ethernet !truncated_ipv4",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			layers := Packet(c.bytes, c.start, c.cfg)
			if got := shape(layers); got != c.want {
				t.Errorf("\ngot  %s\nwant %s", got, c.want)
			}
			checkPositions(t, layers, 8*len(c.bytes))
			checkNames(t, layers)
		})
	}
}

// TestLengths holds which bytes are payload: those that IP and UDP count and that are there.
func TestLengths(t *testing.T) {
	for _, c := range []struct {
		name    string
		ip, udp uint16
		payload string
		want    string
	}{
		{"all", 32, 12, "01020304", "01020304"},
		{"padding behind IP", 30, 10, "01020000", "0102"},
		{"padding behind UDP", 32, 10, "01020304", "0102"},
		{"UDP longer than IP", 30, 400, "01020304", "0102"},
		{"UDP length below 8", 32, 7, "01020304", "01020304"},
		{"cut capture", 1500, 1480, "01020304", "01020304"},
		{"no IP length", 0, 12, "0102030405", "01020304"},
	} {
		h, u := ip4(packet.ProtoUDP), udpTo(53)
		h.TotalLength, u.Length = c.ip, c.udp
		layers := Packet(stack(t, h, u, c.payload), IPv4, config(t))
		if got := layerNamed(layers, "payload").Find("hex").Text(); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
		for e := range Errors(layers) {
			t.Errorf("%s: error %v", c.name, e)
		}
	}
}

// TestCutStackKeepsWholeHops reads a stack of two hops of which the second is cut.
func TestCutStackKeepsWholeHops(t *testing.T) {
	marked := ip4(packet.ProtoTCP)
	marked.DSCP = 23
	b := stack(t, "1400 1001 00000003 00000000 00000000", ethernet0, marked, tcp20,
		"01000700 0000020690000000 00000002 01000002 00000001")
	for _, c := range []struct {
		dialect, shape string
		hops           int
	}{
		{
			"onos-int10-ver0",
			"telemetry_report_v1_0~flags_first ethernet ipv4 tcp int_shim_l4_v1 int_hbh_v1~cut_stack",
			2,
		},
		{"spec", "telemetry_report_v1_0 ethernet ipv4 tcp payload", 0}, // to the specification, F is not set
	} {
		layers := Packet(b, TelemetryReport, config(t, "int_dscp", 23, "profile", c.dialect))
		if got := shape(layers); got != c.shape {
			t.Errorf("%s:\ngot  %s\nwant %s", c.dialect, got, c.shape)
		}
		if c.hops == 0 {
			continue
		}
		hops := layerNamed(layers, "int_hbh").Find("hops").Objects()
		if len(hops) != c.hops || hops[1].Find("node_id").Number() != 1 || hops[1].Find("queue_id") != nil {
			t.Errorf("%s: got hops %+v", c.dialect, hops)
		}
	}
}

// TestDialectBySource reads the same bytes from two sources.
func TestDialectBySource(t *testing.T) {
	cfg := config(t, "dialects", map[string]any{"10.0.0.1:9000": "onos-int10-ver0"}, "report_port", "9000,9001")
	report := stack(t, "1460 1001 00000003 00000000 00000000")
	for port, want := range map[uint16]string{
		9000: "ipv4 udp telemetry_report_v1_0~flags_first",
		9001: "ipv4 udp telemetry_report_v1_0",
	} {
		b := append(stack(t, ip4(packet.ProtoUDP), udpTo(port)), report...)
		if got := shape(Packet(b, IPv4, cfg)); got != want {
			t.Errorf("port %d: got %s, want %s", port, got, want)
		}
	}
}

// TestDialectOfInsertedPort reads INT that was inserted with a UDP header of its own: the ports behind it are not those
// that the dialect is chosen by.
func TestDialectOfInsertedPort(t *testing.T) {
	cfg := config(t, "dialects", map[string]any{":555": "tps", ":6000": "geant-int04"})
	b := stack(t, ip4(packet.ProtoUDP), udpTo(555), "18060011 200001098000000000000000 00000001 00000002", udpTo(6001),
		"aa")
	if got, want := shape(Packet(b, IPv4, cfg)),
		"ipv4 udp int_shim_l4_v2~length_counts_shim int_md udp payload"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestUnknownDomain marks a stack whose source-only part is a guess.
func TestUnknownDomain(t *testing.T) {
	b := stack(t, "2000010780001234 80000000 00000002 00000001") // no whole hop is left over
	md := Packet(b, INTMD, config(t))[0]
	if !md.Find("unsure").Flag() || len(md.Find("hops").Objects()) != 2 {
		t.Errorf("got %+v", md)
	}
}

// TestDepthIsBounded reads a packet of nothing but IP headers.
func TestDepthIsBounded(t *testing.T) {
	var b []byte
	for range 3000 {
		b = ip4(packet.ProtoIPv4).Append(b)
	}
	layers := Packet(b, IPv4, config(t))
	if len(layers) != maxLayers+1 || layers[maxLayers].Name != "payload" {
		t.Errorf("got %d layers, the last is %s", len(layers), layers[len(layers)-1].Name)
	}
}

// TestManyReports reads a packet of empty reports up to the limit.
func TestManyReports(t *testing.T) {
	b := binary.BigEndian.AppendUint64(nil, 0x2000000000000001)
	b = append(b, make([]byte, 4*5000)...)
	reports := Packet(b, TelemetryReport, config(t))[0].Find("reports").Objects()
	var last wire.Error
	for e := range Errors([]Layer{{Fields: reports[len(reports)-1]}}) {
		last = e
	}
	if last != wire.ErrTooManyReports {
		t.Errorf("got %d reports and error %v", len(reports), last)
	}
}

// TestTelemetryReportV20Errors reads reports of which one is broken: the others are there.
func TestTelemetryReportV20Errors(t *testing.T) {
	good := "1003 0100 2000 0000 0000 0000 00000005"
	b := stack(t, "2000000100000010", "1001 0000 00000000", good, "1009")
	reports := Packet(b, TelemetryReport, config(t))[0].Find("reports").Objects()
	if len(reports) != 2 || reports[0].Find(errorField) == nil {
		t.Fatalf("got %+v", reports)
	}
	metadata, _ := reports[1].Find("metadata").Value.(Object)
	if metadata.Find("hop_latency").Number() != 5 {
		t.Errorf("got %+v", reports[1])
	}
}

func TestStarts(t *testing.T) {
	for _, name := range Starts() {
		s, err := ParseStart(name)
		if err != nil || s.String() != name {
			t.Errorf("%s: got %v, %v", name, s, err)
		}
	}
	if _, err := ParseStart("ip5"); err == nil {
		t.Error("ip5 is a start")
	}
	if s, ok := StartOfLinkType(1); s != Ethernet || !ok {
		t.Errorf("link type 1: got %v, %v", s, ok)
	}
	if _, ok := StartOfLinkType(127); ok {
		t.Error("link type 127 is read")
	}
	if !slices.Contains(Starts(), "int_2016") {
		t.Error("int_2016 is missing")
	}
}
