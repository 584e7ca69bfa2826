package serve

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/conf/conftest"
)

// read reads a configuration file.
func read(t testing.TB, text []byte) (Config, error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "waybill.yaml")
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	c := DefaultConfig()
	return c, c.ReadFile(name)
}

// everyKey is a file with all keys.
const everyKey = `listen: ["udp://:8555"]
http: 127.0.0.1:8080
insecure: false
hosts: [waybill.example]
tokens: /x
tls: {cert: /c, key: /k, client_ca: /a, clients: {noc: read}}
metrics: read
memory: 1GiB
workers: 2
receive_buffer: auto
coalesce: true
data: /x
raw_reports: 1GiB
names: {1: leaf1, 2: leaf2}
inventory: /x
exporters:
  - {source: 10.0.0.0/8, nodes: [1, 2], name: leaves}
  - {source: 10.0.0.1, nodes: any}
bursts: {above: auto, below: 10kB, min_above: 30kB, above_packets: 30, below_packets: 10, min_above_packets: 20}
attacks:
  floor: {rate: 1G, packets: 5000}
  factor: 4
  learn: 5m
  end_after: 1m
  groups: [{prefixes: [192.0.2.0/24], floor: {rate: 10M, packets: 100}, fixed: {rate: 20M, packets: 500}}]
  safe: [198.51.100.1]
mitigation:
  default: node
  for: 2h
  max_rules: 10
  max_share: 50%
  safe: [198.51.100.1]
  automatic: {by: node, after: 10s, exporters: 2}
  nodes:
    - {node: 1, url: "https://10.0.0.1:8556", token_file: /x, ca: /x}
    - {node: 2, socket: /run/waybill/node-2.sock}
  bgp:
    as: 64512
    router_id: 10.0.0.2
    local: 10.0.0.2
    hold: 30s
    next_hop: 192.0.2.1
    next_hop6: "100::1"
    peers: [{address: 10.0.0.3, port: 179, as: 64513, password_file: /x, multihop: 2, flowspec: true, rtbh: true}]
  webhook:
    url: https://10.0.0.9/
    headers: {x-site: lab}
    secret_file: /x
    timeout: 5s
    ca: /x
    template: rules
    drop_reports: true
queue_unit: {leaf1: packets}
utilization_unit: {leaf1: "share:10000"}
policy: /x
sampling: {leaf1: 10}
query: {role: read}
oidc:
  issuer: https://login.example.net
  client_id: waybill
  client_secret_file: /x
  url: https://waybill.example.net/
  scopes: [profile]
  name_claim: email
  groups_claim: groups
  roles: {noc: operate}
  ca: /x
proxy_login: {from: [10.0.0.10], user_header: x-user, groups_header: x-groups, roles: {noc: operate}}
store:
  keep_seconds: 7d
  keep_minutes: 2w
  keep_hours: 8760h
  max_size: 32GiB
  min_free: 1GiB
  memory: 512MiB
  clickhouse: {url: "https://10.0.0.4:8443", database: waybill, user: waybill, password_file: /x, query_user: asks, query_password_file: /x, tls: true, ca: /x}
  tables:
    drops: {keep_seconds: 1d, keep_minutes: 2d, keep_hours: 3d, max_size: 1GiB}
export:
  network: {enabled: false, limit: 100}
  interval: 30s
  traces: {filter: "drops > 0", one_in: 10}
  outputs:
    e:
      ipfix: {to: "tcp://10.0.0.9:4739", domain: 1, enterprise: 32473, tls: {on: true, ca: /x, cert: /x, key: /x}}
    c:
      otlp: {url: "https://10.0.0.8:4318", token_file: /x, tls: {on: true, ca: /x, cert: /x, key: /x}}
    d:
      remote_write:
        url: "https://10.0.0.8:9090/api/v1/write"
        token_file: /x
        tls: {on: true, ca: /x, cert: /x, key: /x}
        labels: {job: waybill}
    a:
      records: [flows, events]
      queue: 1000
      kafka:
        brokers: ["10.0.0.6:9092"]
        topic: "t.{records}"
        format: protobuf
        tls: {on: true, ca: /x, cert: /x, key: /x}
        mechanism: scram-sha-512
        user: waybill
        password_file: /x
    b:
      nats:
        urls: ["nats://10.0.0.7:4222"]
        stream: S
        subject: w
        max_size: 10GiB
        format: json
        tls: {on: true, ca: /x, cert: /x, key: /x}
        credentials: /x
        nkey: /x
role: collect
bus:
  urls: ["nats://10.0.0.5:4222"]
  embedded: 127.0.0.1:4222
  insecure: true
  nkeys: [UA]
  standby: true
  name: dc1
  partitions: 8
  replicas: 3
  max_size: 8GiB
  spool: 1GiB
  credentials: /x
  nkey: /x
  tls: {ca: /x, cert: /x, key: /x}
tables:
  servers: ["10.0.0.10:7100"]
  listen: 127.0.0.1:7100
  insecure: true
  tls: {ca: /x, cert: /x, key: /x}
analyzer: {url: "https://10.0.0.11:8080", standby_urls: ["https://10.0.0.12:8080"], token_file: /x, insecure: true, tls: {ca: /x, cert: /x, key: /x}}
alerts: /x
log: {level: warn}
int_dscp: 23
`

func TestMisspeltKeys(t *testing.T) {
	conftest.Misspell(t, reflect.TypeFor[Config](), []string{everyKey}, func(text []byte) error {
		_, err := read(t, text)
		return err
	})
}

// What was valid once and said nothing.
func TestBadFiles(t *testing.T) {
	for text, want := range map[string]string{
		"store: {keep_second: 7d}":                 `:1: store: unknown key "keep_second"; did you mean keep_seconds?`,
		"store:\n  tables:\n    flows: {keep: 1d}": `:3: store.tables.flows: unknown key "keep"; known are keep_hours,`,
		"metrics: read\nbursts:\n  abov: 3kB":      `:3: bursts: unknown key "abov"; did you mean above?`,
		"names:\n  1: a\n  2: a\n":                 `:3: names.2: "a" is the name of node 1 too, want another one`,
		"int_dscp: 64":                             ":1: int_dscp: got 64, want at most 63",
		"int_dcsp: 23":                             `:1: unknown key "int_dcsp"; did you mean int_dscp?`,
		"http: \x7fELF\x00":                        ": this is not a text file, want YAML in UTF-8",
		strings.Repeat("names: {}\n", 200_000):     ": the file is too large, want at most 1MiB",
	} {
		if _, err := read(t, []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q:\ngot  %v\nwant %s", text, err, want)
		}
	}
}

// TestBadClickHouse: what cannot work with ClickHouse is refused, and says what to do.
func TestBadClickHouse(t *testing.T) {
	const good = "data: /x\nstore:\n  clickhouse: {url: 'https://h:8443', database: w}\n"
	for text, want := range map[string]string{
		good: "",
		strings.Replace(good, "data: /x\n", "", 1):                            "data names one",
		good + "  max_size: 1GiB\n":                                           "drops records by their age only",
		good + "  tables: {hops: {keep_seconds: 6h}}\n":                       "leave out tables or clickhouse",
		strings.Replace(good, "https://h:8443", "", 1):                        "want clickhouse://HOST:9000",
		strings.Replace(good, "https://h:8443", "ftp://h:1", 1):               "want clickhouse://, http:// or https://",
		strings.Replace(good, "https://h:8443", "http://u:p@h:1", 1):          "want no more than http://HOST:PORT",
		strings.Replace(good, "https://h:8443", "https://h", 1):               "want one host with its port",
		strings.Replace(good, "database: w", "database: ''", 1):               "database: want the name",
		strings.Replace(good, "w}", "w, password_file: /nowhere}", 1):         "password_file: open /nowhere",
		strings.Replace(good, "w}", "w, ca: /nowhere}", 1):                    "ca: open /nowhere",
		strings.Replace(good, "w}", "w, ca: config.go}", 1):                   "has no certificates",
		strings.Replace(good, "https://h:8443'", "http://h:1', tls: true", 1): "want https:// in url",
		strings.Replace(good, "https://h:8443'", "http://h:1', ca: /x", 1):    "want tls: true or https://",
	} {
		c, err := read(t, []byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		err = c.Check()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s:\ngot  %v\nwant %s", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "u:p") {
			t.Errorf("the password is in %v", err)
		}
	}
}

// What is dumped is read again, and says the same.
func TestDumpIsRead(t *testing.T) {
	c, err := read(t, []byte(everyKey))
	if err != nil {
		t.Fatal(err)
	}
	text, err := c.Dump()
	if err != nil {
		t.Fatal(err)
	}
	again, err := read(t, []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if second, _ := again.Dump(); second != text {
		t.Errorf("got  %s\nwant %s", second, text)
	}
}

// FuzzConfig: no configuration file makes the reader panic.
func FuzzConfig(f *testing.F) {
	for _, text := range []string{
		everyKey, "", "names: {1: a, 0x1: b}", "exporters: [{nodes: any}]",
		"dialects: {10.0.0.1: tps}", "ds_lengths: {1: {2: 8}}", "? : :",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := read(t, text)
		if err != nil {
			return
		}
		if _, err := c.Dump(); err != nil {
			t.Error(err)
		}
		_ = c.Bursts.check()
		_, _ = c.permits()
		_, _ = c.Store.compile("/nowhere")
	})
}
