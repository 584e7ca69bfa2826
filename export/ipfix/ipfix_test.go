package ipfix

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
	"github.com/netsampler/goflow2/v2/decoders/netflow"

	"github.com/waybill-int/waybill/export"
	"github.com/waybill-int/waybill/telemetry"
)

// A reader reads messages with goflow2's decoder.
type reader struct {
	t         *testing.T
	templates netflow.NetFlowTemplateSystem
	next      uint32 // sequence number
	records   []map[string]uint64
	addresses []string // of flows
}

func newReader(t *testing.T) *reader {
	return &reader{t: t, templates: netflow.CreateTemplateSystem()}
}

func (r *reader) read(message []byte) {
	r.t.Helper()
	var p netflow.IPFIXPacket
	if v := binary.BigEndian.Uint16(message); v != 10 {
		r.t.Fatalf("version %d", v)
	}
	if err := netflow.DecodeMessageIPFIX(bytes.NewBuffer(message[2:]), r.templates, &p); err != nil {
		r.t.Fatal(err)
	}
	if int(p.Length) != len(message) || p.SequenceNumber != r.next || p.ObservationDomainId != 7 {
		r.t.Errorf("length %d of %d, sequence %d, want %d, domain %d", p.Length, len(message), p.SequenceNumber, r.next,
			p.ObservationDomainId)
	}
	for _, set := range p.FlowSets {
		data, ok := set.(netflow.DataFlowSet)
		if !ok {
			if _, ok := set.(netflow.TemplateFlowSet); !ok {
				r.t.Errorf("a set of %T", set)
			}
			continue
		}
		for _, record := range data.Records {
			r.next++
			values := map[string]uint64{"template": uint64(data.Id)}
			for _, f := range record.Values {
				b := f.Value.([]byte)
				key := fmt.Sprint(f.Type &^ 0x8000)
				if f.PenProvided {
					key = fmt.Sprint(f.Pen, ".", key)
				}
				if a, ok := netip.AddrFromSlice(b); ok && (key == "8" || key == "12" || key == "27" || key == "28") {
					r.addresses = append(r.addresses, a.String())
					continue
				}
				for _, v := range b {
					values[key] = values[key]<<8 | uint64(v)
				}
			}
			r.records = append(r.records, values)
		}
	}
}

func records() []export.Record {
	key := telemetry.FlowKey{
		Src: telemetry.AddrFrom4([4]byte{10, 0, 1, 1}), Dst: telemetry.AddrFrom4([4]byte{10, 0, 2, 1}),
		SrcPort: 33000, DstPort: 443, Protocol: 6, Tunnel: 1, TunnelID: 5000,
	}
	six := key
	six.Src = telemetry.AddrFrom(netip.MustParseAddr("2001:db8::1"))
	return []export.Record{
		{Kind: export.Routes, Of: &telemetry.Route{StartNs: 3e9, Path: 1 << 63, Elements: []telemetry.PathElement{
			{Place: telemetry.Place{
				Has: telemetry.HasNode | telemetry.HasEgressPort, Node: 1, EgressPort: 300,
			}},
			{Missing: 2},
			{Place: telemetry.Place{
				Has: telemetry.HasNode | telemetry.HasIngressPort | telemetry.HasDrop, Node: 9, IngressPort: 4,
			}},
		}}},
		{Kind: export.Flows, Of: &telemetry.FlowInterval{
			StartNs: 12_345_000_000, Key: key, DSCP: 46, Path: 1 << 63, Reports: 3, Packets: 1 << 40, Bytes: 5e12,
			Drops: 2, PathChanges: 1, Residence: telemetry.LatencySummary{Count: 3, Sum: 900, Min: 100, Max: 500},
			EndToEnd: telemetry.LatencySummary{Count: 2, Sum: 2000},
		}},
		{Kind: export.Flows, Of: &telemetry.FlowInterval{StartNs: 1e9, Key: six, Packets: 8}},
		{Kind: export.Paths, Of: &telemetry.PathInterval{
			StartNs: 1e9, Path: 1 << 63, Packets: 11, Incomplete: 2, ClockErrors: 1,
			Residence: telemetry.Histogram{Count: 11, Sum: 1100, Min: 50, Max: 300},
		}},
		{Kind: export.Events, Of: &telemetry.Event{}},
	}
}

// check compares what was read with records.
func (r *reader) check(t *testing.T) {
	t.Helper()
	flowKey := records()[1].Of.(*telemetry.FlowInterval).Key
	want := []map[string]uint64{
		{
			"template": 259, "152": 3000, "32473.1": 1 << 63, "32473.14": 0, "32473.15": 1, "10": 0, "14": 300,
			"32473.16": 5, "32473.17": 0,
		},
		{
			"template": 259, "152": 3000, "32473.1": 1 << 63, "32473.14": 1, "32473.15": 0, "10": 0, "14": 0,
			"32473.16": 0, "32473.17": 2,
		},
		{
			"template": 259, "152": 3000, "32473.1": 1 << 63, "32473.14": 2, "32473.15": 9, "10": 4, "14": 0,
			"32473.16": 11, "32473.17": 0,
		},
		{
			"template": 256, "152": 12345, "153": 22345, "148": flowKey.Hash(), "7": 33000, "11": 443, "4": 6,
			"195": 46, "2": 1 << 40, "1": 5e12, "133": 2, "32473.2": 1, "32473.3": 5000, "32473.1": 1 << 63,
			"32473.4": 3, "32473.5": 1, "32473.6": 3, "32473.7": 900, "32473.8": 100,
			"32473.9": 500, "32473.10": 2, "32473.11": 2000,
		},
		{"template": 257, "152": 1000, "2": 8, "7": 33000},
		{
			"template": 258, "152": 1000, "153": 11000, "32473.1": 1 << 63, "2": 11, "32473.12": 2, "32473.13": 1,
			"32473.6": 11, "32473.7": 1100, "32473.8": 50, "32473.9": 300, "32473.10": 0, "32473.11": 0,
		},
	}
	if len(r.records) != len(want) {
		t.Fatalf("got %d records, want %d", len(r.records), len(want))
	}
	for i := range want {
		for key, v := range want[i] {
			if got, ok := r.records[i][key]; !ok || got != v {
				t.Errorf("record %d: %s is %d, want %d", i, key, got, v)
			}
		}
	}
	if got := strings.Join(r.addresses, " "); got != "10.0.1.1 10.0.2.1 2001:db8::1 ::ffff:10.0.2.1" {
		t.Errorf("got addresses %s", got)
	}
}

func open(t *testing.T, to string) export.Output {
	t.Helper()
	c := Config{To: to, Domain: 7}
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	o, err := c.Open(export.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.Close)
	return o
}

// TestUDP: goflow2 and tshark read what is sent, in datagrams that are not fragmented.
func TestUDP(t *testing.T) {
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var datagrams [][]byte
	receive := func() []byte {
		b := make([]byte, 1<<16)
		_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
		n, err := conn.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		if datagrams = append(datagrams, b[:n]); n > 1472 {
			t.Errorf("a datagram of %d bytes", n)
		}
		return b[:n]
	}
	o := open(t, "udp://"+conn.LocalAddr().String())
	refused, err := o.Send(t.Context(), records())
	if err != nil || len(refused) != 1 || refused[0] != 4 {
		t.Fatalf("got %v, %v", refused, err)
	}
	r := newReader(t)
	for len(r.records) < 6 {
		r.read(receive())
	}
	r.check(t)
	var many []export.Record
	for range 100 {
		many = append(many, records()[1])
	}
	if _, err := o.Send(t.Context(), many); err != nil {
		t.Fatal(err)
	}
	for len(r.records) < 106 {
		r.read(receive())
	}
	tshark(t, datagrams)
}

// tshark lets tshark read datagrams.
func tshark(t *testing.T, datagrams [][]byte) {
	program, err := exec.LookPath("tshark")
	if err != nil {
		t.Skip("tshark is not installed")
	}
	file := filepath.Join(t.TempDir(), "ipfix.pcap")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	w := pcapgo.NewWriter(f)
	if err := w.WriteFileHeader(1<<16, layers.LinkTypeEthernet); err != nil {
		t.Fatal(err)
	}
	for _, d := range datagrams {
		b := gopacket.NewSerializeBuffer()
		ip := &layers.IPv4{
			Version: 4, TTL: 9, Protocol: layers.IPProtocolUDP, SrcIP: net.IP{10, 9, 9, 1}, DstIP: net.IP{10, 9, 9, 2},
		}
		udp := &layers.UDP{SrcPort: 40000, DstPort: 4739}
		if err := udp.SetNetworkLayerForChecksum(ip); err != nil {
			t.Fatal(err)
		}
		err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true},
			&layers.Ethernet{SrcMAC: make([]byte, 6), DstMAC: make([]byte, 6), EthernetType: layers.EthernetTypeIPv4},
			ip, udp, gopacket.Payload(d))
		if err != nil {
			t.Fatal(err)
		}
		ci := gopacket.CaptureInfo{Timestamp: time.Now(), CaptureLength: len(b.Bytes()), Length: len(b.Bytes())}
		if err := w.WritePacket(ci, b.Bytes()); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(program, "-r", file, "-V").Output()
	if err != nil {
		t.Fatal(err)
	}
	text := string(out)
	for want, n := range map[string]int{
		"SrcAddr: 10.0.1.1": 101, "DstPort: 443": 102, "Packets: 1099511627776": 101, "SrcAddr: 2001:db8::1": 1,
		"[Malformed": 0,
	} {
		if got := strings.Count(text, want); got != n {
			t.Errorf("tshark says %q %d times, want %d", want, got, n)
		}
	}
}

// TestTCP: templates come first on each connection, and after a connection broke all is sent on another.
func TestTCP(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	o := open(t, "tcp://"+l.Addr().String())
	for range 2 {
		if _, err := o.Send(t.Context(), records()); err != nil {
			t.Fatal(err)
		}
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		r := newReader(t)
		for len(r.records) < 6 {
			head := make([]byte, headerLen)
			if _, err := io.ReadFull(conn, head); err != nil {
				t.Fatal(err)
			}
			rest := make([]byte, int(binary.BigEndian.Uint16(head[2:]))-headerLen)
			if _, err := io.ReadFull(conn, rest); err != nil {
				t.Fatal(err)
			}
			r.read(append(head, rest...))
		}
		r.check(t)
		_ = conn.(*net.TCPConn).SetLinger(0)
		conn.Close()
		for err == nil { // until the kernel has noticed
			_, err = o.Send(t.Context(), records())
		}
	}
	l.Close()
	if _, err := o.Send(t.Context(), records()); err == nil {
		t.Error("nobody listens")
	}
}

func TestCheck(t *testing.T) {
	for want, c := range map[string]Config{
		`to: got ""`:                   {},
		`to: got "http://h"`:           {To: "http://h"},
		`to: got "udp://:4739"`:        {To: "udp://:4739"},
		"tls: want tcp://":             {To: "udp://h", TLS: export.TLS{On: true}},
		"tls: want on: true with ca, ": {To: "tcp://h", TLS: export.TLS{CA: "x"}},
	} {
		if err := c.Check(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	c := Config{To: "tcp://[2001:db8::1]", TLS: export.TLS{On: true}}
	if network, address, secure, err := c.place(); err != nil || network != "tcp" || address != "[2001:db8::1]:4740" ||
		secure.ServerName != "2001:db8::1" {
		t.Errorf("got %s %s %v, %v", network, address, secure, err)
	}
}
