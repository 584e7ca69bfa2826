package serve

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill-int/waybill/alert"
	"github.com/waybill-int/waybill/api/auth"
	"github.com/waybill-int/waybill/collect"
	"github.com/waybill-int/waybill/collect/flowsample"
	"github.com/waybill-int/waybill/internal/conf"
	"github.com/waybill-int/waybill/internal/conf/unit"
	"github.com/waybill-int/waybill/inventory"
	"github.com/waybill-int/waybill/policy"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// A Config says how waybill serve runs. It comes from a file, WAYBILL_* variables and flags, each overriding the one
// before. docs/reference/configuration.md is written from the tags: go test ./serve -run Page -update.
type Config struct {
	Listen          []string                             `yaml:"listen" flag:"listen" doc:"addresses to receive reports on, udp://HOST:PORT or HOST:PORT, xdp://INTERFACE:PORT, packet://INTERFACE:PORT; sflow://HOST:PORT receives sFlow, netflow://HOST:PORT NetFlow and IPFIX"`
	HTTP            string                               `yaml:"http" flag:"http" doc:"address of console, API and metrics; without a host this machine only"`
	Insecure        bool                                 `yaml:"insecure" flag:"insecure" doc:"allow http on an address that others can reach without log-in, or without TLS"`
	Hosts           []string                             `yaml:"hosts" flag:"host" doc:"names under which browsers reach the server through a loopback address"`
	Tokens          string                               `yaml:"tokens" flag:"tokens" doc:"file with the hashes of tokens that one has to log in with"`
	TLS             tlsFiles                             `yaml:"tls" doc:"certificates of HTTPS"`
	OIDC            oidcSettings                         `yaml:"oidc" doc:"a provider of OpenID Connect at which people log in"`
	ProxyLogin      proxySettings                        `yaml:"proxy_login" doc:"a proxy that logs people in and says in headers who they are"`
	Role            string                               `yaml:"role" flag:"role" doc:"all; collect: gives what it receives to the bus; analyze: takes it from there; tables: has tables for an analyzer; query: answers for one"`
	Bus             busSettings                          `yaml:"bus" doc:"carries datagrams from collectors to the analyzer"`
	Tables          tablesSettings                       `yaml:"tables" doc:"where the tables of flows are, if not in the analyzer"`
	Analyzer        analyzerSettings                     `yaml:"analyzer" doc:"where the analyzer is, of a server with role query"`
	Metrics         string                               `yaml:"metrics" doc:"who may read /metrics: read, or open for everybody"`
	Query           querySettings                        `yaml:"query" doc:"who may send statements in SQL"`
	Memory          string                               `yaml:"memory" flag:"memory" doc:"what the tables may grow to; at least 32MiB"`
	Workers         int                                  `yaml:"workers" flag:"workers" doc:"receivers for each address, and shards of the tables, 1 to 256"`
	ReceiveBuffer   string                               `yaml:"receive_buffer" flag:"receive-buffer" doc:"kernel memory of each receiver, or auto: a share of the memory"`
	Coalesce        bool                                 `yaml:"coalesce" flag:"coalesce" doc:"take runs of datagrams from the kernel in one piece where it can"`
	Data            string                               `yaml:"data" flag:"data" doc:"directory for what outlives the process; without it nothing does"`
	RawReports      string                               `yaml:"raw_reports" flag:"raw-reports" doc:"how many bytes of datagrams are kept as they came; at least 16MiB, none without it"`
	Names           map[uint32]string                    `yaml:"names" reload:"yes" doc:"names of nodes, by the id in their reports"`
	Inventory       string                               `yaml:"inventory" flag:"inventory" reload:"yes" doc:"file with names of ports and hosts, speeds, roles, sites and queue units, and who else is asked for them"`
	Exporters       []ExporterRule                       `yaml:"exporters" reload:"yes" doc:"who may send reports; without it everybody"`
	Bursts          burstSettings                        `yaml:"bursts" doc:"when a queue is long"`
	Attacks         attackSettings                       `yaml:"attacks" doc:"what an attack is"`
	Mitigation      mitigationSettings                   `yaml:"mitigation" doc:"what may be done about attacks, and by whom"`
	Policy          string                               `yaml:"policy" flag:"policy" reload:"yes" doc:"file that says which nodes there are and on which paths packets may go"`
	Sampling        map[string]telemetry.SampleRate      `yaml:"sampling,omitempty" reload:"yes" doc:"which packets a node tells of: N for 1 in N, every_packet or on_event"`
	QueueUnit       map[string]telemetry.QueueUnit       `yaml:"queue_unit,omitempty" reload:"yes" doc:"what a node counts its queues in: bytes, packets, cells:N for cells of N bytes, cells or unknown"`
	UtilizationUnit map[string]telemetry.UtilizationUnit `yaml:"utilization_unit,omitempty" reload:"yes" doc:"what a node tells the use of its egress ports in: share:N where N is full use (10000: hundredths of a percent), or unknown"`
	Store           storeConfig                          `yaml:"store" doc:"how much is kept of records"`
	Export          exportSettings                       `yaml:"export" doc:"what of the network other programs get"`
	Alerts          string                               `yaml:"alerts" flag:"alerts" reload:"yes" doc:"file of alert rules"`
	Log             logSettings                          `yaml:"log" doc:"what is logged"`

	Version string                  `yaml:"-"` // of the program
	Points  *codepoint.Config       `yaml:"-"`
	Again   func() (*Config, error) `yaml:"-"` // reads the configuration again, and checks it; nil: it stays
	file    *conf.Document          // nil: none
	policy  *policy.Policy          // of the file Policy; nil: none
	// of the file Inventory; nil: none
	inventory *inventory.Config
	rules     *alert.Config // of the file Alerts; nil without one
}

// querySettings say who may send statements in SQL.
type querySettings struct {
	Role auth.Role `yaml:"role" doc:"read, operate or admin"`
}

// logSettings say what is logged.
type logSettings struct {
	Level LogLevel `yaml:"level" flag:"log-level" reload:"yes" doc:"debug, info, warn or error"`
}

// A LogLevel is what is logged at least.
type LogLevel struct{ slog.Level }

// MarshalText returns the name of the level.
func (l LogLevel) MarshalText() ([]byte, error) { return []byte(strings.ToLower(l.String())), nil }

// UnmarshalText reads the name.
func (l *LogLevel) UnmarshalText(text []byte) error {
	if l.Level.UnmarshalText(text) != nil {
		return unit.Want("debug, info, warn or error")
	}
	return nil
}

func DefaultConfig() Config {
	return Config{
		Listen: []string{"udp://:8555"}, HTTP: "127.0.0.1:8080", Metrics: "read", Query: querySettings{auth.Operate},
		Memory:  "512MiB",
		Workers: max(runtime.NumCPU()/2, 1), ReceiveBuffer: autoBuffer, Coalesce: true, Names: map[uint32]string{},
		Bursts: defaultBurstSettings(), Attacks: defaultAttackSettings(), Mitigation: defaultMitigationSettings(),
		OIDC: defaultOIDCSettings(), Role: roleAll, Bus: defaultBusSettings(),
		Store: defaultStoreConfig(), Export: defaultExportSettings(), Points: codepoint.New(),
	}
}

// serveKeys are the keys of a Config in a file; all others are code points.
var serveKeys = func() (keys []string) {
	for f := range reflect.TypeFor[Config]().Fields() {
		if key, _, _ := strings.Cut(f.Tag.Get("yaml"), ","); key != "" && key != "-" {
			keys = append(keys, key)
		}
	}
	return keys
}()

// ReadFile takes what a YAML or JSON file says. Code points stand beside the other keys.
func (c *Config) ReadFile(name string) error {
	file, err := conf.Kind{}.Load(name, c)
	if err != nil {
		return err
	}
	if id, rule := c.nameTwice(); rule != "" {
		file.Say(fmt.Sprintf("names.%d", id), "%s", rule)
	}
	c.file = file
	return file.Err()
}

// nameTwice returns a node that has the name of another one, and what is wrong with that.
func (c *Config) nameTwice() (id uint32, rule string) {
	ids := map[string]uint32{}
	for _, id := range slices.Sorted(maps.Keys(c.Names)) {
		name := c.Names[id]
		if other, taken := ids[name]; taken {
			return id, fmt.Sprintf("%q is the name of node %d too, want another one", name, other)
		}
		ids[name] = id
	}
	return 0, ""
}

// ReadEnvironment takes WAYBILL_LISTEN, WAYBILL_HTTP and so on; lists are comma separated.
func (c *Config) ReadEnvironment() error {
	if err := checkVariables(os.Environ()); err != nil {
		return err
	}
	for _, key := range serveKeys {
		name := "WAYBILL_" + strings.ToUpper(key)
		value, ok := os.LookupEnv(name)
		if !ok || value == "" {
			continue
		}
		var err error
		switch key {
		case "listen":
			c.Listen = strings.Split(value, ",")
		case "http":
			c.HTTP = value
		case "hosts":
			c.Hosts = strings.Split(value, ",")
		case "tokens":
			c.Tokens = value
		case "tls":
			err = readVariable(name, value, &c.TLS)
		case "oidc":
			err = readVariable(name, value, &c.OIDC)
		case "proxy_login":
			err = readVariable(name, value, &c.ProxyLogin)
		case "role":
			c.Role = value
		case "bus":
			err = readVariable(name, value, &c.Bus)
		case "tables":
			err = readVariable(name, value, &c.Tables)
		case "analyzer":
			err = readVariable(name, value, &c.Analyzer)
		case "metrics":
			c.Metrics = value
		case "query":
			err = readVariable(name, value, &c.Query)
		case "memory":
			c.Memory = value
		case "receive_buffer":
			c.ReceiveBuffer = value
		case "data":
			c.Data = value
		case "raw_reports":
			c.RawReports = value
		case "workers":
			c.Workers, err = strconv.Atoi(value)
		case "coalesce":
			c.Coalesce, err = strconv.ParseBool(value)
		case "insecure":
			c.Insecure, err = strconv.ParseBool(value)
		case "exporters":
			err = readVariable(name, value, &c.Exporters)
		case "policy":
			c.Policy = value
		case "inventory":
			c.Inventory = value
		case "alerts":
			c.Alerts = value
		case "names":
			err = readVariable(name, value, &c.Names)
		case "bursts":
			err = readVariable(name, value, &c.Bursts)
		case "attacks":
			err = readVariable(name, value, &c.Attacks)
		case "mitigation":
			err = readVariable(name, value, &c.Mitigation)
		case "sampling":
			err = readVariable(name, value, &c.Sampling)
		case "log":
			err = readVariable(name, value, &c.Log)
		case "queue_unit":
			err = readVariable(name, value, &c.QueueUnit)
		case "utilization_unit":
			err = readVariable(name, value, &c.UtilizationUnit)
		case "export":
			err = readVariable(name, value, &c.Export)
		case "store":
			err = readVariable(name, value, &c.Store)
		}
		if err != nil {
			return fmt.Errorf("%s: got %q, want what %s has in a configuration file", name, value, key)
		}
	}
	return nil
}

// readVariable reads YAML in a variable.
func readVariable(name, value string, to any) error {
	_, err := conf.Kind{}.Parse(name, []byte(value), to)
	return err
}

// Check refuses what cannot work, and what is not safe. What stands in the file is told with its line, unless a
// variable has taken its place.
func (c *Config) Check() error {
	err := c.check()
	if err == nil || c.file == nil {
		return err
	}
	key, _, _ := strings.Cut(err.Error(), ":")
	key, _, _ = strings.Cut(key, ".")
	if os.Getenv("WAYBILL_"+strings.ToUpper(key)) != "" {
		return err
	}
	return c.file.Place(err)
}

func (c *Config) check() error {
	if _, err := c.Store.compile(c.Data); err != nil {
		return err
	}
	if c.Store.ClickHouse != nil && c.Data == "" && c.Role != roleQuery {
		return errors.New("store: clickhouse: a journal of what is not stored yet needs a directory; data names one")
	}
	if id, rule := c.nameTwice(); rule != "" {
		return fmt.Errorf("names.%d: %s", id, rule)
	}
	if len(c.Listen) == 0 {
		return fmt.Errorf("no address to listen on for reports; for example udp://:8555")
	}
	for _, address := range c.Listen {
		format, plain := flowsample.FormatOf(address)
		port, err := collect.PortOf(plain)
		if err != nil {
			return fmt.Errorf("listen: %w", err)
		}
		if format != nil && c.Role != roleAll {
			return fmt.Errorf("listen: %s: a bus carries telemetry reports only; want role all for %s", address,
				format.Name)
		}
		if port != 0 && port == c.Points.INTUDPPort {
			return fmt.Errorf(
				"int_udp_port: %d is also a port that reports are received on; INT and reports need different ports",
				port)
		}
	}
	if c.Workers < 1 || c.Workers > 256 {
		return fmt.Errorf("workers: got %d, want 1 to 256", c.Workers)
	}
	if c.inventory = nil; c.Inventory != "" {
		var err error
		if c.inventory, err = inventory.Load(c.Inventory); err != nil {
			return fmt.Errorf("inventory: %w", err)
		}
	}
	if c.Policy != "" {
		var err error
		if c.policy, err = ReadPolicy(c.Policy); err != nil {
			return fmt.Errorf("policy: %w", err)
		}
	}
	if _, err := c.samplingByNode(); err != nil {
		return err
	}
	if _, err := c.utilizationUnits(); err != nil {
		return err
	}
	if _, err := c.queueUnits(); err != nil {
		return err
	}
	memory, err := parseSize(c.Memory)
	if err != nil {
		return fmt.Errorf("memory: %w", err)
	}
	if memory < 32<<20 {
		return fmt.Errorf("memory: got %s, want at least 32MiB", c.Memory)
	}
	if c.ReceiveBuffer != autoBuffer {
		if size, err := parseSize(c.ReceiveBuffer); err != nil {
			return fmt.Errorf("receive_buffer: %w, or %s", err, autoBuffer)
		} else if size > maxReceiveBuffer {
			return fmt.Errorf("receive_buffer: got %s, want at most 1GiB", c.ReceiveBuffer)
		}
	}
	if _, _, err := c.rawConfig(); err != nil {
		return err
	}
	if err := c.loadAlerts(); err != nil {
		return err
	}
	if err := c.Bursts.check(); err != nil {
		return err
	}
	if err := c.Attacks.check(); err != nil {
		return err
	}
	if err := c.Mitigation.check(); err != nil {
		return err
	}
	if err := c.Export.check(); err != nil {
		return err
	}
	if err := c.checkOutputs(); err != nil {
		return err
	}
	if _, err := c.permits(); err != nil {
		return err
	}
	if err := c.checkRole(); err != nil {
		return err
	}
	return c.checkAccess()
}

// Dump writes the configuration as a file would have it; code points are those that differ from the specifications.
func (c *Config) Dump() (string, error) {
	text, err := conf.Format(c)
	if err != nil {
		return "", err
	}
	points, err := conf.Format(c.Points.Map())
	return string(text) + string(points), err
}

// autoBuffer leaves the size of receive buffers to what suits the sockets.
const autoBuffer = "auto"

// maxReceiveBuffer is what the kernel can double, in bytes.
const maxReceiveBuffer = 1 << 30

// receiveBuffer returns the size of receive buffers in bytes, 0 for the default of the sockets.
func (c *Config) receiveBuffer() int {
	if c.ReceiveBuffer == autoBuffer {
		return 0
	}
	size, _ := parseSize(c.ReceiveBuffer) // check has seen it
	return int(size)
}

// parseSize reads "512MiB", "1GB", "65536".
func parseSize(text string) (uint64, error) {
	n, err := unit.ParseBytes(strings.TrimSpace(text))
	if err != nil {
		return 0, fmt.Errorf("got %q, want a size such as 512MiB", text)
	}
	return uint64(n), nil
}

// ReadPolicy reads a policy file; an error has a line for each thing that is wrong, with its place in the file.
func ReadPolicy(name string) (*policy.Policy, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	p, err := policy.Load(text)
	if err != nil {
		return nil, conf.InFile(name, err)
	}
	return p, nil
}

// NodeNames returns the names of nodes as far as files have them: those of the configuration, where that has none of
// the inventory, and where that has none of the policy.
func (c *Config) NodeNames() map[uint32]string { return c.namesWith(c.inventory.Known()) }

// namesWith returns the names of nodes with those of an inventory, which is nil if there is none.
func (c *Config) namesWith(v *telemetry.Inventory) map[uint32]string {
	names := maps.Clone(c.Names)
	if v != nil {
		taken := map[string]bool{}
		for _, name := range names {
			taken[name] = true
		}
		for id, node := range v.Nodes {
			if names[id] == "" && node.Name != "" && !taken[node.Name] {
				names[id] = node.Name
			}
		}
	}
	if c.policy == nil {
		return names
	}
	for id, name := range c.policy.Names() {
		if names[id] == "" {
			names[id] = name
		}
	}
	return names
}
