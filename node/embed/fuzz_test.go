package embed

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/waybill-int/waybill/internal/test/packets"
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/inband"
)

// fuzzDomain returns a domain that may be as wrong as the fields allow.
func fuzzDomain(r *rand.Rand) *Domain {
	d := randomDomain(r)
	if r.IntN(3) == 0 { // what Check would refuse
		d.Mode, d.Version, d.Carrier = Mode(r.IntN(5)), inband.Version(r.IntN(6)), Carrier(r.IntN(9))
		d.MaxHops, d.Complement, d.NewIP = uint8(r.Uint32()), r.IntN(2) == 0, r.IntN(2) == 0
		d.DSInstruction = uint16(r.Uint32())
	}
	if r.IntN(3) == 0 {
		d.Dialect = codepoint.Dialects[r.IntN(len(codepoint.Dialects))]
		d.Points = codepoint.NewProfile(&d.Points, d.Dialect).Points
	}
	return d
}

// FuzzEmbed holds every function to: no panic, the input stays as it is, and the length of the output is what the
// result says. What was pushed can be read again.
func FuzzEmbed(f *testing.F) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 2))
		d := fuzzDomain(r)
		frame := packets.Random(r).Frame(r)
		var p Packet
		if d.Parse(frame, &p) == nil {
			frame, _ = d.Insert(nil, &p, randomInstruction(r, newDomain(inband.Version20, DSCP)), randomMetadata(r), 0)
		}
		f.Add(seed, frame)
	}
	files, err := filepath.Glob("../../testdata/vectors/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for i, file := range files {
		var vector struct{ Hex string }
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		if err := json.Unmarshal(text, &vector); err != nil {
			f.Fatal(err)
		}
		b, _ := hex.DecodeString(vector.Hex)
		f.Add(uint64(i), b)
	}
	f.Fuzz(func(t *testing.T, seed uint64, frame []byte) {
		r := rand.New(rand.NewPCG(seed, 2))
		d := fuzzDomain(r)
		kept := bytes.Clone(frame)
		var p Packet
		err := d.Parse(frame, &p)
		if err == nil && p.L3 != 0 && (p.L4 > p.End || p.End > len(frame)) {
			t.Fatalf("offsets: %+v", p)
		}
		own := randomMetadata(r)
		mtu := r.IntN(2) * r.IntN(2000)
		var ins Instruction
		if r.IntN(2) == 0 {
			ins = Instruction{
				Bitmap: uint16(r.Uint32()), MaxHops: uint8(r.Uint32()), DSInstruction: uint16(r.Uint32()),
				DS: packets.Bytes(r, 8),
			}
		}
		check := func(name string, out []byte, added int) {
			t.Helper()
			if len(out) != len(frame)+added {
				t.Fatalf("%s: %d bytes became %d, not %d more\n%x", name, len(frame), len(out), added, frame)
			}
			if !bytes.Equal(frame, kept) {
				t.Fatalf("%s changed its input", name)
			}
		}
		out, result := d.Insert(nil, &p, ins, own, mtu)
		check("Insert", out, result.Added)
		out, result = d.PushDS(nil, &p, own, packets.Bytes(r, p.INT.perHopDS), mtu)
		check("Push", out, result.Added)
		if result.Action == Pushed {
			var again Packet
			if err := d.Parse(out, &again); err != nil || again.INT.Malformed != 0 || again.INT.Hops != p.INT.Hops+1 {
				t.Fatalf("pushed on %+v: got %+v, error %v\n%x\n%x", p.INT, again.INT, err, frame, out)
			}
		}
		out, _, result = d.PopIntermediate(nil, &p, own, nil, mtu)
		check("PopIntermediate", out, result.Added)
		out, s, err := d.Strip(nil, &p)
		if out == nil && len(frame) > 0 {
			if err == nil || !s.Discard {
				t.Fatalf("Strip: nothing, but %+v and no error", s)
			}
			out = frame
		}
		check("Strip", out, -s.Removed)
		out, _ = d.CleanMark(nil, &p)
		check("CleanMark", out, 0)
		out, result = d.FollowUp(nil, &p, own)
		check("FollowUp", out, result.Added)
		out, result = d.SetDSFlags(nil, &p, uint16(r.Uint32()))
		check("SetDSFlags", out, result.Added)
		d.MarkCopy(frame)
		if len(frame) != len(kept) {
			t.Fatal("MarkCopy changed the length")
		}
		_ = d.Check()
		_ = d.CheckInstruction(&ins)
	})
}
