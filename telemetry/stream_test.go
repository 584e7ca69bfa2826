package telemetry_test

import (
	"bytes"
	"testing"

	"github.com/waybill-int/waybill/internal/test"
)

// The data of a TCP packet is where the packet without INT has it, wherever INT was put in, and however little of it
// the report has.
func TestDecodeStream(t *testing.T) {
	for name, data := range map[string]uint32{ // bytes, as the vectors say
		"int21_md_gre_ipv4":    0,
		"int21_md_new_udp_tcp": 0,
		"int21_md_tcp_dscp":    4,
		"int10_tcp_dscp":       16,
		"tr05_int05_tcp":       12,
	} {
		v := test.Vectors(t, name)[0]
		payload := about(bytes.Clone(v.Bytes))
		if name == "tr05_int05_tcp" {
			payload = payloadOf(t, &v)
		}
		header := bytes.Index(payload, []byte{1, 2, 3, 4, 10, 11, 12, 13}) - 4 // sequence and acknowledgement number
		const psh, syn, fin, rst, urgent = 0x18, 0x12, 0x11, 0x14, 0x30
		for _, c := range []struct {
			flags    byte
			from, to uint32
		}{
			{psh, 0x01020304, 0x01020304 + data},
			{urgent, 0x01020304, 0x01020304 + data},
			{syn, 0x01020304, 0x01020304 + data + 1},
			{fin, 0x01020304, 0x01020304 + data + 1},
			{syn | fin, 0x01020304, 0x01020304 + data + 2},
			{rst, 0, 0},
			{rst | fin, 0, 0},
		} {
			payload[header+13] = c.flags
			_, reports := decode(t, v.Points(t), payload)
			if r := &reports[0]; r.StreamFrom != c.from || r.StreamTo != c.to {
				t.Errorf("%s, flags %#x: got %#x to %#x, want %#x to %#x", name, c.flags, r.StreamFrom, r.StreamTo,
					c.from, c.to)
			}
		}
	}
}

// A fragment of IP says nothing of the rest of the segment, and UDP has no stream.
func TestDecodeNoStream(t *testing.T) {
	v := test.Vectors(t, "int21_md_tcp_dscp")[0]
	frame := bytes.Clone(v.Bytes)
	frame[14+6] |= 0x20 // more fragments
	udp := test.Vectors(t, "int21_md_checksum_complement")[0]
	for name, payload := range map[string][]byte{"fragment": about(frame), "udp": about(bytes.Clone(udp.Bytes))} {
		_, reports := decode(t, v.Points(t), payload)
		if len(reports) != 1 || reports[0].StreamFrom != reports[0].StreamTo {
			t.Errorf("%s: got %+v", name, reports)
		}
	}
}
