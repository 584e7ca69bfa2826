package inventory

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/waybill-int/waybill/internal/conf"
	"github.com/waybill-int/waybill/internal/conf/secure"
	"github.com/waybill-int/waybill/internal/conf/unit"
	"github.com/waybill-int/waybill/telemetry"
)

// gnmiDevices are devices that are asked by gNMI with the same credentials.
type gnmiDevices struct {
	Devices      map[uint32]string `yaml:"devices"` // addresses by node id
	Every        *unit.Duration    `yaml:"every"`
	Ports        portNumbers       `yaml:"ports"`
	User         string            `yaml:"user"`
	PasswordFile string            `yaml:"password_file"`
	CA           string            `yaml:"ca"`
	ServerName   string            `yaml:"server_name"` // in the certificates of the devices; missing: the address
	Plaintext    bool              `yaml:"plaintext"`   // no TLS
	Target       string            `yaml:"target"`      // of a collector that speaks for devices
}

func (g *gnmiDevices) sources(d *conf.Document, key string) []Source {
	checkEvery(d, key, g.Every)
	checkSecret(d, key+".password_file", g.PasswordFile)
	switch {
	case (g.User == "") != (g.PasswordFile == ""):
		d.Say(key, "user and password_file are needed together")
	case g.Plaintext && g.CA+g.ServerName != "":
		d.Say(key, "ca and server_name are of TLS, which plaintext turns off")
	}
	if g.CA != "" {
		if _, err := secure.ReadCAs(g.CA); err != nil {
			d.Say(key+".ca", "%v", err)
		}
	}
	return deviceSources(d, key, g.Devices, "9339", func(node uint32, address string) Source {
		return &gnmiDevice{g, node, address}
	})
}

// A gnmiDevice is a Source.
type gnmiDevice struct {
	*gnmiDevices
	node    uint32
	address string // with its port
}

// Origin implements Source.
func (s *gnmiDevice) Origin() telemetry.InventoryOrigin { return GNMI }

// String implements Source.
func (s *gnmiDevice) String() string { return "gnmi " + s.address }

// Every implements Source.
func (s *gnmiDevice) Every() time.Duration { return every(s.gnmiDevices.Every) }

// gnmiPaths are what is asked for, of the models of OpenConfig.
var gnmiPaths = [][]*gnmi.PathElem{
	gnmiPath("system", "state", "hostname"),
	gnmiPath("interfaces"),
	gnmiPath("lldp"),
}

func gnmiPath(names ...string) (path []*gnmi.PathElem) {
	for _, name := range names {
		path = append(path, &gnmi.PathElem{Name: name})
	}
	return path
}

// maxGNMIUpdates bounds what one device answers.
const maxGNMIUpdates = 1 << 20

// Read implements Source.
func (s *gnmiDevice) Read(ctx context.Context) (*Known, error) {
	tree, err := s.ask(ctx)
	if err != nil {
		return nil, err
	}
	k := &Known{Nodes: map[uint32]telemetry.InventoryNode{}, Chassis: map[string]uint32{}}
	n := telemetry.InventoryNode{
		Name: k.name(tree.text("system", "state", "hostname")), Ports: map[uint32]telemetry.InventoryPort{},
	}
	numbers := map[string]uint32{} // of ports by the names of interfaces
	interfaces := tree.entries("interfaces", "interface")
	for _, name := range slices.Sorted(maps.Keys(interfaces)) {
		i := interfaces[name]
		kind := i.text("state", "type")
		if _, after, ok := strings.Cut(kind, ":"); ok {
			kind = after
		}
		if kind != "" && kind != "ethernetCsmacd" {
			continue
		}
		index, err := strconv.ParseUint(i.text("state", "ifindex"), 10, 32)
		number, ok := s.Ports.number(uint32(index), name)
		ok = ok && (s.Ports == portsByName || err == nil)
		if _, twice := n.Ports[number]; !ok || twice || len(n.Ports) >= maxPorts {
			k.LeftOut++
			continue
		}
		numbers[name] = number
		n.Ports[number] = telemetry.InventoryPort{
			Name: k.name(name), Description: cut(i.text("state", "description"), maxDescription),
			Speed: gnmiSpeed(i.text("ethernet", "state", "port-speed")),
		}
	}
	if chassis := tree.text("lldp", "state", "chassis-id"); chassis != "" {
		n.Neighbours = true
		k.Chassis[gnmiChassis(tree.text("lldp", "state", "chassis-id-type"), chassis)] = s.node
		s.neighbours(k, tree, numbers)
	}
	k.Nodes[s.node] = n
	return k, nil
}

// neighbours adds what LLDP tells to k.
func (s *gnmiDevice) neighbours(k *Known, tree *gnmiTree, numbers map[string]uint32) {
	interfaces := tree.entries("lldp", "interfaces", "interface")
	for _, name := range slices.Sorted(maps.Keys(interfaces)) {
		list := interfaces[name].entries("neighbors", "neighbor")
		for _, id := range slices.Sorted(maps.Keys(list)) {
			state := list[id].at("state")
			port, ok := numbers[name]
			if !ok || len(k.Neighbours) >= maxNeighbours {
				k.LeftOut++
				continue
			}
			n := Neighbour{
				Node: s.node, Port: port, System: cut(state.text("system-name"), maxText),
				Chassis: gnmiChassis(state.text("chassis-id-type"), state.text("chassis-id")),
			}
			names := []string{state.text("port-id"), state.text("port-description")}
			if state.text("port-id-type") == "MAC_ADDRESS" {
				slices.Reverse(names)
			}
			for _, name := range names {
				if name != "" {
					n.Ports = append(n.Ports, cut(name, maxText))
				}
			}
			k.Neighbours = append(k.Neighbours, n)
		}
	}
}

// gnmiChassis writes an id of LLDP as chassisName does if it is a MAC address.
func gnmiChassis(kind, id string) string {
	if mac, err := net.ParseMAC(id); err == nil && len(mac) == 6 {
		return "mac " + mac.String()
	}
	return kind + " " + cut(id, maxText)
}

// gnmiSpeed reads an identity of openconfig-if-ethernet such as SPEED_25GB, in bit/s; 0: it is none.
func gnmiSpeed(text string) uint64 {
	_, text, _ = strings.Cut(text, "SPEED_")
	for suffix, factor := range map[string]uint64{"MB": 1e6, "GB": 1e9} {
		if digits, ok := strings.CutSuffix(text, suffix); ok {
			n, err := strconv.ParseUint(digits, 10, 32)
			if err == nil {
				return n * factor
			}
		}
	}
	return 0
}

// ask returns what a device answers to one subscription that ends (mode ONCE).
func (s *gnmiDevice) ask(ctx context.Context) (*gnmiTree, error) {
	security := insecure.NewCredentials()
	if !s.Plaintext {
		config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: s.ServerName}
		if s.CA != "" {
			var err error
			if config.RootCAs, err = secure.ReadCAs(s.CA); err != nil {
				return nil, err
			}
		}
		security = credentials.NewTLS(config)
	}
	if s.User != "" {
		password, err := readSecret(s.PasswordFile)
		if err != nil {
			return nil, err
		}
		ctx = metadata.AppendToOutgoingContext(ctx, "username", s.User, "password", password)
	}
	connection, err := grpc.NewClient("passthrough:///"+s.address, grpc.WithTransportCredentials(security),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64<<20)))
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	stream, err := gnmi.NewGNMIClient(connection).Subscribe(ctx)
	if err != nil {
		return nil, err
	}
	request := &gnmi.SubscriptionList{Mode: gnmi.SubscriptionList_ONCE, Encoding: gnmi.Encoding_JSON_IETF}
	if s.Target != "" {
		request.Prefix = &gnmi.Path{Target: s.Target}
	}
	for _, path := range gnmiPaths {
		request.Subscription = append(request.Subscription, &gnmi.Subscription{Path: &gnmi.Path{Elem: path}})
	}
	err = stream.Send(&gnmi.SubscribeRequest{Request: &gnmi.SubscribeRequest_Subscribe{Subscribe: request}})
	if err != nil {
		return nil, err
	}
	if err := stream.CloseSend(); err != nil {
		return nil, err
	}
	tree, updates := &gnmiTree{}, 0
	for {
		answer, err := stream.Recv()
		if err != nil {
			return nil, err
		}
		if answer.GetSyncResponse() {
			return tree, nil
		}
		notification := answer.GetUpdate()
		for _, u := range notification.GetUpdate() {
			if updates++; updates > maxGNMIUpdates {
				return nil, fmt.Errorf("more than %d values", maxGNMIUpdates)
			}
			tree.add(append(slices.Clone(notification.GetPrefix().GetElem()), u.GetPath().GetElem()...), u.GetVal())
		}
	}
}

// A gnmiTree is a part of what a device answers. Entries of a list have their keys behind its name.
type gnmiTree struct {
	value    string
	children map[string]*gnmiTree
}

// child returns one, which is made if there is none.
func (t *gnmiTree) child(name string) *gnmiTree {
	if t.children == nil {
		t.children = map[string]*gnmiTree{}
	}
	c := t.children[name]
	if c == nil {
		c = &gnmiTree{}
		t.children[name] = c
	}
	return c
}

// add puts a value at a path.
func (t *gnmiTree) add(path []*gnmi.PathElem, value *gnmi.TypedValue) {
	for _, e := range path {
		t = t.child(bareName(e.GetName()))
		for _, key := range slices.Sorted(maps.Keys(e.GetKey())) {
			t = t.child("[" + e.GetKey()[key]) // lists that are wanted have one key
		}
	}
	switch v := value.GetValue().(type) {
	case *gnmi.TypedValue_JsonIetfVal:
		t.addJSON(v.JsonIetfVal)
	case *gnmi.TypedValue_JsonVal:
		t.addJSON(v.JsonVal)
	case *gnmi.TypedValue_StringVal:
		t.value = v.StringVal
	case *gnmi.TypedValue_UintVal:
		t.value = strconv.FormatUint(v.UintVal, 10)
	case *gnmi.TypedValue_IntVal:
		t.value = strconv.FormatInt(v.IntVal, 10)
	}
}

func (t *gnmiTree) addJSON(text []byte) {
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	var v any
	if d.Decode(&v) == nil {
		t.addValue(v)
	}
}

// listKeys are the keys of the lists that are wanted.
var listKeys = []string{"name", "id"}

func (t *gnmiTree) addValue(v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			t.child(bareName(name)).addValue(inner)
		}
	case []any:
		for _, inner := range v {
			entry, _ := inner.(map[string]any)
			for _, key := range listKeys {
				if id, ok := entry[key].(string); ok {
					t.child("[" + id).addValue(inner)
					break
				}
			}
		}
	case string:
		t.value = v
	case json.Number:
		t.value = v.String()
	}
}

// bareName returns a name without that of its module: openconfig-lldp:lldp is lldp.
func bareName(name string) string {
	if _, after, ok := strings.Cut(name, ":"); ok {
		return after
	}
	return name
}

// at returns what is below a path; it is empty if there is nothing.
func (t *gnmiTree) at(path ...string) *gnmiTree {
	for _, name := range path {
		if t = t.children[name]; t == nil {
			return &gnmiTree{}
		}
	}
	return t
}

func (t *gnmiTree) text(path ...string) string { return strings.TrimSpace(t.at(path...).value) }

// entries returns those of a list by their keys.
func (t *gnmiTree) entries(path ...string) map[string]*gnmiTree {
	list := map[string]*gnmiTree{}
	for name, inner := range t.at(path...).children {
		if key, ok := strings.CutPrefix(name, "["); ok {
			list[key] = inner
		}
	}
	return list
}
