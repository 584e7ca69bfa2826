package embed

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
	"github.com/waybill-int/waybill/internal/test/packets"
)

// TestTshark lets another dissector look at the links of random paths: no bad checksum and no bad length in the outer
// headers, nor in those of packets in tunnels.
func TestTshark(t *testing.T) {
	program, err := exec.LookPath("tshark")
	if err != nil {
		t.Skip("tshark is not installed")
	}
	var links [][]byte
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 3))
		d := randomDomain(r)
		if !d.updates() {
			continue
		}
		frame := packets.Random(r).Frame(r)
		p := parse(t, d, frame)
		if p.Fragment {
			continue
		}
		if clean, rewritten := d.CleanMark(nil, p); rewritten {
			p = parse(t, d, clean)
		}
		out, result := d.Insert(nil, p, randomInstruction(r, d), randomMetadata(r), 0)
		if result.Action != Inserted {
			continue
		}
		links = append(links, out)
		for range r.IntN(3) {
			p := parse(t, d, out)
			out, _ = d.Push(nil, p, randomMetadata(r), p.TotalLength+r.IntN(200))
			links = append(links, out)
		}
	}
	bad := tsharkBad(t, program, links)
	if bad != "" {
		t.Errorf("of %d frames tshark finds wrong:\n%s", len(links), bad)
	}
	// It does find what is wrong.
	wrong := build(packets.Shape{Kind: packets.UDP, Payload: 10})
	wrong[sum4]++
	if tsharkBad(t, program, [][]byte{wrong}) == "" {
		t.Error("tshark does not see a bad checksum")
	}
}

// tsharkBad returns a line for each frame with a bad checksum or length.
func tsharkBad(t *testing.T, program string, frames [][]byte) string {
	t.Helper()
	var file bytes.Buffer
	w := pcapgo.NewWriter(&file)
	if err := w.WriteFileHeader(65536, layers.LinkTypeEthernet); err != nil {
		t.Fatal(err)
	}
	for _, frame := range frames {
		if err := w.WritePacket(gopacket.CaptureInfo{
			Timestamp: time.Unix(1, 0), CaptureLength: len(frame),
			Length: len(frame),
		}, frame); err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join(t.TempDir(), "links.pcap")
	if err := os.WriteFile(name, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	filter := `ip.checksum.status == "Bad" || udp.checksum.status == "Bad" || tcp.checksum.status == "Bad" || udp.length.bad || ip.bogus_ip_length`
	cmd := exec.Command(program, "-r", name, "-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE", "-o",
		"tcp.check_checksum:TRUE", "-Y", filter)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	return string(out)
}
