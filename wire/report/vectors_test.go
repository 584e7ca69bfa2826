package report

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// A vector is one file of testdata/vectors, as far as this package reads it.
type vector struct {
	Name     string
	StartsAt string `json:"starts_at"`
	Hex      string
	Config   struct{ Profile string }
	Expect   json.RawMessage
}

// reportVectors reads every vector that holds a telemetry report.
func reportVectors(t testing.TB) []vector {
	t.Helper()
	var all []vector
	for _, pattern := range []string{"tr05_*", "tr10_*", "tr20_*", "ts_*", "bad_tr*"} {
		files, err := filepath.Glob("../../testdata/vectors/" + pattern + ".json")
		if err != nil || len(files) == 0 {
			t.Fatalf("no vectors %s: %v", pattern, err)
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var v vector
			if err := json.Unmarshal(b, &v); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			all = append(all, v)
		}
	}
	return all
}

// payload returns the bytes of the report: the UDP payload.
func (v *vector) payload(t testing.TB) []byte {
	t.Helper()
	b, err := hex.DecodeString(v.Hex)
	if err != nil {
		t.Fatal(err)
	}
	if v.StartsAt == "telemetry_report" {
		return b
	}
	_, b, ok := udpPayload(b)
	if !ok {
		t.Fatalf("%s is no IPv4/UDP frame", v.Name)
	}
	return b
}

// udpPayload returns the destination port and payload of an Ethernet frame with IPv4 and UDP. A payload that is cut is
// shorter than the UDP length says.
func udpPayload(frame []byte) (uint16, []byte, bool) {
	if len(frame) < 34 || frame[12] != 8 || frame[13] != 0 || frame[23] != 17 {
		return 0, nil, false
	}
	udp := 14 + 4*int(frame[14]&0x0F)
	if len(frame) < udp+8 {
		return 0, nil, false
	}
	end := udp + int(binary.BigEndian.Uint16(frame[udp+4:]))
	if end < udp+8 {
		return 0, nil, false
	}
	return binary.BigEndian.Uint16(frame[udp+2:]), frame[udp+8 : min(end, len(frame))], true
}

type fields = map[string]any

func TestVectors(t *testing.T) {
	for _, v := range reportVectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			payload := v.payload(t)
			layer, encoded, err := readReport(payload, v.Config.Profile)
			if strings.HasPrefix(v.Name, "bad_") {
				checkBadVector(t, v, layer, err)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var layers []fields
			if err := json.Unmarshal(v.Expect, &layers); err != nil {
				t.Fatal(err)
			}
			for len(layers) > 0 && layers[0]["layer"] != layer["layer"] {
				layers = layers[1:]
			}
			if len(layers) == 0 {
				t.Fatalf("the vector has no layer %v", layer["layer"])
			}
			got, want := normal(t, layer), normal(t, layers[0])
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %v\nwant %v", got, want)
			}
			if string(encoded) != string(payload[:len(encoded)]) {
				t.Errorf("Append:\ngot  %x\nwant %x", encoded, payload)
			}
		})
	}
}

func checkBadVector(t *testing.T, v vector, layer fields, err error) {
	t.Helper()
	var want struct {
		Error string
		Keep  fields
	}
	if err := json.Unmarshal(v.Expect, &want); err != nil {
		t.Fatal(err)
	}
	if err == nil || err.Error() != want.Error {
		t.Errorf("got error %v, want %s", err, want.Error)
	}
	got := normal(t, layer)
	for key, value := range want.Keep {
		if got[key] != value {
			t.Errorf("%s: got %v, want %v", key, got[key], value)
		}
	}
}

// normal turns numbers into those of JSON, and removes what package report does not decode: the layers of fragments.
func normal(t *testing.T, layer fields) fields {
	t.Helper()
	b, err := json.Marshal(layer)
	if err != nil {
		t.Fatal(err)
	}
	var out fields
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return prune(out).(fields)
}

func prune(v any) any {
	switch v := v.(type) {
	case fields:
		delete(v, "inner")
		delete(v, "quirk")
		for key := range v {
			v[key] = prune(v[key])
		}
	case []any:
		for i := range v {
			v[i] = prune(v[i])
		}
	}
	return v
}

// readReport decodes a UDP payload and returns it as the layer that the vectors expect, and the encoding of what was
// decoded. The error is the first one; the layer has what was read in spite of it.
func readReport(payload []byte, profile string) (fields, []byte, error) {
	version, err := Version(payload)
	if err != nil {
		return nil, nil, err
	}
	switch version {
	case 0:
		var h V05
		_, err := h.Decode(payload)
		return v05Fields(&h), h.Append(nil), err
	case 1:
		var h V10
		_, err := h.Decode(payload)
		return v10Fields(&h), h.Append(nil), err
	}
	var g Group
	n, err := g.Decode(payload)
	if err != nil {
		return nil, nil, err
	}
	layer := fields{
		"layer": "telemetry_report_v2_0", "version": 2, "hw_id": g.HWID, "sequence": g.Sequence, "node_id": g.NodeID,
	}
	encoded := g.Append(nil)
	if profile == "transparent-security" {
		switch TSKind(payload[n:]) {
		case TSFormTracked:
			var h TSTracked
			_, err := h.Decode(payload[n:])
			layer["reports"] = []fields{tsTrackedFields(&h)}
			return layer, h.Append(encoded), err
		case TSFormDrop:
			var h TSDrop
			_, err := h.Decode(payload[n:])
			layer["reports"] = []fields{tsDropFields(&h)}
			layer["trailer"] = hex.EncodeToString(h.Trailer)
			return layer, h.Append(encoded), err
		}
	}

	var first error
	reports := []fields{}
	var rs Reports
	var r V20
	rs.Reset(payload[n:])
	for rs.Next(&r) {
		if err := rs.Err(); err != nil {
			first = err
			continue
		}
		f, err := v20Fields(&r)
		if first == nil {
			first = err
		}
		reports = append(reports, f)
		encoded = r.Append(encoded)
	}
	if first == nil {
		first = rs.Err()
	}
	layer["reports"] = reports
	if rs.Trailer() != nil {
		layer["trailer"] = hex.EncodeToString(rs.Trailer())
	}
	return layer, encoded, first
}

func v05Fields(h *V05) fields {
	f := fields{
		"layer": "telemetry_report_v0_5", "version": 0, "nproto": h.NProto, "d": h.D, "q": h.Q, "f": h.F,
		"hw_id": h.HWID, "sequence": h.Sequence, "ingress_ts": h.IngressTS,
	}
	switch h.NProto {
	case NProtoDrop:
		f["drop"] = fields{
			"switch_id": h.Drop.SwitchID, "ingress_port": h.Drop.IngressPort, "egress_port": h.Drop.EgressPort,
			"queue_id": h.Drop.QueueID, "drop_reason": h.Drop.Reason,
		}
	case NProtoSwitchLocal:
		f["switch_local"] = fields{
			"switch_id": h.Local.SwitchID, "ingress_port": h.Local.IngressPort, "egress_port": h.Local.EgressPort,
			"queue_id": h.Local.QueueID, "queue_occupancy": h.Local.QueueOccupancy, "egress_ts": h.Local.EgressTS,
		}
	}
	return f
}

func v10Fields(h *V10) fields {
	return fields{
		"layer": "telemetry_report_v1_0", "version": 1, "length": h.Length, "nprot": h.NProt,
		"rep_md_bits": h.RepMdBits, "d": h.D, "q": h.Q, "f": h.F, "hw_id": h.HWID,
		"switch_id": h.SwitchID, "sequence": h.Sequence, "ingress_ts": h.IngressTS,
		"metadata": metadataFields(&h.Metadata, "", func(ts uint64) any { return ts }),
	}
}

// metadataFields names level 1 interfaces with a prefix and an ending that differ between the versions, as the form of
// timestamps does.
func metadataFields(m *Metadata, level string, timestamp func(uint64) any) fields {
	f := fields{}
	for _, field := range []struct {
		bit    uint16
		values fields
	}{
		{mdBit0, fields{"reserved_bit0": m.Reserved[0]}},
		{MDInterfaces, interfaceFields(m, level)},
		{MDHopLatency, fields{"hop_latency": m.HopLatency}},
		{MDQueue, fields{"queue_id": m.QueueID, "queue_occupancy": m.QueueOccupancy}},
		{MDIngressTS, fields{"ingress_ts": timestamp(m.IngressTS)}},
		{MDEgressTS, fields{"egress_ts": timestamp(m.EgressTS)}},
		{MDL2Interfaces, fields{"l2_ingress": m.L2Ingress, "l2_egress": m.L2Egress}},
		{MDTxUtil, fields{"egress_tx_util": m.TxUtil}},
		{MDBuffer, fields{"buffer_id": m.BufferID, "buffer_occupancy": m.BufferOccupancy}},
		{MDDrop, fields{"drop_queue_id": m.DropQueueID, "drop_reason": m.DropReason}},
	} {
		if m.Bits&field.bit != 0 {
			maps.Copy(f, field.values)
		}
	}
	for i := 1; i <= 6; i++ {
		if m.Bits&(MDBuffer>>i) != 0 {
			f[fmt.Sprintf("reserved_bit%d", 8+i)] = m.Reserved[i]
		}
	}
	return f
}

func interfaceFields(m *Metadata, level string) fields {
	if level == "" {
		return fields{"ingress_port": m.IngressPort, "egress_port": m.EgressPort}
	}
	return fields{level + "_ingress": m.IngressPort, level + "_egress": m.EgressPort}
}

func wide(ts uint64) any { return fmt.Sprintf("0x%016x", ts) }

// v20Fields also walks the TLVs of h; the error is theirs.
func v20Fields(h *V20) (fields, error) {
	f := fields{
		"rep_type": h.RepType, "in_type": h.InType, "report_length": h.ReportLength, "md_length": h.MDLength,
		"d": h.D, "q": h.Q, "f": h.F, "i": h.I,
	}
	switch h.RepType {
	case RepInnerOnly:
	case RepINT:
		f["rep_md_bits"] = h.RepMdBits
		f["domain_specific_id"] = h.DomainID
		f["ds_md_bits"] = h.DSMdBits
		f["ds_md_status"] = h.DSMdStatus
		f["metadata"] = metadataFields(&h.Metadata, "l1", wide)
		f["ds_metadata"] = hex.EncodeToString(h.DSMetadata)
	default:
		f["opaque"] = hex.EncodeToString(h.Opaque)
	}
	if n := FragmentPadding(h.Inner, h.InType); n > 0 {
		f["fragment_padding"] = n
	}
	if h.InType != InTLV {
		return f, nil
	}
	tlvs := []fields{}
	defer func() { f["tlvs"] = tlvs }()
	for b := h.Inner; len(b) > 0; {
		var tlv TLV
		n, err := tlv.Decode(b)
		if err != nil {
			return f, err
		}
		tf := fields{"type": tlv.Type, "length": tlv.Length, "template": tlv.Template}
		if tlv.InType() == InDSExtension {
			tf["hex"] = hex.EncodeToString(tlv.Data)
		}
		tlvs = append(tlvs, tf)
		b = b[n:]
	}
	return f, nil
}

func tsTrackedFields(h *TSTracked) fields {
	return fields{
		"rep_type": h.RepType, "in_type": h.InType, "report_length": h.ReportLength, "md_length": h.MDLength,
		"d": h.D, "q": h.Q, "f": h.F, "i": h.I, "rep_md_bits": h.RepMdBits, "domain_specific_id": h.DomainID,
		"ds_md_bits": h.DSMdBits, "ds_md_status": h.DSMdStatus, "var_opt_md": h.VarOptMD,
	}
}

func tsDropFields(h *TSDrop) fields {
	return fields{
		"rep_type": h.RepType, "in_type": h.InType, "report_length": h.ReportLength, "md_length": h.MDLength,
		"d": h.D, "q": h.Q, "f": h.F, "i": h.I, "rep_md_bits": h.RepMdBits, "domain_specific_id": h.DomainID,
		"ds_md_bits": h.DSMdBits, "ds_md_status": h.DSMdStatus,
		"metadata": metadataFields(&h.Metadata, "l1", wide),
		"ts_drop": fields{
			"timestamp": h.Timestamp, "drop_count": h.DropCount,
			"drop_key_high": wide(h.DropKeyHigh), "drop_key": wide(h.DropKey),
		},
	}
}

// Every prefix and every flipped bit of every vector is a value or an error, never a panic.
func TestVectorsDamaged(t *testing.T) {
	for _, v := range reportVectors(t) {
		payload := v.payload(t)
		for n := range payload {
			decodeEverything(payload[:n:n])
		}
		for i := range 8 * len(payload) {
			payload[i/8] ^= 0x80 >> (i % 8)
			decodeEverything(payload[:len(payload):len(payload)])
			payload[i/8] ^= 0x80 >> (i % 8)
		}
	}
}

// decodeEverything reads b in every way a collector may be configured to.
func decodeEverything(b []byte) {
	var v05 V05
	var v10 V10
	var group Group
	var tracked TSTracked
	var drop TSDrop
	_, _ = Version(b)
	_, _ = v05.Decode(b)
	_, _ = v10.Decode(b)
	_, _ = v10.DecodeFlagsFirst(b)
	n, err := group.Decode(b)
	if err != nil {
		return
	}
	_ = TSKind(b[n:])
	_, _ = tracked.Decode(b[n:])
	_, _ = drop.Decode(b[n:])
	_ = FragmentPadding(tracked.Fragment, InEthernet)

	var rs Reports
	var r V20
	rs.Reset(b[n:])
	for rs.Next(&r) {
		var tlv TLV
		for inType := range uint8(16) {
			_ = FragmentPadding(r.Inner, inType)
		}
		for inner := r.Inner; ; {
			n, err := tlv.Decode(inner)
			if err != nil {
				break
			}
			_ = tlv.NestedInType()
			inner = inner[n:]
		}
	}
}
