package bench

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/netsampler/goflow2/v2/decoders/netflow"
	"github.com/netsampler/goflow2/v2/decoders/sflow"
	"github.com/netsampler/goflow2/v2/producer"
	protoproducer "github.com/netsampler/goflow2/v2/producer/proto"

	"github.com/waybill-int/waybill/collect/flowsample"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// peersRuns is how many runs TestPeers has; without it one, which takes no time.
const peersRuns = "PEERS_RUNS"

// A peer is a program, or a part of one, that reads datagrams. A report is whatever tells of one packet in them: a
// telemetry report, a sample of sFlow, a record of IPFIX.
type peer struct {
	program, reads string
	each           int // reports in a datagram
	datagrams      [][]byte
	decode         func([]byte) (reports int, err error)
	flow           func() (src, dst netip.AddrPort) // of the first report of the latest datagram; nil: it gives none
}

const (
	peerDatagrams = 64
	peerSamples   = 7 // with 128 bytes of a packet each they fit in 1,500 bytes
	peerRecords   = 20
)

var peerSource = netip.MustParseAddrPort("192.0.2.1:5000")

// peerFlow is the number of the flow of report i in datagram n.
func peerFlow(n, i uint32) uint32 { return (n + i) * 7919 }

// repeat makes datagrams.
func repeat(datagram func(n uint32) []byte) (list [][]byte) {
	for n := range uint32(peerDatagrams) {
		list = append(list, datagram(n))
	}
	return list
}

func reportDatagrams(hops int) [][]byte {
	return repeat(func(n uint32) []byte { return test.Report(test.Form20MD, peerFlow(n, 0), n, hops) })
}

func sflowDatagrams(each int) [][]byte {
	agent := test.SFlowAgent{Address: peerSource.Addr()}
	return repeat(func(n uint32) []byte {
		var samples [][]byte
		for i := range uint32(each) {
			samples = append(samples, agent.Sample(1, 100, 1000, 0, 1, 2, test.Packet(peerFlow(n, i), n)))
		}
		return agent.Datagram(samples...)
	})
}

// ipfixMessage is a message with one set (RFC 7011 §3).
func ipfixMessage(sequence uint32, set uint16, body []byte) []byte {
	b := binary.BigEndian.AppendUint16(nil, 10)
	b = binary.BigEndian.AppendUint16(b, uint16(20+len(body)))
	b = binary.BigEndian.AppendUint32(b, 1)
	b = binary.BigEndian.AppendUint32(b, sequence)
	b = binary.BigEndian.AppendUint32(b, 7)
	b = binary.BigEndian.AppendUint16(b, set)
	return append(binary.BigEndian.AppendUint16(b, uint16(4+len(body))), body...)
}

// ipfixFields are the numbers and lengths of the information elements in a record: addresses, ports, protocol,
// interfaces, octets, packets, start and end.
var ipfixFields = []uint16{8, 4, 12, 4, 7, 2, 11, 2, 4, 1, 10, 4, 14, 4, 1, 8, 2, 8, 152, 8, 153, 8}

const ipfixTemplate = 256

func ipfixTemplates() []byte {
	body := binary.BigEndian.AppendUint16(nil, ipfixTemplate)
	body = binary.BigEndian.AppendUint16(body, uint16(len(ipfixFields)/2))
	for _, x := range ipfixFields {
		body = binary.BigEndian.AppendUint16(body, x)
	}
	return ipfixMessage(0, 2, body)
}

func ipfixDatagrams() [][]byte {
	return repeat(func(n uint32) []byte {
		var body []byte
		for i := range uint32(peerRecords) {
			packet := test.Packet(peerFlow(n, i), n)
			body = append(body, packet[14+12:14+20+4]...) // addresses and ports
			body = append(body, packet[14+9], 0, 0, 0, 1, 0, 0, 0, 2)
			for _, x := range []uint64{uint64(len(packet)), 1, 1000, 2000} {
				body = binary.BigEndian.AppendUint64(body, x)
			}
		}
		return ipfixMessage(n*peerRecords, ipfixTemplate, body)
	})
}

// waybillPeers are what Waybill reads.
func waybillPeers(tb testing.TB) []peer {
	tb.Helper()
	points := codepoint.New()
	if err := points.Set("int_udp_port", test.INTPort); err != nil {
		tb.Fatal(err)
	}
	points.Compile()
	var batch telemetry.Batch
	var h telemetry.Header
	flow := func() (src, dst netip.AddrPort) {
		k := &batch.Reports[0].Flow
		return netip.AddrPortFrom(k.Src.IP(), k.SrcPort), netip.AddrPortFrom(k.Dst.IP(), k.DstPort)
	}
	reports := telemetry.NewDecoder(points)
	samples, records := flowsample.NewSFlow(points), flowsample.NewNetFlow(points)
	readReports := func(b []byte) (int, error) {
		batch.Reset()
		reports.Decode(b, peerSource, 6000, &batch, &h)
		return len(batch.Reports), nil
	}
	readSamples := func(b []byte) (int, error) {
		batch.Reset()
		samples.Decode(b, peerSource, 6343, &batch, &h)
		return len(batch.Reports), nil
	}
	readRecords := func(b []byte) (int, error) {
		batch.Reset()
		records.Decode(b, peerSource, 4739, &batch, &h)
		return len(batch.Reports), nil
	}
	_, _ = readRecords(ipfixTemplates()) // without them no record is read, which TestPeers would tell
	return []peer{
		{"waybill", "report 2.0, 1 hop", 1, reportDatagrams(1), readReports, flow},
		{"waybill", "report 2.0, 5 hops", 1, reportDatagrams(5), readReports, flow},
		{"waybill", "sFlow", 1, sflowDatagrams(1), readSamples, flow},
		{"waybill", "sFlow", peerSamples, sflowDatagrams(peerSamples), readSamples, flow},
		{"waybill", "IPFIX", peerRecords, ipfixDatagrams(), readRecords, flow},
	}
}

// goflow2Peers are what goflow2 reads: its decoder alone makes structures of a datagram, its producer messages of
// these, as its pipelines do (utils.SFlowPipe and NetFlowPipe).
func goflow2Peers(tb testing.TB) []peer {
	tb.Helper()
	config, err := (&protoproducer.ProducerConfig{}).Compile()
	if err != nil {
		tb.Fatal(err)
	}
	messages, err := protoproducer.CreateProtoProducer(config, protoproducer.CreateSamplingSystem)
	if err != nil {
		tb.Fatal(err)
	}
	var srcIP, dstIP []byte // of the latest message
	var srcPort, dstPort uint32
	flow := func() (src, dst netip.AddrPort) {
		a, _ := netip.AddrFromSlice(srcIP)
		b, _ := netip.AddrFromSlice(dstIP)
		return netip.AddrPortFrom(a, uint16(srcPort)), netip.AddrPortFrom(b, uint16(dstPort))
	}
	produce := func(packet any) (int, error) {
		made, err := messages.Produce(packet, &producer.ProduceArgs{
			Src: peerSource, SamplerAddress: peerSource.Addr(), TimeReceived: time.Unix(1, 0),
		})
		if len(made) > 0 {
			m := made[0].(*protoproducer.ProtoProducerMessage)
			srcIP, dstIP, srcPort, dstPort = m.SrcAddr, m.DstAddr, m.SrcPort, m.DstPort
		}
		messages.Commit(made)
		return len(made), err
	}
	readSFlow := func(b []byte, p *sflow.Packet) (n int, err error) {
		err = sflow.DecodeMessageVersion(bytes.NewBuffer(b), p)
		for _, s := range p.Samples {
			if s, ok := s.(sflow.FlowSample); ok && len(s.Records) == 1 {
				n++
			}
		}
		return n, err
	}
	templates := netflow.CreateTemplateSystem()
	readIPFIX := func(b []byte, p *netflow.IPFIXPacket) (n int, err error) {
		var v9 netflow.NFv9Packet
		err = netflow.DecodeMessageVersion(bytes.NewBuffer(b), templates, &v9, p)
		for _, set := range p.FlowSets {
			if set, ok := set.(netflow.DataFlowSet); ok {
				n += len(set.Records)
			}
		}
		return n, err
	}
	if _, err := readIPFIX(ipfixTemplates(), new(netflow.IPFIXPacket)); err != nil {
		tb.Fatal(err)
	}
	const decoder, all = "goflow2, decoder", "goflow2, decoder and producer"
	sflowStructs := func(b []byte) (int, error) { return readSFlow(b, new(sflow.Packet)) }
	sflowMessages := func(b []byte) (int, error) {
		p := new(sflow.Packet)
		if _, err := readSFlow(b, p); err != nil {
			return 0, err
		}
		return produce(p)
	}
	ipfixStructs := func(b []byte) (int, error) { return readIPFIX(b, new(netflow.IPFIXPacket)) }
	ipfixMessages := func(b []byte) (int, error) {
		p := new(netflow.IPFIXPacket)
		if _, err := readIPFIX(b, p); err != nil {
			return 0, err
		}
		return produce(p)
	}
	return []peer{
		{decoder, "sFlow", 1, sflowDatagrams(1), sflowStructs, nil},
		{decoder, "sFlow", peerSamples, sflowDatagrams(peerSamples), sflowStructs, nil},
		{all, "sFlow", 1, sflowDatagrams(1), sflowMessages, flow},
		{all, "sFlow", peerSamples, sflowDatagrams(peerSamples), sflowMessages, flow},
		{decoder, "IPFIX", peerRecords, ipfixDatagrams(), ipfixStructs, nil},
		{all, "IPFIX", peerRecords, ipfixDatagrams(), ipfixMessages, flow},
	}
}

func peers(tb testing.TB) []peer { return append(waybillPeers(tb), goflow2Peers(tb)...) }

// BenchmarkPeers is what Waybill and others take to read what tells of the same packets. They do not do the same: a
// telemetry report has hops, and their producers make messages. Nothing is kept.
func BenchmarkPeers(b *testing.B) {
	for i, p := range peers(b) {
		b.Run(strconv.Itoa(i), func(b *testing.B) {
			headers := test.NewHeaders()
			n, fed, decoded := 0, 0, 0
			b.ReportAllocs()
			headers.Loop(b, p.each, func(int) {}, func(count int) {
				for range count {
					reports, err := p.decode(p.datagrams[n%peerDatagrams])
					if err != nil {
						b.Fatal(err)
					}
					n, fed, decoded = n+1, fed+p.each, decoded+reports
				}
			})
			b.ReportMetric(float64(fed-decoded)/float64(fed)*100, "%lost")
		})
	}
}

// packetEnds is how gopacket reads a packet of UDP over IPv4.
func packetEnds(frame []byte) (src, dst netip.AddrPort) {
	p := gopacket.NewPacket(frame, layers.LayerTypeEthernet, gopacket.Default)
	ip, _ := p.Layer(layers.LayerTypeIPv4).(*layers.IPv4)
	udp, _ := p.Layer(layers.LayerTypeUDP).(*layers.UDP)
	a, _ := netip.AddrFromSlice(ip.SrcIP)
	b, _ := netip.AddrFromSlice(ip.DstIP)
	return netip.AddrPortFrom(a, uint16(udp.SrcPort)), netip.AddrPortFrom(b, uint16(udp.DstPort))
}

// TestPeers compares what programs make of the same packets, and prints what BenchmarkPeers says of them as a table, on
// one processor, so that a program that leaves garbage waits for its collection. "make bench-peers" has ten runs.
func TestPeers(t *testing.T) {
	list := peers(t)
	for _, p := range list {
		for n, b := range p.datagrams {
			reports, err := p.decode(b)
			if err != nil || reports != p.each {
				t.Fatalf("%s, %s: %d of %d, %v", p.program, p.reads, reports, p.each, err)
			}
			if p.flow == nil {
				continue
			}
			src, dst := p.flow()
			wantSrc, wantDst := packetEnds(test.Packet(peerFlow(uint32(n), 0), 0))
			if src != wantSrc || dst != wantDst {
				t.Fatalf("%s, %s: %v to %v, want %v to %v", p.program, p.reads, src, dst, wantSrc, wantDst)
			}
		}
	}
	runs, length := 1, "1x"
	if text := os.Getenv(peersRuns); text != "" {
		var err error
		if runs, err = strconv.Atoi(text); err != nil || runs < 1 {
			t.Fatalf("%s is %q: a number", peersRuns, text)
		}
		length = "200ms"
	}
	out, err := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^$", "-test.bench", "^BenchmarkPeers$",
		"-test.cpu", "1", "-test.count", strconv.Itoa(runs), "-test.benchtime", length, "-test.timeout", "0").
		CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	results := readResults(t, out)
	var table strings.Builder
	table.WriteString("\n| program | reads, so many in a datagram | reports/s of a core | ns | of gopacket's time | bytes | " +
		"allocations | lost |\n|---|---|---|---|---|---|---|---|\n")
	for i, p := range list {
		figures := results["Peers/"+strconv.Itoa(i)]
		one := func(unit string) (lowest, median, highest float64) {
			values := figures[unit]
			if len(values) != runs {
				t.Fatalf("%d runs have %s, want %d:\n%s", len(values), unit, runs, out)
			}
			slices.Sort(values)
			return values[0], values[len(values)/2], values[len(values)-1]
		}
		low, ns, high := one("ns/report")
		_, gp, _ := one("gp/report")
		_, size, _ := one("B/op")
		_, allocations, _ := one("allocs/op")
		_, _, lost := one("%lost")
		if lost != 0 {
			t.Errorf("%s, %s: %v %% are lost", p.program, p.reads, lost)
		}
		fmt.Fprintf(&table, "| %s | %s, %d | %.2f million | %.0f (%.0f to %.0f) | %.2f | %.0f | %.1f | %.0f %% |\n",
			p.program, p.reads, p.each, 1e3/ns, ns, low, high, gp, size/float64(p.each),
			allocations/float64(p.each), lost)
	}
	t.Log(table.String())
}
