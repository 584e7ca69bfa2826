package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/serve"
)

// What `events --id` prints decodes the report as the server did, in its dialect and with its code points: a report
// with a shim of another length than its stack.
func TestDecodeCommandOfEvent(t *testing.T) {
	s := startServer(t, func(c *serve.Config) {
		for key, value := range map[string]any{
			"dialects": map[string]any{"127.0.0.1": "onos-int10-ver0"}, "int_dscp": 0x17, "int_udp_port": 5001,
			"ds_lengths": map[string]any{"0x1234": map[string]any{"1": 4}},
		} {
			if err := c.Points.Set(key, value); err != nil {
				t.Fatal(err)
			}
		}
	})
	report := bytes.Clone(test.Captured(t, "onos_v10_pathchange")[0])
	report[64] ^= 8 // the length of the shim
	s.send(s.udp(0), [][]byte{report})
	var events []client.Event
	test.Eventually(t, "the event", func() bool {
		s.get("/api/v1/events?kind=malformed", "events", &events)
		return len(events) == 1
	})
	_, hint, code := runWaybill(t, "events", "--id", events[0].ID, "--server", s.URL())
	_, command, found := strings.Cut(hint, "waybill decode ")
	if code != 0 || !found {
		t.Fatalf("code %d: %s", code, hint)
	}
	command, _, _ = strings.Cut(command, "\n")
	quoted := false
	args := strings.FieldsFunc(command, func(r rune) bool {
		quoted = quoted != (r == '\'')
		return r == ' ' && !quoted
	})
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "'", "")
	}
	decoded, stderr, code := runWaybill(t, append(append([]string{"decode"}, args...), "-o", "json")...)
	var packet struct{ Layers []map[string]json.RawMessage }
	if err := json.Unmarshal([]byte(decoded), &packet); err != nil {
		t.Fatalf("waybill decode %s: code %d %s", command, code, stderr)
	}
	last := packet.Layers[len(packet.Layers)-1]
	if got := strings.Trim(string(last["error"]), `"`); got != events[0].ReasonName {
		t.Errorf("waybill decode %s: error %q, want %q\n%s", command, got, events[0].ReasonName, decoded)
	}
	for _, want := range []string{
		"--dialect onos-int10-ver0", "--set int_dscp=23", "--set int_udp_port=5001", `--set ds_lengths='{"0x1234":{"1":4}`,
	} {
		if !strings.Contains(command, want) {
			t.Errorf("%s is missing in: %s", want, command)
		}
	}
}
