package serve

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"github.com/waybill-int/waybill/alert"
	"github.com/waybill-int/waybill/api/auth"
	"github.com/waybill-int/waybill/collect"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/internal/conf"
	"github.com/waybill-int/waybill/internal/yamldoc"
	"github.com/waybill-int/waybill/policy"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// A Config says how waybill serve runs. It comes from a file, WAYBILL_* variables and flags, each overriding the one
// before.
type Config struct {
	Listen        []string          `yaml:"listen"`
	HTTP          string            `yaml:"http"`
	Insecure      bool              `yaml:"insecure"`
	Hosts         []string          `yaml:"hosts"`
	Tokens        string            `yaml:"tokens"`
	TLS           tlsFiles          `yaml:"tls"`
	Metrics       string            `yaml:"metrics"`
	Query         querySettings     `yaml:"query"`
	Memory        string            `yaml:"memory"`
	Workers       int               `yaml:"workers"`
	ReceiveBuffer string            `yaml:"receive_buffer"`
	Coalesce      bool              `yaml:"coalesce"`
	Data          string            `yaml:"data"`
	RawReports    string            `yaml:"raw_reports"`
	Names         map[uint32]string `yaml:"names"`
	Exporters     []ExporterRule    `yaml:"exporters"`
	Bursts        burstSettings     `yaml:"bursts"`
	Policy        string            `yaml:"policy"`
	Sampling      map[string]uint64 `yaml:"sampling,omitempty"`
	Store         storeConfig       `yaml:"store"`
	Alerts        string            `yaml:"alerts"`

	Version string            `yaml:"-"` // of the program
	Points  *codepoint.Config `yaml:"-"`
	policy  *policy.Policy    // of the file Policy; nil: none
	rules   *alert.Config     // of the file Alerts; nil without one
}

// querySettings say who may send statements in SQL.
type querySettings struct {
	Role auth.Role `yaml:"role"`
}

func DefaultConfig() Config {
	return Config{
		Listen: []string{"udp://:8555"}, HTTP: "127.0.0.1:8080", Metrics: "read", Query: querySettings{auth.Operate}, Memory: "512MiB",
		Workers: max(runtime.NumCPU()/2, 1), ReceiveBuffer: autoBuffer, Coalesce: true, Names: map[uint32]string{}, Bursts: defaultBurstSettings(), Store: defaultStoreConfig(), Points: codepoint.New(),
	}
}

// serveKeys are the keys of serveConfig in a file; all others are code points.
var serveKeys = []string{"listen", "http", "insecure", "hosts", "tokens", "tls", "metrics", "query", "memory", "workers", "receive_buffer", "coalesce", "data", "raw_reports", "names", "exporters", "bursts", "policy", "sampling", "store", "alerts"}

// ReadFile takes what a YAML or JSON file says. Code points stand beside the other keys.
func (c *Config) ReadFile(name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	parsed, err := yamldoc.Parse(text)
	if err != nil {
		return fmt.Errorf("%s: %s", name, configError(err))
	}
	for _, document := range parsed.Docs {
		if _, comment := document.Body.(*ast.CommentGroupNode); comment || document.Body == nil {
			continue
		}
		if err := yamldoc.Plain(document.Body); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := strictKeys(document.Body); err != nil {
			return fmt.Errorf("%s: %s", name, configError(err))
		}
	}
	var all map[string]any
	if err := yaml.Unmarshal(text, &all); err != nil {
		return fmt.Errorf("%s: %s", name, configError(err))
	}
	if len(all) == 0 {
		return nil // nothing is said; it would make c empty
	}
	if err := yaml.UnmarshalWithOptions(text, c, yamlDurations); err != nil {
		return fmt.Errorf("%s: %s", name, configError(err))
	}
	maps.DeleteFunc(all, func(key string, _ any) bool { return slices.Contains(serveKeys, key) })
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if _, known := codepoint.Keys()[key]; !known {
			return fmt.Errorf("%s: unknown key %q; known are %s and the code points of docs/reference/code-points.md", name, key, strings.Join(serveKeys, ", "))
		}
	}
	if err := c.Points.Apply(all); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// strictKeys refuses unknown keys below those keys that hold maps of named fields.
func strictKeys(body ast.Node) error {
	all, ok := body.(*ast.MappingNode)
	if !ok {
		return nil
	}
	for _, value := range all.Values {
		var into any
		switch value.Key.String() {
		case "tls":
			into = new(tlsFiles)
		case "query":
			into = new(querySettings)
		case "exporters":
			into = new([]ExporterRule)
		default:
			continue
		}
		if err := yamldoc.Decode(value.Value, into); err != nil {
			return err
		}
	}
	return nil
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
			err = yaml.UnmarshalWithOptions([]byte(value), &c.TLS, yaml.Strict())
		case "metrics":
			c.Metrics = value
		case "query":
			err = yaml.UnmarshalWithOptions([]byte(value), &c.Query, yaml.Strict())
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
			err = yaml.UnmarshalWithOptions([]byte(value), &c.Exporters, yaml.Strict())
		case "policy":
			c.Policy = value
		case "alerts":
			c.Alerts = value
		case "names":
			err = yaml.Unmarshal([]byte(value), &c.Names)
		case "bursts":
			err = yaml.Unmarshal([]byte(value), &c.Bursts)
		case "sampling":
			err = yaml.Unmarshal([]byte(value), &c.Sampling)
		case "store":
			err = yaml.UnmarshalWithOptions([]byte(value), &c.Store, yaml.Strict(), yamlDurations)
		}
		if err != nil {
			return fmt.Errorf("%s: got %q, want what %s has in a configuration file", name, value, key)
		}
	}
	return nil
}

// Check refuses what cannot work, and what is not safe.
func (c *Config) Check() error {
	if _, err := c.Store.compile(c.Data); err != nil {
		return err
	}
	if len(c.Listen) == 0 {
		return fmt.Errorf("no address to listen on for reports; for example udp://:8555")
	}
	for _, address := range c.Listen {
		port, err := collect.PortOf(address)
		if err != nil {
			return fmt.Errorf("listen: %w", err)
		}
		if port != 0 && port == c.Points.INTUDPPort {
			return fmt.Errorf("int_udp_port: %d is also a port that reports are received on; INT and reports need different ports", port)
		}
	}
	if c.Workers < 1 || c.Workers > 256 {
		return fmt.Errorf("workers: got %d, want 1 to 256", c.Workers)
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
	if _, err := c.permits(); err != nil {
		return err
	}
	return c.checkAccess()
}

// Dump writes the configuration as a file would have it; code points are those that differ from the specifications.
func (c *Config) Dump() (string, error) {
	text, err := yaml.Marshal(c)
	if err != nil {
		return "", err
	}
	points, err := yaml.Marshal(c.Points.Map())
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
	units := []struct {
		suffix string
		factor float64
	}{
		{"KiB", 1 << 10},
		{"MiB", 1 << 20},
		{"GiB", 1 << 30},
		{"TiB", 1 << 40},
		{"kB", 1e3},
		{"MB", 1e6},
		{"GB", 1e9},
		{"TB", 1e12},
		{"K", 1 << 10},
		{"M", 1 << 20},
		{"G", 1 << 30},
		{"B", 1},
		{"", 1},
	}
	for _, u := range units {
		digits, ok := strings.CutSuffix(strings.TrimSpace(text), u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
		if err != nil || !(n >= 0) || n*u.factor > 1<<60 {
			break
		}
		return uint64(n * u.factor), nil
	}
	return 0, fmt.Errorf("got %q, want a size such as 512MiB", text)
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

// NodeNames returns the names of nodes: those of the configuration, and of the policy where that has none.
func (c *Config) NodeNames() map[uint32]string {
	names := maps.Clone(c.Names)
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

// yamlDurations reads the durations of a configuration in the same way.
var yamlDurations = yaml.CustomUnmarshaler(func(d *time.Duration, text []byte) (err error) {
	var word string
	if err := yaml.Unmarshal(text, &word); err != nil {
		return err
	}
	*d, err = filter.ParseDuration(word)
	return err
})
