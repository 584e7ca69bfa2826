package dissect

import (
	"slices"
	"strings"
)

// FieldNames lists every field that a packet can have, as "layer.field", in alphabetical order; fields of records are
// "layer.list.field". The layers of a packet inside a report have names of their own, without those of the report.
func FieldNames() []string {
	var names []string
	for layer, about := range layerNames {
		for _, field := range append(strings.Fields(about.fields), quirkField, errorField) {
			names = append(names, layer+"."+field)
		}
	}
	slices.Sort(names)
	return names
}

// Title returns what people call the layer of that name, such as "Internet Protocol 4"; empty for a name that no layer
// has.
func Title(layer string) string { return layerNames[layer].title }

// Fields of the metadata of one hop, by version.
const (
	hopFields2016 = `hops.switch_id hops.ingress_port_id hops.hop_latency hops.queue_occupancy hops.ingress_ts
		hops.egress_port_id hops.queue_congestion hops.egress_tx_util hops.reserved_bit8 ` + hopFieldsReserved + `
		hops.reserved_bit15 hops.invalid`
	hopFields05 = hopFields + ` hops.queue_congestion_id hops.queue_congestion hops.reserved_bit8 hops.reserved_bit15`
	hopFields10 = hopFields + ` hops.l2_ingress hops.l2_egress hops.reserved_bit8 hops.checksum_complement`
	hopFields20 = hopFields + ` hops.l2_ingress hops.l2_egress hops.buffer_id hops.buffer_occupancy hops.ds_metadata
		hops.checksum_complement hops.invalid`
	hopFields = `hops.node_id hops.l1_ingress hops.l1_egress hops.hop_latency hops.queue_id hops.queue_occupancy
		hops.ingress_ts hops.egress_ts hops.egress_tx_util ` + hopFieldsReserved
	hopFieldsReserved = `hops.reserved_bit9 hops.reserved_bit10 hops.reserved_bit11 hops.reserved_bit12
		hops.reserved_bit13 hops.reserved_bit14`
)

// layerNames are the layers, with what people call them and the names of their fields.
var layerNames = map[string]struct{ title, fields string }{
	"ethernet":  {"Ethernet II", "dst src ethertype"},
	"linux_sll": {"Linux cooked capture", "packet_type arphrd_type address protocol"},
	"loopback":  {"BSD loopback", "family"},
	"linux_sll2": {"Linux cooked capture v2", `
		protocol interface_index arphrd_type packet_type address`},
	"vlan": {"IEEE 802.1Q tag", "pcp dei id ethertype"},
	"mpls": {"MPLS label", "label tc bottom ttl"},
	"ipv4": {"Internet Protocol 4", `
		ihl dscp ecn total_length id df mf fragment_offset ttl protocol checksum src dst options`},
	"ipv6": {"Internet Protocol 6", `
		dscp ecn flow_label payload_length next_header hop_limit src dst`},
	"ipv6_hop_by_hop": {"IPv6 hop-by-hop options", `
		next_header hdr_ext_len ioam_option_type opt_data_len ioam_opt_type`},
	"ipv6_destination_options": {"IPv6 destination options", `
		next_header hdr_ext_len ioam_option_type opt_data_len ioam_opt_type`},
	"ipv6_option": {"IPv6 option", `
		type length hex ioam_option_type opt_data_len ioam_opt_type`},
	"ipv6_routing": {"IPv6 routing header", `
		next_header hdr_ext_len type segments_left data`},
	"ipv6_fragment": {"IPv6 fragment header", "next_header fragment_offset mf id"},
	"ipv6_auth": {"IP authentication header", `
		next_header payload_len spi sequence icv`},
	"udp": {"User Datagram Protocol", "src_port dst_port length checksum"},
	"tcp": {"Transmission Control Protocol", `
		src_port dst_port seq ack data_offset flags window checksum urgent options`},
	"sctp":          {"Stream Control Transmission Protocol", "src_port dst_port verification_tag checksum"},
	"tcp_options":   {"TCP options behind INT", "hex"},
	"icmp":          {"Internet Control Message Protocol", "type code checksum rest"},
	"icmpv6":        {"Internet Control Message Protocol 6", "type code checksum rest"},
	"gre":           {"Generic Routing Encapsulation", "c k s protocol checksum key sequence"},
	"vxlan":         {"VXLAN", "flags vni"},
	"vxlan_gpe":     {"VXLAN-GPE", "flags i p next_protocol vni"},
	"geneve":        {"Geneve", "version opt_len o c protocol vni"},
	"geneve_option": {"Geneve option", "class type length hex"},
	"nsh": {"Network Service Header", `
		o ttl length md_type next_protocol spi si context`},
	"telemetry_report": {"telemetry report of unknown version", "version"},
	"telemetry_report_v0_5": {"telemetry report 0.5", `
		version nproto d q f hw_id sequence ingress_ts drop.switch_id drop.ingress_port drop.egress_port drop.queue_id
		drop.drop_reason switch_local.switch_id switch_local.ingress_port switch_local.egress_port
		switch_local.queue_id switch_local.queue_occupancy switch_local.egress_ts node_id flow_gap.source_id
		flow_gap.sink_id flow_gap.ingress_port flow_gap.egress_port flow_gap.gap_ts flow_gap.gap_sequence
		flow_gap.gap_count`},
	"telemetry_report_v1_0": {"telemetry report 1.0", `
		version length nprot rep_md_bits d q f hw_id switch_id sequence ingress_ts reserved metadata.ingress_port
		metadata.egress_port metadata.hop_latency metadata.queue_id metadata.queue_occupancy metadata.egress_ts
		metadata.drop_queue_id metadata.drop_reason metadata.egress_tx_util metadata.reserved_bit4
		metadata.reserved_bit5 extra`},
	"telemetry_report_v2_0": {"telemetry report 2.0", `
		version hw_id sequence node_id reports.rep_type reports.in_type reports.report_length reports.md_length
		reports.d reports.q reports.f reports.i reports.rep_md_bits reports.domain_specific_id reports.ds_md_bits
		reports.ds_md_status reports.metadata.reserved_bit0 reports.metadata.l1_ingress reports.metadata.l1_egress
		reports.metadata.hop_latency reports.metadata.queue_id reports.metadata.queue_occupancy
		reports.metadata.ingress_ts reports.metadata.egress_ts reports.metadata.l2_ingress reports.metadata.l2_egress
		reports.metadata.egress_tx_util reports.metadata.buffer_id reports.metadata.buffer_occupancy
		reports.metadata.reserved_bit9 reports.metadata.reserved_bit10 reports.metadata.reserved_bit11
		reports.metadata.reserved_bit12 reports.metadata.reserved_bit13 reports.metadata.reserved_bit14
		reports.metadata.drop_queue_id reports.metadata.drop_reason reports.ds_metadata reports.tlvs.type
		reports.tlvs.length reports.tlvs.template reports.tlvs.hex reports.tlvs.fragment_padding reports.tlvs.error
		reports.ds_extension reports.opaque reports.fragment_padding reports.error reports.var_opt_md
		reports.ts_drop.timestamp reports.ts_drop.drop_count reports.ts_drop.drop_key_high reports.ts_drop.drop_key
		trailer`},
	"int_probe_marker": {"INT probe marker", "marker"},
	"int_shim_l4_v0_5": {"INT 0.5 shim over TCP or UDP", "type length"},
	"int_shim_l4_v1":   {"INT 1.0 shim over TCP or UDP", "type length original_dscp"},
	"int_shim_l4_v2": {"INT 2.x shim over TCP or UDP", `
		type npt length original_dscp original_dst_port ip_protocol`},
	"int_shim_vxlan_gpe_2016": {"INT June 2016 shim over VXLAN-GPE", `
		type length next_protocol`},
	"int_shim_vxlan_gpe_v0_5": {"INT 0.5 shim over VXLAN-GPE", `
		type length next_protocol`},
	"int_shim_vxlan_gpe_v1_0": {"INT 1.0 shim over VXLAN-GPE", `
		type length next_protocol`},
	"int_shim_vxlan_gpe_v2": {"INT 2.x shim over VXLAN-GPE", `
		type length g next_protocol`},
	"int_shim_gre_v2": {"INT 2.x shim over GRE", "type g length next_protocol"},
	"int_2016": {"INT June 2016", `
		version rep c e instruction_count max_hop_count total_hop_count instruction_bitmap bos_index stack ` + hopFields2016},
	"int_hbh_v0_5": {"INT 0.5 hop-by-hop", `
		version rep c e instruction_count max_hop_count total_hop_count instruction_bitmap stack ` + hopFields05},
	"int_hbh_v1": {"INT 1.0 hop-by-hop", `
		version rep c e m hop_ml remaining_hop_count instruction_bitmap stack ` + hopFields10},
	"int_md": {"INT 2.x MD", `
		version d e m hop_ml remaining_hop_count instruction_bitmap domain_specific_id ds_instruction ds_flags unsure
		stack source_only ts_device_id ` + hopFields20},
	"int_mx": {"INT 2.x MX", `
		version d instruction_bitmap domain_specific_id ds_instruction ds_flags source_inserted`},
	"int_flow_sequence": {"sequence number of a flow (Host-INT)", "sequence"},
	"int_tail_v0_5":     {"INT 0.5 tail", "proto dst_port original_dscp"},
	"int_contents":      {"INT that cannot be read", "hex"},
	"ioam_shim":         {"IOAM shim", "ioam_type hdr_len next_protocol"},
	"ioam_trace": {"IOAM trace", `
		option_type namespace_id node_len overflow loopback active remaining_len trace_type free_words nodes.hop_lim
		nodes.node_id nodes.ingress_if nodes.egress_if nodes.ts_sec nodes.ts_frac nodes.transit_delay nodes.ns_data
		nodes.queue_depth nodes.checksum_complement nodes.hop_lim_wide nodes.node_id_wide nodes.ingress_if_wide
		nodes.egress_if_wide nodes.ns_data_wide nodes.buffer_occupancy nodes.undefined_bit12 nodes.undefined_bit13
		nodes.undefined_bit14 nodes.undefined_bit15 nodes.undefined_bit16 nodes.undefined_bit17 nodes.undefined_bit18
		nodes.undefined_bit19 nodes.undefined_bit20 nodes.undefined_bit21 nodes.oss.schema_id nodes.oss.data
		nodes.error`},
	"ioam_e2e": {"IOAM edge to edge", `
		namespace_id e2e_type seq64 seq32 ts_sec ts_frac`},
	"ioam_dex": {"IOAM direct export", `
		namespace_id flags extension_flags trace_type flow_id sequence extensions`},
	"ioam_pot": {"IOAM proof of transit", `
		namespace_id pot_type flags pkt_id cumulative hex`},
	"ioam": {"IOAM of unknown type", "hex"},
	"ifa_header": {"Inband Flow Analyzer 2.0", `
		version gns next_header flags max_length`},
	"ifa_metadata": {"IFA metadata", `
		request_vector action_vector hop_limit current_length hops.lns hops.device_id hops.ttl hops.speed
		hops.congestion hops.queue_id hops.rx_sec hops.egress_port hops.ingress_port hops.rx_nsec hops.residence
		hops.opaque0 hops.opaque1 hops.opaque2 rest`},
	"payload": {"bytes of no known kind", "hex"},
}
