package dissect

import (
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"
)

// What the words of the truth files are called in layers.
var (
	ethernetNames = map[string]string{"dst": "dst", "src": "src", "type": "ethertype"}
	ipNames       = map[string]string{
		"ver": "-", "tos": "-", "dscp": "dscp", "total_len": "total_length", "id": "id", "ttl": "ttl",
		"proto": "protocol", "src": "src", "dst": "dst",
		"payload_len": "payload_length", "hop_limit": "hop_limit", "next_header": "next_header",
		"flow_label": "flow_label",
	}
	udpNames = map[string]string{"sport": "src_port", "dport": "dst_port", "len": "length", "csum": "checksum"}
	tcpNames = map[string]string{
		"sport": "src_port", "dport": "dst_port", "seq": "seq", "ack": "ack",
		"data_offset": "data_offset", "flags": "flags",
	}
	shimNames = map[string]string{
		"type": "type", "rsvd": "-", "length_words": "length", "byte3": "-", "dscp": "original_dscp",
		"npt": "npt", "res": "-", "byte2": "-", "next_proto": "ip_protocol",
	}
	headerNames = map[string]string{
		"raw": "-", "ver": "version", "ver_2bit": "version", "ver_4bit": "-", "rep": "rep", "c": "c", "d": "d",
		"e": "e", "m": "m", "hop_ml": "hop_ml",
		"remaining_hop_cnt": "remaining_hop_count", "instruction_bitmap": "instruction_bitmap", "rsvd_or_seq": "-",
		"rsvd": "-", "res": "-",
		"ins_cnt": "instruction_count", "max_hop_cnt": "max_hop_count", "total_hop_cnt": "total_hop_count",
		"domain_id": "domain_specific_id", "ds_instruction": "ds_instruction", "ds_flags": "ds_flags",
	}
	hopNames = map[string]string{
		"switch_id": "node_id", "l1_ports.ingress": "l1_ingress", "l1_ports.egress": "l1_egress",
		"hop_latency": "hop_latency",
		"queue.id":    "queue_id", "queue.value": "queue_occupancy", "ingress_ts": "ingress_ts",
		"egress_ts":        "egress_ts",
		"l2_ports.ingress": "l2_ingress", "l2_ports.egress": "l2_egress", "queue_congestion.id": "queue_id",
		"queue_congestion.value": "queue_congestion",
		"tx_util":                "egress_tx_util", "_truncated": "-", "source_only_orig_mac": "-",
		"source_only_reserved": "-",
	}
	tailNames   = map[string]string{"next_proto": "proto", "dest_port": "dst_port", "dscp_byte": "original_dscp"}
	reportNames = map[string]string{
		"raw": "-", "ver": "version", "len_words": "length", "nproto": "nproto", "rep_md_bits": "rep_md_bits",
		"reserved": "-", "rsvd": "-",
		"d": "d", "q": "q", "f": "f", "hw_id": "hw_id", "switch_id": "switch_id", "seq": "sequence",
		"ingress_ts":              "ingress_ts",
		"as_written_by_program.d": "d", "as_written_by_program.q": "q", "as_written_by_program.f": "f",
		"as_written_by_program.rsvd": "-",
		"as_read_by_spec_v1_0.d":     "-", "as_read_by_spec_v1_0.q": "-", "as_read_by_spec_v1_0.f": "-",
		"as_read_by_spec_v1_0.reserved": "-",
		"seq_22bit_spec":                "sequence", "seq_16bit_as_written": "-", "node_id": "node_id",
		"rep_type": "rep_type", "in_type": "in_type", "report_length_words": "report_length",
		"md_length_words": "md_length", "i": "i",
		"domain_id": "domain_specific_id", "ds_md_bits": "ds_md_bits", "ds_md_status": "ds_md_status",
		"var_opt_md": "var_opt_md",
	}
	secondNames = map[string]string{
		"switch_id": "switch_id", "ingress_port": "ingress_port", "egress_port": "egress_port", "queue_id": "queue_id",
		"drop_reason": "drop_reason", "pad": "-", "queue_occupancy": "queue_occupancy", "egress_ts": "egress_ts",
	}
)

// TestCaptureSamples compares every decoded frame in the truth files with its layers under the dialect of the program.
func TestCaptureSamples(t *testing.T) {
	for _, tr := range loadTruths(t) {
		cfg := scenarioConfig(t, tr.Scenario)
		for file, samples := range tr.Samples {
			for _, sample := range samples {
				frame := sample["frame"].(json.Number).String()
				t.Run(file+"/"+frame, func(t *testing.T) {
					b, err := hex.DecodeString(sample["hex"].(string))
					if err != nil {
						t.Fatal(err)
					}
					checkSample(t, sample, Packet(b, Ethernet, cfg))
				})
			}
		}
	}
}

func checkSample(t *testing.T, sample map[string]any, layers []Layer) {
	report, user := userLayers(layers)
	if _, isIOAM := sample["ip6"]; isIOAM {
		checkIOAMSample(t, sample, layers)
		return
	}
	packet := sample
	if header, ok := sample["report_header"].(map[string]any); ok {
		packet = sample["inner"].(map[string]any)
		checkHeaders(t, "outer", sample["outer_eth"], sample["outer_ip"], layers)
		checkReportHeader(t, header, report)
	} else if report != nil {
		t.Fatalf("read as a report")
	}
	checkHeaders(t, "packet", packet["eth"], packet["ip"], user)
	truth, hasINT := packet["int"].(map[string]any)
	if shim := layerNamed(user, "int_shim"); hasINT != (shim != nil) {
		t.Fatalf("INT: got %v, want %v", shim != nil, hasINT)
	}
	if hasINT {
		checkINT(t, truth, user)
	}
	checkPayload(t, packet, user)
}

func checkHeaders(t *testing.T, where string, eth, ip any, layers []Layer) {
	t.Helper()
	checkFields(t, where+" ethernet", eth.(map[string]any), layers[0].Fields, ethernetNames)
	flat := map[string]any{}
	for key, value := range ip.(map[string]any) {
		switch key {
		case "udp":
			checkFields(t, where+" udp", value.(map[string]any), layerNamed(layers, "udp").Fields, udpNames)
		case "tcp":
			checkFields(t, where+" tcp", value.(map[string]any), layerNamed(layers, "tcp").Fields, tcpNames)
		default:
			flat[key] = value
		}
	}
	names := ipNames
	if layers[1].Name == "ipv6" {
		names = map[string]string{}
		for key, name := range ipNames {
			names[key] = name
		}
		names["proto"] = "next_header"
	}
	checkFields(t, where+" ip", flat, layers[1].Fields, names)
}

func checkReportHeader(t *testing.T, truth map[string]any, report *Layer) {
	t.Helper()
	fields := report.Fields
	if reports := report.Find("reports").Objects(); len(reports) > 0 { // version 2.0 has most of it in the report
		fields = append(append(Object{}, fields...), reports[0]...)
	}
	rest := map[string]any{}
	for key, value := range truth {
		switch key {
		case "drop_header":
			checkFields(t, "drop", value.(map[string]any), report.Find("drop").Value.(Object), secondNames)
		case "local_header":
			checkFields(t, "switch local", value.(map[string]any), report.Find("switch_local").Value.(Object),
				secondNames)
		default:
			rest[key] = value
		}
	}
	names := reportNames
	if report.Name == "telemetry_report_v1_0" {
		names = map[string]string{}
		for key, name := range reportNames {
			names[key] = name
		}
		names["nproto"] = "nprot"
	}
	checkFields(t, "report", flatten(rest), fields, names)
}

func checkINT(t *testing.T, truth map[string]any, layers []Layer) {
	t.Helper()
	shim := layerNamed(layers, "int_shim")
	names := shimNames
	checkFields(t, "shim", truth["shim"].(map[string]any), shim.Fields, names)
	header := layerNamed(layers, "int_hbh")
	if header == nil {
		header = layerNamed(layers, "int_md")
	}
	if header == nil {
		t.Fatal("no INT header")
	}
	checkFields(t, "INT header", truth["int_header"].(map[string]any), header.Fields, headerNames)
	hops := header.Find("hops").Objects()
	want := truth["hops_wire_order"].([]any)
	if len(hops) != len(want) {
		t.Fatalf("got %d hops, want %d", len(hops), len(want))
	}
	for i, hop := range want {
		hop := hop.(map[string]any)
		checkFields(t, "hop", flatten(hop), hops[i], hopNames)
		if mac, ok := hop["source_only_orig_mac"]; ok && header.Find("ts_device_id").Text() != mac {
			t.Errorf("device id: got %s, want %v", header.Find("ts_device_id").Text(), mac)
		}
		if cut := hop["_truncated"] == true; cut && !strings.Contains(header.Find(quirkField).Text(), "cut_stack") {
			t.Errorf("hop %d is cut, the header has quirk %q", i, header.Find(quirkField).Text())
		}
	}
	if tail, ok := truth["tail"].(map[string]any); ok {
		checkFields(t, "tail", tail, layerNamed(layers, "int_tail").Fields, tailNames)
	}
	if l4, ok := truth["original_l4"].(map[string]any); ok {
		inner := layers[2:]
		for len(inner) > 0 && inner[0].Name != "int_md" {
			inner = inner[1:]
		}
		checkFields(t, "original udp", l4["udp"].(map[string]any), layerNamed(inner, "udp").Fields, udpNames)
	}
	if bug := truth["program_bug"]; bug != nil && !strings.Contains(header.Find(quirkField).Text(), "nibble_3") {
		t.Errorf("the truth knows a bug (%v), the header has quirk %q", bug, header.Find(quirkField).Text())
	}
}

// checkPayload compares the bytes behind all headers, and TCP options that stand behind INT.
func checkPayload(t *testing.T, packet map[string]any, layers []Layer) {
	t.Helper()
	if want, ok := packet["tcp_options_hex"].(string); ok {
		got := ""
		if l := layerNamed(layers, "tcp_options"); l != nil { // INT stands before them
			got = l.Find("hex").Text()
		} else {
			got = layerNamed(layers, "tcp").Find("options").Text()
		}
		if got != want {
			t.Errorf("tcp options: got %s, want %s", got, want)
		}
	}
	text := ""
	if l := layerNamed(layers, "payload"); l != nil {
		b, _ := hex.DecodeString(l.Find("hex").Text())
		text = string(b)
	}
	if want, ok := packet["payload_ascii"].(string); ok && !strings.HasPrefix(text, want) {
		t.Errorf("payload: got %q, want %q", text, want)
	}
	if want, ok := packet["payload_len_on_wire"].(json.Number); ok {
		if n, _ := want.Int64(); len(text) != int(max(n, 0)) {
			t.Errorf("payload: got %d bytes, want %d", len(text), n)
		}
	}
}
