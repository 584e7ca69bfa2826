package node

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/node/embed"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/packet"
	"github.com/waybill-int/waybill/wire/report"
)

// A domain with per-hop metadata in bits 0 and 5, and source-only metadata in bit 2. Of bit 5 no value is known.
const dsDomain = "points: {ds_lengths: {0x1234: {0: 4, 2: source-only 8, 5: 8}}}\n" +
	"domain: 0x1234\nds_instruction: 0xA400\nds_metadata: {0: 0000002a, 2: '0102030405060708'}\n" +
	"instructions: [node_id]\nwatch: [{report_all: true}]\n"

// domainMetadata returns what the reports of a chain say of the domain, as bits and bytes.
func domainMetadata(t *testing.T, c *chain) (list []string) {
	t.Helper()
	for _, frame := range c.raw {
		d, _ := test.UDP(frame)
		var reports report.Reports
		var v report.V20
		reports.Reset(d.Payload[8:])
		if !reports.Next(&v) || v.DomainID != 0x1234 {
			t.Fatalf("got %+v of %x", v, d.Payload)
		}
		list = append(list, hex.EncodeToString([]byte{byte(v.DSMdBits >> 8), byte(v.DSMdBits)})+" "+
			hex.EncodeToString(v.DSMetadata))
	}
	return list
}

// What is known of the metadata of a domain is in the records, in the order of the DS Instruction bits, and what is not
// is all ones; the source-only metadata are in the bottom record (INT 2.1 §5.8). In reports, a value that is not
// available is left out, and its bit is not set (TR 2.0 §3.3.1).
func TestR035DomainMetadata(t *testing.T) {
	c := newChain(t, 3, dsDomain)
	c.send(tcp())
	in := intOf(t, c.nodes[0], c.links[1])
	got := hex.EncodeToString(c.links[1][in.Stack:in.StackEnd])
	want := "00000002" + "0000002a" + "ffffffffffffffff" +
		"00000001" + "0000002a" + "0102030405060708" + "ffffffffffffffff"
	if got != want {
		t.Errorf("stack:\ngot  %s\nwant %s", got, want)
	}

	c = newChain(t, 3, "mtu: report\nsink: in_stack\n"+
		"points: {ds_lengths: {0x1234: {0: 4}}}\ndomain: 0x1234\nds_instruction: 0x8000\n"+
		"ds_metadata: {0: 0000002a}\nnodes: {test: {ds_metadata: {0: 0000002b}}}\n"+
		"instructions: [node_id]\nwatch: [{report_all: true}]\n")
	frame := tcp()
	c.egress = func(i int) Egress { return Egress{Port: 2, MTU: []int{9000, len(frame) + 14, 9000}[i]} }
	c.send(frame)
	in = intOf(t, c.nodes[0], c.links[1])
	if got := hex.EncodeToString(c.links[1][in.Stack:in.StackEnd]); got != "000000020000002b" || len(c.reports) != 2 {
		t.Errorf("behind the node that took the stack out: %s, %d reports", got, len(c.reports))
	}
}

// Every node that reports a packet of INT-MX says what it knows of the domain. What the source inserted stays in the
// packet, so that reports do not repeat it (INT 2.1 §5.9). The bytes are those of a vector.
func TestR081R026SourceInserted(t *testing.T) {
	c := newChain(t, 3, "mode: mx\n"+dsDomain)
	c.send(tcp())
	in := intOf(t, c.nodes[0], c.links[1])
	if got := hex.EncodeToString(c.links[1][in.Stack:in.StackEnd]); got != "0102030405060708" {
		t.Errorf("source-inserted: got %s", got)
	}
	list := domainMetadata(t, c)
	for i, got := range list {
		if want := "8000 0000002a"; got != want || len(list) != 3 || !c.reports[i].Is(telemetry.Instructed) {
			t.Errorf("report %d of %d: got %s, want %s", i, len(list), got, want)
		}
	}
	var s State
	frame := c.links[0]
	c.raw = nil
	c.nodes[1].Arrive(frame, Ingress{Port: 1}, &s)
	c.nodes[1].Drop(frame, &s, Drop{Reason: 80}, &c.output)
	c.collect()
	if list := domainMetadata(t, c); len(list) != 1 || list[0] != "8000 0000002a" {
		t.Errorf("the drop report: got %s", list)
	}

	text, err := os.ReadFile("../testdata/vectors/int21_mx_source_inserted.json")
	if err != nil {
		t.Fatal(err)
	}
	var vector struct{ Hex string }
	if err := json.Unmarshal(text, &vector); err != nil {
		t.Fatal(err)
	}
	want, err := hex.DecodeString(vector.Hex)
	if err != nil {
		t.Fatal(err)
	}
	const ip, udp, mx = 14, 14 + 20, 14 + 20 + 8
	frame = append(bytes.Clone(want[:udp]), want[len(want)-20:]...) // with the TCP header only
	h := packet.IPv4{
		IHL: 5, TotalLength: 40, DF: true, TTL: 64, Protocol: packet.ProtoTCP, Src: [4]byte(want[ip+12:]),
		Dst: [4]byte(want[ip+16:]),
	}
	h.Checksum = h.HeaderChecksum()
	h.Append(frame[:ip])
	n := newNode(t, "mode: mx\nclone: true\ncarrier: new-udp\ndomain: 0xabcd\nds_instruction: 0xc000\n"+
		"points: {int_udp_port: 17768, ds_lengths: {0xabcd: {0: source-only 4, 1: source-only 4}}}\n"+
		"ds_metadata: {0: 0000000f, 1: '12345678'}\ninstructions: [node_id, queue]\n", testSpec(1, true, false))
	var out Output
	n.Arrive(frame, Ingress{Port: 1}, &s)
	n.Depart(frame, &s, Egress{Port: 2}, &out)
	if len(out.Copies) != 1 {
		t.Fatalf("%d copies", len(out.Copies))
	}
	got := out.Copies[0].Frame
	if !bytes.Equal(got[:udp], want[:udp]) || !bytes.Equal(got[mx:], want[mx:]) {
		t.Errorf("got  %x\nwant %x", got, want)
	}
}

// A source of clones leaves the packet alone. The clone behind it has D, goes where the packet goes, collects what a
// packet would and does not leave the domain (INT 2.1 §3.2, §5.8).
func TestR026R057Clones(t *testing.T) {
	for _, text := range []string{"", "carrier: new-udp\n", "mode: mx\n"} {
		c := newChain(t, 3, text+"clone: true\nwatch: [{report_all: true}]\n")
		frame := udp()
		frame[15] |= usualDSCP << 2 // its user has the mark of INT
		frame[24], frame[25] = 0, 0
		var h packet.IPv4
		if _, err := h.Decode(frame[14:]); err != nil {
			t.Fatal(err)
		}
		sum := h.HeaderChecksum()
		frame[24], frame[25] = byte(sum>>8), byte(sum)
		out := c.send(frame)
		behind := routed(out)
		if text != "carrier: new-udp\n" {
			frame, _ = c.nodes[0].inside.CleanMark(nil, parsed(t, c.nodes[0], frame))
		}
		if !bytes.Equal(behind, routed(frame)) || intOf(t, c.nodes[0], c.links[0]).Present {
			t.Errorf("%s: the packet: %x, want %x", text, behind, frame)
		}
		if len(c.extra) != 1 {
			t.Fatalf("%s: %d clones", text, len(c.extra))
		}
		clone := c.extra[0]
		if in := intOf(t, c.nodes[0], clone); !in.Present || !in.D {
			t.Errorf("%s: %+v", text, in)
		}
		c.reports = nil
		if left := c.hop(2, c.hop(1, clone)); left != nil {
			t.Errorf("%s: the clone left: %x", text, left)
		}
		nodes := 0
		for i := range c.reports {
			nodes += 1 + len(c.reports[i].Hops)
			if !c.reports[i].Is(telemetry.Discard) {
				t.Errorf("%s: %+v", text, c.reports[i])
			}
		}
		if want := map[bool]int{false: 3, true: 2}[text == "mode: mx\n"]; nodes != want {
			t.Errorf("%s: reports tell of %d nodes, want %d", text, nodes, want)
		}
	}
}

// A transit node sets flags of its domain, and leaves those alone that are set and those of other domains (§5.2.2).
func TestR044DSMark(t *testing.T) {
	const domain = "points: {ds_lengths: {0x1234: {0: 4}}}\n"
	for _, mode := range []string{"mode: md\n", "mode: mx\n"} {
		for id, want := range map[string]uint16{"domain: 0x1234\n": 0x4002, "domain: 0x1235\n": 0x4000} {
			c := newChain(t, 3, domain+mode+id+"ds_flags: 0x4000\n")
			c.nodes[1] = newNode(t, domain+mode+"domain: 0x1234\nds_mark: 0x0002\n", testSpec(2, false, false))
			out := c.send(tcp())
			in := intOf(t, c.nodes[0], c.links[1])
			if in.DSFlags != want || out == nil {
				t.Errorf("%s%s: got %#04x, want %#04x", mode, id, in.DSFlags, want)
			}
		}
	}
}

func parsed(t *testing.T, n *Node, frame []byte) *embed.Packet {
	t.Helper()
	p := new(embed.Packet)
	if err := n.outside.Parse(frame, p); err != nil {
		t.Fatal(err)
	}
	return p
}
