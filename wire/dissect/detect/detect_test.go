package detect_test

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gopacket/gopacket/pcapgo"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/dissect"
	"github.com/waybill-int/waybill/wire/dissect/detect"
)

func captured(t *testing.T, name string) []detect.Packet {
	t.Helper()
	file, err := os.Open(filepath.Join(test.Root(), "testdata/captures", name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := pcapgo.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var packets []detect.Packet
	for {
		b, info, err := r.ReadPacketData()
		if err != nil || len(packets) == 200 {
			return packets
		}
		packets = append(packets, detect.Packet{Time: info.Timestamp, Bytes: b, Start: dissect.Ethernet})
	}
}

// TestPeers asks for the dialect of packets as the tests of other projects build them. One or two packets do not tell
// everything: the dialect must be among those that cannot be told apart.
func TestPeers(t *testing.T) {
	cfg := codepoint.New()
	cfg.Compile()
	for _, name := range []string{
		"host_int_latency", "host_int_gap", "amlight_one_hop", "intcollector_v10",
		"intcollector_v05", "dtel_drop_egress_acl_deny",
	} {
		text, err := os.ReadFile(filepath.Join(test.Root(), "testdata/peers", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var v struct {
			Hex    string
			Config struct{ Profile string }
		}
		if err := json.Unmarshal(text, &v); err != nil {
			t.Fatal(err)
		}
		b, err := hex.DecodeString(v.Hex)
		if err != nil {
			t.Fatal(err)
		}
		result := detect.Detect([]detect.Packet{{Bytes: b, Start: dissect.TelemetryReport}}, cfg)
		if result.Best.Dialect != v.Config.Profile || len(result.Equals) > 0 || !result.Better() {
			t.Errorf("%s: got %s (%s), as well %v, better %t", name, result.Best.Setting, result.Best.Why(),
				result.Equals, result.Better())
		}
	}
}

// TestPoints finds the code points of packets that follow the specifications, where no dialect is needed.
func TestPoints(t *testing.T) {
	cfg := codepoint.New()
	cfg.Compile()
	for _, c := range []struct{ vector, want string }{
		{"int21_md_tcp_dscp", "--dscp 0x17/0x3f"},
		{"int21_md_new_udp_tcp", "--int-port 17768"},
		{"int21_md_gre_ipv4", "--gre-protocol 0x4569"},
		{"int2016_vxlan_gpe", "--gpe-next-protocol-5 int-2016"},
		{"tr20_embedded_int_md_new_udp", "--int-port 17768"},
	} {
		v := test.Vectors(t, c.vector)[0]
		start, err := dissect.ParseStart(v.StartsAt)
		if err != nil {
			t.Fatal(err)
		}
		result := detect.Detect([]detect.Packet{{Bytes: v.Bytes, Start: start}}, cfg)
		if got := strings.Join(result.Best.Flags(), " "); got != c.want {
			t.Errorf("%s: got %s (%s), want %s", c.vector, got, result.Best.Why(), c.want)
		}
	}
}

// TestCaptures asks for the program of every capture of somebody else's switches. Several names are those that the
// packets cannot tell apart; none is what needs no dialect.
func TestCaptures(t *testing.T) {
	programs := map[string]string{
		"onos_v10_": "onos-int10-ver0", "onos_fabric_v04_": "onos-int04", "geant_v10_head_": "geant-int10",
		"geant_v10_2021_": "geant-int10-2021", "geant_v04_": "geant-int04", "fabric_tna_xd_": "fabric-tna-bmv2",
		"tps_v21_": "tps tps-delta", "montimage_fl_": "montimage-int10", "ioam_": "spec",
	}
	files, err := filepath.Glob(filepath.Join(test.Root(), "testdata/captures/*.pcap"))
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	cfg := codepoint.New()
	cfg.Compile()
	for _, file := range files {
		name := filepath.Base(file)
		want := ""
		for prefix, program := range programs {
			if strings.HasPrefix(name, prefix) {
				want = program
			}
		}
		point := name[strings.LastIndex(name, "_")+1:]
		switch {
		case point == "h1.pcap" && !strings.HasPrefix(name, "ioam"), point == "h2.pcap",
			strings.HasPrefix(name, "fabric_tna") && point == "s2s3.pcap":
			want = "spec" // there is no telemetry in it
		}
		t.Run(name, func(t *testing.T) {
			result := detect.Detect(captured(t, name), cfg)
			got := []string{result.Best.Dialect}
			for _, r := range result.Equals {
				got = append(got, r.Dialect)
			}
			slices.Sort(got)
			if text := strings.Join(got, " "); text != want {
				t.Errorf("got %s, want %s\nbest: %s: %s\nplain: %s", text, want, result.Best.Setting, result.Best.Why(),
					result.Plain.Why())
			}
			if result.Better() != (want != "spec") {
				t.Errorf("better: got %t", result.Better())
			}
		})
	}
}
