package inventory

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/telemetry"
)

// Answers as NetBox's documentation of its REST API has them, with fields that nobody asks for.
var netBoxAnswers = map[string][]string{
	"/api/dcim/devices/": {
		`{"id": 11, "url": "http://netbox/api/dcim/devices/11/", "display": "leaf1", "name": "leaf1",
		  "device_type": {"id": 1, "manufacturer": {"id": 1, "name": "Acme", "slug": "acme"}, "model": "T1", "slug": "t1"},
		  "role": {"id": 2, "display": "Leaf", "name": "Leaf", "slug": "leaf"}, "tenant": null, "serial": "",
		  "site": {"id": 3, "display": "AMS1", "name": "AMS1", "slug": "ams1"}, "status": {"value": "active", "label": "Active"},
		  "custom_fields": {"int_node": 1}, "tags": [], "interface_count": 2}`,
		`{"id": 12, "name": "spine1", "device_role": {"id": 4, "name": "Spine", "slug": "spine"}, "site": {"id": 3, "name": "AMS1",
		  "slug": "ams1"}, "custom_fields": {"int_node": "0x5"}}`,
		`{"id": 13, "name": null, "role": null, "site": null, "custom_fields": {"int_node": null}}`,
		`{"id": 14, "name": "again", "custom_fields": {"int_node": 1}}`,
	},
	"/api/dcim/interfaces/": {
		`{"id": 100, "device": {"id": 11, "name": "leaf1"}, "name": "Ethernet6", "label": "", "type": {"value":
		  "25gbase-x-sfp28", "label": "SFP28 (25GE)"}, "enabled": true, "mtu": null, "speed": 25000000, "duplex": null,
		  "description": "to the spine", "mode": null, "cable": {"id": 7, "label": ""}, "custom_fields": {"int_port": null}}`,
		`{"id": 101, "device": {"id": 11, "name": "leaf1"}, "name": "Management", "speed": null, "description": "",
		  "custom_fields": {"int_port": null}}`,
		`{"id": 102, "device": {"id": 12, "name": "spine1"}, "name": "swp1s0", "speed": null, "description": "",
		  "custom_fields": {"int_port": 64}}`,
	},
	"/api/ipam/ip-addresses/": {
		`{"id": 1, "family": {"value": 4, "label": "IPv4"}, "address": "10.0.1.4/24", "dns_name": "h4.example.net"}`,
		`{"id": 2, "family": {"value": 6, "label": "IPv6"}, "address": "2001:db8::4/64", "dns_name": ""}`,
	},
}

// netBoxServer answers page by page, whoever has the token.
func netBoxServer(t *testing.T, token string) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Header.Get("Authorization") != token {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"detail": "Invalid token"}`)
			return
		}
		items, ok := netBoxAnswers[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		q := r.URL.Query()
		var chosen []json.RawMessage
		for _, item := range items {
			var v struct {
				Name   *string
				Device struct{ ID int }
			}
			if err := json.Unmarshal([]byte(item), &v); err != nil {
				t.Error(err)
			}
			if names := q["name"]; names != nil && (v.Name == nil || !slices.Contains(names, *v.Name)) {
				continue
			}
			if ids := q["device_id"]; ids != nil && !slices.Contains(ids, strconv.Itoa(v.Device.ID)) {
				continue
			}
			chosen = append(chosen, json.RawMessage(item))
		}
		offset, _ := strconv.Atoi(q.Get("offset"))
		page := chosen[min(offset, len(chosen)):min(offset+2, len(chosen))] // NetBox may give less than limit
		_ = json.NewEncoder(w).Encode(map[string]any{
			"count": len(chosen), "next": nil, "previous": nil, "results": page,
		})
	}))
	t.Cleanup(s.Close)
	return s
}

func netBoxSourceOf(t *testing.T, text string) Source {
	t.Helper()
	c, err := Parse("i.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c.Sources[0]
}

func TestNetBox(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("0123456789abcdef\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	server := netBoxServer(t, "Token 0123456789abcdef")
	s := netBoxSourceOf(t, fmt.Sprintf(
		"netbox: [{url: '%s/', token_file: %s, node_field: int_node, port_field: int_port, hosts: true}]",
		server.URL, file))
	got, err := s.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := &Known{
		Nodes: map[uint32]telemetry.InventoryNode{
			1: {Name: "leaf1", Role: "leaf", Site: "ams1", Ports: map[uint32]telemetry.InventoryPort{
				6: {Name: "Ethernet6", Description: "to the spine", Speed: 25e9},
			}},
			5: {
				Name: "spine1", Role: "spine", Site: "ams1",
				Ports: map[uint32]telemetry.InventoryPort{64: {Name: "swp1s0"}},
			},
		},
		Hosts:   []telemetry.InventoryHost{{Prefix: netip.MustParsePrefix("10.0.1.4/32"), Name: "h4.example.net"}},
		LeftOut: 1, // the device that is node 1 too
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	// By names, and without hosts.
	s = netBoxSourceOf(t, fmt.Sprintf("netbox: [{url: '%s', token_file: %s, devices: {9: spine1}}]", server.URL, file))
	if got, err := s.Read(t.Context()); err != nil || len(got.Nodes) != 1 || got.Nodes[9].Name != "spine1" ||
		len(got.Hosts) != 0 {
		t.Errorf("got %+v, %v", got, err)
	}
	// A token of version 2 goes as a bearer token; what the server refuses is told.
	if err := os.WriteFile(file, []byte("nbt_abc.def"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Read(t.Context()); err == nil || !strings.Contains(err.Error(), "403 Forbidden") ||
		!strings.Contains(err.Error(), "Invalid token") {
		t.Errorf("got %v", err)
	}
	bearer := netBoxServer(t, "Bearer nbt_abc.def")
	s = netBoxSourceOf(t, fmt.Sprintf("netbox: [{url: '%s', token_file: %s, devices: {9: spine1}}]", bearer.URL, file))
	if got, err := s.Read(t.Context()); err != nil || len(got.Nodes) != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestNetBoxMisled: neither an answer that leads elsewhere nor one that is no JSON is taken.
func TestNetBoxMisled(t *testing.T) {
	for want, handler := range map[string]http.HandlerFunc{
		"leads elsewhere": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://192.0.2.1/", http.StatusFound)
		},
		"cannot be read": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") },
	} {
		server := httptest.NewServer(handler)
		s := netBoxSourceOf(t, "netbox: [{url: '"+server.URL+"', hosts: true}]")
		if _, err := s.Read(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
		server.Close()
	}
}
