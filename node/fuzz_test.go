package node

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopacket/gopacket/pcapgo"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/internal/test/packets"
)

// FuzzNode lets a node of a random configuration process any packet on any way: it must not panic, must not write to
// the packet that it was given, and lets no INT out.
func FuzzNode(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(func(t *testing.T, seed uint64, ways uint16, frame []byte) {
		r := rand.New(rand.NewPCG(seed, 3))
		text, _ := randomConfig(r)
		text += pick(r, "", "slow_path: true\n", "edge_int: accept\n", "edge_int: accept\nsink: in_stack\n")
		if r.IntN(6) == 0 {
			text = "mode: ioam\nioam: {option: " + pick(r, "preallocated", "incremental", "dex") + "}\nsink: " +
				pick(r, "in_report", "in_stack", "separate") + "\nwatch: [{report_all: true}]\n"
		}
		c, err := Load([]byte(text))
		if err != nil {
			return // slow_path is not of every version
		}
		c.InitialTTL = uint8(seed)
		n, err := New(c, testSpec(1, true, false, true, false))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		in := Ingress{Port: uint32(ways & 7), TimeNs: r.Uint64()}
		e := Egress{
			Port: uint32(ways >> 3 & 7), Queue: uint8(ways >> 6), QueueBytes: r.Uint64(), BufferBytes: r.Uint64(),
			EnqueuedNs: r.Uint64(),
			DepartedNs: r.Uint64(), TxBps: r.Uint64(), Bps: r.Uint64N(3), MTU: r.IntN(2000), Reason: uint8(seed),
		}
		before := string(frame)
		var s State
		var out Output
		for range 2 {
			n.Process(frame, in, func(*State) Egress { return e }, &s, &out)
			if string(frame) != before {
				t.Fatal("the frame was changed")
			}
			if out.Frame != nil && n.isEdge(e.Port) && !n.isEdge(in.Port) {
				v := &visit{}
				if n.inside.Parse(out.Frame, &v.packet) == nil && v.packet.INT.Present && n.stats.Count[Stripped] > 0 &&
					!stacked(n, before) {
					t.Fatalf("INT left the domain: %x", out.Frame)
				}
			}
			if out.Frame != nil && n.ioam != nil && !n.isEdge(in.Port) && n.isEdge(e.Port) {
				if _, left := n.ioam.find(out.Frame); left {
					t.Fatalf("IOAM left the domain: %x", out.Frame)
				}
			}
			n.Drop(frame, &s, Drop{Place: Place(ways >> 8 & 3), TimeNs: e.DepartedNs, Port: e.Port, Queue: e.Queue},
				&out)
		}
		n.Tick(r.Uint64(), &out)
		n.Close(r.Uint64(), &out)
	})
}

// stacked reports whether there is INT behind INT: a user's own, which looks like that of the domain once that is gone.
func stacked(n *Node, frame string) bool {
	v := &visit{}
	if n.inside.Parse([]byte(frame), &v.packet) != nil {
		return false
	}
	out, _, _ := n.inside.Strip(nil, &v.packet)
	var again visit
	return n.inside.Parse(out, &again.packet) == nil && again.packet.INT.Present
}

func seedFuzz(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 1))
	for kind := range packets.NumKinds {
		f.Add(uint64(kind), uint16(r.Uint32()), packets.Shape{Kind: kind, Payload: 40}.Frame(r))
	}
	for _, v := range test.Vectors(f, "*") {
		if v.StartsAt == "ethernet" {
			f.Add(r.Uint64(), uint16(r.Uint32()), v.Bytes)
		}
	}
	files, err := filepath.Glob("../testdata/captures/*.pcap")
	if err != nil || len(files) == 0 {
		f.Fatalf("no captures: %v", err)
	}
	for _, name := range files {
		if strings.Contains(name, "_reports") {
			continue
		}
		file, err := os.Open(name)
		if err != nil {
			f.Fatal(err)
		}
		reader, err := pcapgo.NewReader(file)
		if err != nil {
			f.Fatalf("%s: %v", name, err)
		}
		for range 2 {
			frame, _, err := reader.ReadPacketData()
			if err != nil {
				break
			}
			f.Add(r.Uint64(), uint16(r.Uint32()), frame)
		}
		file.Close()
	}
}
