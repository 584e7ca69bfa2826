package inventory

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/openconfig/gnmi/cache"
	"github.com/openconfig/gnmi/proto/gnmi"
	"github.com/openconfig/gnmi/subscribe"
	"google.golang.org/grpc"

	"github.com/waybill-int/waybill/telemetry"
)

// gnmiServer runs the server of OpenConfig's library, which answers for one device.
func gnmiServer(t *testing.T, values map[string]*gnmi.TypedValue) string {
	t.Helper()
	c := cache.New([]string{"leaf1"})
	for at, value := range values {
		var elems []*gnmi.PathElem
		for _, part := range strings.Split(at, "/") {
			name, key, _ := strings.Cut(part, "[")
			e := &gnmi.PathElem{Name: name}
			if key, value, ok := strings.Cut(strings.TrimSuffix(key, "]"), "="); ok {
				e.Key = map[string]string{key: value}
			}
			elems = append(elems, e)
		}
		err := c.GnmiUpdate(&gnmi.Notification{
			Timestamp: time.Now().UnixNano(), Prefix: &gnmi.Path{Target: "leaf1"},
			Update: []*gnmi.Update{{Path: &gnmi.Path{Elem: elems}, Val: value}},
		})
		if err != nil {
			t.Fatal(at, err)
		}
	}
	c.GetTarget("leaf1").Sync()
	service, err := subscribe.NewServer(c)
	if err != nil {
		t.Fatal(err)
	}
	c.SetClient(service.Update)
	server := grpc.NewServer()
	gnmi.RegisterGNMIServer(server, service)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go server.Serve(listener)
	t.Cleanup(server.Stop)
	return listener.Addr().String()
}

func text(s string) *gnmi.TypedValue {
	return &gnmi.TypedValue{Value: &gnmi.TypedValue_StringVal{StringVal: s}}
}

func jsonIETF(s string) *gnmi.TypedValue {
	return &gnmi.TypedValue{Value: &gnmi.TypedValue_JsonIetfVal{JsonIetfVal: []byte(s)}}
}

// TestGNMI: a device that answers leaf by leaf and one that answers with JSON say the same.
func TestGNMI(t *testing.T) {
	number := func(n uint64) *gnmi.TypedValue {
		return &gnmi.TypedValue{Value: &gnmi.TypedValue_UintVal{UintVal: n}}
	}
	leaves := map[string]*gnmi.TypedValue{
		"system/state/hostname":                                                                     text("leaf1"),
		"interfaces/interface[name=Ethernet6]/state/ifindex":                                        number(1006),
		"interfaces/interface[name=Ethernet6]/state/type":                                           text("iana-if-type:ethernetCsmacd"),
		"interfaces/interface[name=Ethernet6]/state/description":                                    text("to the spine"),
		"interfaces/interface[name=Ethernet6]/ethernet/state/port-speed":                            text("openconfig-if-ethernet:SPEED_25GB"),
		"interfaces/interface[name=Loopback0]/state/type":                                           text("softwareLoopback"),
		"interfaces/interface[name=Loopback0]/state/ifindex":                                        number(7),
		"lldp/state/chassis-id":                                                                     text("02:00:00:00:00:01"),
		"lldp/state/chassis-id-type":                                                                text("MAC_ADDRESS"),
		"lldp/interfaces/interface[name=Ethernet6]/neighbors/neighbor[id=1]/state/chassis-id":       text("02:00:00:00:00:05"),
		"lldp/interfaces/interface[name=Ethernet6]/neighbors/neighbor[id=1]/state/chassis-id-type":  text("MAC_ADDRESS"),
		"lldp/interfaces/interface[name=Ethernet6]/neighbors/neighbor[id=1]/state/system-name":      text("spine1"),
		"lldp/interfaces/interface[name=Ethernet6]/neighbors/neighbor[id=1]/state/port-id":          text("02:00:00:00:00:06"),
		"lldp/interfaces/interface[name=Ethernet6]/neighbors/neighbor[id=1]/state/port-id-type":     text("MAC_ADDRESS"),
		"lldp/interfaces/interface[name=Ethernet6]/neighbors/neighbor[id=1]/state/port-description": text("Ethernet1"),
	}
	trees := map[string]*gnmi.TypedValue{
		"system/state/hostname": jsonIETF(`"leaf1"`),
		"interfaces": jsonIETF(`{"openconfig-interfaces:interface": [
			{"name": "Ethernet6",
			 "state": {"ifindex": 1006, "type": "iana-if-type:ethernetCsmacd", "description": "to the spine"},
			 "openconfig-if-ethernet:ethernet": {"state": {"port-speed": "openconfig-if-ethernet:SPEED_25GB"}}},
			{"name": "Loopback0", "state": {"ifindex": 7, "type": "iana-if-type:softwareLoopback"}}]}`),
		"lldp": jsonIETF(`{"openconfig-lldp:state": {"chassis-id": "02:00:00:00:00:01", "chassis-id-type": "MAC_ADDRESS"},
			"interfaces": {"interface": [{"name": "Ethernet6", "neighbors": {"neighbor": [{"id": "1", "state": {
			 "chassis-id": "02:00:00:00:00:05", "chassis-id-type": "MAC_ADDRESS", "system-name": "spine1",
			 "port-id": "02:00:00:00:00:06", "port-id-type": "MAC_ADDRESS", "port-description": "Ethernet1"}}]}}]}}`),
	}
	for name, values := range map[string]map[string]*gnmi.TypedValue{"leaves": leaves, "JSON": trees} {
		for ports, port := range map[string]uint32{"index": 1006, "name": 6} {
			c, err := Parse("i.yaml", []byte(fmt.Sprintf(
				"gnmi: [{plaintext: true, target: leaf1, ports: %s, devices: {1: '%s'}}]", ports,
				gnmiServer(t, values))))
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.Sources[0].Read(t.Context())
			if err != nil {
				t.Fatal(name, err)
			}
			want := &Known{
				Nodes: map[uint32]telemetry.InventoryNode{1: {
					Name: "leaf1", Neighbours: true, Ports: map[uint32]telemetry.InventoryPort{
						port: {Name: "Ethernet6", Description: "to the spine", Speed: 25e9},
					},
				}},
				Neighbours: []Neighbour{{
					Node: 1, Port: port, Chassis: "mac 02:00:00:00:00:05", System: "spine1",
					Ports: []string{"Ethernet1", "02:00:00:00:00:06"},
				}},
				Chassis: map[string]uint32{"mac 02:00:00:00:00:01": 1},
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s:\ngot  %+v\nwant %+v", name, got, want)
			}
		}
	}
}

// TestGNMIRefused: without TLS where the device has none, and with a password that is missing, nothing is asked.
func TestGNMIRefused(t *testing.T) {
	address := gnmiServer(t, map[string]*gnmi.TypedValue{"system/state/hostname": text("leaf1")})
	c, err := Parse("i.yaml", []byte("gnmi: [{target: leaf1, devices: {1: '"+address+"'}}]"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.Sources[0].Read(t.Context()); err == nil {
		t.Errorf("got %+v without TLS", got)
	}
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"gnmi: [{devices: {1: a}, user: u}]":                              "user and password_file are needed together",
		"gnmi: [{devices: {1: a}, user: u, password_file: " + file + "}]": "is empty",
		"gnmi: [{devices: {1: a}, plaintext: true, ca: x}]":               "are of TLS",
		"gnmi: [{devices: {1: 'a:b'}}]":                                   "want HOST or HOST:PORT",
		"gnmi: [{}]":                                                      "want addresses by node id",
		"gnmi: [{devices: {1: a}, every: 1s}]":                            "want 10s to 7d",
		"gnmi: [{devices: {1: a, 2: a}}]":                                 "is there twice",
	} {
		if _, err := Parse("i.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}
