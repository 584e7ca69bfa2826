package api

import (
	"encoding/json"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/telemetry"
)

// noteAttack notes an attack that begins at a time, and ends after some if that is not 0.
func noteAttack(log *eventlog.Log, a telemetry.Attack, at time.Time, lasts time.Duration) {
	key := eventlog.Key{Kind: telemetry.EventAttack, Exporter: telemetry.ExporterKey{Source: a.Target, HWID: 128}}
	log.Note(key, at.UnixNano(), at.UnixNano(), a.Packets, func(e *telemetry.Event) {
		a.ID, a.Begin = e.ID, e.Start
		if lasts > 0 {
			end := at.Add(lasts)
			a.End = &end
		}
		e.Attack, e.Text, e.Severity = &a, a.Text, a.Severity
	})
	if lasts > 0 {
		log.End(key, at.Add(lasts).UnixNano())
	}
}

func floods(log *eventlog.Log, at time.Time) {
	gateway, port, effect := uint32(7), uint16(53), 0.75
	device := func(mac string, packets uint64) telemetry.AttackSource {
		return telemetry.AttackSource{
			Device: mac, Node: &gateway, Name: "gw1", Path: "00000000000000aa", Packets: packets, Bytes: 500 * packets,
			Share: float64(packets) / 4000, Filtered: packets / 2, First: at.UTC(), Last: at.Add(time.Second).UTC(),
		}
	}
	a := telemetry.Attack{
		Kind: telemetry.AttackUDP, State: telemetry.AttackMitigated, Severity: telemetry.Warning,
		Target: netip.MustParseAddr("192.0.2.80"), Port: &port, Text: "udp flood of 192.0.2.80 port 53 by 2 devices",
		Packets: 4000, Bytes: 2e6, BPS: 16e6, PPS: 4000, PeakBPS: 16e6, PeakPPS: 4000, FilteredPackets: 2000,
		Effectiveness: &effect, DevicesTotal: 2,
		Devices:   []telemetry.AttackSource{device("a6:1a:f6:b1:64:01", 3000), device("a6:1a:f6:b1:64:02", 1000)},
		Gateways:  []telemetry.AttackSource{device("", 4000)},
		Paths:     []telemetry.AttackSource{},
		Addresses: []telemetry.AttackSource{{Address: "10.0.0.1", Packets: 4000, Share: 1}},
		Filters:   []telemetry.AttackFilter{{Node: 9, Name: "agg1", Packets: 2000}},
		Evidence:  []telemetry.Evidence{{Name: "answered", Value: 0}},
		History: []telemetry.AttackPoint{
			{At: at.UTC(), DurationNs: 1e9, Packets: 4000, Bytes: 2e6, FilteredPackets: 2000},
		},
	}
	noteAttack(log, a, at, 0)
	a.Kind, a.State, a.Severity = telemetry.AttackSurge, telemetry.AttackEnded, telemetry.Info
	a.Target = netip.MustParseAddr("192.0.2.81")
	a.Text, a.Devices, a.DevicesTotal, a.Effectiveness = "surge towards 192.0.2.81", []telemetry.AttackSource{}, 0, nil
	noteAttack(log, a, at.Add(-time.Minute), 10*time.Second)
}

// Attacks are listed with their devices, of now and of the past, and one by one. Lists of events leave them out.
func TestAttacks(t *testing.T) {
	cfg := queued(t)
	cfg.Events = eventlog.New(100)
	at := cfg.Now().Add(-2 * time.Minute)
	floods(cfg.Events, at)
	events, _ := cfg.Events.Events(nil, 100)
	cfg.History = storeOf(t, &telemetry.Intervals{Events: slices.Clone(events)})
	h := New(cfg)
	golden(t, "attacks", ask(h, "GET", "/api/v1/attacks").Body.Bytes())
	golden(t, "attack", ask(h, "GET", "/api/v1/attacks/"+events[0].ID).Body.Bytes())
	for target, want := range map[string][]string{
		"":                                         {"192.0.2.80", "192.0.2.81"},
		"?filter=severity>=warning":                {"192.0.2.80"},
		`?filter=device%3D"a6:1a:f6:b1:64:02"`:     {"192.0.2.80"},
		`?filter=device%3D"a6:1a:f6:b1:64:03"`:     {},
		"?filter=gateway%3D7":                      {"192.0.2.80", "192.0.2.81"},
		"?filter=state%3Dmitigated":                {"192.0.2.80"},
		"?filter=target+in+192.0.2.81/32":          {"192.0.2.81"},
		"?order=begin:asc":                         {"192.0.2.81", "192.0.2.80"},
		"?since=10m":                               {"192.0.2.80", "192.0.2.81"},
		"?since=150s":                              {"192.0.2.80"},
		"?since=10m&until=150s":                    {"192.0.2.81"},
		"?since=10m&filter=kind%3Dsurge":           {"192.0.2.81"},
		"?since=10m&filter=effectiveness>%3D50%25": {"192.0.2.80"},
	} {
		var list types.AttackList
		w := ask(h, "GET", "/api/v1/attacks"+target)
		if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || w.Code != 200 {
			t.Fatalf("%s: %d %v %s", target, w.Code, err, w.Body)
		}
		got := []string{}
		for _, a := range list.Attacks {
			got = append(got, a.Target.String())
			if a.Target.String() == "192.0.2.80" &&
				(len(a.Devices) != 2 || a.Devices[0].Device != "a6:1a:f6:b1:64:01") {
				t.Errorf("%s: got devices %+v", target, a.Devices)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", target, got, want)
		}
	}
	for _, list := range []string{"", "?since=10m"} {
		body := ask(h, "GET", "/api/v1/events"+list).Body.String()
		if strings.Contains(body, "64:01") || !strings.Contains(body, "udp flood") {
			t.Errorf("events%s: got %s", list, body)
		}
	}
	// What memory has forgotten is in the store.
	cfg.Events = eventlog.New(100)
	var one types.AttackAnswer
	w := ask(New(cfg), "GET", "/api/v1/attacks/"+events[0].ID)
	if err := json.Unmarshal(w.Body.Bytes(), &one); err != nil || len(one.Attack.Devices) != 2 {
		t.Errorf("%d %v %s", w.Code, err, w.Body)
	}
	for target, want := range map[string]int{"/0000000000000000": 404, "?since=x": 400, "?order=devices": 400} {
		if w := ask(h, "GET", "/api/v1/attacks"+target); w.Code != want {
			t.Errorf("%s: got %d %s, want %d", target, w.Code, w.Body, want)
		}
	}
}

// Who follows attacks is told of those that go on, and of each when it is over.
func TestAttackStream(t *testing.T) {
	cfg := testConfig(newFeed().Collector)
	cfg.Events = eventlog.New(100)
	at := cfg.Now().Add(-2 * time.Minute)
	floods(cfg.Events, at)
	server := httptest.NewServer(New(cfg))
	defer server.Close()
	messages, id := listen(t, server, "/api/v1/attacks/stream", "", 1)
	if messages[0][0] != "attack" || !strings.Contains(messages[0][1], `"mitigated"`) {
		t.Errorf("got %v", messages)
	}
	target := telemetry.ExporterKey{Source: netip.MustParseAddr("192.0.2.80"), HWID: 128}
	cfg.Events.End(eventlog.Key{Kind: telemetry.EventAttack, Exporter: target}, cfg.Now().UnixNano())
	messages, _ = listen(t, server, "/api/v1/attacks/stream", id, 1)
	if messages[0][0] != "attack" || !strings.Contains(messages[0][1], `"ended"`) {
		t.Errorf("got %v", messages)
	}
}
