-- Waybill's dissector of telemetry reports (0.5, 1.0, 2.0) and In-band Network Telemetry (June 2016, 0.4 to 2.1).
-- https://github.com/waybill-int/waybill, docs/how-to/read-reports-in-wireshark.md
--
-- "waybill wireshark install" puts this file where Wireshark looks for it, and may replace it there.
--
-- Reports are found by their UDP port, as other protocols are. INT inside other packets has no such place: the
-- postdissector walks through the headers of each packet as Waybill's decoder does (wire/dissect), and shows what it
-- finds behind what Wireshark itself shows. Both read into layers of fields first; show() then makes a tree of them.
-- It needs nothing but what every version of Lua has, and no operators for bits, which they do not share.

local int = Proto("int", "In-band Network Telemetry")
local report = Proto("int.report", "Telemetry Report")

-- Fields ----------------------------------------------------------------------------------------------------------

-- Every field: its name, its type, what it is called in the tree. x: shown in hex.
local list = {
  -- Telemetry reports
  { "int.report.version", "u8", "Version" },
  { "int.report.nproto", "u8", "Next protocol" },
  { "int.report.nprot", "u8", "Next protocol" },
  { "int.report.length", "u8", "Length (words)" },
  { "int.report.rep_md_bits", "x16", "Report metadata bits" },
  { "int.report.d", "bool", "Dropped" },
  { "int.report.q", "bool", "Congested queue" },
  { "int.report.f", "bool", "Tracked flow" },
  { "int.report.i", "bool", "Intermediate report" },
  { "int.report.hw_id", "u8", "Hardware id" },
  { "int.report.switch_id", "u32", "Switch id" },
  { "int.report.node_id", "u32", "Node id" },
  { "int.report.sequence", "u32", "Sequence number" },
  { "int.report.ingress_ts", "u32", "Ingress timestamp" },
  { "int.report.reserved", "x8", "Reserved" },
  { "int.report.extra", "bytes", "Unknown metadata" },
  { "int.report.rep_type", "u8", "Report type" },
  { "int.report.in_type", "u8", "Inner type" },
  { "int.report.report_length", "u8", "Report length (words)" },
  { "int.report.md_length", "u8", "Metadata length (words)" },
  { "int.report.domain_specific_id", "x16", "Domain specific id" },
  { "int.report.ds_md_bits", "x16", "Domain specific metadata bits" },
  { "int.report.ds_md_status", "x16", "Domain specific metadata status" },
  { "int.report.ds_metadata", "bytes", "Domain specific metadata" },
  { "int.report.ds_extension", "bytes", "Domain specific extension data" },
  { "int.report.opaque", "bytes", "Contents of no known kind" },
  { "int.report.var_opt_md", "x32", "Word that nothing announces" },
  { "int.report.fragment_padding", "u8", "Bytes that fill up the last word" },
  { "int.report.trailer", "bytes", "Bytes behind the last report" },
  { "int.report.drop.switch_id", "u32", "Switch id" },
  { "int.report.drop.ingress_port", "u16", "Ingress port" },
  { "int.report.drop.egress_port", "u16", "Egress port" },
  { "int.report.drop.queue_id", "u8", "Queue id" },
  { "int.report.drop.drop_reason", "u8", "Drop reason" },
  { "int.report.local.switch_id", "u32", "Switch id" },
  { "int.report.local.ingress_port", "u16", "Ingress port" },
  { "int.report.local.egress_port", "u16", "Egress port" },
  { "int.report.local.queue_id", "u8", "Queue id" },
  { "int.report.local.queue_occupancy", "u24", "Queue occupancy" },
  { "int.report.local.egress_ts", "u32", "Egress timestamp" },
  { "int.report.gap.source_id", "u32", "Source node id" },
  { "int.report.gap.sink_id", "u32", "Sink node id" },
  { "int.report.gap.ingress_port", "u16", "Ingress port of the source" },
  { "int.report.gap.egress_port", "u16", "Egress port of the sink" },
  { "int.report.gap.gap_ts", "u32", "Unix time (s)" },
  { "int.report.gap.gap_sequence", "u32", "First missing sequence number" },
  { "int.report.gap.gap_count", "u32", "Missing packets" },
  { "int.report.tlv.type", "u8", "Type" },
  { "int.report.tlv.length", "u8", "Length (words)" },
  { "int.report.tlv.template", "u16", "Data template" },
  { "int.report.tlv.hex", "bytes", "Data" },
  { "int.report.tlv.fragment_padding", "u8", "Bytes that fill up the last word" },
  { "int.report.ts_drop.timestamp", "u32", "Unix time (s)" },
  { "int.report.ts_drop.drop_count", "u32", "Drop count" },
  { "int.report.ts_drop.drop_key_high", "x64", "Drop key, upper half" },
  { "int.report.ts_drop.drop_key", "x64", "Drop key" },
  { "int.report.md.ingress_port", "u16", "Ingress port" },
  { "int.report.md.egress_port", "u16", "Egress port" },
  { "int.report.md.l1_ingress", "u16", "Ingress interface (level 1)" },
  { "int.report.md.l1_egress", "u16", "Egress interface (level 1)" },
  { "int.report.md.hop_latency", "u32", "Hop latency" },
  { "int.report.md.queue_id", "u8", "Queue id" },
  { "int.report.md.queue_occupancy", "u24", "Queue occupancy" },
  { "int.report.md.ingress_ts", "u64", "Ingress timestamp" },
  { "int.report.md.egress_ts", "u64", "Egress timestamp" },
  { "int.report.md.l2_ingress", "u32", "Ingress interface (level 2)" },
  { "int.report.md.l2_egress", "u32", "Egress interface (level 2)" },
  { "int.report.md.egress_tx_util", "u32", "Egress interface utilization" },
  { "int.report.md.buffer_id", "u8", "Buffer id" },
  { "int.report.md.buffer_occupancy", "u24", "Buffer occupancy" },
  { "int.report.md.drop_queue_id", "u8", "Queue id of the drop" },
  { "int.report.md.drop_reason", "u8", "Drop reason" },
  -- What announces INT
  { "int.marker", "x64", "Probe marker" },
  { "int.shim.type", "u8", "Type" },
  { "int.shim.npt", "u8", "Next protocol type" },
  { "int.shim.g", "bool", "Tunnel was changed or inserted by the source" },
  { "int.shim.length", "u8", "Length (words)" },
  { "int.shim.original_dscp", "u8", "Original DSCP" },
  { "int.shim.original_dst_port", "u16", "Original destination port" },
  { "int.shim.ip_protocol", "u8", "Original IP protocol" },
  { "int.shim.next_protocol", "x16", "Next protocol" },
  { "int.tail.proto", "u8", "Original IP protocol" },
  { "int.tail.dst_port", "u16", "Original destination port" },
  { "int.tail.original_dscp", "u8", "Original DSCP" },
  { "int.flow_sequence", "u32", "Sequence number in the flow" },
  -- INT headers
  { "int.version", "u8", "Version" },
  { "int.rep", "u8", "Replication" },
  { "int.c", "bool", "Copy" },
  { "int.d", "bool", "Discard at the sink" },
  { "int.e", "bool", "Max hop count exceeded" },
  { "int.m", "bool", "MTU exceeded" },
  { "int.instruction_count", "u8", "Instruction count" },
  { "int.max_hop_count", "u8", "Max hop count" },
  { "int.total_hop_count", "u8", "Total hop count" },
  { "int.hop_ml", "u8", "Hop metadata length (words)" },
  { "int.remaining_hop_count", "u8", "Remaining hop count" },
  { "int.instruction_bitmap", "x16", "Instruction bitmap" },
  { "int.domain_specific_id", "x16", "Domain specific id" },
  { "int.ds_instruction", "x16", "Domain specific instruction" },
  { "int.ds_flags", "x16", "Domain specific flags" },
  { "int.bos_index", "u16", "Word with the bottom of stack bit" },
  { "int.unsure", "bool", "Length of source-only data guessed (domain unknown)" },
  { "int.stack", "bytes", "Stack that makes no whole records" },
  { "int.source_only", "bytes", "Source-only metadata" },
  { "int.source_inserted", "bytes", "Source-inserted metadata" },
  { "int.ts_device_id", "mac", "Source device" },
  { "int.contents", "bytes", "Contents that cannot be read" },
  -- Records of the stack, the newest first
  { "int.hop.node_id", "u32", "Node id" },
  { "int.hop.switch_id", "u32", "Switch id" },
  { "int.hop.ingress_port_id", "u32", "Ingress port" },
  { "int.hop.egress_port_id", "u32", "Egress port" },
  { "int.hop.l1_ingress", "u16", "Ingress interface (level 1)" },
  { "int.hop.l1_egress", "u16", "Egress interface (level 1)" },
  { "int.hop.hop_latency", "u32", "Hop latency" },
  { "int.hop.queue_id", "u8", "Queue id" },
  { "int.hop.queue_occupancy", "u32", "Queue occupancy" },
  { "int.hop.ingress_ts", "u64", "Ingress timestamp" },
  { "int.hop.egress_ts", "u64", "Egress timestamp" },
  { "int.hop.queue_congestion_id", "u8", "Queue id of the congestion" },
  { "int.hop.queue_congestion", "u32", "Queue congestion" },
  { "int.hop.l2_ingress", "u32", "Ingress interface (level 2)" },
  { "int.hop.l2_egress", "u32", "Egress interface (level 2)" },
  { "int.hop.egress_tx_util", "u32", "Egress interface utilization" },
  { "int.hop.buffer_id", "u8", "Buffer id" },
  { "int.hop.buffer_occupancy", "u24", "Buffer occupancy" },
  { "int.hop.ds_metadata", "bytes", "Domain specific metadata" },
  { "int.hop.checksum_complement", "x32", "Checksum complement" },
  { "int.hop.invalid", "string", "Not available" },
  -- What is wrong, and what a dialect made read otherwise
  { "int.error", "string", "Broken rule" },
  { "int.quirk", "string", "Read as the dialect asks" },
}
for bit = 0, 15 do
  table.insert(list, { "int.hop.reserved_bit" .. bit, "x32", "Reserved instruction " .. bit })
  table.insert(list, { "int.report.md.reserved_bit" .. bit, "x32", "Reserved metadata " .. bit })
end

local fields = {}
local kinds = {} -- by name: "u64" and so on
for _, f in ipairs(list) do
  local name, kind, title = f[1], f[2], f[3]
  local make, base_of = kind, nil
  local form, width = kind:match("^([ux])(%d+)$")
  if form then
    make, base_of = "uint" .. width, form == "x" and base.HEX or base.DEC
  elseif kind == "mac" then
    make = "ether"
  end
  fields[name] = ProtoField[make](name, title, base_of)
  kinds[name] = width == "64" and "u64" or kind
end
local of_int, of_report = {}, {}
for name, f in pairs(fields) do
  table.insert(name:sub(1, 11) == "int.report." and of_report or of_int, f)
end
int.fields, report.fields = of_int, of_report

-- The rules that INT and reports can break. Their names are those of Waybill's errors, docs/reference/errors.md.
local texts = {
  truncated_shim = "the packet ends inside the INT shim",
  shim_length_overrun = "the shim's Length goes past the end of the packet",
  int_header_truncated = "the shim's Length leaves no room for the INT header",
  unknown_int_type = "the INT type is not one of hop-by-hop or MD, destination, MX",
  unknown_int_version = "the INT header is of no known version",
  unknown_npt = "NPT does not go with the way INT was marked",
  instruction_count_mismatch = "Instruction Count is not the number of bits in the bitmap",
  bos_before_bottom = "the bottom of stack bit is set before the last word",
  bos_missing = "the bottom of stack bit is not set in the last word",
  total_hop_count_exceeds_max = "Total Hop Count is larger than Max Hop Count",
  hop_ml_mismatch = "Hop ML is not the length of what the bitmap asks for",
  stack_not_multiple = "the stack is not a whole number of hops",
  stack_length_mismatch = "the stack is not as long as the hop count says",
  source_only_truncated = "the stack is too short for the source-only metadata",
  tail_missing = "there is no room for the tail header",
  int_mark_conflict = "two marks announce INT at once",
  unknown_version = "the version is not known",
  truncated_fixed_header = "the packet ends inside the fixed header of the report",
  truncated_drop_header = "the packet ends inside the drop header",
  truncated_local_header = "the packet ends inside the switch local header",
  unknown_nproto = "NProto is not one of Ethernet, drop header, switch local header",
  length_below_fixed_header = "Length is smaller than the fixed header of the report",
  length_below_bitmap = "Length is smaller than what RepMdBits ask for",
  length_overrun = "Length goes past the end of the packet",
  truncated_group_header = "the packet ends inside the group header",
  no_report = "there is no report behind the group header",
  report_length_overrun = "Report Length goes past the end of the packet",
  int_contents_missing = "Report Length leaves no room for the INT main contents",
  md_length_exceeds_report = "MD Length goes past the end of the report",
  md_length_below_bitmap = "MD Length is smaller than what RepMdBits ask for",
  tlv_overrun = "a TLV goes past the end of the report",
  too_many_reports = "there are more reports than a sane packet has",
  truncated_ts_report = "the packet ends inside the report of a Transparent Security program",
}
local cut = { -- these say that bytes are missing, the others that they are wrong
  truncated_shim = true, shim_length_overrun = true, truncated_fixed_header = true, truncated_drop_header = true,
  truncated_local_header = true, truncated_group_header = true, report_length_overrun = true, length_overrun = true,
  truncated_ts_report = true,
}
local experts = {
  cut = ProtoExpert.new("int.truncated", "Truncated", expert.group.UNDECODED, expert.severity.WARN),
  malformed = ProtoExpert.new("int.malformed", "Malformed", expert.group.MALFORMED, expert.severity.ERROR),
  quirk = ProtoExpert.new("int.dialect", "Read as the dialect asks", expert.group.PROTOCOL, expert.severity.NOTE),
  fragment = ProtoExpert.new("int.fragment", "The packet in the report ends here", expert.group.UNDECODED,
    expert.severity.CHAT),
}
int.experts = { experts.cut, experts.malformed, experts.quirk, experts.fragment }

-- Dialects and preferences ------------------------------------------------------------------------------------------

local function geant(quirks)
  return { quirks = quirks, dscp = 0x20, mask = 0x3f, before_options = true, version0 = 2 }
end

-- What "waybill decode --dialect" knows, in the same order (wire/codepoint/dialect.go).
local dialects = {
  { "amlight", { quirks = "always_tracked", dscp = 0x17, mask = 0x3f } },
  { "dtel", {} },
  { "fabric-tna", {} },
  { "fabric-tna-bmv2", {} },
  { "geant-int04", geant("wide_timestamps bitmap_low version_2_bits nibble_3") },
  { "geant-int10", geant("wide_timestamps nibble_3") },
  { "geant-int10-2021", geant("wide_timestamps bitmap_low nibble_3") },
  { "host-int", { quirks = "host_int", dscp = 1, mask = 1, before_options = true, version0 = 2 } },
  { "int-host-reporter", {} },
  { "intcollector", { quirks = "short_length short_l2 unmarked" } },
  { "january-2018", { quirks = "january_2018" } },
  { "linux-ioam", {} },
  { "montimage-int10", { quirks = "wide_timestamps unmarked" } },
  { "onos-int04", { quirks = "version_2_bits", dscp = 1, mask = 1, before_options = true, version0 = 2 } },
  { "onos-int10-ver0",
    { quirks = "flags_first cut_stack", dscp = 0x17, mask = 0x3f, before_options = true, version0 = 3 } },
  { "p4lang-switch", { gpe5 = 1 } },
  { "report05", { quirks = "report05" } },
  { "tps", { quirks = "ts_report shim_counts_itself protocol_restored", int_port = 555 } },
  { "tps-delta", { quirks = "ts_report shim_counts_itself protocol_restored", int_port = 555 } },
  { "ts-nested-tlv", { quirks = "nested_tlv" } },
  { "waybill", {} },
  { "spec", {} },
}
local aliases = { ["switch-p4-16"] = "dtel", ["transparent-security"] = "tps" }

local choices, spec = {}, 0
for i, d in ipairs(dialects) do
  choices[i] = { i, d[1], i }
  if d[1] == "spec" then spec = i end
end

local default_ports = "556,5900,6000,8090,8555,32766,54321" -- those that devices are known to use

local p = int.prefs
p.report_ports = Pref.range("UDP ports of telemetry reports", default_ports, "Destination ports of reports", 65535)
p.dialect = Pref.enum("Dialect", spec, "How the senders depart from the specifications", choices, false)
p.dialects = Pref.string("Dialects of sources", "",
  "SOURCE=DIALECT, separated by commas; sources are 10.0.0.0/24, 10.0.0.3:32766, :6000; others have the dialect above")
p.find_int = Pref.bool("Look for INT in all packets", true, "INT in packets that are no reports")
p.udp_port = Pref.uint("UDP port of INT", 0, "Destination port that announces INT 2.x or 0.5; 0: none")
p.dscp = Pref.uint("DSCP of INT", 0, "DSCP that announces INT behind TCP or UDP; 0: none")
p.dscp_mask = Pref.uint("Mask of the DSCP", 63, "Bits of the DSCP that are compared")
p.before_tcp_options = Pref.bool("INT before the options of TCP", false, "INT follows the fixed TCP header")
p.probe_marker = Pref.string("Probe marker", "", "First 8 bytes of a payload that announce INT, in hex; empty: none")
p.gre_protocol = Pref.uint("GRE protocol of INT", 0, "Protocol Type that announces INT; 0: none")
p.geneve_classes = Pref.string("Geneve option classes", "0x0103", "Option classes of INT, separated by commas")
p.gpe_next_protocols = Pref.string("VXLAN-GPE next protocols", "0x08,0x80,0x82", "Next protocols of INT 1.0, 2.0, 2.1")
p.gpe5 = Pref.enum("VXLAN-GPE next protocol 5", 0, "What it stands for; several programs claim it", {
  { 1, "none", 0 }, { 2, "int-2016", 1 }, { 3, "int-0.5", 2 }, { 4, "ioam", 3 }, { 5, "mpls", 4 },
}, false)
p.version0 = Pref.enum("INT of version 0", 0, "The layout of headers whose version is 0, where the bytes do not tell", {
  { 1, "none", 0 }, { 2, "2016", 1 }, { 3, "v0.5", 2 }, { 4, "v1.0", 3 },
}, false)
p.source_only = Pref.string("Source-only metadata", "0x5453:0=8",
  "Bytes that a bit of DS Instruction adds to the bottom of the stack, as DOMAIN:BIT=BYTES separated by commas")

local function numbers(text)
  local set = {}
  for word in text:gmatch("[^%s,]+") do
    local n = tonumber(word)
    if n then set[n] = true end
  end
  return set
end

local profiles, rules, default_profile = {}, {}, nil

-- A profile is everything that decides how the packets of one source are read.
local function new_profile(d)
  local marker = p.probe_marker:gsub("^0[xX]", "")
  local q = {
    quirk = {}, int_port = p.udp_port, dscp = p.dscp, mask = p.dscp_mask,
    before_options = p.before_tcp_options, gre = p.gre_protocol, geneve = numbers(p.geneve_classes),
    gpe = numbers(p.gpe_next_protocols), gpe5 = p.gpe5, version0 = p.version0, domains = {},
  }
  if marker:match("^" .. ("%x"):rep(16) .. "$") and marker:match("[^0]") then
    q.marker = marker:gsub("..", function(x) return string.char(tonumber(x, 16)) end)
  end
  for domain, bit, bytes in p.source_only:gmatch("(%w+):(%d+)=(%d+)") do
    local id = tonumber(domain)
    if id then
      q.domains[id] = q.domains[id] or {}
      q.domains[id][tonumber(bit)] = tonumber(bytes)
    end
  end
  for key, value in pairs(d) do
    if key ~= "quirks" then q[key] = value end
  end
  for name in (d.quirks or ""):gmatch("%S+") do q.quirk[name] = true end
  return q
end

-- read_rules reads "SOURCE=DIALECT,...". The most specific rule decides: the longest prefix first, then those with a
-- port, among equals the first.
local function read_rules()
  rules = {}
  for source, name in p.dialects:gmatch("([^%s,=]+)%s*=%s*([^%s,=]+)") do
    local address, port = source:match("^(.-):(%d+)$")
    address = address or source
    local r = { port = tonumber(port), profile = profiles[aliases[name] or name], bits = -1, at = #rules }
    local a, b, c, d, bits = address:match("^(%d+)%.(%d+)%.(%d+)%.(%d+)/?(%d*)$")
    if a then
      r.bits = math.min(tonumber(bits) or 32, 32)
      r.divide = 2 ^ (32 - r.bits)
      r.net = math.floor((((a * 256 + b) * 256 + c) * 256 + d) / r.divide)
    end
    if r.profile and (a or address == "" or address == "any" or address == "*") then table.insert(rules, r) end
  end
  table.sort(rules, function(x, y)
    if x.bits ~= y.bits then return x.bits > y.bits end
    if (x.port ~= nil) ~= (y.port ~= nil) then return x.port ~= nil end
    return x.at < y.at
  end)
end

-- profile_for returns the profile of packets from an IPv4 address, as a number; nil is another address.
local function profile_for(source, src_port, dst_port)
  for _, r in ipairs(rules) do
    local address = r.bits < 0 or source and math.floor(source / r.divide) == r.net
    if address and (not r.port or r.port == src_port or r.port == dst_port) then return r.profile end
  end
  return default_profile
end

-- Bytes -------------------------------------------------------------------------------------------------------------

-- num returns n bytes of b at position at, which counts from 0.
local function num(b, at, n)
  local v = 0
  for i = at + 1, at + n do v = v * 256 + b:byte(i) end
  return v
end

-- part returns width bits of v with so many bits behind them.
local function part(v, behind, width) return math.floor(v / 2 ^ behind) % 2 ^ width end

-- has reports whether bit, which counts from the top, of a bitmap of 16 bits is set.
local function has(bitmap, bit) return part(bitmap, 15 - bit, 1) == 1 end

local function popcount(bitmap)
  local n = 0
  for bit = 0, 15 do n = n + part(bitmap, bit, 1) end
  return n
end

-- Metadata ----------------------------------------------------------------------------------------------------------

-- An instruction is what one bit of a bitmap adds: its group, and the name and width of each of its values.
local function single(name) return { name, { name, 32 } } end
local function single31(name) return { name, { "", 1 }, { name, 31 } } end
local function wide(name) return { name, { name, 64 } } end
local function pair(group, a, b, width) return { group, { a, width }, { b, width } } end
local function id_and(group, id, value) return { group, { id, 8 }, { value, 24 } } end
local function reserved(bit) return { "", { "reserved_bit" .. bit, 32 } } end
local drop_word = { "drop", { "drop_queue_id", 8 }, { "drop_reason", 8 }, { "", 16 } }
local complement = { "", { "checksum_complement", 32 } }

-- with returns the instructions of t with others in their place; indices are bits.
local function with(t, others)
  local c = {}
  for bit = 0, 15 do c[bit] = others[bit] or t[bit] or reserved(bit) end
  return c
end

local words2016 = with({}, {
  [0] = single31("switch_id"), single31("ingress_port_id"), single31("hop_latency"), single31("queue_occupancy"),
  single31("ingress_ts"), single31("egress_port_id"), single31("queue_congestion"), single31("egress_tx_util"),
})
local words05 = with({}, {
  [0] = single("node_id"), pair("l1_interfaces", "l1_ingress", "l1_egress", 16), single("hop_latency"),
  id_and("queue", "queue_id", "queue_occupancy"), single("ingress_ts"), single("egress_ts"),
  id_and("queue_congestion", "queue_congestion_id", "queue_congestion"), single("egress_tx_util"),
})
local long = { [4] = wide("ingress_ts"), [5] = wide("egress_ts") }
local l2 = { [6] = pair("l2_interfaces", "l2_ingress", "l2_egress", 32), [15] = complement }
local short_l2 = { [6] = pair("l2_interfaces", "l2_ingress", "l2_egress", 16), [15] = complement }
local words05_long = with(words05, long)
local words10 = with(words05, l2)
local words10_long = with(words05_long, short_l2)
local words10_short = with(words05, short_l2)
local words20 = with(with(words10, long), { [8] = id_and("buffer", "buffer_id", "buffer_occupancy") })
local words_tr20 = with(words20, { [0] = reserved(0), [15] = drop_word })
local words_tr10 = with({}, {
  [0] = pair("interfaces", "ingress_port", "egress_port", 16), single("hop_latency"),
  id_and("queue", "queue_id", "queue_occupancy"), single("egress_ts"), drop_word, single("egress_tx_util"),
})
local words_january = with({}, {
  [0] = pair("interfaces", "ingress_port", "egress_port", 16), id_and("queue", "queue_id", "queue_occupancy"),
  single("egress_ts"), drop_word,
})

local function width_of(instruction)
  local n = 0
  for i = 2, #instruction do n = n + instruction[i][2] end
  return n
end

-- size_of returns the bytes that a bitmap asks for.
local function size_of(words, bitmap)
  local n = 0
  for bit = 0, 15 do
    if has(bitmap, bit) then n = n + width_of(words[bit]) / 8 end
  end
  return n
end

-- Layers ------------------------------------------------------------------------------------------------------------

-- A builder collects the fields of one header or record that starts at byte position start: { name, value, at, length }
-- in bytes from the start of the packet. Groups are { title = , fields = }, packets inside { inner = }.
local function builder(start, prefix) return { start = start, prefix = prefix } end

-- add adds a field at a bit position from the start of the builder.
local function add(b, name, value, bit, width)
  local first = math.floor(bit / 8)
  local last = math.floor((bit + width - 1) / 8)
  table.insert(b, { b.prefix .. name, value, b.start + first, last - first + 1 })
end

local function derived(b, name, value) table.insert(b, { b.prefix .. name, value }) end

-- bytes adds n bytes, if there are any, at byte position at of the packet.
local function bytes(b, name, at, n)
  if n > 0 then table.insert(b, { b.prefix .. name, nil, at, n }) end
end

local function find(b, name)
  for _, f in ipairs(b) do
    if f[1] == name then return f end
  end
end

-- quirk adds a mark that the header was read as a dialect asks.
local function quirk(b, name)
  local f = find(b, "int.quirk")
  if f then
    f[2] = f[2] .. "," .. name
  else
    table.insert(b, { "int.quirk", name })
  end
end

-- fail adds the rule that the header breaks; only the first counts. Those of other protocols are Wireshark's to tell.
local function fail(b, err)
  if err and texts[err] and not find(b, "int.error") then table.insert(b, { "int.error", err }) end
end

-- uint adds width bits (at most 32) that stand at bit of the packet's bytes from the builder's start.
local function uint(w, b, name, bit, width)
  local first = math.floor(bit / 8)
  local n = math.floor((bit + width - 1) / 8) - first + 1
  local v = part(num(w.raw, b.start + first, n), n * 8 - (bit % 8) - width, width)
  add(b, name, v, bit, width)
  return v
end

local function flag(w, b, name, bit)
  local v = part(w.raw:byte(b.start + math.floor(bit / 8) + 1), 7 - bit % 8, 1) == 1
  add(b, name, v, bit, 1)
  return v
end

local function uint64(w, b, name, bit)
  local at = b.start + bit / 8
  add(b, name, { num(w.raw, at, 4), num(w.raw, at + 4, 4) }, bit, 64)
end

-- Walk --------------------------------------------------------------------------------------------------------------

local max_layers = 64 -- so that a packet of nothing but tunnels cannot keep a reader busy

-- A walk goes through the headers of one packet, raw[off .. stop-1]; positions count from 0. It follows that of
-- Waybill's decoder (wire/dissect/walk.go) header by header.
local function new_walk(raw, profile)
  return {
    raw = raw, off = 0, stop = #raw, last = #raw, profile = profile, telemetry = true, layers = {}, count = 0,
    in_report = false, ip_headers = 0, ip_end = 0, saw_ports = false, dscp = 0, udp = false, dst_port = 0,
    tcp_options = 0, marks = {},
  }
end

local function rest(w) return w.stop - w.off end

-- layer adds a layer; those of other protocols are only counted.
local function layer(w, title, b, length)
  w.count = w.count + 1
  if b and #b > 0 then table.insert(w.layers, { title = title, at = b.start, length = length, fields = b }) end
end

local function step_over(w, n)
  w.count = w.count + 1
  w.off = w.off + n
end

-- add_layer adds the layer that b has built and steps over its n bytes.
local function add_layer(w, title, b, n)
  layer(w, title, b, n)
  w.off = w.off + n
end

-- broken adds the layer of a header that breaks a rule.
local function broken(w, title, b, n, err)
  if #b == 0 then title, n = "", 0 end
  fail(b, err)
  add_layer(w, title, b, math.min(n, rest(w)))
end

-- fault adds an error where the next layer would stand.
local function fault(w, err)
  local b = builder(w.off, "")
  fail(b, err)
  layer(w, "", b, 0)
end

local step = {} -- by what comes next: reads it and returns what follows, nil if that is not known

local function run(w, start)
  local next = start
  while next and step[next] and w.count < max_layers do
    local kind = next
    next = step[kind](w)
    if kind:sub(1, 5) == "shim_" then w.behind_int = { start = next, at = w.off, length = w.stop - w.off } end
  end
end

local function choose(w, src_port, dst_port)
  if w.ip_headers == 1 and not w.saw_ports and not w.in_report then
    w.profile = profile_for(w.source, src_port, dst_port)
  end
end

-- Link and IP

local ether_types = {
  [0x0800] = "ipv4", [0x86dd] = "ipv6", [0x8847] = "mpls", [0x8848] = "mpls", [0x6558] = "ethernet", [0x894f] = "nsh",
}

local function ether_type(w, kind)
  while (kind == 0x8100 or kind == 0x88a8 or kind == 0x9100) and w.count < max_layers do
    if rest(w) < 4 then return nil end
    kind = num(w.raw, w.off + 2, 2)
    step_over(w, 4)
  end
  return ether_types[kind]
end

function step.ethernet(w)
  if rest(w) < 14 then return nil end
  local kind = num(w.raw, w.off + 12, 2)
  step_over(w, 14)
  return ether_type(w, kind)
end

function step.linux_sll(w)
  if rest(w) < 16 then return nil end
  local kind = num(w.raw, w.off + 14, 2)
  step_over(w, 16)
  return ether_type(w, kind)
end

function step.linux_sll2(w)
  if rest(w) < 20 then return nil end
  local kind = num(w.raw, w.off, 2)
  step_over(w, 20)
  return ether_type(w, kind)
end

function step.loopback(w)
  if rest(w) < 4 then return nil end
  local family = num(w.raw, w.off, 4)
  if family > 0xffff then family = w.raw:byte(w.off + 1) + 256 * w.raw:byte(w.off + 2) end
  step_over(w, 4)
  if family == 2 then return "ipv4" end
  if family == 10 or family == 24 or family == 28 or family == 30 then return "ipv6" end
end

function step.ip(w)
  if rest(w) == 0 then return nil end
  local version = part(w.raw:byte(w.off + 1), 4, 4)
  return version == 4 and "ipv4" or version == 6 and "ipv6" or nil
end

function step.mpls(w)
  while w.count < max_layers do
    if rest(w) < 4 then return nil end
    local bottom = w.raw:byte(w.off + 3) % 2 == 1
    step_over(w, 4)
    if bottom then return step.ip(w) end
  end
end

local protocols = { [6] = "tcp", [17] = "udp", [47] = "gre", [4] = "ipv4", [41] = "ipv6" }

-- after_ip returns what follows an IP header at position at. One sink writes the original protocol back before it
-- copies the packet into a report: what follows is then still the UDP header of INT.
local function after_ip(w, protocol, at)
  local q = w.profile
  if w.in_report and w.telemetry and q.quirk.protocol_restored and protocol ~= 17 and q.int_port ~= 0
    and at + 4 <= w.stop and num(w.raw, at + 2, 2) == q.int_port then
    local b = builder(w.off, "")
    quirk(b, "protocol_overwritten")
    return "udp", b
  end
  return protocols[protocol]
end

local function ip_header(w, source, dscp)
  w.ip_headers = w.ip_headers + 1
  w.dscp, w.ip_end, w.source = dscp, 0, source
  choose(w, 0, 0)
end

local function limit_ip(w, n)
  w.ip_end = w.off + n
  w.stop = math.min(w.stop, w.off + n)
end

function step.ipv4(w)
  if rest(w) < 20 then return nil end
  local raw, at = w.raw, w.off
  local first = raw:byte(at + 1)
  local n = first % 16 * 4
  if part(first, 4, 4) ~= 4 or n < 20 or rest(w) < n then return nil end
  local total, fragment = num(raw, at + 2, 2), num(raw, at + 6, 2)
  ip_header(w, num(raw, at + 12, 4), part(raw:byte(at + 2), 2, 6))
  if total >= n then limit_ip(w, total) end
  if fragment % 0x4000 ~= 0 then w.ip_end = 0 end -- the L4 header is about all fragments
  local next, b
  if fragment % 0x2000 == 0 then next, b = after_ip(w, raw:byte(at + 10), at + n) end
  layer(w, "IPv4", b, n)
  w.off = at + n
  return next
end

local extensions = { [0] = true, [43] = true, [44] = true, [51] = true, [60] = true }

function step.ipv6(w)
  if rest(w) < 40 then return nil end
  local raw, at = w.raw, w.off
  if part(raw:byte(at + 1), 4, 4) ~= 6 then return nil end
  local length, next_header = num(raw, at + 4, 2), raw:byte(at + 7)
  ip_header(w, nil, part(num(raw, at, 2), 6, 6))
  if length > 0 then limit_ip(w, 40 + length) end
  if not extensions[next_header] then
    local next, b = after_ip(w, next_header, at + 40)
    layer(w, "IPv6", b, 40)
    w.off = at + 40
    return next
  end
  step_over(w, 40)
  while extensions[next_header] and w.count < max_layers do
    if rest(w) < 8 then return nil end
    local n = (raw:byte(w.off + 2) + 1) * 8
    if next_header == 51 then n = (raw:byte(w.off + 2) + 2) * 4 end
    if next_header == 51 and n < 12 or next_header ~= 44 and rest(w) < n then return nil end
    if next_header == 44 then
      n = 8
      if num(raw, w.off + 2, 2) >= 8 then return nil end -- not the first fragment
    end
    next_header = raw:byte(w.off + 1)
    step_over(w, n)
  end
  return protocols[next_header]
end

-- TCP, UDP and what announces INT behind them

local function family_l4(w, at)
  if at >= w.stop then return nil end
  local nibble = part(w.raw:byte(at + 1), 4, 4)
  if nibble == 0 then return "old" end
  if nibble <= 3 then return "2x" end
end

-- known_type reports whether an INT type has a meaning.
local function known_type(w, family, kind)
  if family == "old" then return kind == 1 or kind == 2 or kind == 3 and w.profile.quirk.host_int or false end
  return kind >= 1 and kind <= 3
end

local function is_shim(w, at)
  local family = family_l4(w, at)
  local kind = family == "old" and w.raw:byte(at + 1)
  return family == "2x" or kind == 1 or kind == 2
end

local tunnels = { [4789] = "vxlan", [4790] = "vxlan_gpe", [6081] = "geneve" }

local function shim_version(w)
  local family = family_l4(w, w.off)
  if not family then
    fault(w, rest(w) == 0 and "truncated_shim" or "unknown_int_type")
    return nil
  end
  return family == "old" and "shim_l4_old" or "shim_l4"
end

local function marks_dscp(w)
  local q = w.profile
  local mark, seen = 0, 0 -- both under the mask
  for bit = 0, 5 do
    local on = part(q.mask, bit, 1)
    mark = mark + on * part(q.dscp, bit, 1) * 2 ^ bit
    seen = seen + on * part(w.dscp, bit, 1) * 2 ^ bit
  end
  return mark ~= 0 and mark == seen
end

-- marked_int returns the shim that something announces, and whether something does. udp_port is 0 for TCP.
local function marked_int(w, udp_port)
  if not w.telemetry then return nil, false end
  local q, dscp = w.profile, marks_dscp(w)
  if q.int_port ~= 0 and w.dst_port == q.int_port and q.version0 == 2 and family_l4(w, w.off) == "old" then
    w.marks = { dscp = dscp }
    return "shim_l4_old", true
  elseif q.int_port ~= 0 and udp_port == q.int_port then
    w.marks = { port = true, dscp = dscp }
    return "shim_l4", true
  elseif dscp and tunnels[udp_port] and not is_shim(w, w.off) then
    return nil, false -- the DSCP of a packet in the tunnel was copied to the outer header
  elseif dscp then
    w.marks = { dscp = true }
    return shim_version(w), true
  elseif q.marker and rest(w) > 8 and w.raw:sub(w.off + 1, w.off + 8) == q.marker and is_shim(w, w.off + 8) then
    local b = builder(w.off, "int.")
    uint64(w, b, "marker", 0)
    add_layer(w, "INT probe marker", b, 8)
    return shim_version(w), true
  end
  return nil, false
end

local unmarked_int -- below

function step.udp(w)
  if rest(w) < 8 then return nil end
  local raw, at = w.raw, w.off
  local dst_port, length = num(raw, at + 2, 2), num(raw, at + 4, 2)
  w.udp, w.dst_port = true, dst_port
  choose(w, num(raw, at, 2), dst_port)
  w.saw_ports = true
  step_over(w, 8)
  if unmarked_int(w) then return "shim_l4_old" end
  -- A Length that makes no sense is not believed; then the IP header says where the packet ends.
  if length >= 8 and not (w.ip_end > 0 and at + length > w.ip_end) then w.stop = math.min(w.stop, at + length) end
  if not w.in_report and w.is_report_port(dst_port) then
    if rest(w) == 0 then fault(w, "truncated_fixed_header") end -- with nothing in it, the other dissector is not asked
    return nil
  end
  local next, marked = marked_int(w, dst_port)
  if marked then return next end
  return tunnels[dst_port]
end

function step.tcp(w)
  if rest(w) < 20 then return nil end
  local raw, at = w.raw, w.off
  local n = part(raw:byte(at + 13), 4, 4) * 4
  w.udp, w.dst_port = false, num(raw, at + 2, 2)
  choose(w, num(raw, at, 2), w.dst_port)
  w.saw_ports = true
  if w.profile.before_options and n >= 20 and w.telemetry and marks_dscp(w) then
    step_over(w, 20)
    w.tcp_options = n - 20
    return (marked_int(w, 0))
  end
  if n < 20 or rest(w) < n then return nil end
  step_over(w, n)
  if unmarked_int(w) then return "shim_l4_old" end
  return (marked_int(w, 0))
end

-- Tunnels

function step.vxlan(w)
  if rest(w) < 8 then return nil end
  step_over(w, 8)
  return "ethernet"
end

local gpe_kinds = { "ipv4", "ipv6", "ethernet", "nsh" }

-- gpe_next returns what a Next Protocol of VXLAN-GPE, or of a shim behind it, stands for.
local function gpe_next(w, next)
  local q = w.profile
  if gpe_kinds[next] then return gpe_kinds[next] end
  if next == 5 and q.gpe5 == 4 then return "mpls" end
  if not w.telemetry then return nil end
  if next == 5 and q.gpe5 == 1 then return "shim_gpe_2016" end
  if next == 5 and q.gpe5 == 2 then return "shim_gpe_05" end
  if next == 5 and q.gpe5 == 3 then return nil end -- IOAM
  if q.gpe[next] then
    if rest(w) > 0 and w.raw:byte(w.off + 1) < 16 then return "shim_gpe_10" end
    return "shim_gpe"
  end
end

function step.vxlan_gpe(w)
  if rest(w) < 8 then return nil end
  local flags, next = w.raw:byte(w.off + 1), w.raw:byte(w.off + 4)
  local i_or_p = part(flags, 2, 2) ~= 0
  local int2016 = w.profile.gpe5 == 1 and i_or_p and next == 5
  if part(flags, 4, 2) ~= 0 and not int2016 then return nil end
  step_over(w, 8)
  if part(flags, 2, 1) == 0 and not int2016 then return "ethernet" end
  return gpe_next(w, next)
end

function step.nsh(w)
  if rest(w) < 8 then return nil end
  local n, next = w.raw:byte(w.off + 2) % 64 * 4, w.raw:byte(w.off + 4)
  if w.raw:byte(w.off + 1) >= 64 or n < 8 or rest(w) < n then return nil end
  step_over(w, n)
  return next == 5 and "mpls" or gpe_kinds[next]
end

function step.gre(w)
  if rest(w) < 4 then return nil end
  local flags, protocol = num(w.raw, w.off, 2), num(w.raw, w.off + 2, 2)
  local n = 4 + 4 * (part(flags, 15, 1) + part(flags, 13, 1) + part(flags, 12, 1))
  if flags % 8 ~= 0 or part(flags, 14, 1) == 1 or rest(w) < n then return nil end
  step_over(w, n)
  if w.telemetry and w.profile.gre ~= 0 and protocol == w.profile.gre then return "shim_gre" end
  return ether_type(w, protocol)
end

local identify, int_contents -- below

function step.geneve(w)
  if rest(w) < 8 then return nil end
  local first = w.raw:byte(w.off + 1)
  local n, protocol = 8 + first % 64 * 4, num(w.raw, w.off + 2, 2)
  if first >= 64 or rest(w) < n then return nil end
  local stop = w.off + n
  step_over(w, 8)
  while w.off < stop and w.count < max_layers do
    if stop - w.off < 4 then
      w.count = w.count + 1
      break
    end
    local class, kind = num(w.raw, w.off, 2), w.raw:byte(w.off + 3)
    local length = w.raw:byte(w.off + 4) % 32 * 4
    if w.off + 4 + length > stop then
      w.count = w.count + 1
      break
    end
    local b = builder(w.off, "")
    if not w.telemetry or not w.profile.geneve[class] then
      step_over(w, 4 + length)
    elseif not known_type(w, "geneve", kind) then
      fail(b, "unknown_int_type")
      add_layer(w, "Geneve option of INT", b, 4 + length)
    else
      local zero = w.profile.version0
      if class == 0x0103 and zero == 1 then zero = 0 end -- the class was assigned to INT 2.1
      step_over(w, 4)
      local c = { from = w.off, to = w.off + length, length = length }
      local version, err = identify(w, c, "geneve", zero)
      int_contents(w, c, version, err, "geneve", kind)
    end
  end
  w.off = stop
  return ether_type(w, protocol)
end

-- Shims

-- shim_contents returns what the shim at the current position covers, n bytes with itself, and what is wrong with that.
local function shim_contents(w, n)
  local from, err = w.off + 4, nil
  local to = from
  if rest(w) < 4 then
    err = "truncated_shim"
  elseif n < 4 then
    err = "int_header_truncated"
  elseif n > rest(w) then
    to, err = w.stop, "shim_length_overrun"
    if w.in_report and w.profile.quirk.cut_stack then err = nil end
  else
    to = w.off + n
  end
  return { from = from, to = to, length = math.max(0, n - 4), broken = n < 4 }, err
end

local function is_cut(c) return c.to - c.from < c.length end

local function add_shim(w, title, b, family, kind, err)
  fail(b, err)
  if not known_type(w, family, kind) then fail(b, "unknown_int_type") end
  add_layer(w, title, b, 4)
end

local function shim_int(w, title, b, kind, n)
  local c, shim_err = shim_contents(w, n)
  add_shim(w, title, b, "2x", kind, shim_err)
  local version, err = identify(w, c, "2x", 0)
  int_contents(w, c, version, err, "2x", kind)
end

local function behind_int(w, dst_port) return w.udp and tunnels[dst_port] or nil end

function step.shim_l4(w)
  w.dscp = 0 -- the mark is used up: the headers behind INT have the same IP header
  local b = builder(w.off, "int.shim.")
  if rest(w) < 4 then return broken(w, "INT 2.x shim", b, 0, "truncated_shim") end
  local kind = uint(w, b, "type", 0, 4)
  local npt = uint(w, b, "npt", 4, 2)
  local n = 4 + 4 * uint(w, b, "length", 8, 8)
  local port, protocol = w.dst_port, nil
  if npt == 0 then
    uint(w, b, "original_dscp", 24, 6)
  elseif npt == 1 then
    port = uint(w, b, "original_dst_port", 16, 16)
  elseif npt == 2 then
    protocol = uint(w, b, "ip_protocol", 24, 8)
  end
  if w.profile.quirk.shim_counts_itself then
    quirk(b, "length_counts_shim")
    n = n - 4
  end
  local m = w.marks
  if m.port and m.dscp then
    fail(b, "int_mark_conflict")
  elseif m.port and npt == 0 or m.dscp and npt ~= 0 or npt == 3 then
    fail(b, "unknown_npt")
    npt = 3
  end
  w.marks = {}
  shim_int(w, "INT 2.x shim", b, kind, n)
  if npt == 0 or npt == 1 then return behind_int(w, port) end
  if npt == 2 then return protocols[protocol] end
end

-- INT 0.5 and 1.0 behind TCP or UDP

-- bos_index returns the index of the first word with the bottom of stack bit, -1 if there is none.
local function bos_index(from, to, raw)
  for at = from, to - 4, 4 do
    if raw:byte(at + 1) >= 128 then return (at - from) / 4 end
  end
  return -1
end

local function looks_like_2016(w, from, to)
  local n = to - from
  return n > 0 and n % 4 == 0 and bos_index(from, to, w.raw) == n / 4 - 1
end

-- identify_zero tells versions with nibble 0 apart.
local function identify_zero(w, at, zero)
  local bitmap, second = num(w.raw, at + 4, 2), w.raw:byte(at + 2)
  local count, words = second % 32, w.raw:byte(at + 3) % 32
  if count ~= 0 and count == popcount(bitmap) then return zero == 1 and "2016" or "05" end
  if second % 128 == 0 and 4 * words == size_of(words10, bitmap) then return "10" end
  local configured = ({ "2016", "05", "10" })[zero]
  if configured then return configured end
  return nil, "unknown_int_version"
end

local function identify_header(w, c, family, zero)
  if c.to - c.from < 8 then return nil, "int_header_truncated" end
  local nibble = part(w.raw:byte(c.from + 1), 4, 4)
  if family == "2x" then
    if nibble == 2 then return "20" end
  elseif family == "geneve" then
    if zero == 1 then return "2016" end
    if nibble == 2 then return "20" end
    if nibble == 1 then return "10" end
    if nibble == 0 then return identify_zero(w, c.from, zero) end
  elseif nibble == 1 or nibble == 2 then
    return "10"
  elseif nibble == 0 then
    return identify_zero(w, c.from, zero)
  elseif nibble == 3 and zero == 1 then
    return "2016"
  end
  return nil, "unknown_int_version"
end

function identify(w, c, family, zero)
  local q = w.profile.quirk
  if family == "old" and q.version_2_bits then return "05" end
  if family == "old" and q.short_length and c.to - c.from > 1 then
    return w.raw:byte(c.from + 2) % 32 ~= 0 and "05" or "10"
  end
  local version, err = identify_header(w, c, family, zero)
  if version == "05" and zero == 0 and looks_like_2016(w, c.from + 8, c.to) then version = "2016" end
  return version, err
end

-- unmarked05 returns the length of a shim of Length 0 and what is behind it, as one generator writes it; 0 if there is
-- no such thing.
local function unmarked05(w)
  local at, n = w.off, w.last - w.off
  if n < 12 then return 0 end
  local raw = w.raw
  if raw:byte(at + 1) ~= 1 or raw:byte(at + 3) ~= 0 or raw:byte(at + 2) ~= 0 or raw:byte(at + 4) ~= 0 then return 0 end
  local count, hops, bitmap = raw:byte(at + 6) % 32, raw:byte(at + 8), num(raw, at + 8, 2)
  if raw:byte(at + 5) >= 16 or count == 0 or hops > raw:byte(at + 7) or count ~= popcount(bitmap) then return 0 end
  local size = 16 + 4 * count * hops
  return size <= n and size or 0
end

-- unmarked_int looks for INT 1.0 where nothing announces it, for senders that are known to do that.
function unmarked_int(w)
  local q = w.profile.quirk
  if not w.telemetry or not q.unmarked then return false end
  if q.short_length and unmarked05(w) > 0 then
    w.marks = { unmarked = true }
    return true
  end
  local raw, at, n = w.raw, w.off, w.last - w.off
  if n < 4 then return false end
  local kind, length = raw:byte(at + 1), raw:byte(at + 3) * 4
  if kind ~= 1 and kind ~= 2 or raw:byte(at + 2) ~= 0 or length > n or length < 4 then return false end
  local c = { from = at + 4, to = at + length }
  if identify_header(w, c, "old", q.short_l2 and 3 or 0) ~= "10" then return false end
  local words, bitmap = raw:byte(at + 7) % 32, num(raw, at + 8, 2)
  if words == 0 or (c.to - c.from - 8) % (4 * words) ~= 0 then return false end
  local fits = 4 * words == size_of(words10, bitmap) or 4 * words == size_of(words10_long, bitmap)
  if q.short_l2 then fits = 4 * words == size_of(words10_short, bitmap) end
  if not fits then return false end
  w.marks = { unmarked = true }
  w.stop = w.last
  return true
end

-- tail05 reads the tail of INT 0.5 and returns the original destination port, which some leave empty there.
local function tail05(w)
  local b = builder(w.off, "int.tail.")
  uint(w, b, "proto", 0, 8)
  local port = uint(w, b, "dst_port", 8, 16)
  uint(w, b, "original_dscp", 24, 8)
  add_layer(w, "INT 0.5 tail", b, 4)
  return port ~= 0 and port or w.dst_port
end

local function int05_with_tail(w, c, kind)
  local cut_off, err = is_cut(c), nil
  if not cut_off then
    if c.to - c.from - 4 < 8 then
      err = "tail_missing"
    else
      c.to = c.to - 4
    end
  end
  c.length = math.max(0, c.length - 4)
  int_contents(w, c, "05", nil, "old", kind)
  if err then fault(w, err) end
  if err or cut_off then return w.dst_port end
  return tail05(w)
end

-- host_stack reads the header and stack of INT 0.5, the sequence number of the packet in its flow and the tail.
local function host_stack(w, c)
  local all, from = c.to, c.from
  local readable, n = c.to - c.from >= 8, 0
  if readable then
    n = 8 + 4 * (w.raw:byte(from + 2) % 32) * w.raw:byte(from + 4)
    c.to, c.length = math.min(c.to, from + n), math.min(c.length, n)
  end
  int_contents(w, c, "05", nil, "old", 1)
  if not readable then return w.dst_port end
  if all - w.off >= 4 and w.off == from + n then
    local b = builder(w.off, "int.")
    uint(w, b, "flow_sequence", 0, 32)
    add_layer(w, "Sequence number of a flow (Host-INT)", b, 4)
  end
  if all - w.off >= 4 then return tail05(w) end
  return w.dst_port
end

function step.shim_l4_old(w)
  w.dscp = 0
  local b = builder(w.off, "int.shim.")
  if rest(w) < 4 then return broken(w, "INT 1.0 shim", b, 0, "truncated_shim") end
  local length = w.raw:byte(w.off + 3)
  local unmarked = w.marks.unmarked
  local c, shim_err
  if length == 0 and unmarked then
    c, shim_err = shim_contents(w, unmarked05(w))
  else
    c, shim_err = shim_contents(w, 4 * length)
  end
  -- INT of June 2016 has no shim for TCP and UDP: a header that could be either is 0.5.
  local version, err = identify(w, c, "old", w.profile.version0 == 3 and 3 or 2)
  local kind = uint(w, b, "type", 0, 8)
  uint(w, b, "length", 16, 8)
  local title = "INT 0.5 shim"
  if version ~= "05" then
    title = "INT 1.0 shim"
    uint(w, b, "original_dscp", 24, 6)
  end
  if unmarked then
    quirk(b, "unmarked")
    if length == 0 then quirk(b, "short_length") end
  end
  w.marks = {}
  add_shim(w, title, b, "old", kind, shim_err)
  local port = w.dst_port
  if kind == 3 then
    port = host_stack(w, c)
  elseif version == "05" then
    port = int05_with_tail(w, c, kind)
  else
    int_contents(w, c, version, err, "old", kind)
  end
  if w.tcp_options > 0 then
    if not (w.in_report and rest(w) == 0) then step_over(w, math.min(w.tcp_options, rest(w))) end
    w.tcp_options = 0
  end
  return behind_int(w, port)
end

local function shim_gpe_old(w, as, zero)
  local b = builder(w.off, "int.shim.")
  if rest(w) < 4 then return broken(w, "INT shim", b, 0, "truncated_shim") end
  local kind = uint(w, b, "type", 0, 8)
  local n = 4 * uint(w, b, "length", 16, 8)
  local next = uint(w, b, "next_protocol", 24, 8)
  local c, shim_err = shim_contents(w, n)
  local version, err = as, nil
  if not as then version, err = identify(w, c, "old", zero) end
  add_shim(w, "INT shim over VXLAN-GPE", b, "old", kind, shim_err)
  int_contents(w, c, version, err, "old", kind)
  return gpe_next(w, next)
end

function step.shim_gpe_2016(w) return shim_gpe_old(w, "2016") end
function step.shim_gpe_05(w) return shim_gpe_old(w, nil, 2) end
function step.shim_gpe_10(w) return shim_gpe_old(w, nil, w.profile.version0) end

function step.shim_gpe(w)
  local b = builder(w.off, "int.shim.")
  if rest(w) < 4 then return broken(w, "INT shim", b, 0, "truncated_shim") end
  local kind = uint(w, b, "type", 0, 4)
  local n = 4 + 4 * uint(w, b, "length", 8, 8)
  flag(w, b, "g", 16)
  local next = uint(w, b, "next_protocol", 24, 8)
  shim_int(w, "INT 2.x shim over VXLAN-GPE", b, kind, n)
  return gpe_next(w, next)
end

function step.shim_gre(w)
  local b = builder(w.off, "int.shim.")
  if rest(w) < 4 then return broken(w, "INT shim", b, 0, "truncated_shim") end
  local kind = uint(w, b, "type", 0, 4)
  flag(w, b, "g", 4)
  local n = 4 + 4 * uint(w, b, "length", 8, 8)
  local next = uint(w, b, "next_protocol", 16, 16)
  shim_int(w, "INT 2.x shim over GRE", b, kind, n)
  return ether_type(w, next)
end

-- INT headers and stacks

-- header_layer adds the layer of an INT header, or of its bytes if nothing of it could be read.
local function header_layer(w, title, b, c, err)
  if err and #b == 0 and c.to > c.from then
    title, b.prefix = "INT that cannot be read", "int."
    bytes(b, "contents", c.from, c.to - c.from)
  end
  if err and #b == 0 then title = "" end
  fail(b, err)
  if #b > 0 then layer(w, title, b, c.to - c.from) end
  w.off = c.to
end

local function opaque_int(w, c, err)
  local b = builder(c.from, "int.")
  bytes(b, "contents", c.from, c.to - c.from)
  header_layer(w, "INT that cannot be read", b, c, err)
end

local function cuts_stack(w) return w.in_report and w.profile.quirk.cut_stack end

-- stack_failure returns the error of a stack for the layer of its header: none for a packet that was cut, which the
-- layer of the shim tells.
local function stack_failure(w, c, err)
  if err == "shim_length_overrun" or is_cut(c) and not cuts_stack(w) then return nil end
  return err
end

-- divide divides the stack at from .. to-1, which should have length bytes, into records. ds is the length of the
-- domain specific metadata in each, so that of source-only data at the bottom.
local function divide(from, to, length, size, ds, so, with_complement)
  local s = { from = from, size = size, ds = ds, hops = 0, complement = with_complement }
  if so > length then return s, "source_only_truncated" end
  local hops = size > 0 and math.floor((length - so) / size) or 0
  if hops * size + so ~= length then return s, "stack_not_multiple" end
  local there = to - from
  if there < length then
    if hops == 0 then return s, "shim_length_overrun" end
    local whole = math.min(hops, math.floor(there / size))
    if whole == hops and so > 0 and (with_complement or ds > 0) then whole = whole - 1 end
    if whole < hops then s.partial = from + whole * size end
    s.hops, s.stop = whole, from + whole * size
    return s, "shim_length_overrun"
  end
  s.hops, s.stop = hops, from + length
  if so > 0 and (ds == 0 or hops == 0) then
    s.so_to = from + length - (with_complement and hops > 0 and 4 or 0)
    s.so_from = s.so_to - so
  end
  return s, nil
end

-- value adds the values of one instruction of a record at byte position at; nil if they are not there.
local function value(w, b, at, stop, instruction, invalid, top_bit)
  local width = width_of(instruction)
  if at + width / 8 > stop then return nil end
  local group = instruction[1]
  local hi, lo = 0, num(w.raw, at + width / 8 - 4, 4)
  if width == 64 then hi = num(w.raw, at, 4) end
  local none = lo == 0xffffffff and (width == 32 or hi == 0xffffffff)
  if top_bit then none = lo % 0x80000000 == 0x7fffffff end
  none = none and group ~= ""
  if none then table.insert(invalid, group) end
  local behind = width
  for i = 2, #instruction do
    local name, size = instruction[i][1], instruction[i][2]
    behind = behind - size
    if name ~= "" then
      local v
      if size == 64 then
        v = { hi, lo }
      elseif behind >= 32 then
        v = part(hi, behind - 32, size)
      else
        v = part(lo, behind, size)
      end
      local bit = width - behind - size
      local first, last = math.floor(bit / 8), math.floor((bit + size - 1) / 8)
      table.insert(b, { b.prefix .. name, v, at + first, last - first + 1, none = none })
    end
  end
  return at + width / 8
end

-- values adds what the bits from first to last of a bitmap ask for, and returns the position behind it.
local function values(w, b, at, stop, words, bitmap, first, last, invalid)
  for bit = first, last do
    if has(bitmap, bit) then
      local behind = value(w, b, at, stop, words[bit], invalid, words == words2016 and bit < 8)
      if not behind then return at end
      at = behind
    end
  end
  return at
end

local function add_invalid(b, invalid)
  table.sort(invalid)
  for _, group in ipairs(invalid) do derived(b, "invalid", group) end
end

-- congestion moves the queue congestion of INT 0.5 behind the other values and drops its queue id if it only repeats
-- that of the occupancy.
local function congestion(b)
  local id, queue = find(b, "int.hop.queue_congestion_id"), find(b, "int.hop.queue_id")
  if not id then return end
  local repeated = queue and queue[2] == id[2]
  local moved = {}
  for i = #b, 1, -1 do
    if b[i][1]:match("^int%.hop%.queue_congestion") then
      local f = table.remove(b, i)
      if f ~= id or not repeated then table.insert(moved, 1, f) end
    end
  end
  for _, f in ipairs(moved) do table.insert(b, f) end
end

-- add_hops adds the records of a stack, newest first.
local function add_hops(w, l, s, bitmap, words, to)
  local function group(i, at, stop)
    local b = builder(at, "int.hop.")
    table.insert(l, { title = "Hop " .. i, at = at, length = stop - at, fields = b })
    return b, {}
  end
  for i = 0, s.hops - 1 do
    local at = s.from + i * s.size
    local stop = i == s.hops - 1 and s.stop or at + s.size
    local b, invalid = group(i, at, stop)
    if words == words20 then
      local behind = values(w, b, at, stop, words, bitmap, 0, 14, invalid)
      local tail = s.complement and 4 or 0
      local from = at + s.size - s.ds - tail
      if s.ds > 0 then bytes(b, "ds_metadata", behind, stop - tail - from) end
      if has(bitmap, 15) then value(w, b, stop - 4, stop, words[15], invalid) end
      add_invalid(b, invalid)
    else
      values(w, b, at, stop, words, bitmap, 0, 15, invalid)
      if words == words2016 then add_invalid(b, invalid) end
      if words == words05 or words == words05_long then congestion(b) end
    end
  end
  if s.partial and s.partial < to and cuts_stack(w) then
    local b, invalid = group(s.hops, s.partial, to)
    values(w, b, s.partial, to, words, bitmap, 0, 14, invalid)
  end
end

-- stack_error adds the bytes of a stack that could not be divided into records.
local function stack_error(b, from, to, err)
  if not err or err == "shim_length_overrun" then return false end
  b.prefix = "int."
  bytes(b, "stack", from, to - from)
  return true
end

local function replication(w, b, bit)
  uint(w, b, "rep", bit, 2)
  flag(w, b, "c", bit + 2)
  flag(w, b, "e", bit + 3)
end

local function counts(w, b)
  local count = uint(w, b, "instruction_count", 11, 5)
  local max = uint(w, b, "max_hop_count", 16, 8)
  local total = uint(w, b, "total_hop_count", 24, 8)
  return count, max, total, uint(w, b, "instruction_bitmap", 32, 16)
end

local function int2016(w, c)
  local b = builder(c.from, "int.")
  if c.to - c.from < 8 then return header_layer(w, "INT June 2016", b, c, "int_header_truncated") end
  uint(w, b, "version", 0, 2)
  replication(w, b, 2)
  local count, max, total, bitmap = counts(w, b)
  local from, length = c.from + 8, math.max(0, c.length - 8)
  local bos = bos_index(from, c.to, w.raw)
  if bos >= 0 then derived(b, "bos_index", bos) end
  local s, err = { hops = 0 }, nil
  if count ~= popcount(bitmap) then
    err = "instruction_count_mismatch"
  elseif length ~= 4 * count * total then
    err = "stack_length_mismatch"
  else
    bos = bos_index(from, math.min(c.to, from + length), w.raw)
    if bos >= 0 and bos < length / 4 - 1 then
      err = "bos_before_bottom"
    elseif bos < 0 and length > 0 and c.to - from >= length then
      err = "bos_missing"
    elseif total > max then
      err = "total_hop_count_exceeds_max"
    else
      s, err = divide(from, c.to, length, 4 * count, 0, 0)
    end
  end
  if not stack_error(b, from, c.to, err) then add_hops(w, b, s, bitmap, words2016, c.to) end
  header_layer(w, "INT June 2016", b, c, stack_failure(w, c, err))
end

-- asked_of returns the instructions that a sender follows when it is given bitmap: one takes the bits 0-3 of 0011 for
-- hop latency and egress timestamp.
local function asked_of(w, bitmap)
  if w.profile.quirk.nibble_3 and math.floor(bitmap / 0x1000) == 3 then
    bitmap = bitmap - 0x1000
    if not has(bitmap, 5) then bitmap = bitmap + 0x0400 end
  end
  return bitmap
end

local function low_bitmap(w, bitmap)
  if w.profile.quirk.bitmap_low then return bitmap * 256 % 65536 end
  return bitmap
end

-- dialect_quirks adds the marks of a header of INT 0.4 to 1.0 that was not read as the specification says.
local function dialect_quirks(w, b, bitmap, asked, is_wide)
  if bitmap ~= 0 and w.profile.quirk.bitmap_low then quirk(b, "bitmap_low") end
  if is_wide then quirk(b, "wide_timestamps") end
  if asked ~= bitmap then quirk(b, "nibble_3") end
end

local function cut_quirk(w, b, err)
  if err == "shim_length_overrun" and cuts_stack(w) then quirk(b, "cut_stack") end
end

local function int05(w, c)
  local b, q = builder(c.from, "int."), w.profile.quirk
  if c.to - c.from < 8 then return header_layer(w, "INT 0.5", b, c, "int_header_truncated") end
  local version_width = q.version_2_bits and 2 or 4
  local words = q.wide_timestamps and words05_long or words05
  uint(w, b, "version", 0, version_width)
  replication(w, b, version_width)
  local count, _, total, bitmap = counts(w, b)
  bitmap = low_bitmap(w, bitmap)
  if q.version_2_bits then quirk(b, "version_2_bits") end
  local from, length = c.from + 8, math.max(0, c.length - 8)
  local asked = asked_of(w, bitmap)
  local size = size_of(words, asked)
  local s, err = { hops = 0 }, nil
  if asked ~= bitmap then
    -- A program that writes records of this size and counts 8 in its shim: only whole records are sure.
    s, err = divide(from, c.to, math.floor(length / size) * size, size, 0, 0)
    if length ~= size * total then err = "stack_length_mismatch" end
  elseif count ~= popcount(bitmap) then
    err = "instruction_count_mismatch"
  elseif length ~= size * total then
    err = "stack_length_mismatch"
  else
    s, err = divide(from, c.to, length, size, 0, 0)
  end
  dialect_quirks(w, b, bitmap, asked, words == words05_long and (has(asked, 4) or has(asked, 5)))
  if asked ~= bitmap or not stack_error(b, from, c.to, err) then
    cut_quirk(w, b, err)
    add_hops(w, b, s, asked, words, c.to)
  end
  header_layer(w, q.version_2_bits and "INT 0.4" or "INT 0.5", b, c, stack_failure(w, c, err))
end

local function int10(w, c)
  local b, q = builder(c.from, "int."), w.profile.quirk
  if c.to - c.from < 8 then return header_layer(w, "INT 1.0", b, c, "int_header_truncated") end
  uint(w, b, "version", 0, 4)
  replication(w, b, 4)
  flag(w, b, "m", 8)
  local hop_ml = 4 * uint(w, b, "hop_ml", 19, 5)
  uint(w, b, "remaining_hop_count", 24, 8)
  local bitmap = low_bitmap(w, uint(w, b, "instruction_bitmap", 32, 16))
  local words, err = words10, nil
  if hop_ml ~= size_of(words10, bitmap) then
    words = words10_long
    if hop_ml ~= size_of(words10_long, bitmap) then words, err = words10, "hop_ml_mismatch" end
  end
  if q.wide_timestamps and hop_ml == size_of(words10_long, bitmap) then words, err = words10_long, nil end
  if q.short_l2 and hop_ml == size_of(words10_short, bitmap) then words, err = words10_short, nil end
  local from, length = c.from + 8, math.max(0, c.length - 8)
  local asked = asked_of(w, bitmap)
  local s = { hops = 0 }
  if asked ~= bitmap then
    words = words10_long
    s, err = divide(from, c.to, length, size_of(words, asked), 0, 0)
  elseif not err then
    s, err = divide(from, c.to, length, hop_ml, 0, 0)
  end
  local is_wide = words == words10_long and (has(asked, 4) or has(asked, 5) or has(asked, 6))
  dialect_quirks(w, b, bitmap, asked, is_wide)
  if words == words10_short and has(bitmap, 6) then quirk(b, "short_level_2") end
  if not stack_error(b, from, c.to, err) then
    cut_quirk(w, b, err)
    add_hops(w, b, s, asked, words, c.to)
  end
  header_layer(w, "INT 1.0", b, c, stack_failure(w, c, err))
end

local function domain_fields(w, b)
  local bitmap = uint(w, b, "instruction_bitmap", 32, 16)
  local domain = uint(w, b, "domain_specific_id", 48, 16)
  local instruction = uint(w, b, "ds_instruction", 64, 16)
  uint(w, b, "ds_flags", 80, 16)
  return bitmap, domain, instruction
end

-- source_only returns the bytes of source-only metadata that a domain's DS Instruction asks for; nil if it is unknown.
local function source_only(w, domain, instruction)
  if domain == 0 then return 0 end
  local known = w.profile.domains[domain]
  if not known then return nil end
  local n = 0
  for bit = 0, 15 do
    if has(instruction, bit) then n = n + (known[bit] or 0) end
  end
  return n
end

local function int_md(w, c)
  local b = builder(c.from, "int.")
  if c.to - c.from < 12 then return header_layer(w, "INT 2.x MD", b, c, "int_header_truncated") end
  uint(w, b, "version", 0, 4)
  flag(w, b, "d", 4)
  flag(w, b, "e", 5)
  flag(w, b, "m", 6)
  local size = 4 * uint(w, b, "hop_ml", 19, 5)
  uint(w, b, "remaining_hop_count", 24, 8)
  local bitmap, domain, instruction = domain_fields(w, b)
  local from, length = c.from + 12, math.max(0, c.length - 12)
  local so = source_only(w, domain, instruction)
  local ds, unsure = size - size_of(words20, bitmap), so == nil
  local s, err = { hops = 0 }, nil
  if ds < 0 or domain == 0 and ds > 0 then
    err = "hop_ml_mismatch"
  else
    if unsure then so = size > 0 and length % size or 0 end
    s, err = divide(from, c.to, length, size, ds, so, has(bitmap, 15))
  end
  if stack_error(b, from, c.to, err) then
    return header_layer(w, "INT 2.x MD", b, c, stack_failure(w, c, err))
  end
  if unsure then derived(b, "unsure", true) end
  cut_quirk(w, b, err)
  add_hops(w, b, s, bitmap, words20, c.to)
  if s.so_from then
    bytes(b, "source_only", s.so_from, s.so_to - s.so_from)
    if domain == 0x5453 and s.so_to - s.so_from == 8 then bytes(b, "ts_device_id", s.so_from, 6) end
  end
  header_layer(w, "INT 2.x MD", b, c, stack_failure(w, c, err))
end

local function int_mx(w, c)
  local b = builder(c.from, "int.")
  if c.to - c.from < 12 then return header_layer(w, "INT 2.x MX", b, c, "int_header_truncated") end
  uint(w, b, "version", 0, 4)
  flag(w, b, "d", 4)
  domain_fields(w, b)
  bytes(b, "source_inserted", c.from + 12, c.to - c.from - 12)
  header_layer(w, "INT 2.x MX", b, c, nil)
end

function int_contents(w, c, version, err, family, kind)
  if c.broken or c.from == c.to and is_cut(c) then
    w.off = c.to
  elseif not known_type(w, family, kind) then
    opaque_int(w, c, nil)
  elseif err then
    opaque_int(w, c, err)
  elseif version == "2016" then
    int2016(w, c)
  elseif kind == 2 then
    opaque_int(w, c, nil)
  elseif version == "20" then
    if kind == 3 then int_mx(w, c) else int_md(w, c) end
  elseif version == "10" then
    int10(w, c)
  else
    int05(w, c)
  end
end

-- Reports -----------------------------------------------------------------------------------------------------------

-- fragment reads the packet fragment at from .. to-1 and returns what show() needs of it.
local function fragment(w, start, from, to, tracked)
  local inner = new_walk(w.raw:sub(1, to), w.profile)
  inner.off, inner.in_report = from, true
  inner.telemetry = tracked
  inner.is_report_port = function() return false end
  run(inner, start)
  return { inner = inner.layers, start = start, at = from, length = to - from }
end

-- behind adds the fragment behind a report header of version 0.5 or 1.0, which has telemetry only if F is set.
local function behind(w, start, tracked)
  if rest(w) <= 0 then return end
  local f = fragment(w, start, w.off, w.stop, tracked or w.profile.quirk.always_tracked)
  table.insert(w.layers, f)
end

local function report05(w, version)
  local b, q = builder(w.off, "int.report."), w.profile.quirk
  if rest(w) < 12 then return broken(w, "Telemetry report 0.5", b, 0, "truncated_fixed_header") end
  uint(w, b, "version", 0, 4)
  local nproto = uint(w, b, "nproto", 4, 4)
  flag(w, b, "d", 8)
  flag(w, b, "q", 9)
  local f = flag(w, b, "f", 10)
  uint(w, b, "hw_id", 26, 6)
  uint(w, b, "sequence", 32, 32)
  uint(w, b, "ingress_ts", 64, 32)
  if version ~= 0 then quirk(b, "report_0_5") end
  local n, start, left = 12, "ethernet", rest(w) - 12
  local function second(title, prefix, size)
    local s = builder(w.off + 12, "int.report." .. prefix)
    table.insert(b, { title = title, at = w.off + 12, length = size, fields = s })
    n = 12 + size
    return s
  end
  if nproto > 2 then
    if not q.host_int then return broken(w, "Telemetry report 0.5", b, 12, "unknown_nproto") end
    quirk(b, "host_int")
    start = "ipv4"
    if nproto == 4 then
      local first = left > 0 and w.raw:byte(w.off + 13) or 0
      if left >= 8 and not (first >= 0x45 and first <= 0x4f) then
        uint(w, b, "node_id", 96, 32)
        n = 16
      end
    elseif nproto == 3 then
      f = false
      if left < 24 then return broken(w, "Telemetry report 0.5", b, 12, "truncated_drop_header") end
      local s = second("Gap of a flow", "gap.", 24)
      uint(w, s, "source_id", 0, 32)
      uint(w, s, "sink_id", 32, 32)
      uint(w, s, "ingress_port", 64, 16)
      uint(w, s, "egress_port", 80, 16)
      uint(w, s, "gap_ts", 96, 32)
      uint(w, s, "gap_sequence", 128, 32)
      uint(w, s, "gap_count", 160, 32)
    else
      return broken(w, "Telemetry report 0.5", b, 12, "unknown_nproto")
    end
  elseif nproto > 0 then
    local size = nproto == 1 and 12 or 16
    if left < size then
      local err = nproto == 1 and "truncated_drop_header" or "truncated_local_header"
      return broken(w, "Telemetry report 0.5", b, 12, err)
    end
    local s = second(nproto == 1 and "Drop" or "Switch local", nproto == 1 and "drop." or "local.", size)
    uint(w, s, "switch_id", 0, 32)
    uint(w, s, "ingress_port", 32, 16)
    uint(w, s, "egress_port", 48, 16)
    uint(w, s, "queue_id", 64, 8)
    if nproto == 1 then
      uint(w, s, "drop_reason", 72, 8)
    else
      uint(w, s, "queue_occupancy", 72, 24)
      uint(w, s, "egress_ts", 96, 32)
    end
  end
  add_layer(w, "Telemetry report 0.5", b, n)
  behind(w, start, f)
end

local function report10(w)
  local b, q = builder(w.off, "int.report."), w.profile.quirk
  if rest(w) < 16 then return broken(w, "Telemetry report 1.0", b, 0, "truncated_fixed_header") end
  local flags, words, uncounted = 23, words_tr10, 0
  if q.flags_first then
    flags = 17
  elseif q.january_2018 then
    words = words_january
  elseif q.short_length and w.raw:byte(w.off + 1) % 16 == 1 then
    uncounted = 12
  end
  uint(w, b, "version", 0, 4)
  local length = 4 * uint(w, b, "length", 4, 4)
  local nprot = uint(w, b, "nprot", 8, 3)
  local bits = uint(w, b, "rep_md_bits", 11, 6)
  flag(w, b, "d", flags)
  flag(w, b, "q", flags + 1)
  local f = flag(w, b, "f", flags + 2)
  uint(w, b, "hw_id", 26, 6)
  uint(w, b, "switch_id", 32, 32)
  uint(w, b, "sequence", 64, 32)
  uint(w, b, "ingress_ts", 96, 32)
  local n, md_end, err = length + uncounted, 16 + 4 * popcount(bits), nil
  if n < 16 then
    err = "length_below_fixed_header"
  elseif n < md_end then
    err = "length_below_bitmap"
  elseif n > rest(w) then
    err = "length_overrun"
  end
  if flags ~= 23 then
    quirk(b, "flags_first")
  elseif part(num(w.raw, w.off + 2, 2), 9, 6) ~= 0 then
    uint(w, b, "reserved", 17, 6)
  end
  if q.january_2018 then
    quirk(b, "january_2018")
  elseif length < 16 and not err then
    quirk(b, "short_length")
  end
  if err then return broken(w, "Telemetry report 1.0", b, 16, err) end
  local md = builder(w.off + 16, "int.report.md.")
  values(w, md, w.off + 16, w.off + n, words, bits * 1024, 0, 5, {})
  table.insert(b, { title = "Metadata", at = w.off + 16, length = md_end - 16, fields = md })
  bytes(b, "extra", w.off + md_end, n - md_end)
  add_layer(w, "Telemetry report 1.0", b, n)
  behind(w, ({ [0] = "ethernet", "ipv4", "ipv6" })[nprot], f)
end

-- padding returns how many bytes at the end of a fragment fill up the last word of its report: 0 to 3.
local function padding(w, from, to, start)
  local raw, at = w.raw, from
  if start == "ethernet" then
    local stop, kind = from + 14, nil
    while stop <= to do
      kind = num(raw, stop - 2, 2)
      if kind ~= 0x8100 and kind ~= 0x88a8 and kind ~= 0x9100 then break end
      stop = stop + 4
    end
    if stop > to then return 0 end
    at, start = stop, ether_types[kind]
  end
  local length = to - from
  if start == "ipv4" and to - at >= 4 and part(raw:byte(at + 1), 4, 4) == 4 then
    local total = num(raw, at + 2, 2)
    if total >= 20 then length = at - from + total end
  elseif start == "ipv6" and to - at >= 6 and part(raw:byte(at + 1), 4, 4) == 6 then
    length = at - from + 40 + num(raw, at + 4, 2)
  end
  local surplus = to - from - length
  return surplus >= 0 and surplus <= 3 and surplus or 0
end

local function nested_fragment(w, b, start, from, to, f)
  local pad = padding(w, from, to, start)
  table.insert(b, fragment(w, start, from, to - pad, f))
  if pad > 0 then derived(b, "fragment_padding", pad) end
end

local in_types = { [3] = "ethernet", [4] = "ipv4", [5] = "ipv6" }

-- first_word adds the first word of a report, at the start of o.
local function first_word(w, o)
  local r = {}
  r.rep_type = uint(w, o, "rep_type", 0, 4)
  r.in_type = uint(w, o, "in_type", 4, 4)
  r.length = uint(w, o, "report_length", 8, 8)
  r.md_length = uint(w, o, "md_length", 16, 8)
  flag(w, o, "d", 24)
  flag(w, o, "q", 25)
  r.f = flag(w, o, "f", 26)
  flag(w, o, "i", 27)
  return r
end

local function domain_words(w, o)
  local bits = uint(w, o, "rep_md_bits", 32, 16)
  uint(w, o, "domain_specific_id", 48, 16)
  uint(w, o, "ds_md_bits", 64, 16)
  uint(w, o, "ds_md_status", 80, 16)
  return bits
end

local function metadata20(w, o, at, bits)
  local md, size = builder(at, "int.report.md."), size_of(words_tr20, bits)
  values(w, md, at, at + size, words_tr20, bits, 0, 15, {})
  table.insert(o, { title = "Metadata", at = at, length = size, fields = md })
  return size
end

-- tlvs adds the TLVs at from .. to-1; true if one was read as the nested draft asks.
local function tlvs(w, o, from, to, f)
  local nested = false
  while from < to do
    local t = builder(from, "int.report.tlv.")
    local group = { title = "TLV", at = from, length = to - from, fields = t }
    table.insert(o, group)
    if to - from < 4 then
      fail(t, "tlv_overrun")
      return nested
    end
    local kind = uint(w, t, "type", 0, 4)
    local n = 4 + 4 * uint(w, t, "length", 8, 8)
    uint(w, t, "template", 16, 16)
    if n > to - from then
      fail(t, "tlv_overrun")
      return nested
    end
    group.length = n
    local start = ({ "ethernet", "ipv4", "ipv6" })[kind]
    if kind == 0 and w.profile.quirk.nested_tlv then
      nested = true
      if n > 4 then
        local version = part(w.raw:byte(from + 5), 4, 4)
        start = version == 4 and "ipv4" or version == 6 and "ipv6" or "ethernet"
      end
    end
    if start then
      nested_fragment(w, t, start, from + 4, from + n, f)
    else
      bytes(t, "hex", from + 4, n - 4)
    end
    from = from + n
  end
  return nested
end

-- main_contents adds the INT main contents of a report that ends at stop. It returns where its inner contents begin, or
-- the rule that it breaks.
local function main_contents(w, o, r, stop)
  local at = o.start + 4
  if stop - at < 8 then return nil, "int_contents_missing" end
  local bits = domain_words(w, o)
  at = at + 8
  local md = 4 * r.md_length
  if md > stop - at then return nil, "md_length_exceeds_report" end
  if size_of(words_tr20, bits) > md then
    bits = bits % 0x8000 -- the sender means that reserved bits carry nothing
    bits = math.floor(bits / 0x80) * 0x80 + bits % 2
    if size_of(words_tr20, bits) ~= md then return nil, "md_length_below_bitmap" end
  end
  local size = metadata20(w, o, at, bits)
  bytes(o, "ds_metadata", at + size, md - size)
  return at + md
end

-- report20_one adds one report, which ends at stop. It returns whether that is usable, and whether it is the nested
-- draft.
local function report20_one(w, o, r, stop)
  local inner, err = o.start + 4, nil
  if r.rep_type == 1 then inner, err = main_contents(w, o, r, stop) end
  if err then
    fail(o, err)
    return false, false
  end
  if r.rep_type > 1 then
    bytes(o, "opaque", o.start + 4, stop - o.start - 4)
  elseif r.in_type == 1 then
    return true, tlvs(w, o, inner, stop, r.f)
  elseif r.in_type == 2 then
    bytes(o, "ds_extension", inner, stop - inner)
  elseif in_types[r.in_type] then
    nested_fragment(w, o, in_types[r.in_type], inner, stop, r.f)
  else
    bytes(o, "opaque", inner, stop - inner)
  end
  return true, false
end

local max_reports = 4096

local function reports20(w, b)
  local at, read, good, nested = w.off, 0, false, false
  while true do
    local left = w.stop - at
    local o = builder(at, "int.report.")
    local group = { title = "Report " .. read, at = at, length = left, fields = o }
    if left < 4 then
      if read == 0 then
        fail(o, "no_report")
        table.insert(b, group)
      end
      break
    end
    if read == max_reports then
      fail(o, "too_many_reports")
      table.insert(b, group)
      break
    end
    local length = w.raw:byte(at + 2)
    local stop = length == 255 and w.stop or at + 4 + 4 * length
    if stop > w.stop then
      if good then
        b.trailer = at
      else
        first_word(w, o)
        fail(o, "report_length_overrun")
        table.insert(b, group)
      end
      break
    end
    group.length = stop - at
    local usable, draft = report20_one(w, o, first_word(w, o), stop)
    table.insert(b, group)
    good, nested, read, at = good or usable, nested or draft, read + 1, stop
  end
  return nested
end

local function ts_report(w, b)
  local o = builder(w.off, "int.report.")
  local group = { title = "Report 0", at = w.off, length = rest(w), fields = o }
  local is_drop = w.raw:byte(w.off + 1) % 16 == 2 and num(w.raw, w.off + 4, 2) == 1
  quirk(b, is_drop and "ts_drop_report" or "ts_core_report")
  table.insert(b, group)
  if rest(w) < (is_drop and 40 or 16) then
    fail(o, "truncated_ts_report")
    return
  end
  first_word(w, o)
  domain_words(w, o)
  if not is_drop then
    uint(w, o, "var_opt_md", 96, 32)
    table.insert(o, fragment(w, "ethernet", w.off + 16, w.stop, true))
    return
  end
  metadata20(w, o, w.off + 12, 1)
  local drop = builder(w.off + 16, "int.report.ts_drop.")
  uint(w, drop, "timestamp", 0, 32)
  uint(w, drop, "drop_count", 32, 32)
  uint64(w, drop, "drop_key_high", 64)
  uint64(w, drop, "drop_key", 128)
  table.insert(o, { title = "Drop", at = w.off + 16, length = 24, fields = drop })
  bytes(b, "trailer", w.off + 40, rest(w) - 40)
end

local function report20(w)
  local b = builder(w.off, "int.report.")
  if rest(w) < 8 then return broken(w, "Telemetry report 2.0", b, 0, "truncated_group_header") end
  uint(w, b, "version", 0, 4)
  uint(w, b, "hw_id", 4, 6)
  uint(w, b, "sequence", 10, 22)
  uint(w, b, "node_id", 32, 32)
  w.off = w.off + 8
  local raw, at = w.raw, w.off
  if w.profile.quirk.ts_report and rest(w) >= 8 and raw:byte(at + 1) < 16 and num(raw, at + 6, 2) == 0x5453 then
    ts_report(w, b)
  else
    local nested_at = #b + 1
    if reports20(w, b) then table.insert(b, nested_at, { "int.quirk", "nested_tlv" }) end
    if b.trailer then bytes(b, "trailer", b.trailer, w.stop - b.trailer) end
  end
  layer(w, "Telemetry report 2.0", b, w.stop - b.start)
end

local function read_report(w)
  if rest(w) == 0 then return fault(w, "truncated_fixed_header") end
  local first, q = w.raw:byte(w.off + 1), w.profile.quirk
  local version = math.floor(first / 16)
  if q.report05 or version == 1 and q.short_length and first % 16 == 0 then return report05(w, version) end
  if version == 0 then return report05(w, 0) end
  if version == 1 then return report10(w) end
  if version == 2 then return report20(w) end
  local b = builder(w.off, "int.report.")
  uint(w, b, "version", 0, 4)
  broken(w, "Telemetry report of unknown version", b, 0, "unknown_version")
end

-- Tree --------------------------------------------------------------------------------------------------------------

local inside = false -- Wireshark's dissectors are at work on a packet inside; what they find there is ours already

local handlers = {
  ethernet = "eth_withoutfcs", ipv4 = "ip", ipv6 = "ipv6", udp = "udp", tcp = "tcp", vxlan = "vxlan", nsh = "nsh",
}

-- hand gives bytes to a dissector of Wireshark. What that writes about addresses and columns is of the packet inside.
local function hand(tvb, pinfo, tree, start, at, length)
  local name = handlers[start]
  local dissector = name and Dissector.get(name)
  if not dissector or length <= 0 then return end
  local src, dst, src_port, dst_port = pinfo.src, pinfo.dst, pinfo.src_port, pinfo.dst_port
  local net_src, net_dst, dl_src, dl_dst = pinfo.net_src, pinfo.net_dst, pinfo.dl_src, pinfo.dl_dst
  inside = true
  local ok = pcall(function() dissector:call(tvb(at, length):tvb(), pinfo, tree) end)
  inside = false
  pinfo.src, pinfo.dst, pinfo.src_port, pinfo.dst_port = src, dst, src_port, dst_port
  pinfo.net_src, pinfo.net_dst, pinfo.dl_src, pinfo.dl_dst = net_src, net_dst, dl_src, dl_dst
  if not ok then tree:add_proto_expert_info(experts.fragment) end
end

local show_fields

local function show_layers(tvb, pinfo, tree, layers)
  for _, l in ipairs(layers) do
    if l.inner then
      show_layers(tvb, pinfo, tree, l.inner)
      local inner = tree:add(tvb(l.at, l.length), "Packet in the report (" .. l.length .. " bytes)")
      hand(tvb, pinfo, inner, l.start, l.at, l.length)
    else
      local sub = tree
      if l.title ~= "" then sub = tree:add(tvb(l.at, l.length), l.title) end
      show_fields(tvb, pinfo, sub, l.fields)
    end
  end
end

function show_fields(tvb, pinfo, tree, b)
  for _, f in ipairs(b) do
    if f.fields then
      if #f.fields > 0 then show_fields(tvb, pinfo, tree:add(tvb(f.at, f.length), f.title), f.fields) end
    elseif f.inner then
      show_layers(tvb, pinfo, tree, { f })
    else
      local name, v, at, n = f[1], f[2], f[3], f[4]
      local item
      if kinds[name] == "u64" then
        if type(v) == "number" then v = { 0, v } end
        v = UInt64.new(v[2], v[1])
      end
      if v == nil then
        item = tree:add(fields[name], tvb(at, n))
      elseif at then
        item = tree:add(fields[name], tvb(at, n), v)
      else
        item = tree:add(fields[name], v)
        item:set_generated()
      end
      if f.none then item:append_text(" (not available)") end
      if name == "int.error" then
        item:append_text(": " .. texts[v])
        item:add_proto_expert_info(cut[v] and experts.cut or experts.malformed, texts[v])
      elseif name == "int.quirk" then
        item:add_proto_expert_info(experts.quirk, "Dialect: " .. v)
      end
    end
  end
end

-- Registration ------------------------------------------------------------------------------------------------------

local ports = {}

local function is_report_port(port) return ports[port] == true end

-- ipv4_number returns an address as profile_for wants it.
local function ipv4_number(address)
  local a, b, c, d = tostring(address):match("^(%d+)%.(%d+)%.(%d+)%.(%d+)$")
  return a and ((a * 256 + b) * 256 + c) * 256 + d
end

function report.dissector(tvb, pinfo, tree)
  if inside then return 0 end
  local w = new_walk(tvb:raw(), profile_for(ipv4_number(pinfo.net_src), pinfo.src_port, pinfo.dst_port))
  read_report(w)
  local item = tree:add(report, tvb())
  show_layers(tvb, pinfo, item, w.layers)
  pinfo.cols.protocol = "INT report"
  local version = w.layers[1] and w.layers[1].title
  if version and version ~= "" then pinfo.cols.info = version end
  return tvb:len()
end

local encapsulation = Field.new("frame.encap_type")
local starts = { [1] = "ethernet", [7] = "ip", [15] = "loopback", [25] = "linux_sll", [129] = "ip", [130] = "ip",
  [210] = "linux_sll2" }

function int.dissector(tvb, pinfo, tree)
  if inside or not p.find_int then return end
  local encap = encapsulation()
  local w = new_walk(tvb:raw(), default_profile)
  w.is_report_port = is_report_port
  run(w, encap and starts[encap.value] or "ethernet")
  if #w.layers == 0 then return end
  local item = tree:add(int, tvb(w.layers[1].at))
  show_layers(tvb, pinfo, item, w.layers)
  -- Wireshark does not know what is behind INT, as it does not know of INT.
  local b = w.behind_int
  if b and handlers[b.start] and b.length > 0 then
    local inner = item:add(tvb(b.at, b.length), "Packet behind INT (" .. b.length .. " bytes)")
    hand(tvb, pinfo, inner, b.start, b.at, b.length)
  end
end

local registered

local function refresh()
  profiles = {}
  for _, d in ipairs(dialects) do profiles[d[1]] = new_profile(d[2]) end
  default_profile = profiles[dialects[p.dialect] and dialects[p.dialect][1] or "spec"]
  read_rules()
  ports = {}
  for first, last in tostring(p.report_ports):gmatch("(%d+)%-?(%d*)") do
    for port = tonumber(first), math.min(tonumber(last) or tonumber(first), 65535) do ports[port] = true end
  end
  local table_of_ports = DissectorTable.get("udp.port")
  if registered and registered ~= "" then table_of_ports:remove(registered, report) end
  registered = tostring(p.report_ports)
  if registered ~= "" then table_of_ports:add(registered, report) end
end

int.prefs_changed = refresh
refresh()
register_postdissector(int)
