package truth

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
)

// records has one of each type, with a different value in every field.
func records() []Record {
	return []Record{
		&Run{Scenario: "in\"ca\\st\u00fc", Seed: 1 << 63, EpochNs: 2, SamplePackets: 3, BurstAbove: 4, BurstBelow: 5},
		&Switch{
			Node: 1, Name: "leaf1", Role: "leaf", Address: "10.255.0.1", INT: true, OffsetNs: -5, DriftPPB: -6,
			Ports: 7, LatencyNs: 8,
		},
		&Host{Name: "h1", Address: "10.0.1.1", Address6: "fd00::1", MAC: "02:00:00:00:00:01", Node: 1, Port: 2},
		&Link{Name: "leaf1-spine1", NodeA: 1, PortA: 2, NodeB: 3, PortB: 4, RateBps: 5, DelayNs: 6, MTU: 7},
		&Flow{
			Flow: 1, Reverse: 2, Traffic: "t", Src: "a", Dst: "b", Protocol: 6, SrcPort: 3, DstPort: 4, DSCP: 5,
			StartNs: 6, EndNs: 7, Bytes: 8, PacketsSent: 9, PacketsDelivered: 10, PacketsDropped: 11, Retransmitted: 12,
			Finished: true,
		},
		&Flow{Inner: &Inner{Tunnel: "vxlan", VNI: 1, Src: "c", Dst: "d", Protocol: 17, SrcPort: 2, DstPort: 3}},
		&Path{Flow: 1, FromNs: 2, UntilNs: 3, Packets: 4, Hops: []PathHop{{5, 6, 7, 8}, {9, 10, 11, 12}}},
		&Hop{
			Packet: 1, Flow: 2, Hop: 3, Node: 4, In: 5, Out: 6, Queue: 7, InNs: 8, OutNs: 9, LatencyNs: 10,
			InClock: 11, OutClock: 12, Depth: 13, Buffer: 14, Utilization: 15, Length: 16,
		},
		&Drop{
			TimeNs: 1, Packet: 2, CopyOf: 11, Flow: 3, Place: "link", Node: 4, Link: "a-b", In: 5, Out: 6, Queue: 7, Host: "h",
			Depth: 8, Reason: "gray_link", Code: 9, Seen: true, Length: 10,
		},
		&Burst{
			Node: 1, Port: 2, Queue: 3, StartNs: 4, EndNs: 5, PeakNs: 6, Peak: 7, Packets: 8, Bytes: 9, Drops: 10,
			Open: true, Flows: []BurstFlow{{11, 12}, {13, 14}},
		},
		&Fault{
			TimeNs: 1, Fault: 2, Kind: "loop", Phase: "start", Nodes: []uint32{3, 4}, Link: "a-b",
			Prefix: "10.0.0.0/8", Hosts: []string{"h1", "h2"}, Detail: "5",
		},
		&Report{TimeNs: 1, Node: 2, Number: 3, Packet: 4, CopyOf: 7, Flow: 5, Length: 6},
		&Report{Lost: true, TimeNs: 1},
		&End{
			TimeNs: 1, Sent: 2, Copies: 12, Delivered: 3, InFlight: 4, Hops: 5, Reports: 6, ReportsLost: 7,
			Dropped: []Reason{{"a", 8, 9}, {"b", 10, 11}},
		},
	}
}

func TestRoundTrip(t *testing.T) {
	var file bytes.Buffer
	w := NewWriter(&file)
	for _, record := range records() {
		w.Write(record)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	r := NewReader(&file)
	for _, want := range records() {
		got, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("behind the last line: %v", err)
	}
}

// Every field that encoding/json knows is written, under its name and in its place.
func TestAppendIsWhatTheTagsSay(t *testing.T) {
	for _, record := range records() {
		line := string(record.Append(nil))
		want, err := json.Marshal(record)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(line, `,`)
		if !strings.HasPrefix(line, `{"type":"`) || !strings.HasSuffix(line, "\n") ||
			"{"+strings.TrimSuffix(rest, "\n") != string(want) {
			t.Errorf("%T:\n got %s want {\"type\":...,%s", record, line, want[1:])
		}
	}
}

func TestAppendString(t *testing.T) {
	for _, want := range []string{"", "a\tb\n", "\x00\x1f\"\\", "\u2028\U0001f9ee", "cut \xff short"} {
		var got string
		if err := json.Unmarshal(appendString(nil, want), &got); err != nil ||
			got != strings.ToValidUTF8(want, "\ufffd") {
			t.Errorf("%q: got %q, %v", want, got, err)
		}
	}
}

func TestReaderErrors(t *testing.T) {
	for text, want := range map[string]string{
		"{\"type\":\"end\"}\n{\"type\":\"ned\"}\n": `line 2: unknown type "ned"`,
		"no":                           "line 1: invalid character",
		`{"type":"end","sent":"x"}`:    "line 1: json: cannot unmarshal",
		strings.Repeat(" ", maxLine+1): "line 1: bufio.Scanner: token too long",
	} {
		r := NewReader(strings.NewReader(text))
		var err error
		for err == nil {
			_, err = r.Next()
		}
		if !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.40q: got %q, want %q", text, err, want)
		}
	}
}

// A Recorder gets the records themselves; its first error is that of Flush, and the last that it gets.
type listRecorder struct {
	brokenFile
	list []Record
}

func (l *listRecorder) Record(r Record) error {
	if l.list = append(l.list, r); len(l.list) == 3 {
		return io.ErrNoProgress
	}
	return nil
}

func TestRecorder(t *testing.T) {
	var l listRecorder
	w := NewWriter(&l)
	for _, record := range records() {
		w.Write(record)
	}
	if err := w.Flush(); !errors.Is(err, io.ErrNoProgress) || !reflect.DeepEqual(l.list, records()[:3]) {
		t.Errorf("got %v, %v", l.list, err)
	}
}

type brokenFile struct{}

func (brokenFile) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestWriterKeepsItsError(t *testing.T) {
	w := NewWriter(brokenFile{})
	for range 3 * flushAt / 50 {
		w.Write(&Report{})
	}
	if err := w.Flush(); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("got %v", err)
	}
}

func TestWriteNoAllocs(t *testing.T) {
	w := NewWriter(io.Discard)
	hop := &Hop{Packet: 1 << 40, InClock: 1 << 60}
	drop := &Drop{Place: "queue", Reason: "traffic_manager"}
	if n := testing.AllocsPerRun(1000, func() { w.Write(hop); w.Write(drop) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkWriteHop(b *testing.B) {
	w := NewWriter(io.Discard)
	hop := &Hop{
		Packet: 1234567, Flow: 4711, Node: 12, InNs: 1e9, OutNs: 1e9 + 5000, InClock: 1e18, OutClock: 1e18,
		Length: 1514,
	}
	b.ReportAllocs()
	for b.Loop() {
		w.Write(hop)
	}
}
