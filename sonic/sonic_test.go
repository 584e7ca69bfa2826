package sonic

import (
	"errors"
	"fmt"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/internal/conf/conftest"
	"github.com/waybill-int/waybill/internal/test"
)

const example = `switch_id: 1
int_endpoint: true
int_transit: true
postcard: true
drop_report: true
queue_report: true
flow_state_clear_cycle: 10
latency_sensitivity: 100
sink_ports: [Ethernet0, Ethernet4]
int_dscp: 0x20
int_dscp_mask: 0x3f
report_sessions:
  RS-1: {source: 10.10.10.1, collectors: [20.20.20.1, 20.20.20.2], port: 2000, truncate: 256}
int_sessions:
  INT-1: {max_hops: 50, collect: [switch_id, ports, ingress_timestamp, egress_timestamp, queue]}
queue_reports:
  Ethernet0:
    0: {depth: 1000, latency: 2000, quota: 3000, tail_drop: true}
events:
  flow_state: {session: RS-1, dscp: 60}
  flow_report_all_packets: {session: RS-1}
  flow_tcp_flag: {session: RS-1}
  queue_threshold_breach: {session: RS-1}
  queue_tail_drop: {session: RS-1}
  drop: {session: RS-1}
`

// What SONiC's tests of DTel (sonic-swss, tests/test_dtel.py) write for the same, but for the numbers of code points.
var exampleDB = map[string]map[string]string{
	"DTEL|SWITCH_ID":              {"SWITCH_ID": "1"},
	"DTEL|FLOW_STATE_CLEAR_CYCLE": {"FLOW_STATE_CLEAR_CYCLE": "10"},
	"DTEL|LATENCY_SENSITIVITY":    {"LATENCY_SENSITIVITY": "100"},
	"DTEL|INT_ENDPOINT":           {"INT_ENDPOINT": "TRUE"},
	"DTEL|INT_TRANSIT":            {"INT_TRANSIT": "TRUE"},
	"DTEL|POSTCARD":               {"POSTCARD": "TRUE"},
	"DTEL|DROP_REPORT":            {"DROP_REPORT": "TRUE"},
	"DTEL|QUEUE_REPORT":           {"QUEUE_REPORT": "TRUE"},
	"DTEL|SINK_PORT_LIST":         {"Ethernet0": "Ethernet0", "Ethernet4": "Ethernet4"},
	"DTEL|INT_L4_DSCP":            {"INT_L4_DSCP_VALUE": "32", "INT_L4_DSCP_MASK": "63"},
	"DTEL_REPORT_SESSION|RS-1": {
		"SRC_IP": "10.10.10.1", "DST_IP_LIST": "20.20.20.1;20.20.20.2", "VRF": "default", "TRUNCATE_SIZE": "256",
		"UDP_DEST_PORT": "2000",
	},
	"DTEL_INT_SESSION|INT-1": {
		"MAX_HOP_COUNT": "50", "COLLECT_SWITCH_ID": "TRUE", "COLLECT_INGRESS_TIMESTAMP": "TRUE",
		"COLLECT_EGRESS_TIMESTAMP": "TRUE", "COLLECT_SWITCH_PORTS": "TRUE", "COLLECT_QUEUE_INFO": "TRUE",
	},
	"DTEL_QUEUE_REPORT|Ethernet0|0": {
		"QUEUE_DEPTH_THRESHOLD": "1000", "QUEUE_LATENCY_THRESHOLD": "2000", "THRESHOLD_BREACH_QUOTA": "3000",
		"REPORT_TAIL_DROP": "TRUE",
	},
	"DTEL_EVENT|EVENT_TYPE_FLOW_STATE": {"EVENT_REPORT_SESSION": "RS-1", "EVENT_DSCP_VALUE": "60"},

	"DTEL_EVENT|EVENT_TYPE_FLOW_REPORT_ALL_PACKETS":       {"EVENT_REPORT_SESSION": "RS-1"},
	"DTEL_EVENT|EVENT_TYPE_FLOW_TCPFLAG":                  {"EVENT_REPORT_SESSION": "RS-1"},
	"DTEL_EVENT|EVENT_TYPE_QUEUE_REPORT_THRESHOLD_BREACH": {"EVENT_REPORT_SESSION": "RS-1"},
	"DTEL_EVENT|EVENT_TYPE_QUEUE_REPORT_TAIL_DROP":        {"EVENT_REPORT_SESSION": "RS-1"},
	"DTEL_EVENT|EVENT_TYPE_DROP_REPORT":                   {"EVENT_REPORT_SESSION": "RS-1"},
}

// What a switch has besides.
var others = []string{
	"HSET DEVICE_METADATA|localhost hostname leaf1 hwsku Test-32x",
	"HSET PORT|Ethernet0 lanes 0", "HSET PORT|Ethernet4 lanes 4",
	"HSET DTELX|mine a b", "HSET DTEL_EVENTUAL|mine a b",
}

// dump returns what tables of telemetry redis-cli finds in CONFIG_DB.
func dump(r *test.Redis) map[string]map[string]string {
	all := map[string]map[string]string{}
	for key := range strings.FieldsSeq(r.Command("4", "KEYS DTEL*")) {
		if key == "DTELX|mine" || key == "DTEL_EVENTUAL|mine" {
			continue
		}
		all[key] = map[string]string{}
		words := strings.Fields(r.Command("4", "HGETALL "+key))
		for i := 0; i+1 < len(words); i += 2 {
			all[key][words[i]] = words[i+1]
		}
	}
	return all
}

func dial(t *testing.T, r *test.Redis) *Switch {
	t.Helper()
	s, err := Dial(t.Context(), r.Socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func parse(t *testing.T, text string) *Config {
	t.Helper()
	c, err := Parse("leaf1.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestApply writes to a real Redis, and reads with redis-cli.
func TestApply(t *testing.T) {
	r := test.StartRedis(t)
	if _, err := Dial(t.Context(), r.Socket); err == nil || !strings.Contains(err.Error(), "DEVICE_METADATA") {
		t.Fatalf("an empty database: %v", err)
	}
	r.Command("4", others...)
	s := dial(t, r)
	if s.Name != "leaf1 Test-32x" {
		t.Errorf("got %q", s.Name)
	}
	c := parse(t, example)
	changes, err := s.Diff(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if got := dump(r); len(got) != 0 {
		t.Fatalf("a comparison wrote %v", got)
	}
	if err := s.Apply(t.Context(), changes); err != nil {
		t.Fatal(err)
	}
	if got := dump(r); !reflect.DeepEqual(got, exampleDB) {
		t.Errorf("got %v\nwant %v", got, exampleDB)
	}
	if changes, err := s.Diff(t.Context(), c); err != nil || len(changes) != 0 {
		t.Errorf("after that %v differ, %v", changes, err)
	}
	if got := r.Command("4", "HGET DTELX|mine a", "HGET DTEL_EVENTUAL|mine a"); got != "b\nb\n" {
		t.Errorf("of others there is %q", got)
	}
	if got := r.Command("0", "DBSIZE"); got != "0\n" {
		t.Errorf("in another database: %q", got)
	}
}

// A second file makes the switch as it says: keys that it lacks go, what changes is written in place.
func TestApplyChange(t *testing.T) {
	r := test.StartRedis(t)
	r.Command("4", others...)
	s := dial(t, r)
	apply := func(text string) (lines []string) {
		changes, err := s.Diff(t.Context(), parse(t, text))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range changes {
			lines = append(lines, c.Lines()...)
		}
		if err := s.Apply(t.Context(), changes); err != nil {
			t.Fatal(err)
		}
		return lines
	}
	apply(example)
	heard := events(t, r)
	lines := apply(`switch_id: 2
drop_report: true
report_sessions: {RS-1: {source: 10.10.10.1, collectors: [20.20.20.1], port: 8555}}
events: {drop: {session: RS-1}}
`)
	got := strings.Join(lines, "\n") + "\n"
	for _, want := range []string{
		"- DTEL|SWITCH_ID SWITCH_ID 1\n+ DTEL|SWITCH_ID SWITCH_ID 2\n",
		"- DTEL|POSTCARD POSTCARD TRUE\n",
		"- DTEL_REPORT_SESSION|RS-1 TRUNCATE_SIZE 256\n",
		"- DTEL_REPORT_SESSION|RS-1 UDP_DEST_PORT 2000\n+ DTEL_REPORT_SESSION|RS-1 UDP_DEST_PORT 8555\n",
		"- DTEL_QUEUE_REPORT|Ethernet0|0 REPORT_TAIL_DROP TRUE\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%swithout\n%s", got, want)
		}
	}
	for _, not := range []string{"DROP_REPORT|", "EVENT_TYPE_DROP_REPORT", "SRC_IP", "DTELX"} {
		if strings.Contains(got, not) {
			t.Errorf("got\n%swith %s", got, not)
		}
	}
	want := map[string]map[string]string{
		"DTEL|SWITCH_ID":   {"SWITCH_ID": "2"},
		"DTEL|DROP_REPORT": {"DROP_REPORT": "TRUE"},
		"DTEL_REPORT_SESSION|RS-1": {
			"SRC_IP": "10.10.10.1", "DST_IP_LIST": "20.20.20.1", "VRF": "default", "UDP_DEST_PORT": "8555",
		},
		"DTEL_EVENT|EVENT_TYPE_DROP_REPORT": {"EVENT_REPORT_SESSION": "RS-1"},
	}
	if got := dump(r); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	told := heard()
	if strings.Contains(told, "\ndel DTEL_REPORT_SESSION|RS-1") {
		t.Errorf("the switch hears that a session is gone that is not:%s", told)
	}
	// Events name sessions: they go before what they name.
	if e, i := strings.Index(told, "del DTEL_EVENT|EVENT_TYPE_FLOW_STATE"),
		strings.Index(told, "del DTEL_INT_SESSION|INT-1"); e < 0 || i < e {
		t.Errorf("the switch hears in this order:%s", told)
	}
}

// events lets redis-cli listen as SONiC's daemons do, and returns what it has heard: an operation and a key on each
// line.
func events(t *testing.T, r *test.Redis) (heard func() string) {
	t.Helper()
	r.Command("4", "CONFIG SET notify-keyspace-events KEA")
	cmd := exec.CommandContext(t.Context(), "redis-cli", "-s", r.Socket, "-n", "4", "PSUBSCRIBE", "__keyspace@4__:*")
	var out strings.Builder
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	wait := func(what, want string) {
		for end := time.Now().Add(time.Minute); !strings.Contains(r.Command("4", what), want); {
			if time.Now().After(end) {
				t.Fatalf("%s: no %s", what, want)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	wait("PUBSUB NUMPAT", "1")
	return func() string {
		r.Command("4", "CLIENT KILL TYPE pubsub") // after what was sent to it
		_ = cmd.Wait()                            // it ends when nobody can tell it anything
		lines := strings.Split(out.String(), "\n")
		var told strings.Builder
		for i, line := range lines {
			if key, ok := strings.CutPrefix(line, "__keyspace@4__:"); ok && key != "*" && i+1 < len(lines) {
				fmt.Fprintf(&told, "\n%s %s", lines[i+1], key)
			}
		}
		return told.String()
	}
}

// Nothing is written if somebody changes meanwhile what was read.
func TestChangedMeanwhile(t *testing.T) {
	r := test.StartRedis(t)
	r.Command("4", others...)
	s := dial(t, r)
	changes, err := s.Diff(t.Context(), parse(t, example))
	if err != nil {
		t.Fatal(err)
	}
	r.Command("4", "HSET DTEL|SWITCH_ID SWITCH_ID 77")
	if err := s.Apply(t.Context(), changes); !errors.Is(err, ErrChanged) {
		t.Errorf("got %v", err)
	}
	if got := dump(r); len(got) != 1 || got["DTEL|SWITCH_ID"]["SWITCH_ID"] != "77" {
		t.Errorf("got %v", got)
	}
}

// What the rest of the switch's configuration does not allow is refused.
func TestDoesNotFit(t *testing.T) {
	r := test.StartRedis(t)
	r.Command("4", append(others, "DEL PORT|Ethernet4", "HSET ACL_RULE|DTEL_FLOW_WATCHLIST|R1 INT_SESSION INT-2",
		"HSET ACL_RULE|DTEL_FLOW_WATCHLIST|R2 INT_SESSION INT-1", "HSET ACL_RULE|DATA|R3 PRIORITY 7")...)
	_, err := dial(t, r).Diff(t.Context(), parse(t, example))
	want := "sink_ports: the switch has no port Ethernet4\n" +
		"int_sessions: ACL_RULE|DTEL_FLOW_WATCHLIST|R1 uses INT-2, which is not there"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestParseWrong(t *testing.T) {
	for text, want := range map[string]string{
		"postcard: true": "switch_id: is missing",
		"switch_id: 1\nreport_sessions: {a: {source: 10.0.0.1, collectors: [fe80::1], port: 1}}": "a.collectors[0]: want " +
			"an IPv4 address",
		"switch_id: 1\nreport_sessions: {a: {source: 10.0.0.1, port: 1}}":              "a.collectors: is missing",
		"switch_id: 1\nreport_sessions: {a: {source: ::1, collectors: [1.1.1.1]}}":     "a.source: want an IPv4",
		"switch_id: 1\nreport_sessions: {a: {source: 1.1.1.1, collectors: [1.1.1.1]}}": "a.port: want 1 to 65535",
		"switch_id: 1\nint_sessions: {a: {max_hops: 0, collect: [ports]}}":             "a.max_hops: want 1 to 255",
		"switch_id: 1\nint_sessions: {a: {max_hops: 1, collect: [ports, port]}}":       `a.collect[1]: got "port", want`,
		"switch_id: 1\nint_sessions: {a: {max_hops: 1}}":                               "a.collect: is missing",
		"switch_id: 1\nint_sessions: {\"a|b\": {max_hops: 1, collect: [ports]}}":       "want a name",
		"switch_id: 1\nevents: {drop: {session: a}}":                                   `report_sessions has no "a"`,
		"switch_id: 1\nevents: {drops: {}}":                                            "events.drops: unknown event",
		"switch_id: 1\nint_dscp: 64":                                                   "int_dscp: got 64",
		"switch_id: 1\nint_dscp_mask: 1":                                               "there is no int_dscp",
		"switch_id: 1\nsink_ports: [\"Ethernet0,Ethernet4\"]":                          "sink_ports[0]: got",
		"switch_id: 1\nqueue_reports: {\"Ethernet0|1\": {0: {tail_drop: true}}}":       "want a name",
		"switch_id: 1\nqueue_reports: {Ethernet0: {0: {depth: 4294967296}}}":           "queue_reports.Ethernet0.0.depth",
		"switch_id: 4294967296":                                                        "switch_id: got",
		"":                                                                             "the file is empty",
	} {
		if _, err := Parse("s.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

func TestMisspelt(t *testing.T) {
	conftest.Misspell(t, reflect.TypeFor[Config](), []string{example}, func(text []byte) error {
		_, err := Parse("", text)
		return err
	})
}

// FuzzParse holds that no text stops Parse, and that what it takes makes keys of the five tables only.
func FuzzParse(f *testing.F) {
	f.Add([]byte(example))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := Parse("", text)
		if err != nil {
			return
		}
		for key, fields := range c.entries() {
			parts := strings.Split(key, "|")
			if n := 2; len(fields) == 0 || len(parts) != n && (len(parts) != n+1 || parts[0] != "DTEL_QUEUE_REPORT") {
				t.Errorf("%q: %v", key, fields)
			}
		}
	})
}
