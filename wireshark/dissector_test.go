package wireshark

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/dissect"
)

// A setting is a code point, in the words of Waybill and of the preferences.
type setting struct{ key, value, preference string }

// settings are sets of code points that go together. What they share is below.
var settings = []struct {
	name  string
	extra []setting
}{
	{"v0.5", []setting{
		{"int_format_for_version_0", "v0.5", "version0:v0.5"},
		{"vxlan_gpe_next_protocol_5", "int-0.5", "gpe5:int-0.5"},
		{"int_udp_port", "17768", "udp_port:17768"},
		{"int_dscp", "23", "dscp:23"},
		{"gre_int_protocol", "17769", "gre_protocol:17769"},
	}},
	{"2016", []setting{
		{"int_format_for_version_0", "2016", "version0:2016"},
		{"vxlan_gpe_next_protocol_5", "int-2016", "gpe5:int-2016"},
		{"geneve_int_class", "171", "geneve_classes:0x0103,0xab"},
		{"int_udp_port", "555", "udp_port:555"},
		{"probe_marker", "0xaabbccddeeff0011", "probe_marker:aabbccddeeff0011"},
	}},
	{"v1.0", []setting{
		{"int_format_for_version_0", "v1.0", "version0:v1.0"},
		{"vxlan_gpe_next_protocol_5", "mpls", "gpe5:mpls"},
		{"int_dscp", "23", "dscp:23"},
		{"int_before_tcp_options", "true", "before_tcp_options:TRUE"},
		{"int_udp_port", "17768", "udp_port:17768"},
	}},
	{"none", nil},
}

const (
	recordLen = 16 // in front of each packet in a pcap file
	headers   = 42 // Ethernet, IPv4 and UDP
	some      = 20 // packets of each capture
)

// TestDissector has tshark read vectors, captures, and what cutting and changing makes of them, in all dialects.
// The dissector shows what our decoder reads: the same fields with the same values in the same order, and no other.
func TestDissector(t *testing.T) {
	if test.RaceDetector {
		t.Skip("nothing here runs side by side")
	}
	tshark, err := exec.LookPath("tshark")
	if err != nil {
		t.Skip("tshark is not installed")
	}
	seed, all := test.Seed(t)
	chosen := int(seed % uint64(len(settings)))
	if !all {
		// As many runs as settings. A packet that was changed may have Wireshark take those after it, of the same
		// ports, for another protocol: such a change is not to be met by chance.
		seed = uint64(chosen)
	}
	vectors, captured := vectorFrames(t), captureFrames(t, 0, all) // in these are all fields
	seen := make([]map[string]bool, len(settings))
	t.Run("settings", func(t *testing.T) {
		for i, s := range settings {
			var frames [][]byte
			for d := range codepoint.Dialects {
				if all || i == chosen || (d+int(seed))%len(settings) == i {
					for _, v := range vectors {
						frames = append(frames, from(v, d))
					}
				}
			}
			if all || i == chosen {
				frames = append(frames, captured...)
				frames = append(frames, damage(frames, seed)...)
			}
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				seen[i] = compare(t, tshark, frames, s.extra)
			})
		}
	})
	for _, m := range listed.FindAllStringSubmatch(string(Script), -1) {
		if !slices.ContainsFunc(seen, func(s map[string]bool) bool { return s[m[1]] }) {
			t.Errorf("no packet has %s", m[1])
		}
	}
}

// listed finds the fields in the list of the dissector.
var listed = regexp.MustCompile(`\{ "(int\.[a-z0-9_.]+)", "[a-z0-9]+", "`)

// Packets in reports and behind INT are read by Wireshark's own dissectors: here TCP to port 80, per the vectors.
func TestDissectorHandsOver(t *testing.T) {
	tshark, err := exec.LookPath("tshark")
	if err != nil {
		t.Skip("tshark is not installed")
	}
	dir := t.TempDir()
	script := filepath.Join(dir, FileName)
	if err := os.WriteFile(script, Script, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{
		"tr10_all_metadata_ipv4": frame(readVector(t, "tr10_all_metadata_ipv4"), 32766, 0),
		"int21_md_new_udp_tcp":   readVector(t, "int21_md_new_udp_tcp"),
	} {
		file := writePcap(t, dir, [][]byte{b})
		cmd := exec.CommandContext(t.Context(), tshark, "-r", file, "-X", "lua_script:"+script, "-o",
			"int.udp_port:17768", "-T", "fields", "-e", "tcp.dstport", "-e", "ip.src")
		cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir)
		out, err := cmd.Output()
		if port, _, _ := strings.Cut(string(out), "\t"); err != nil || port != "80" {
			t.Errorf("%s: %q, %v", name, out, err)
		}
	}
}

func readVector(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "testdata", "vectors", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var v struct{ Hex string }
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return decode(v.Hex)
}

// dialectFrom is the /24 of sources that a dialect is given to, by its index.
func dialectFrom(dialect int) string { return fmt.Sprintf("10.99.%d.0/24", dialect) }

// from returns an Ethernet frame with its IPv4 source in the network of a dialect. Checksums are not mended.
func from(frame []byte, dialect int) []byte {
	frame = slices.Clone(frame)
	if len(frame) >= 34 && binary.BigEndian.Uint16(frame[12:]) == 0x0800 {
		copy(frame[26:], []byte{10, 99, byte(dialect), 7})
	}
	return frame
}

// compare compares what the dissector and our decoder make of frames, and returns the names of the fields that it saw.
func compare(t *testing.T, tshark string, frames [][]byte, extra []setting) map[string]bool {
	t.Helper()
	seen := map[string]bool{}
	cfg := codepoint.New()
	var rules []string
	for i, d := range codepoint.Dialects {
		rule, err := codepoint.ParseRule(dialectFrom(i), d.Name)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Rules = append(cfg.Rules, rule)
		rules = append(rules, dialectFrom(i)+"="+d.Name)
	}
	args := []string{"-o", "int.dialects:" + strings.Join(rules, ",")}
	for _, s := range extra {
		if err := cfg.Set(s.key, s.value); err != nil {
			t.Fatal(err)
		}
		args = append(args, "-o", "int."+s.preference)
	}
	cfg.Compile()
	i, differences := 0, 0
	for got, err := range shown(t, tshark, frames, args) {
		if err != nil {
			t.Fatalf("packet %d: %v", i, err)
		}
		for _, f := range got {
			name, _, _ := strings.Cut(f, "=")
			seen[name] = true
		}
		want := flatten(nil, dissect.Packet(frames[i], dissect.Ethernet, cfg))
		if !slices.Equal(got, want) {
			at := 0
			for at < len(got) && at < len(want) && got[at] == want[at] {
				at++
			}
			t.Errorf("packet %d, from field %d on: got %q, want %q\n%s", i, at, tail(got, at), tail(want, at),
				hex.EncodeToString(frames[i]))
			if differences++; differences == 5 {
				t.FailNow()
			}
		}
		i++
	}
	if i != len(frames) {
		t.Errorf("tshark shows %d packets of %d", i, len(frames))
	}
	return seen
}

func tail(list []string, at int) []string { return list[at:min(len(list), at+8)] }

// shown returns the fields that the dissector shows of each frame, as name=value.
func shown(t *testing.T, tshark string, frames [][]byte, args []string) func(func([]string, error) bool) {
	t.Helper()
	dir := t.TempDir()
	file, script := writePcap(t, dir, frames), filepath.Join(dir, FileName)
	if err := os.WriteFile(script, Script, 0o600); err != nil {
		t.Fatal(err)
	}
	// A home of its own, as the dissector may be installed in that of the user.
	cmd := exec.CommandContext(t.Context(), tshark, append([]string{
		"-r", file, "-X", "lua_script:" + script, "-T", "pdml", "-J", "int int.report",
	}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func(yield func([]string, error) bool) {
		d := xml.NewDecoder(out)
		var fields []string
		for {
			token, err := d.RawToken()
			if err != nil {
				if !errors.Is(err, io.EOF) {
					yield(nil, err)
				}
				break
			}
			switch e := token.(type) {
			case xml.StartElement:
				f, err := fieldOf(e)
				if err != nil {
					yield(nil, err)
					return
				}
				if f != "" {
					fields = append(fields, f)
				}
			case xml.EndElement:
				if e.Name.Local == "packet" {
					if !yield(fields, nil) {
						return
					}
					fields = nil
				}
			}
		}
		if err := cmd.Wait(); err != nil {
			yield(nil, fmt.Errorf("%w: %s", err, errs.String()))
		}
		if strings.Contains(errs.String(), "Lua") {
			yield(nil, errors.New(errs.String()))
		}
	}
}

// writePcap writes frames to a file in dir and returns its name.
func writePcap(t *testing.T, dir string, frames [][]byte) string {
	t.Helper()
	pcap := binary.LittleEndian.AppendUint32(nil, 0xa1b2c3d4)
	pcap = append(pcap, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 1, 0, 0, 0)
	for _, f := range frames {
		pcap = append(pcap, make([]byte, recordLen/2)...)
		pcap = binary.LittleEndian.AppendUint32(pcap, uint32(len(f)))
		pcap = binary.LittleEndian.AppendUint32(pcap, uint32(len(f)))
		pcap = append(pcap, f...)
	}
	file := filepath.Join(dir, "frames.pcap")
	if err := os.WriteFile(file, pcap, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// fieldOf returns a field of the dissector as name=value, empty for another element.
func fieldOf(e xml.StartElement) (string, error) {
	var name, show string
	for _, a := range e.Attr {
		switch a.Name.Local {
		case "name":
			name = a.Value
		case "show":
			show = a.Value
		}
	}
	if strings.HasPrefix(name, "_ws.lua") && strings.Contains(name, "error") || strings.Contains(show, "Lua Error") {
		return "", fmt.Errorf("%s: %s", name, show)
	}
	if e.Name.Local != "field" || !strings.HasPrefix(name, "int.") || aboutExperts[name] {
		return "", nil
	}
	if strings.HasPrefix(show, "0x") {
		n, err := strconv.ParseUint(show, 0, 64)
		if err != nil {
			return "", err
		}
		show = strconv.FormatUint(n, 10)
	}
	if name != "int.ts_device_id" {
		show = strings.ReplaceAll(show, ":", "")
	}
	return name + "=" + show, nil
}

// aboutExperts are the fields of the expert information, which repeat others.
var aboutExperts = map[string]bool{
	"int.truncated": true, "int.malformed": true, "int.dialect": true, "int.fragment": true,
}

// prefixes are the names in Wireshark of the layers of our decoder.
var prefixes = map[string]string{
	"telemetry_report": "int.report.", "telemetry_report_v0_5": "int.report.", "telemetry_report_v1_0": "int.report.",
	"telemetry_report_v2_0": "int.report.", "int_probe_marker": "int.", "int_shim_l4_v0_5": "int.shim.",
	"int_shim_l4_v1": "int.shim.", "int_shim_l4_v2": "int.shim.", "int_shim_vxlan_gpe_2016": "int.shim.",
	"int_shim_vxlan_gpe_v0_5": "int.shim.", "int_shim_vxlan_gpe_v1_0": "int.shim.", "int_shim_vxlan_gpe_v2": "int.shim.",
	"int_shim_gre_v2": "int.shim.", "int_2016": "int.", "int_hbh_v0_5": "int.", "int_hbh_v1": "int.", "int_md": "int.",
	"int_mx": "int.", "int_tail_v0_5": "int.tail.", "int_flow_sequence": "int.flow_", "int_contents": "int.",
}

// groups are the names of lists and groups in a layer.
var groups = map[string]string{
	"reports": "", "metadata": "md.", "drop": "drop.", "switch_local": "local.", "flow_gap": "gap.", "tlvs": "tlv.",
	"ts_drop": "ts_drop.", "hops": "hop.",
}

// flatten appends the fields of layers to list as name=value. Of the layers that Wireshark shows itself only what is
// about INT is there.
func flatten(list []string, layers []dissect.Layer) []string {
	for _, l := range layers {
		prefix := prefixes[l.Name]
		list = flattenFields(list, prefix, l.Name == "int_contents", l.Fields)
	}
	return list
}

func flattenFields(list []string, prefix string, contents bool, fields []dissect.Field) []string {
	add := func(name, value string) { list = append(list, name+"="+value) }
	for _, f := range fields {
		if e, ok := f.Value.(wire.Error); ok {
			if e >= wire.ErrTruncatedShim && e <= wire.ErrTruncatedTSReport {
				add("int.error", strings.ReplaceAll(e.Error(), ":", ""))
			}
			continue
		}
		if f.Name == "quirk" {
			add("int.quirk", f.Text())
			continue
		}
		if prefix == "" {
			continue
		}
		name := prefix + f.Name
		if contents && f.Name == "hex" {
			name = "int.contents"
		}
		switch v := f.Value.(type) {
		case uint64:
			add(name, strconv.FormatUint(v, 10))
		case bool:
			add(name, map[bool]string{true: "1", false: "0"}[v])
		case string:
			if v != "" {
				add(name, v)
			}
		case []string:
			for _, s := range v {
				add(name, s)
			}
		case dissect.Object:
			list = flattenFields(list, prefix+groups[f.Name], false, v)
		case []dissect.Object:
			for _, o := range v {
				list = flattenFields(list, prefix+groups[f.Name], false, o)
			}
		case []dissect.Layer:
			list = flatten(list, v)
		}
	}
	return list
}

// vectorFrames returns the vectors and the reports of peers as Ethernet frames.
func vectorFrames(t *testing.T) [][]byte {
	t.Helper()
	var frames [][]byte
	for _, pattern := range []string{"vectors", "peers"} {
		files, err := filepath.Glob(filepath.Join("..", "testdata", pattern, "*.json"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no %s: %v", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var v struct {
				Start  string         `json:"starts_at"`
				Config map[string]any `json:"config"`
				Hex    string         `json:"hex"`
			}
			if err := json.Unmarshal(text, &v); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			b, err := hex.DecodeString(v.Hex)
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			switch v.Start {
			case "ethernet":
			case "telemetry_report":
				b = frame(b, 32766, 0)
			case "vxlan_gpe":
				b = frame(b, 4790, 0)
			case "geneve":
				b = frame(b, 6081, 0)
			case "int_shim_l4_v2":
				b = frame(b, 9, 23)
			case "int_2016": // behind VXLAN-GPE and a shim
				shim := []byte{0x0c, 0, 0, 5, 0, 0, 1, 0, 1, 0, byte(1 + len(b)/4), 3}
				b = frame(append(shim, b...), 4790, 0)
			default:
				t.Fatalf("%s starts at %s", file, v.Start)
			}
			frames = append(frames, b)
		}
	}
	return append(frames, made...)
}

// intBehindUDP is a frame with one hop of INT-MD, to the ports of INT and of reports.
var intBehindUDP = frame(decode("14057ffe 20000205 90000000 00000000 00000007 01000009"), 17768, 0)

// made has what no vector has.
var made = [][]byte{
	// A TLV with an IPv4 packet that ends 2 bytes before it.
	frame(decode(
		"20000001 00000001 01070020 20060000 45000016 00000000 40fd0000 00000000 00000000 00000000",
	), 32766, 0),
	// INT-MD behind NSH and two VLAN tags in VXLAN-GPE.
	frame(slices.Concat(
		decode("0c000004 00000100 0fc20103 000001ff 020000000002 020000000001 88a80001 81000002"), intBehindUDP[12:],
	), 4790, 0),
	// INT-MD in GRE in IPv6 with a hop-by-hop header.
	slices.Concat(
		decode("020000000002 020000000001 86dd 60000000 0000 0040"), make([]byte, 32),
		decode("2f00010400000000 00006558"), intBehindUDP,
	),
}

// decode reads bytes in hex with blanks.
func decode(text string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		panic(err)
	}
	return b
}

// frame returns an Ethernet frame with a UDP packet to port.
func frame(payload []byte, port uint16, dscp uint8) []byte {
	b := []byte{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0, 0x45, dscp << 2}
	b = binary.BigEndian.AppendUint16(b, uint16(28+len(payload)))
	b = append(b, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0xc3, 0x51)
	b = binary.BigEndian.AppendUint16(b, port)
	b = binary.BigEndian.AppendUint16(b, uint16(8+len(payload)))
	return append(append(b, 0, 0), payload...)
}

// captureFrames returns packets of the captures, with sources of the dialect that they are in: some of each, or all.
func captureFrames(t *testing.T, seed uint64, all bool) [][]byte {
	t.Helper()
	files, err := filepath.Glob("../testdata/captures/*.pcap")
	if err != nil || len(files) == 0 {
		t.Fatalf("no captures: %v", err)
	}
	var frames [][]byte
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		dialect := slices.IndexFunc(codepoint.Dialects, func(d *codepoint.Dialect) bool {
			return d.Name == dialectOf(filepath.Base(file))
		})
		if dialect < 0 {
			t.Fatalf("no dialect for %s", file)
		}
		var packets [][]byte
		for b = b[24:]; len(b) >= recordLen; {
			n := recordLen + int(binary.LittleEndian.Uint32(b[8:]))
			packets = append(packets, from(b[recordLen:n], dialect))
			b = b[n:]
		}
		step := max(1, len(packets)/some)
		for i, p := range packets {
			if all || i%step == int(seed)%step {
				frames = append(frames, p)
			}
		}
	}
	return frames
}

// dialectOf returns the dialect of a capture, by its name.
func dialectOf(file string) string {
	for _, d := range [][2]string{
		{"onos_v10", "onos-int10-ver0"},
		{"onos_fabric_v04", "onos-int04"},
		{"geant_v04", "geant-int04"},
		{"geant_v10_2021", "geant-int10-2021"},
		{"geant_v10_head", "geant-int10"},
		{"montimage", "montimage-int10"},
		{"fabric_tna", "fabric-tna-bmv2"},
		{"tps", "tps"},
		{"ioam", "linux-ioam"},
	} {
		if strings.HasPrefix(file, d[0]) {
			return d[1]
		}
	}
	return ""
}

// damage cuts and changes frames: those of UDP behind its header and with the lengths that fit, as Wireshark reads no
// report in others.
func damage(frames [][]byte, seed uint64) [][]byte {
	random := rand.New(rand.NewPCG(1, seed))
	var damaged [][]byte
	for _, f := range frames {
		udp := len(f) > headers && binary.BigEndian.Uint16(f[12:]) == 0x0800 && f[14] == 0x45 && f[23] == 17
		keep := 14
		if udp {
			keep = headers
		}
		if len(f) <= keep {
			continue
		}
		cut := slices.Clone(f[:keep+random.IntN(len(f)-keep)])
		if udp {
			binary.BigEndian.PutUint16(cut[16:], uint16(len(cut)-14))
			binary.BigEndian.PutUint16(cut[38:], uint16(len(cut)-34))
		}
		changed := slices.Clone(f)
		for range 1 + random.IntN(6) {
			at := keep + random.IntN(min(len(f)-keep, 1+random.IntN(200)))
			changed[at] = byte(random.Uint32() >> random.IntN(8))
		}
		damaged = append(damaged, cut, changed)
	}
	return damaged
}
