package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopacket/gopacket/pcapgo"
)

// The capture files hold what P4 programs really send; testdata/captures/README.md says which and how they differ from
// the specification. Other traffic in them is left out by its port.
var reportPorts = map[uint16]bool{32766: true, 6000: true, 556: true}

func TestCaptures(t *testing.T) {
	files, err := filepath.Glob("../../testdata/captures/*_reports.pcap")
	if err != nil || len(files) == 0 {
		t.Fatalf("no captures: %v", err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		if strings.HasPrefix(name, "montimage_") {
			continue // copies of packets without a report header
		}
		t.Run(name, func(t *testing.T) {
			payloads := reportPayloads(t, file)
			for frame, payload := range payloads {
				if _, err := captureFields(payload); err != nil {
					t.Errorf("frame %d: %v", frame, err)
				}
			}
			samples := truth(t, strings.TrimSuffix(file, "_reports.pcap")+".truth.json")[name]
			compared := 0
			for _, sample := range samples {
				if sample.ReportHeader == nil {
					continue
				}
				got, err := captureFields(payloads[sample.Frame])
				if err != nil {
					t.Errorf("frame %d: %v", sample.Frame, err)
				}
				want := normal(t, sample.ReportHeader)
				delete(want, "raw")
				if got, want := fmt.Sprint(normal(t, got)), fmt.Sprint(want); got != want {
					t.Errorf("frame %d:\ngot  %s\nwant %s", sample.Frame, got, want)
				}
				compared++
			}
			if compared == 0 {
				t.Errorf("%d reports and no sample to compare with", len(payloads))
			}
		})
	}
}

type sample struct {
	Frame        int
	ReportHeader fields `json:"report_header"`
}

// truth reads the samples of a truth file, by capture file.
func truth(t *testing.T, file string) map[string][]sample {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Samples map[string][]sample }
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Samples
}

// reportPayloads returns the UDP payloads that went to a report port, by frame number from 1.
func reportPayloads(t *testing.T, file string) map[int][]byte {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := pcapgo.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	payloads := map[int][]byte{}
	for frame := 1; ; frame++ {
		b, _, err := r.ReadPacketData()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if port, payload, ok := udpPayload(b); ok && reportPorts[port] {
			payloads[frame] = payload
		}
	}
	if len(payloads) == 0 {
		t.Fatal("no reports in the capture")
	}
	return payloads
}

// captureFields decodes a payload into the names that the truth files use for a report header.
func captureFields(payload []byte) (fields, error) {
	version, err := Version(payload)
	if err != nil {
		return nil, err
	}
	switch version {
	case 0:
		var h V05
		_, err := h.Decode(payload)
		return v05Capture(&h), err
	case 1:
		var spec, flagsFirst V10
		if _, err := spec.Decode(payload); err != nil {
			return nil, err
		}
		_, err := flagsFirst.DecodeFlagsFirst(payload)
		return v10Capture(&spec, &flagsFirst), err
	}
	var g Group
	n, err := g.Decode(payload)
	if err != nil {
		return nil, err
	}
	if form := TSKind(payload[n:]); form != TSFormTracked {
		return nil, fmt.Errorf("form %d, want a tracked flow report", form)
	}
	var h TSTracked
	if _, err := h.Decode(payload[n:]); err != nil {
		return nil, err
	}
	return tsCapture(&g, &h), nil
}

func v05Capture(h *V05) fields {
	f := fields{
		"ver": 0, "nproto": h.NProto, "d": flag(h.D), "q": flag(h.Q), "f": flag(h.F), "rsvd": 0,
		"hw_id": h.HWID, "seq": h.Sequence, "ingress_ts": h.IngressTS,
	}
	switch h.NProto {
	case NProtoDrop:
		f["drop_header"] = fields{
			"switch_id": h.Drop.SwitchID, "ingress_port": h.Drop.IngressPort, "egress_port": h.Drop.EgressPort,
			"queue_id": h.Drop.QueueID, "drop_reason": h.Drop.Reason, "pad": 0,
		}
	case NProtoSwitchLocal:
		f["local_header"] = fields{
			"switch_id": h.Local.SwitchID, "ingress_port": h.Local.IngressPort, "egress_port": h.Local.EgressPort,
			"queue_id": h.Local.QueueID, "queue_occupancy": h.Local.QueueOccupancy, "egress_ts": h.Local.EgressTS,
		}
	}
	return f
}

// v10Capture shows both readings of the flags if they differ, as the truth of the programs that write them first does.
func v10Capture(spec, flagsFirst *V10) fields {
	f := fields{
		"ver": 1, "len_words": spec.Length, "nproto": spec.NProt, "rep_md_bits": spec.RepMdBits, "hw_id": spec.HWID,
		"switch_id": spec.SwitchID, "seq": spec.Sequence, "ingress_ts": spec.IngressTS,
	}
	if flagsFirst.F {
		f["as_written_by_program"] = fields{
			"d": flag(flagsFirst.D), "q": flag(flagsFirst.Q), "f": flag(flagsFirst.F), "rsvd": 0,
		}
		f["as_read_by_spec_v1_0"] = fields{"reserved": 8, "d": flag(spec.D), "q": flag(spec.Q), "f": flag(spec.F)}
		return f
	}
	f["reserved"], f["d"], f["q"], f["f"] = 0, flag(spec.D), flag(spec.Q), flag(spec.F)
	return f
}

func tsCapture(g *Group, h *TSTracked) fields {
	hex16 := func(v uint16) string { return fmt.Sprintf("0x%04x", v) }
	return fields{
		"ver": 2, "hw_id": g.HWID, "seq_22bit_spec": g.Sequence, "seq_16bit_as_written": g.Sequence >> 6,
		"node_id": g.NodeID, "rep_type": h.RepType, "in_type": h.InType, "report_length_words": h.ReportLength,
		"md_length_words": h.MDLength, "d": flag(h.D), "q": flag(h.Q), "f": flag(h.F), "i": flag(h.I), "rsvd": 0,
		"rep_md_bits": hex16(h.RepMdBits), "domain_id": hex16(h.DomainID), "ds_md_bits": hex16(h.DSMdBits),
		"ds_md_status": hex16(h.DSMdStatus), "var_opt_md": h.VarOptMD,
	}
}

func flag(set bool) int {
	if set {
		return 1
	}
	return 0
}
