package flowsample

import (
	"encoding/binary"
	"encoding/hex"
	"maps"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// read returns what a decoder makes of datagrams, one after the other, and the header of the last one.
func read(n *NetFlow, payloads ...[]byte) (h telemetry.Header, reports []telemetry.Report) {
	for _, payload := range payloads {
		batch := new(telemetry.Batch)
		n.Decode(payload, from, 2055, batch, &h)
		reports = append(reports, batch.Reports...)
	}
	return h, reports
}

// outcomes returns those of a decoder that are not 0.
func outcomes(n *NetFlow) map[Outcome]uint64 {
	counts := n.Counts()
	maps.DeleteFunc(counts, func(_ Outcome, n uint64) bool { return n == 0 })
	return counts
}

func wantOutcomes(t *testing.T, n *NetFlow, want map[Outcome]uint64) {
	t.Helper()
	if got := outcomes(n); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// What a router sent is read as who published it says, with the rate of its sampler as soon as options tell it.
func TestNetFlow9(t *testing.T) {
	n := NewNetFlow(points(map[netip.Addr]uint32{from.Addr(): 7}))
	h, reports := read(n, unhex(t, v9Records))
	if h.Outcome != telemetry.Decoded || len(reports) != 0 || !h.HasSequence || h.Sequence != 838987420 {
		t.Errorf("before the template: %+v", h)
	}
	wantOutcomes(t, n, map[Outcome]uint64{NoTemplate: 1})

	h, reports = read(n, unhex(t, v9Template), unhex(t, v9Records), unhex(t, v9Samplers), unhex(t, v9Records))
	if h.Outcome != telemetry.Decoded || h.Version != telemetry.VersionNetFlow9 || h.Domain != 256 || h.NodeID != 7 ||
		h.Reports != 21 || len(reports) != 42 {
		t.Fatalf("got %+v, %d reports", h, len(reports))
	}
	wantOutcomes(t, n, map[Outcome]uint64{NoTemplate: 1, Sample: 42, Options: 2})
	r := &reports[1]
	if got := r.Flow.String(); got != "109.71.162.196:443 > 91.173.97.224:31641 tcp" || r.DSCP != 0x48>>2 {
		t.Errorf("got %s, DSCP %d", got, r.DSCP)
	}
	// LAST_SWITCHED and FIRST_SWITCHED are 0xb3bfe81c and 0xb3bfe6f9, and the clock is 0xb3bff683
	want := telemetry.Observed{Packets: 2, Bytes: 0xbb8, BeganMs: 0xf683 - 0xe6f9, EndedMs: 0xf683 - 0xe81c}
	if r.Observed != want || !r.Is(telemetry.Sampled) || r.Is(telemetry.Tracked|telemetry.Dropped) {
		t.Errorf("got %+v, flags %x, want %+v", r.Observed, r.Flags, want)
	}
	if l := r.Local; l.NodeID != 7 || l.IngressPort != 0x161 || l.EgressPort != 0x130 {
		t.Errorf("got %+v", l)
	}
	want.Rate = 100
	if got := reports[22].Observed; got != want {
		t.Errorf("with the options: %+v, want %+v", got, want)
	}
	var packets uint64
	for i := range reports[:21] {
		packets += reports[i].Observed.Packets
	}
	if packets != 23 {
		t.Errorf("%d packets, want 23", packets)
	}
}

// The example of RFC 7011 is read as its tables have it.
func TestIPFIXExample(t *testing.T) {
	n := NewNetFlow(points(nil))
	h, reports := read(n, unhex(t, rfc7011))
	if h.Outcome != telemetry.Decoded || h.Version != telemetry.VersionIPFIX || h.Domain != 123456 || h.HasSequence ||
		h.Counting != telemetry.CountsUnsettled {
		t.Fatalf("got %+v", h)
	}
	wantOutcomes(t, n, map[Outcome]uint64{Sample: 3, Options: 2})
	for i, want := range []struct {
		src, dst       string
		packets, bytes uint64
	}{
		{"192.0.2.12", "192.0.2.254", 5009, 5344385},
		{"192.0.2.27", "192.0.2.23", 748, 388934},
		{"192.0.2.56", "192.0.2.65", 5, 6534},
	} {
		r := &reports[i]
		if r.Flow.Src.IP().String() != want.src || r.Flow.Dst.IP().String() != want.dst ||
			r.Observed != (telemetry.Observed{Packets: want.packets, Bytes: want.bytes}) {
			t.Errorf("got %s, %+v, want %+v", r.Flow.String(), r.Observed, want)
		}
	}
}

// Dropped packets of a flow are drops with their number, beside the estimate of all of its packets.
func TestIPFIXDrops(t *testing.T) {
	n := NewNetFlow(points(map[netip.Addr]uint32{from.Addr(): 7}))
	h, reports := read(n, test.IPFIX())
	if h.Outcome != telemetry.Decoded || len(reports) != 4 {
		t.Fatalf("got %+v, %d reports", h, len(reports))
	}
	wantOutcomes(t, n, map[Outcome]uint64{Sample: 2, Discard: 2, Options: 1})
	want := telemetry.Observed{Packets: 10, Bytes: 1000, Rate: 3, BeganMs: 50000, EndedMs: 10000}
	if r := &reports[0]; r.Observed != want || r.TTL != 63 || r.Local.TTL != 63 || r.Is(telemetry.Dropped) ||
		r.Flow.String() != "10.0.1.1:5000 > 10.0.2.2:6000 udp" {
		t.Errorf("got %+v, TTL %d, %s, want %+v", r.Observed, r.TTL, r.Flow.String(), want)
	}
	want = telemetry.Observed{Packets: 4, Bytes: 400, Rate: 3, BeganMs: 4000}
	if r := &reports[2]; r.Observed != want || r.Is(telemetry.Dropped) {
		t.Errorf("got %+v, want %+v", r.Observed, want)
	}
	for i, want := range map[int]struct {
		drops  uint32
		reason string
		ports  telemetry.Fields
	}{
		1: {3, "unknown", telemetry.HasIngressPort | telemetry.HasEgressPort}, 3: {4, "wred", telemetry.HasIngressPort},
	} {
		r := &reports[i]
		if !r.Is(telemetry.Dropped) || !r.Is(telemetry.DropSummary) || !r.Is(telemetry.HasFlow) ||
			r.Is(telemetry.Sampled) || r.DropCount != want.drops || r.Local.NodeID != 7 || r.Local.IngressPort != 5 ||
			r.Local.Has&(telemetry.HasIngressPort|telemetry.HasEgressPort) != want.ports ||
			r.DropReasons.Name(r.Local.DropReason) != want.reason {
			t.Errorf("got %d drops, %s, %+v, want %+v", r.DropCount, r.DropReasons.Name(r.Local.DropReason), r.Local,
				want)
		}
	}
}

// packetsOf returns how many packets and IP bytes of each flow a capture has.
func packetsOf(t *testing.T, name string) map[string][2]uint64 {
	counts := map[string][2]uint64{}
	for _, frame := range test.Packets(t, name) {
		p := gopacket.NewPacket(frame, layers.LayerTypeEthernet, gopacket.Default)
		ports := p.TransportLayer()
		if ports == nil {
			continue
		}
		protocol := map[gopacket.LayerType]string{
			layers.LayerTypeTCP: "tcp", layers.LayerTypeUDP: "udp",
		}[ports.LayerType()]
		src, dst := p.NetworkLayer().NetworkFlow().Endpoints()
		from, to := ports.TransportFlow().Endpoints()
		key := net.JoinHostPort(src.String(), from.String()) + " > " + net.JoinHostPort(dst.String(), to.String()) +
			" " + protocol
		size := binary.BigEndian.Uint16(frame[16:])
		if p.Layer(layers.LayerTypeIPv6) != nil {
			size = binary.BigEndian.Uint16(frame[18:]) + 40
		}
		n := counts[key]
		counts[key] = [2]uint64{n[0] + 1, n[1] + uint64(size)}
	}
	return counts
}

func countsOf(reports []telemetry.Report) map[string][2]uint64 {
	counts := map[string][2]uint64{}
	for i := range reports {
		r := &reports[i]
		n := counts[r.Flow.String()]
		counts[r.Flow.String()] = [2]uint64{n[0] + r.Observed.Packets, n[1] + r.Observed.Bytes}
	}
	return counts
}

// What softflowd sent of captures has the packets of these.
func TestSoftflowdVectors(t *testing.T) {
	n := NewNetFlow(points(nil))
	_, reports := read(n, unhex(t, softflowdIPFIX))
	want := packetsOf(t, "fabric_tna_xd_tcp_h2.pcap")
	if got := countsOf(reports); !maps.Equal(got, want) || len(got) != 2 {
		t.Errorf("got %v, want %v", got, want)
	}
	if r := &reports[0]; r.Observed.Rate != 1 {
		t.Errorf("got %+v", r.Observed)
	}
	_, reports = read(n, unhex(t, softflowdV9))
	if len(reports) != 1 || reports[0].Observed.Rate != 2 || reports[0].Flow.Src.IP().Is4() {
		t.Errorf("got %+v", reports)
	}
	wantOutcomes(t, n, map[Outcome]uint64{Sample: 3, Options: 2})
}

// softflowd is another implementation: what it makes of captures, in both protocols, has all of their packets and
// bytes.
func TestSoftflowd(t *testing.T) {
	program, err := exec.LookPath("softflowd")
	if err != nil {
		t.Skip("softflowd is not installed")
	}
	for _, name := range []string{
		"fabric_tna_xd_tcp_h2.pcap", "onos_v10_burst_h1.pcap", "fabric_tna_xd_udp_h1.pcap",
	} {
		for _, version := range []string{"9", "10"} {
			socket, err := net.ListenPacket("udp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer socket.Close()
			command := exec.CommandContext(t.Context(), program, "-r",
				filepath.Join(test.Root(), "testdata/captures", name), "-n", socket.LocalAddr().String(), "-v", version,
				"-d", "-p", "pid", "-c", "none") // with a control socket it waits for who asks
			command.Dir = t.TempDir()
			if out, err := command.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			n := NewNetFlow(points(nil))
			want, got := packetsOf(t, name), map[string][2]uint64{}
			var payloads [][]byte
			for len(got) < len(want) {
				b := make([]byte, 65536)
				if err := socket.SetReadDeadline(time.Now().Add(10 * time.Minute)); err != nil {
					t.Fatal(err)
				}
				size, _, err := socket.ReadFrom(b)
				if err != nil {
					t.Fatalf("%s, version %s: %v; so far %v, want %v", name, version, err, got, want)
				}
				payloads = append(payloads, b[:size])
				_, reports := read(n, b[:size])
				for i := range reports {
					if r := reports[i].Observed.Rate; r != 1 {
						t.Errorf("%s, version %s: rate %d, want 1", name, version, r)
					}
				}
				maps.Copy(got, countsOf(reports))
			}
			if !maps.Equal(got, want) {
				t.Errorf("%s, version %s: got %v, want %v", name, version, got, want)
			}
			if bad := outcomes(n); bad[Unreadable]+bad[NoTemplate]+bad[NoCounts]+bad[NoRoom] != 0 {
				t.Errorf("%s, version %s, %d datagrams: %v", name, version, len(payloads), bad)
			}
		}
	}
}

// softflowdOf returns what softflowd sends of a capture with so many flows.
func softflowdOf(t *testing.T, capture, version string, flows int) (payloads [][]byte) {
	program, err := exec.LookPath("softflowd")
	if err != nil {
		t.Skip("softflowd is not installed")
	}
	socket, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	command := exec.CommandContext(t.Context(), program, "-r", capture, "-n", socket.LocalAddr().String(), "-v",
		version, "-d", "-p", "pid", "-c", "none")
	command.Dir = t.TempDir()
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for n := NewNetFlow(points(nil)); flows > 0; {
		b := make([]byte, 65536)
		if err := socket.SetReadDeadline(time.Now().Add(10 * time.Minute)); err != nil {
			t.Fatal(err)
		}
		size, _, err := socket.ReadFrom(b)
		if err != nil {
			t.Fatalf("%v; %d flows are missing", err, flows)
		}
		payloads = append(payloads, b[:size])
		h, _ := read(n, b[:size])
		flows -= h.Reports
	}
	return payloads
}

// softflowd counts messages in NetFlow 9, and in IPFIX flow records: those of before the message and in it, without the
// options. What is lost of these is told.
func TestSoftflowdAccount(t *testing.T) {
	name := filepath.Join(t.TempDir(), "flows.pcap")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w := pcapgo.NewWriter(file)
	if err := w.WriteFileHeader(65535, layers.LinkTypeEthernet); err != nil {
		t.Fatal(err)
	}
	const flows = 600
	for i := range flows {
		ip := &layers.IPv4{
			Version: 4, TTL: 64, Protocol: layers.IPProtocolUDP, SrcIP: net.IPv4(10, 0, byte(i>>8), byte(i)),
			DstIP: net.IPv4(10, 9, 0, 1),
		}
		b := gopacket.NewSerializeBuffer()
		if err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{FixLengths: true},
			&layers.Ethernet{
				SrcMAC: make([]byte, 6), DstMAC: make([]byte, 6), EthernetType: layers.EthernetTypeIPv4,
			}, ip, &layers.UDP{SrcPort: 1000, DstPort: 53}, gopacket.Payload("abcd")); err != nil {
			t.Fatal(err)
		}
		info := gopacket.CaptureInfo{
			Timestamp: time.UnixMilli(1700000000000 + int64(i)), CaptureLength: len(b.Bytes()), Length: len(b.Bytes()),
		}
		if err := w.WritePacket(info, b.Bytes()); err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	for version, counting := range map[string]telemetry.Counting{
		"9": telemetry.CountsDatagrams, "10": telemetry.CountsRecords,
	} {
		n, reference := NewNetFlow(points(nil)), NewNetFlow(points(nil))
		missing, lost, received, repeated := int64(0), int64(0), 0, 0
		var h telemetry.Header
		var numbers []uint32
		payloads := softflowdOf(t, name, version, flows)
		for i, payload := range payloads {
			h, _ = read(reference, payload)
			if i == 13 || i == 16 { // the latter with options
				if counting == telemetry.CountsRecords {
					lost += int64(h.Reports)
				}
				continue
			}
			h, _ = read(n, payload)
			if h.HasSequence {
				numbers = append(numbers, h.Sequence)
			}
			missing, received = missing+h.RecordsMissing, received+h.Reports
			if i == 17 {
				if h, _ = read(n, payload); h.Repeated {
					repeated++
				}
			}
		}
		if counting == telemetry.CountsDatagrams {
			first := numbers[0]
			for i := range numbers {
				numbers[i] -= first
			}
			if want := []uint32{
				0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 15, 17, 18, 19,
			}; !slices.Equal(numbers, want) || repeated != 0 {
				t.Errorf("got numbers %d, want %d; %d repeated", numbers, want, repeated)
			}
			received, repeated = flows, 1 // that is for the ledger
		}
		if h.Counting != counting || missing != lost || received+int(missing) != flows || repeated != 1 {
			t.Errorf("version %s, %d datagrams: %d of %d missing, %d received, %d repeated, counting %d", version,
				len(payloads), missing, lost, received, repeated, h.Counting)
		}
	}
}

// datagram returns one of NetFlow 9 of a source with sets, written in hexadecimal digits.
func datagram(t testing.TB, source uint32, sets string) []byte {
	b := make([]byte, 20)
	b[1] = 9
	binary.BigEndian.PutUint32(b[16:], source)
	return append(b, unhex(t, sets)...)
}

// What nobody can send in earnest costs no memory and no time, and is told.
func TestNetFlowHostile(t *testing.T) {
	const (
		flow = "0000000c 0100 0001 00020004 01000008 00000005"
		bad  = wire.ErrSampleRecord
	)
	type counts = map[Outcome]uint64
	unreadable := counts{Unreadable: 1}
	for name, c := range map[string]struct {
		sets   string // of NetFlow 9
		reason wire.Error
		want   counts
	}{
		"fields that are not there":  {"0000000c 0100 ffff 00020004", bad, unreadable},
		"options that are not there": {"0001000e 0100 fffc fffc 00010004", bad, unreadable},
		"records without length": {
			"0000000c 0100 0001 00020000 01000008 00000005", bad, counts{Unreadable: 1, NoTemplate: 1},
		},
		"a template without fields": {"00000008 0100 0000", bad, unreadable},
		"a field without length":    {"00000010 0100 0002 00020004 00010000", bad, unreadable},
		"a template with number 1":  {"0000000c 0001 0001 00020004", bad, unreadable},
		"a set that is too long":    {flow + "01000009 00000005", bad, counts{NoFlow: 1, Unreadable: 1}},
		"a set of IPFIX":            {"00020004" + flow, 0, counts{UnknownKind: 1, NoFlow: 1}},
		"a counter of 9 bytes": {
			"0000000c 0100 0001 00020009 0100000d 010000000000000000", 0, counts{NoCounts: 1},
		},
		"a length in the record that goes past it": {
			"00000010 0100 0002 0002ffff 00010004 01000009 ff00020000", bad, unreadable,
		},
	} {
		n := NewNetFlow(points(nil))
		h, _ := read(n, datagram(t, 1, c.sets))
		if h.Reason != c.reason || h.Reports != 0 || !maps.Equal(outcomes(n), c.want) {
			t.Errorf("%s: %v, %v, %v, want %v", name, h.Outcome, h.Reason, outcomes(n), c.want)
		}
	}
	for _, payload := range [][]byte{nil, {0, 9}, append([]byte{0, 5}, make([]byte, 40)...)} {
		if h, _ := read(NewNetFlow(points(nil)), payload); h.Outcome != telemetry.Malformed ||
			h.Reason != wire.ErrSampleHeader {
			t.Errorf("%x: %v, %v", payload, h.Outcome, h.Reason)
		}
	}
	for _, payload := range [][]byte{test.IPFIX(), unhex(t, rfc7011), unhex(t, softflowdIPFIX)} {
		for size := range payload {
			if h, _ := read(NewNetFlow(points(nil)), payload[:size]); h.Outcome == telemetry.Decoded {
				t.Fatalf("%d of %d bytes are decoded", size, len(payload))
			}
		}
	}
}

// Templates are bounded, for each domain and in all; those of domains that went silent give way, and no others.
func TestNetFlowRoom(t *testing.T) {
	n := NewNetFlow(points(nil))
	sets := ""
	for i := range maxOfDomain + 3 {
		sets += "0000000c" + hex.EncodeToString([]byte{byte(1 + i>>8), byte(i)}) + "0001 00020004"
	}
	full := maxTemplates / maxOfDomain
	for source := range full {
		read(n, datagram(t, uint32(source), sets))
	}
	wantOutcomes(t, n, map[Outcome]uint64{NoRoom: uint64(3 * full)})
	read(n, datagram(t, 5, "0000000c 0100 0001 00020004"), datagram(t, 1e6, sets),
		datagram(t, 1e6, "01000008 00000005"))
	if got := outcomes(n); got[NoRoom] != uint64(3*full+maxOfDomain+3) || got[NoTemplate] != 1 ||
		n.templates != maxTemplates {
		t.Errorf("got %v, %d templates", got, n.templates)
	}
	n.swept = time.Time{}
	n.domains[domainKey{from.Addr(), 9, 3}].last = time.Now().Add(-2 * domainForgotten)
	if h, _ := read(n, datagram(t, 1e6, sets)); h.Outcome != telemetry.Decoded || len(n.domains) != full ||
		n.domains[domainKey{from.Addr(), 9, 1e6}] == nil || n.domains[domainKey{from.Addr(), 9, 3}] != nil {
		t.Error("a domain that is silent is still there")
	}
}

// A rate is that of the sampler, of the port or of all; where none is told there is none.
func TestNetFlowRates(t *testing.T) {
	sampler := func(id uint64) sampling { return sampling{key: rateKey{ofSampler, id}} }
	d := &domain{rates: map[rateKey]uint32{}}
	f := func(s sampling, port, want uint32) {
		t.Helper()
		if got := d.rate(&s, port); got != want {
			t.Errorf("%+v, port %d of %v: got %d, want %d", s, port, d.rates, got, want)
		}
	}
	f(sampling{}, 1, 0)
	f(sampling{interval: 8}, 1, 8)
	f(sampling{chosen: 10, passed: 90}, 1, 10)
	f(sampling{chosen: 64}, 1, 1) // without a space nothing is passed
	f(sampling{size: 3, population: 100}, 1, 33)
	f(sampling{interval: 1 << 40}, 1, 0)
	d.rates[rateKey{ofSampler, 4}] = 40
	f(sampler(4), 1, 40)
	f(sampler(5), 1, 0)
	f(sampling{}, 1, 40) // there is no other
	d.rates[rateKey{ofInterface, 1}] = 10
	f(sampling{}, 1, 10)
	f(sampling{}, 2, 0)
	d.rates[rateKey{}] = 2
	f(sampling{}, 2, 2)
	f(sampler(5), 1, 2)
}

// FuzzNetFlow looks for bytes that stop the decoder, and for reports that no counter has.
func FuzzNetFlow(f *testing.F) {
	f.Add(test.IPFIX(), test.IPFIX())
	for rule := range messages { // numbers that follow each other, by what they count
		e := exporterRules[rule]
		e.version, e.next = 10, 1<<32-3
		first, second := e.send(sent{templates: true, flows: 2, options: 3}), e.send(sent{flows: 1, hidden: 2})
		f.Add(first.bytes(f), second.bytes(f))
	}
	for _, seed := range []string{v9Template, v9Records, v9Samplers, rfc7011, softflowdIPFIX, softflowdV9} {
		f.Add(unhex(f, v9Template), unhex(f, seed))
		f.Add(unhex(f, seed), unhex(f, seed))
	}
	config := codepoint.New()
	config.Compile()
	f.Fuzz(func(t *testing.T, first, second []byte) {
		n := NewNetFlow(config)
		h, reports := read(n, first, second)
		counts := n.Counts()
		if sum := counts[Sample] + counts[Discard]; sum != uint64(len(reports)) || h.Reports > len(reports) {
			t.Errorf("%d samples and drops, %d reports, the header says %d", sum, len(reports), h.Reports)
		}
		if n.templates > maxTemplates {
			t.Errorf("%d templates", n.templates)
		}
	})
}
