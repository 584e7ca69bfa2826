package incident

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

var epoch = time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)

// eventOf reads an event: its kind, from when to when in seconds ("-": it goes on), and what it is about, such as
// "link_lost 2 10 node=1 port=2 to=5 to_port=1".
func eventOf(t *testing.T, id, text string) telemetry.Event {
	t.Helper()
	words := strings.Fields(text)
	e := telemetry.Event{ID: id, Severity: telemetry.Warning, Count: 1, Text: text, Evidence: []telemetry.Evidence{}}
	if err := e.Kind.UnmarshalText([]byte(words[0])); err != nil || e.Kind == 0 {
		t.Fatalf("no such kind: %s", text)
	}
	if e.Kind == telemetry.EventLinkLost {
		e.Count = 0
	}
	at := func(word string) time.Time {
		d, err := time.ParseDuration(word + "s")
		if err != nil {
			t.Fatal(err)
		}
		return epoch.Add(d)
	}
	e.Start = at(words[1])
	if words[2] != "-" {
		end := at(words[2])
		e.End = &end
	}
	for _, word := range words[3:] {
		name, value, _ := strings.Cut(word, "=")
		var n uint32
		_, err := fmt.Sscan(value, &n)
		switch name {
		case "node":
			e.Node, e.Name = &n, "sw"+value
		case "port":
			e.Port = &n
		case "to":
			e.ToNode, e.ToName = &n, "sw"+value
		case "to_port":
			e.ToPort = &n
		case "queue":
			queue := uint8(n)
			e.Queue = &queue
		case "reason":
			reason := uint8(n)
			e.Reason = &reason
		case "count":
			e.Count = uint64(n)
		case "new_port", "drops", "peak", "first_drop_after":
			e.Evidence = append(e.Evidence, telemetry.Evidence{Name: name, Value: float64(n)})
		case "cause":
			e.Cause, err = value, nil
		case "path":
			e.PathNodes, err = strings.Split(value, ","), nil
		case "way":
			e.Path, err = value, nil
		case "source":
			e.Source, err = value, nil
		case "dst":
			e.Flow = &telemetry.Endpoints{}
			err = e.Flow.Dst.UnmarshalText([]byte(value))
		case "target":
			e.Attack = &telemetry.Attack{}
			err = e.Attack.Target.UnmarshalText([]byte(value))
		case "severity":
			err = e.Severity.UnmarshalText([]byte(value))
		default:
			t.Fatalf("what is %s?", word)
		}
		if err != nil {
			t.Fatalf("%s: %v", word, err)
		}
	}
	return e
}

func eventsOf(t *testing.T, texts ...string) (list []telemetry.Event) {
	t.Helper()
	for i, text := range texts {
		list = append(list, eventOf(t, fmt.Sprintf("%02d", i), text))
	}
	return list
}

const lostLink = "link_lost 2 9 node=1 port=2 to=5 to_port=1"

// A case of each rule: a cause, an effect, and one that is a little different and does not follow.
var ruleCases = map[string][3]string{
	"duplicate_id":    {"duplicate_node_id 2 9 node=1", "loop 3 4 node=1", "loop 3 4 node=2"},
	"other_direction": {lostLink, "link_lost 2 9 node=5 port=1 to=1 to_port=2", "link_lost 2 9 node=5 to=2"},
	"dropped_at_lost_link": {
		lostLink, "drop_storm 2 3 node=1 port=2 cause=egress_link_down",
		"drop_storm 2 3 node=1 port=2",
	},
	"left_lost_link": {
		lostLink, "path_change 3 3 node=1 port=2 new_port=3",
		"path_change 13 13 node=1 port=2 new_port=3",
	},
	"back_to_link": {
		lostLink, "path_change 10 10 node=1 port=3 new_port=2",
		"path_change 10 10 node=7 port=3 new_port=4",
	},
	"dropped_in_blackhole": {
		"blackhole 2 9 node=1 reason=29 cause=no_route", "drop_storm 2 9 node=1 reason=29 cause=no_route",
		"drop_storm 2 9 node=1 reason=30",
	},
	"loop_continues": {
		"loop 2 4 node=1 path=sw1,sw5", "loop 2 4 node=5 path=sw5,sw1", "loop 2 4 node=6 path=sw6,sw7",
	},
	"dropped_in_loop": {
		"loop 2 4 node=1 path=sw1,sw5", "drop_storm 2 4 node=5 cause=ttl_expired",
		"drop_storm 2 4 node=6 cause=ttl_expired",
	},
	"too_many_hops_in_loop": {"loop 2 4 node=1 path=sw1,5", "hop_limit 3 3 node=5", "hop_limit 3 3 node=6"},
	"left_loop": {
		"loop 2 4 node=1 path=sw1,5", "path_change 5 5 node=5 port=1", "path_change 5 5 node=6 port=1",
	},
	"uneven_by_blackhole": {
		"blackhole 2 8 node=1", "ecmp_imbalance 3 9 node=5 port=1", "ecmp_imbalance 6 9 node=5 port=1",
	},
	"turned_back":         {"link_lost 2 8 node=1 to=5", "loop 3 3 node=4 path=sw4,5", "loop 3 5 node=4 path=sw4,5"},
	"looped_as_link_lost": {lostLink, "loop 3 5 node=4 path=sw4,sw7", "loop 3 8 node=4 path=sw4,sw7"},
	"queue_in_loop":       {"loop 2 4 node=1 path=sw1,sw5", "microburst 3 4 node=5", "microburst 3 4 node=6"},
	"moved_to_queue": {
		"path_change 2 2 node=1 port=2 new_port=3", "microburst 3 4 node=1 port=3", "microburst 3 4 node=1 port=2",
	},
	"uneven_to_queue": {
		"ecmp_imbalance 2 9 node=1 port=3", "incast 3 4 node=1 port=3", "incast 3 4 node=1 port=2",
	},
	"dropped_by_queue": {
		"microburst 2 4 node=1 port=3", "drop_storm 2 5 node=1 port=3 cause=queue_full",
		"drop_storm 2 5 node=1 port=3 cause=acl_deny",
	},
	"waited_in_queue": {
		"microburst 2 4 node=1 port=3", "latency_anomaly 3 4 node=1 port=3", "latency_anomaly 3 4 node=1 port=4",
	},
	"reports_after_restart": {
		"node_restart 2 2 source=192.0.2.1", "report_loss 3 4 source=192.0.2.1", "report_loss 3 4 source=192.0.2.2",
	},
	"silent_until_restart": {
		"exporter_silent 2 9 node=1", "node_restart 9 9 node=1 source=192.0.2.1", "node_restart 9 9 node=2 source=192.0.2.2",
	},
	"clock_explains": {
		"clock_jump 2 3 node=1", "latency_anomaly 3 4 node=5 to=1", "latency_anomaly 3 4 node=5 to=2",
	},
	"broke_rule_by_moving": {
		"path_change 2 2 node=1 port=2 new_port=3 way=abc", "waypoint_missed 3 9 node=7 way=abc",
		"waypoint_missed 3 9 node=7 way=abd",
	},
	"queue_goes_on": {
		"microburst 2 9 node=1 port=3 queue=0", "microburst 9.1 9.2 node=1 port=3 queue=0",
		"microburst 9.4 9.5 node=1 port=3 queue=0",
	},
	"same_queue": {
		"microburst 2 3 node=1 port=3 queue=0", "microburst 4 5 node=1 port=3 queue=0",
		"microburst 4 5 node=1 port=3 queue=1",
	},
	"several_uneven": {
		"ecmp_imbalance 2 9 node=1 port=3", "ecmp_imbalance 3 9 node=2 port=3", "ecmp_imbalance 7 9 node=2 port=3",
	},
	"several_exporters": {
		"report_loss 2 9 source=192.0.2.1", "report_loss 3 9 source=192.0.2.2", "report_loss 8 9 source=192.0.2.2",
	},
	"attack_fills_queue": {
		"attack 2 9 target=192.0.2.9", "microburst 3 5 node=1 port=3 severity=warning",
		"microburst 13 15 node=1 port=3 severity=warning",
	},
	"dropped_of_attack": {
		"attack 2 9 target=192.0.2.9", "drop_storm 6 9 node=2 cause=acl_deny dst=192.0.2.9",
		"drop_storm 6 9 node=2 cause=acl_deny dst=192.0.2.8",
	},
	"same_target": {
		"drop_storm 2 9 node=1 cause=acl_deny dst=192.0.2.9", "drop_storm 3 9 node=2 cause=acl_deny dst=192.0.2.9",
		"drop_storm 3 9 node=2 cause=acl_deny dst=192.0.2.8",
	},
	"flap": {
		"path_change 2 2 node=1 port=2 new_port=3", "path_change 6 6 node=1 port=3 new_port=2",
		"path_change 6 6 node=1 port=4 new_port=2",
	},
	"filtered_target": {
		"microburst 2 5 node=1 port=3 dst=192.0.2.9", "drop_storm 6 9 node=2 cause=acl_deny dst=192.0.2.9",
		"drop_storm 6 9 node=2 cause=acl_deny dst=192.0.2.8",
	},
	"no_way_around":      {lostLink, "blackhole 4 9 node=7 cause=no_route", "blackhole 7 9 node=7 cause=no_route"},
	"moved_by_lost_link": {lostLink, "path_change 3 3 node=7 port=1 to=5", "path_change 3 3 node=7 port=1 to=8"},
	"moved_back":         {lostLink, "path_change 10 10 node=7 port=1 to=8", "path_change 13 13 node=7 port=1 to=8"},
	"moved_by_uneven": {
		"ecmp_imbalance 2 9 node=1 port=3", "path_change 2 2 node=7 port=1 to=8", "path_change 5 5 node=7 port=1 to=8",
	},
	"broke_rule": {lostLink, "waypoint_missed 4 9 node=7", "waypoint_missed 8 9 node=7"},
}

// Each rule holds for its case, and does not for what is a little different.
func TestRules(t *testing.T) {
	for i := range rules {
		r := &rules[i]
		c, ok := ruleCases[r.id]
		if !ok {
			t.Errorf("rule %s has no case", r.id)
			continue
		}
		events := eventsOf(t, c[0], c[1])
		for _, order := range [][]int{{0, 1}, {1, 0}} {
			list := Of([]telemetry.Event{events[order[0]], events[order[1]]}, nil)
			if len(list) != 1 || list[0].Events[1].Of != "00" || list[0].Events[1].Rule != r.id ||
				list[0].Events[1].Likely != r.likely || list[0].Kind != events[0].Kind {
				t.Errorf("%s: got %+v", r.id, list)
			}
		}
		for _, n := range Of(eventsOf(t, c[0], c[2]), nil) {
			for _, e := range n.Events {
				if e.Rule == r.id {
					t.Errorf("%s: %s follows from %s", r.id, c[2], c[0])
				}
			}
		}
	}
	if len(ruleCases) != len(rules) {
		t.Errorf("%d cases of %d rules", len(ruleCases), len(rules))
	}
}

// What fills a queue before or after something is not said to follow from it, nor is a queue that is long for a moment
// what was congested for long.
func TestQueuesApart(t *testing.T) {
	const loop, uneven = "loop 2 4 node=1 path=sw1,sw5", "ecmp_imbalance 2 9 node=5 port=3"
	const queue = " node=5 port=3 queue=0"
	for _, c := range []struct {
		events []string
		want   []int // how many events the incidents have, the latest first
	}{
		{[]string{loop, "microburst 1 1.9" + queue}, []int{1, 1}},
		{[]string{loop, "microburst 1.5 2.1" + queue}, []int{2}},
		{[]string{loop, "microburst 4.1 4.2" + queue}, []int{1, 1}},
		{[]string{loop, "microburst 3 4" + queue, "microburst 4.1 4.2" + queue}, []int{3}},
		{[]string{loop, "microburst 3 4" + queue, "microburst 4.4 4.5" + queue}, []int{1, 2}},
		{[]string{uneven, "incast 0.7 0.8" + queue}, []int{1, 1}},
		{[]string{"microburst 2 9" + queue, "microburst 9.1 9.2" + queue}, []int{2}},
		{[]string{"microburst 2 9" + queue, "microburst 9.4 9.5" + queue}, []int{1, 1}},
		{[]string{"microburst 2 9" + queue, "microburst 9.1 9.2" + queue, "microburst 9.6 9.7" + queue}, []int{1, 2}},
		{[]string{"microburst 2 2.1" + queue, "microburst 9 9.1" + queue}, []int{2}},
		{[]string{"microburst 2 2.1" + queue, "microburst 2.2 2.3 severity=info" + queue}, []int{2}},
		{[]string{"microburst 2 2.1 severity=info" + queue, "microburst 2.2 2.3" + queue}, []int{1, 1}},
		{ // the queue was long for a moment before the congestion too, but that is what goes on
			[]string{
				"microburst 2 2.1 severity=info" + queue, "microburst 4 9" + queue,
				"microburst 9.1 9.2 severity=info" + queue,
			},
			[]int{2, 1},
		},
	} {
		var got []int
		for _, n := range Of(eventsOf(t, c.events...), nil) {
			got = append(got, len(n.Events))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: got incidents of %v events, want %v", c.events, got, c.want)
		}
	}
	storm := "drop_storm 2 10 node=5 port=3 cause=queue_full count=9"
	n, _ := Find(Of(eventsOf(t, "microburst 2 9 drops=7"+queue, "microburst 10 10.1 drops=2"+queue, storm), nil), "00")
	if want := epoch.Add(9 * time.Second); !n.End.Equal(want) {
		t.Errorf("the storm of another burst goes on: got an end at %v, want %v", n.End, want)
	}
}

// A blackhole that was there before a link failed does not follow from that.
func TestBlackholeBeforeLink(t *testing.T) {
	const hole = "blackhole 2 9 node=7 cause=no_route first_drop_after="
	const link = "link_lost 2.5 9 node=1 port=2 to=5 to_port=1 count=4"
	for after, want := range map[string]int{"100000000": 2, "700000000": 1} {
		if list := Of(eventsOf(t, hole+after, link), nil); len(list) != want {
			t.Errorf("first drop after %s ns: got %d incidents, want %d", after, len(list), want)
		}
	}
}

// Two links that fail at once stay apart, and what both explain is of neither.
func TestTwoFaultsAtOnce(t *testing.T) {
	list := Of(eventsOf(
		t, lostLink, "link_lost 2 9 node=5 port=1 to=1 to_port=2",
		"link_lost 2.5 9 node=3 port=2 to=6 to_port=1", "link_lost 2.5 9 node=6 port=1 to=3 to_port=2 count=2",
		"drop_storm 2 3 node=1 port=2 cause=egress_link_down count=40",
		"drop_storm 2 3 node=6 port=1 cause=egress_link_down count=2", "blackhole 3 9 node=7 cause=no_route count=50",
		"new_flow 3 4 node=7",
	), nil)
	byID := map[string]*telemetry.Incident{}
	for i := range list {
		byID[list[i].ID] = &list[i]
	}
	if n := byID["00"]; n == nil || n.Text != "link sw1-sw5 down for 7.0 s: at least 40 packets lost" ||
		n.PacketsLost != 40 || len(n.Events) != 3 {
		t.Errorf("got %+v", n)
	}
	found, ok := Find(list, "02")
	if !ok || found.Text != "link sw3-sw6 down for 6.5 s: at least 2 packets lost" || len(found.Events) != 3 {
		t.Errorf("got %+v", found)
	}
	n := byID["06"]
	if len(list) != 3 || n == nil || n.Kind != telemetry.EventBlackhole || len(n.PossibleCauses) != 2 ||
		n.PacketsLost != 50 {
		t.Fatalf("got %+v", list)
	}
	for i, want := range []telemetry.PossibleCause{ // the nearest in time first
		{
			Incident: found.ID, Kind: telemetry.EventLinkLost, Text: found.Events[0].Text,
			For:     "without the link there is no way to these addresses; it began 0.5 s before",
			Against: lostLink + " explains it as well: it began 1.0 s before",
		},
		{
			Incident: "00", Kind: telemetry.EventLinkLost, Text: lostLink,
			For:     "without the link there is no way to these addresses; it began 1.0 s before",
			Against: found.Events[0].Text + " began nearer to it: 0.5 s before",
		},
	} {
		if n.PossibleCauses[i] != want {
			t.Errorf("got %+v, want %+v", n.PossibleCauses[i], want)
		}
	}
}

// Of links that fail one after the other the last left no way: until then packets came through.
func TestLastLinkLeftNoWay(t *testing.T) {
	const first, last = "link_lost 2 9 node=1 port=2 to=5 to_port=1 count=3",
		"link_lost 3 9 node=3 port=2 to=6 to_port=1 count=2"
	for began, of := range map[string]string{"3.4": "01", "4.5": ""} { // half as long before, or not
		list := Of(eventsOf(t, first, last, "blackhole "+began+" 9 node=7 cause=no_route count=50"), nil)
		n, _ := Find(list, "02")
		for _, e := range n.Events {
			if e.ID == "02" && e.Of != of {
				t.Errorf("at %s: it follows from %q, want %q", began, e.Of, of)
			}
		}
	}
}

// Of packets of a loop no more come to a queue than go round: others fill it.
func TestFewLoopingPackets(t *testing.T) {
	for count, incidents := range map[string]int{"128": 1, "257": 2} {
		list := Of(eventsOf(t, "loop 2 4 node=1 path=sw1,sw5 count=2", "incast 3 4 node=5 count="+count), nil)
		if len(list) != incidents {
			t.Errorf("%s packets: got %+v", count, list)
		}
	}
}

// A link of which no port says that it is down may only have no traffic.
func TestSilentLinkIsNotSaidToBeDown(t *testing.T) {
	list := Of(eventsOf(t, lostLink, "link_lost 2 9 node=5 port=1 to=1 to_port=2"), nil)
	if len(list) != 1 || list[0].Text != "link sw1-sw5 carries nothing for 7.0 s" {
		t.Errorf("got %+v", list)
	}
}

// An incident goes on as long as one of its events does, and says what could not be seen meanwhile.
func TestOngoing(t *testing.T) {
	list := Of(eventsOf(
		t, "link_lost 2 - node=1 port=2 to=5 to_port=1",
		"drop_storm 2 3 node=1 port=2 cause=egress_link_down severity=critical", "report_loss 4 5 source=192.0.2.1",
		"exporter_silent 6 - node=7", "exporter_silent 0 1 node=8",
	), nil)
	n, _ := Find(list, "01")
	if n.End != nil || n.Severity != telemetry.Critical || len(n.Doubts) != 2 ||
		!strings.Contains(n.Text, "down since 09:00:02 UTC") {
		t.Errorf("got %+v", n)
	}
}

// Every event is in one incident, whatever they are and in whatever order they come.
func TestEveryEventOnce(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	var texts []string
	for _, c := range ruleCases {
		texts = append(texts, c[:]...)
	}
	slices.Sort(texts)
	for range 300 {
		var events []telemetry.Event
		for i := range random.IntN(40) {
			e := eventOf(t, fmt.Sprintf("%03d", i), texts[random.IntN(len(texts))])
			e.Start = e.Start.Add(time.Duration(random.IntN(5000)-2500) * time.Millisecond)
			if e.End != nil && e.End.Before(e.Start) {
				e.End = &e.Start
			}
			events = append(events, e)
		}
		list := Of(events, nil)
		count := map[string]int{}
		for _, n := range list {
			for k, e := range n.Events {
				count[e.ID]++
				if (e.Of == "") != (k == 0) {
					t.Fatalf("%d of %+v", k, n)
				}
			}
			if n.Text == "" || n.Kind == 0 {
				t.Fatalf("got %+v", n)
			}
		}
		for _, e := range events {
			if count[e.ID] != 1 {
				t.Fatalf("%s is in %d incidents", e.ID, count[e.ID])
			}
		}
		random.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
		if again := Of(events, nil); !reflect.DeepEqual(again, list) {
			t.Fatalf("in another order\n%+v\nis not\n%+v", again, list)
		}
	}
}

func BenchmarkOf(b *testing.B) {
	var events []telemetry.Event
	for i := range 4096 {
		node, port := uint32(i%64), uint32(i%4)
		end := epoch.Add(time.Duration(i)*50*time.Millisecond + time.Millisecond)
		events = append(events, telemetry.Event{
			ID: fmt.Sprint(i), Kind: telemetry.EventMicroburst, Start: end.Add(-time.Millisecond), End: &end,
			Node: &node, Port: &port,
		})
	}
	for b.Loop() {
		Of(events, nil)
	}
}

// Incidents count each packet once, each flow once, and say which of them are lower bounds.
func TestExtent(t *testing.T) {
	hit := func(e *telemetry.Event, bytes uint64, flows ...uint64) {
		e.Extent = &telemetry.Extent{}
		for _, f := range flows {
			key := telemetry.FlowKey{Src: telemetry.Addr{Lo: f}, Dst: telemetry.Addr{Lo: 99}}
			e.Extent.Add(&key, e.Count/uint64(len(flows)), bytes/uint64(len(flows)))
		}
	}
	some := []string{"bytes_hit", "flows_hit", "hosts_hit"}
	all := append(slices.Clone(some), "packets_hit", packetsLost)
	for _, c := range []struct {
		events                             []string
		hits                               [][]uint64 // flows of each event
		lost, packets, bytes, flows, hosts uint64
		least                              []string
	}{
		{ // a storm has the packets of a blackhole, and a link those that its port dropped
			events: []string{
				"blackhole 2 9 node=1 reason=29 cause=no_route count=6",
				"drop_storm 2 9 node=1 reason=29 cause=no_route count=8",
			},
			hits: [][]uint64{{1}, {1, 2}}, lost: 8, packets: 8, bytes: 800, flows: 2, hosts: 3,
		},
		{
			events: []string{
				lostLink + " count=9", "drop_storm 2 3 node=1 port=2 cause=egress_link_down count=8",
				"path_change 3 3 node=1 port=2 new_port=3",
			},
			hits: [][]uint64{{1, 2, 3}, {1}, {3, 4}}, lost: 9, packets: 9, bytes: 900, flows: 4, hosts: 5,
			least: all, // besides those that were on the link as it failed
		},
		{ // what waited in a queue, and what it dropped
			events: []string{"microburst 2 4 node=1 port=3 count=10", "drop_storm 2 5 node=1 port=3 cause=queue_full count=4"},
			hits:   [][]uint64{{1, 2}, {2, 5}}, lost: 4, packets: 14, bytes: 1400, flows: 3, hosts: 4,
		},
		{ // the storm goes on, for the sake of another burst: nothing says whether flow 6 lost packets in the first
			events: []string{
				"microburst 2 9 node=1 port=3 queue=0 count=10 drops=7",
				"microburst 10 10.1 node=1 port=3 queue=0 drops=2",
				"drop_storm 2 10 node=1 port=3 cause=queue_full count=9",
			},
			hits: [][]uint64{{1, 2}, {6}, {2, 5, 6}}, lost: 7, packets: 17, bytes: 1900, flows: 3, hosts: 5,
			least: []string{"flows_hit", "hosts_hit"},
		},
		{ // a node drops silently: of what was new to it nobody tells
			events: []string{"blackhole 2 9 node=1 to=5 count=6"},
			hits:   [][]uint64{{1}}, lost: 6, packets: 6, bytes: 600, flows: 1, hosts: 2, least: all,
		},
		{ // of those that a queue dropped nothing says whose they were
			events: []string{"microburst 2 4 node=1 port=3 count=10 drops=3"},
			hits:   [][]uint64{{1}}, lost: 3, packets: 13, bytes: 1000, flows: 1, hosts: 2, least: some,
		},
		{ // an event of before
			events: []string{"drop_storm 2 5 node=1 port=3 count=4"},
			hits:   [][]uint64{nil}, lost: 4, packets: 4, least: some,
		},
		{events: []string{"latency_anomaly 2 5 node=1"}, hits: [][]uint64{nil}, least: all},
		{ // reports were lost meanwhile
			events: []string{"drop_storm 2 5 node=1 port=3 count=4", "report_loss 3 4 source=192.0.2.1"},
			hits:   [][]uint64{{1}, nil}, lost: 4, packets: 4, bytes: 400, flows: 1, hosts: 2, least: counted,
		},
	} {
		events := eventsOf(t, c.events...)
		for i, flows := range c.hits {
			if flows != nil {
				hit(&events[i], 100*events[i].Count, flows...)
			}
		}
		if events[len(events)-1].Kind == telemetry.EventPathChange {
			events[len(events)-1].Extent.Bytes, events[len(events)-1].Extent.Lengthless = 0, 0
		}
		n, ok := Find(Of(events, nil), "00")
		if !ok || n.PacketsLost != c.lost || n.PacketsHit != c.packets || n.BytesHit != c.bytes ||
			n.FlowsHit != c.flows || n.HostsHit != c.hosts || !slices.Equal(n.AtLeast, c.least) {
			t.Errorf("%s: got %+v, want %+v", c.events, n, c)
		}
	}
}

type arrivals map[uint32]telemetry.Unseen

func (a arrivals) Between(nodes []uint32, fromNs, toNs int64) (list []telemetry.Unseen, known bool) {
	for _, n := range nodes {
		if one, ok := a[n]; ok {
			one.Sent = uint64(toNs-fromNs) / 1e9
			list = append(list, one)
		}
	}
	return list, a != nil
}

type logOf []telemetry.Event

func (l logOf) Changes() uint64 { return 0 }

func (l logOf) Events(func(*telemetry.Event) bool, int) ([]telemetry.Event, int) { return l, len(l) }

// What exporters could not tell stays with an incident when the ledger no longer has it. If nobody knew it in time, its
// counts are lower bounds, and it says why.
func TestUnseenIsRemembered(t *testing.T) {
	events := logOf(eventsOf(
		t, "drop_storm 2 4 node=7 port=2 count=4", "drop_storm 2 4 node=8 port=2 count=5",
		"drop_storm 2 - node=9 port=2 count=6",
	))
	told := arrivals{7: {Lost: 1}}
	live := NewLive(events, func() Arrivals { return told })
	for i := range 3 {
		seven, _ := Find(live.Incidents(), "00")
		eight, _ := Find(live.Incidents(), "01")
		if nine, _ := Find(live.Incidents(), "02"); (i == 0) != (nine.Doubts == nil) {
			t.Errorf("%d: got %+v, which is not over", i, nine)
		}
		if len(seven.Unseen) != 1 || !slices.Contains(seven.AtLeast, packetsLost) ||
			eight.Unseen != nil || slices.Contains(eight.AtLeast, packetsLost) {
			t.Errorf("got %+v and %+v", seven, eight)
		}
		told, live.at = nil, time.Time{} // it forgets, and is asked again
	}
	late, _ := Find(NewLive(events, func() Arrivals { return told }).Incidents(), "01")
	if len(late.Doubts) != 1 || !strings.HasSuffix(late.Text, ": at least 5 packets lost") {
		t.Errorf("got %+v", late)
	}
}

// What could not be seen of the nodes of an incident is asked for its time, and makes its counts lower bounds, in its
// sentence too.
func TestUnseen(t *testing.T) {
	events := eventsOf(
		t, lostLink, "drop_storm 2 - node=7 port=2 count=4", "loop 2 8 node=8",
		"path_change 3 3 node=1 port=2 new_port=3",
	)
	list := Of(events, arrivals{5: {Lost: 3}, 7: {Lost: 1}})
	link, _ := Find(list, "00")
	if len(link.Unseen) != 1 || link.Unseen[0].Lost != 3 || link.Unseen[0].Sent != 7 ||
		!slices.Equal(link.AtLeast, counted) || !slices.Equal(link.Nodes, []uint32{1, 5}) ||
		!strings.HasSuffix(link.Text, ": at least 1 change of paths") {
		t.Errorf("got %+v", link)
	}
	storm, _ := Find(list, "01")
	if len(storm.Unseen) != 1 || !strings.HasSuffix(storm.Text, ": at least 4 packets lost") {
		t.Errorf("got %+v", storm)
	}
	if loop, _ := Find(list, "02"); loop.Unseen != nil || loop.AtLeast != nil {
		t.Errorf("got %+v", loop)
	}
	storm, _ = Find(Of(events, nil), "01")
	if storm.Unseen != nil || strings.Contains(storm.Text, "at least") {
		t.Errorf("got %+v", storm)
	}
	// an event says so too
	lost := eventsOf(t, "blackhole 2 9 node=1 count=6", "report_loss 3 4 source=192.0.2.1")
	if n, _ := Find(Of(lost, nil), "00"); !strings.HasSuffix(n.Text, ": at least 6 packets lost") {
		t.Errorf("got %+v", n)
	}
}
