package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/wire/dissect"
)

var update = flag.Bool("update", false, "write what the commands print into the golden files")

const (
	vectors  = "../../testdata/vectors/"
	captures = "../../testdata/captures/"
)

// runDecode runs "waybill decode" in this process.
func runDecode(args ...string) (stdout, stderr string, code int) {
	var out, errs bytes.Buffer
	root := newRootCommand()
	root.SetArgs(append([]string{"decode"}, args...))
	root.SetOut(&out)
	root.SetErr(&errs)
	code = command.Execute(root)
	return out.String(), errs.String(), code
}

// A vectorFile is what the tests need of a file of testdata/vectors.
type vectorFile struct {
	Name     string          `json:"name"`
	StartsAt string          `json:"starts_at"`
	Config   json.RawMessage `json:"config"`
	Hex      string          `json:"hex"`
	Length   int             `json:"length"`
	Expect   json.RawMessage `json:"expect"`
}

func readVector(t *testing.T, file string) (v vectorFile) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return v
}

// vectorArgs returns the flags that decode a vector. Its configuration goes through a file of code points.
func vectorArgs(t *testing.T, v *vectorFile) []string {
	t.Helper()
	points := filepath.Join(t.TempDir(), "points.json")
	if err := os.WriteFile(points, v.Config, 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"--hex", v.Hex, "--start", v.StartsAt, "--code-points", points}
}

// TestDecodeVectors holds the JSON of every good vector against what it expects, through the command line.
func TestDecodeVectors(t *testing.T) {
	files, _ := filepath.Glob(vectors + "*.json")
	for _, file := range files {
		v := readVector(t, file)
		if strings.HasPrefix(v.Name, "bad_") {
			continue
		}
		t.Run(v.Name, func(t *testing.T) {
			stdout, stderr, code := runDecode(append(vectorArgs(t, &v), "-o", "json")...)
			if code != 0 || stderr != "" {
				t.Fatalf("exit code %d: %s", code, stderr)
			}
			var want bytes.Buffer
			want.WriteString(`{"length":` + json.Number(itoa(v.Length)).String() + `,"layers":`)
			if err := json.Compact(&want, v.Expect); err != nil {
				t.Fatal(err)
			}
			want.WriteString("}\n")
			if stdout != want.String() {
				t.Errorf("\ngot  %swant %s", stdout, want.String())
			}
		})
	}
}

func itoa(n int) string {
	b, _ := json.Marshal(n)
	return string(b)
}

// TestDecodeGolden compares whole outputs with testdata/decode. After a wanted change: go test ./cmd/waybill -update.
func TestDecodeGolden(t *testing.T) {
	vector := func(name string) []string {
		v := readVector(t, vectors+name+".json")
		return vectorArgs(t, &v)
	}
	onos := []string{"--dialect", "onos-int10-ver0", "--time", "utc"}
	for _, c := range []struct {
		name string
		args []string
	}{
		{"tree_vector_geneve", vector("int21_md_geneve")},
		{"tree_vector_coalesced", vector("tr20_coalesced_three")},
		{"tree_vector_ts_drop", vector("ts_drop_report")},
		{"tree_vector_ioam", vector("ioam_ipv6_all_fields_oss")},
		{"tree_vector_bad_tlv", vector("bad_tr20_tlv_overrun")},
		{"tree_vector_invalid", append(vector("int21_md_all_bits_invalid"), "--color", "always")},
		{"tree_onos_cut_report", append(onos, "--count", "1", captures+"onos_v10_tcp_reports.pcap")},
		{"tree_geant_errors", []string{
			"--dialect", "geant-int04", "--time", "relative", "--errors-only", "-c", "10",
			captures + "geant_v04_udp_s2s3.pcap",
		}},
		{"json_ioam", []string{"-o", "json", "-c", "2", captures + "ioam_basic_recv.pcap"}},
		{
			"json_tps_report",
			[]string{"-o", "json", "-c", "1", "--dialect", "any=tps", captures + "tps_v21_udp_reports.pcap"},
		},
		{"fields_hops", []string{
			"--dialect", "onos-int10-ver0", "-T", "fields", "-E", "header=y", "-c", "8",
			"-e", "frame.number", "-e", "frame.time", "-e", "report.node", "-e", "report.sequence", "-e", "flow", "-e",
			"hop.node", "-e", "hop.latency",
			"-e", "hop.queue_occupancy", "-e", "int_hbh_v1.hops.egress_ts", "-e", "quirk",
			captures + "onos_v10_udp_reports.pcap",
		}},
		{"fields_drops", []string{
			"--dialect", "10.0.0.0/29=fabric-tna-bmv2", "-E", "separator=|", "-c", "12",
			"-e", "frame.time_relative", "-e", "report.node", "-e", "report.drop_reason", "-e", "report.drop_text",
			"-e", "flow.src_port", "-e", "ipv4.src",
			captures + "fabric_tna_xd_drop_reports.pcap",
		}},
		{"stats_geant", []string{"--stats", "--dialect", "geant-int04", captures + "geant_v04_udp_s2s3.pcap"}},
		{
			"stats_json_drops",
			[]string{"--stats", "-o", "json", "--dialect", "fabric-tna", captures + "fabric_tna_xd_drop_reports.pcap"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			stdout, stderr, code := runDecode(c.args...)
			if code != 0 || stderr != "" {
				t.Fatalf("exit code %d: %s", code, stderr)
			}
			golden := filepath.Join("testdata", "decode", c.name+".golden")
			if *update {
				if err := os.WriteFile(golden, []byte(stdout), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if stdout != string(want) {
				t.Errorf("%s:\n%s", golden, firstDifference(stdout, string(want)))
			}
		})
	}
}

// firstDifference shows the first line in which two texts differ.
func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return "line " + itoa(i+1) + "\ngot  " + g[i] + "\nwant " + w[i]
		}
	}
	return "got " + itoa(len(g)) + " lines, want " + itoa(len(w))
}

// TestDecodeErrors holds exit codes and messages: one line on the standard error, and 2 for a wrong command line.
func TestDecodeErrors(t *testing.T) {
	text := filepath.Join(t.TempDir(), "points.yaml")
	if err := os.WriteFile(text, []byte("int_dcsp: 23\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	pcap := captures + "onos_v10_udp_reports.pcap"
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{nil, 2, "name a capture file, or - for the standard input"},
		{[]string{"--frob", pcap}, 2, "unknown flag: --frob"},
		{[]string{"-o", "xml", pcap}, 2, "--output: got \"xml\", want one of tree, json, fields"},
		{[]string{"--time", "local", pcap}, 2, "--time: got \"local\""},
		{[]string{"--color", "red", pcap}, 2, "--color: got \"red\""},
		{[]string{"--count", "-1", pcap}, 2, "--count: got -1"},
		{[]string{"--count", "x", pcap}, 2, "--count is \"x\""},
		{[]string{"-o", "fields", pcap}, 2, "-o fields needs at least one -e FIELD"},
		{[]string{"-o", "json", "-e", "node", pcap}, 2, "-e goes with -o fields"},
		{[]string{"-e", "ipv4.scr", pcap}, 2, "unknown field \"ipv4.scr\"; did you mean ipv4.src"},
		{[]string{"-e", "latency", pcap}, 2, "did you mean report.latency, hop.latency"},
		{[]string{"-e", "qqqqqqqqqq", pcap}, 2, "unknown field \"qqqqqqqqqq\"; see --list-fields"},
		{[]string{"-e", "node", "-E", "header=1", pcap}, 2, "-E: header: got \"1\", want y or n"},
		{[]string{"-e", "node", "-E", "quote=d", pcap}, 2, "-E: got \"quote=d\""},
		{[]string{"--dialect", "cisco", pcap}, 2, "--dialect: unknown dialect \"cisco\"; known are "},
		{[]string{"--dialect", "10.0.0.300=tps", pcap}, 2, "--dialect: source \"10.0.0.300\": want PREFIX[:PORT]"},
		{[]string{"--set", "int_dscp", pcap}, 2, "--set: got \"int_dscp\", want KEY=VALUE"},
		{[]string{"--set", "int_dcsp=1", pcap}, 2, "--set: unknown code point \"int_dcsp\""},
		{[]string{"--set", "ds_lengths={", pcap}, 2, "--set: {: "},
		{[]string{"--dscp", "0x17/64", pcap}, 2, "--dscp: int_dscp_mask: got 64, want at most 63"},
		{[]string{"--report-port", "http", pcap}, 2, "--report-port: report_port: got \"http\", want a number"},
		{
			[]string{"--code-points", text, pcap},
			2,
			"--code-points: " + text + ":1: unknown key \"int_dcsp\"; did you mean int_dscp?",
		},
		{[]string{"--code-points", text + ".no", pcap}, 2, "no such file"},
		{[]string{"--hex", "0", "--start", "ipv4"}, 2, "--hex: got an odd number of hex digits, 1"},
		{[]string{"--hex", "0g"}, 2, "--hex: 'g' is no hex digit"},
		{[]string{"--hex", "0x"}, 2, "--hex: no bytes"},
		{[]string{"--hex", "00", "--start", "ip5"}, 2, "--start: unknown start \"ip5\"; known are payload, ethernet"},
		{[]string{"--hex", "00", pcap}, 2, "--hex and a file exclude each other"},
		{[]string{"no.pcap"}, 1, "no such file"},
		{[]string{"decode_test.go"}, 1, "decode_test.go is not a pcap or pcapng file"},
	} {
		stdout, stderr, code := runDecode(c.args...)
		line, isLine := strings.CutSuffix(stderr, "\n")
		if code != c.code || !strings.Contains(line, c.want) || !strings.HasPrefix(line, "waybill decode: ") ||
			!isLine || strings.Contains(line, "\n") {
			t.Errorf("%q: got exit code %d, %q; want %d, %q", c.args, code, stderr, c.code, c.want)
		}
		if stdout != "" {
			t.Errorf("%q: printed %q", c.args, stdout)
		}
	}
}

// TestDecodeCutFile reads a file that ends in the middle of a packet: what is before it is printed.
func TestDecodeCutFile(t *testing.T) {
	b, err := os.ReadFile(captures + "onos_v10_udp_reports.pcap")
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(t.TempDir(), "cut.pcap")
	if err := os.WriteFile(cut, b[:1000], 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := runDecode("-o", "json", cut)
	if code != 1 || strings.Count(stdout, "\n") != 5 || !strings.Contains(stderr, "cut off after packet 5") ||
		strings.Count(stderr, "\n") != 1 {
		t.Errorf("got exit code %d, %d lines, %q", code, strings.Count(stdout, "\n"), stderr)
	}
	if stdout, _, code := runDecode("-o", "json", "-c", "5", cut); code != 0 || strings.Count(stdout, "\n") != 5 {
		t.Errorf("with --count 5: got exit code %d, %d lines", code, strings.Count(stdout, "\n"))
	}
}

// TestDecodeForeignLinkType reads a file whose packets start with a header that is not known.
func TestDecodeForeignLinkType(t *testing.T) {
	b, err := os.ReadFile(captures + "onos_v10_udp_reports.pcap")
	if err != nil {
		t.Fatal(err)
	}
	b[20] = 127 // IEEE 802.11 with radiotap
	name := filepath.Join(t.TempDir(), "wlan.pcap")
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := runDecode(name)
	if code != 1 || stdout != "" ||
		!strings.Contains(stderr,
			"100 of 100 packets have a link type that is not read; the first is packet 1 with LINKTYPE 127") {
		t.Errorf("got exit code %d, %q, %q", code, stdout, stderr)
	}
}

// TestDecodeStandardInput reads a capture from a pipe.
func TestDecodeStandardInput(t *testing.T) {
	file, err := os.Open(captures + "ioam_basic_recv.pcap")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		io.Copy(w, file)
		w.Close()
	}()
	stdin := os.Stdin
	os.Stdin = r
	defer func() { os.Stdin = stdin }()
	stdout, stderr, code := runDecode("-o", "json", "-")
	if code != 0 || strings.Count(stdout, "\n") != 23 {
		t.Errorf("got exit code %d, %d lines, %q", code, strings.Count(stdout, "\n"), stderr)
	}
}

// TestDecodeLive reads a pipe that stays open: each packet is printed when it has come, also into another pipe.
func TestDecodeLive(t *testing.T) {
	b, err := os.ReadFile(captures + "ioam_basic_recv.pcap")
	if err != nil {
		t.Fatal(err)
	}
	in, capture, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	printed, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer printed.Close()
	stdin := os.Stdin
	os.Stdin = in
	defer func() { os.Stdin = stdin }()
	root := newRootCommand()
	root.SetArgs([]string{"decode", "-e", "frame.number", "-"})
	root.SetOut(out)
	root.SetErr(io.Discard)
	code := make(chan int)
	go func() {
		defer out.Close()
		code <- command.Execute(root)
	}()
	capture.Write(b)
	printed.SetReadDeadline(time.Now().Add(10 * time.Minute))
	lines := bufio.NewScanner(printed)
	for n := 1; n <= 23; n++ {
		if !lines.Scan() || lines.Text() != fmt.Sprint(n) {
			t.Fatalf("line %d: got %q, %v", n, lines.Text(), lines.Err())
		}
	}
	capture.Close()
	if got := <-code; got != 0 {
		t.Errorf("got exit code %d", got)
	}
}

// TestDecodeNanoseconds keeps what a capture with nanoseconds knows of the time.
func TestDecodeNanoseconds(t *testing.T) {
	b, err := os.ReadFile(captures + "ioam_basic_recv.pcap")
	if err != nil {
		t.Fatal(err)
	}
	copy(b, "\x4d\x3c\xb2\xa1") // the magic of little-endian nanoseconds
	const second = 1700000000
	binary.LittleEndian.PutUint32(b[24:], second)
	binary.LittleEndian.PutUint32(b[28:], 123456789)
	name := filepath.Join(t.TempDir(), "nanoseconds.pcap")
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ form, want string }{
		{"utc", "1  2023-11-14 22:13:20.123456789 UTC  "},
		{"relative", "1  0.000000 s  "},
		{"none", "1  2001:db8::1 "},
	} {
		stdout, _, code := runDecode("--time", c.form, "-c", "1", name)
		if code != 0 || !strings.HasPrefix(stdout, c.want) {
			t.Errorf("--time %s: got exit code %d, %.60q", c.form, code, stdout)
		}
	}
}

// TestDecodeReaderGone writes into a pipe that nobody reads any more: that is no error.
func TestDecodeReaderGone(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	var errs bytes.Buffer
	root := newRootCommand()
	root.SetArgs([]string{"decode", captures + "onos_v10_udp_reports.pcap"})
	root.SetOut(w)
	root.SetErr(&errs)
	if code := command.Execute(root); code != 0 || errs.Len() > 0 {
		t.Errorf("got exit code %d, %q", code, errs.String())
	}
	if err := command.Quiet(syscall.ENOSPC); err == nil {
		t.Error("a full disk is no error")
	}
}

// TestDecodeFlagsAreCodePoints sets the same code points by a file, by --set and by flags.
func TestDecodeFlagsAreCodePoints(t *testing.T) {
	v := readVector(t, vectors+"int21_md_tcp_dscp.json")
	points := filepath.Join(t.TempDir(), "points.yaml")
	if err := os.WriteFile(points, []byte("int_dscp: 0x17\nint_dscp_mask: 63\ndialects:\n  10.0.0.0/8: spec\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	bytes := []string{"--hex", v.Hex, "-o", "json"}
	want, _, _ := runDecode(append(bytes, "--code-points", points)...)
	if !strings.Contains(want, `"layer":"int_md"`) {
		t.Fatalf("got %s", want)
	}
	for _, args := range [][]string{
		{"--set", "int_dscp=23"},
		{"--dscp", "0x17"},
		{"--dscp", "23/0x3f"},
		{"--dscp", "0x07/0x07"},
	} {
		if got, stderr, _ := runDecode(append(bytes, args...)...); got != want {
			t.Errorf("%q: got %s%s", args, got, stderr)
		}
	}
	if got, _, _ := runDecode(bytes...); strings.Contains(got, "int_md") {
		t.Errorf("without a mark: got %s", got)
	}
	hops := readVector(t, vectors+"int21_md_per_hop_ds.json")
	got, _, _ := runDecode("--hex", hops.Hex, "-o", "json", "--int-port", "17768", "--set",
		"ds_lengths={0xabcd: {2: 8}}")
	if !strings.Contains(got, `"ds_metadata":"1111111122222222"`) {
		t.Errorf("ds_lengths: got %s", got)
	}
}

// TestDecodeLists prints what is known.
func TestDecodeLists(t *testing.T) {
	for flag, want := range map[string][]string{
		"--list-dialects":    {"onos-int10-ver0", "tps, transparent-security"},
		"--list-fields":      {"hop.latency", "int_md.hops.hop_latency", "flow.src", "ipv4.src"},
		"--list-code-points": {"int_udp_port", "ds_lengths"},
	} {
		stdout, _, code := runDecode(flag)
		for _, text := range want {
			if code != 0 || !strings.Contains(stdout, text) {
				t.Errorf("%s: got exit code %d, no %q", flag, code, text)
			}
		}
	}
}

// TestShortFields asks for every short field of packets of all kinds; none may be unknown or fail.
func TestShortFields(t *testing.T) {
	var args []string
	for i := range shortFields {
		args = append(args, "-e", shortFields[i].name)
	}
	for _, file := range []string{
		"onos_v10_tcp_reports", "fabric_tna_xd_drop_reports", "tps_v21_udp_reports",
		"ioam_full_recv", "geant_v04_udp_s2s3",
	} {
		stdout, stderr, code := runDecode(append(args, captures+file+".pcap")...)
		if code != 0 {
			t.Errorf("%s: exit code %d: %s", file, code, stderr)
		}
		for line := range strings.Lines(stdout) {
			if n := strings.Count(line, "\t"); n != len(shortFields)-1 {
				t.Fatalf("%s: got %d columns, want %d: %s", file, n+1, len(shortFields), line)
			}
		}
	}
}

// TestFieldText writes values that are not available as such, never as numbers.
func TestFieldText(t *testing.T) {
	for _, c := range []struct {
		field dissect.Field
		want  string
	}{
		{dissect.Field{Value: uint64(331), Width: 32, Unit: "us"}, "331"},
		{dissect.Field{Value: uint64(1) << 60, Width: 64, Unit: "ns"}, "1152921504606846976"},
		{dissect.Field{Value: uint64(0xb979), Width: 64}, "0x000000000000b979"},
		{dissect.Field{Value: uint64(0xffffffff), Width: 32, Unit: "ns", Meaning: dissect.NotAvailable}, "n/a"},
		{dissect.Field{Value: true, Width: 1}, "true"},
		{dissect.Field{Value: "10.0.0.1", Width: 32}, "10.0.0.1"},
	} {
		if got := fieldText(&c.field); got != c.want {
			t.Errorf("%+v: got %s, want %s", c.field, got, c.want)
		}
	}
}
