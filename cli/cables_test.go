package cli

import (
	"testing"

	"github.com/waybill-int/waybill/internal/test"
)

// TestCables: both ends have their names where they have one, and the sources of the inventory are shown with why they
// do not answer.
func TestCables(t *testing.T) {
	s := test.CannedServer(t, map[string]string{
		"cables": `{"generated_at":"2026-11-28T05:00:00Z","total":3,"cables":[
{"node":1,"name":"leaf1","port":6,"port_name":"Ethernet6","to":5,"to_name":"spine1","to_port":1,"to_port_name":"Ethernet1",
 "state":"used","packets":12,"both_ends":true,"origin":"snmp"},
{"node":1,"name":"leaf1","port":7,"to":null,"to_name":"server9","to_port":null,"to_port_name":"eno1","state":"one_end",
 "packets":0,"both_ends":false,"origin":"snmp"},
{"node":2,"port":3,"to":5,"to_port":null,"state":"unused","packets":0,"both_ends":false,"origin":"snmp"}]}`,
		"inventory": `{"generated_at":"2026-11-28T05:00:00Z","nodes":[],"hosts":[],"sources":[
{"source":"snmp 10.0.0.1:161","origin":"snmp","state":"answering","nodes":1,"ports":32,"hosts":0,"neighbours":2,"left_out":0,
 "reads":4,"failures":0,"failures_in_a_row":0,"last":"2026-11-28T04:59:00Z","next":"2026-11-28T05:04:00Z"},
{"source":"snmp 10.0.0.2:161","origin":"snmp","state":"failing","nodes":0,"ports":0,"hosts":0,"neighbours":0,"left_out":0,
 "reads":0,"failures":3,"failures_in_a_row":3,"error":"request timeout (after 2 retries)"}]}`,
	})
	for _, c := range []struct{ file, command, output string }{
		{"cables.table", "cables", "table"}, {"cables.wide", "cables", "wide"}, {"inventory.table", "inventory", ""},
	} {
		args := []string{c.command, "--server", s.URL}
		if c.output != "" {
			args = append(args, "-o", c.output)
		}
		stdout, stderr, code := runQuery(t, args...)
		if code != 0 {
			t.Fatalf("%s: code %d, %s", c.command, code, stderr)
		}
		goldenQuery(t, c.file, stdout)
	}
}
