package dropreason

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/report"
)

func TestCatalogue(t *testing.T) {
	snake := regexp.MustCompile(`^[a-z0-9]+(_[a-z0-9]+)*$`)
	ids, numbers, names := map[string]bool{}, map[uint16]bool{}, map[string]bool{}
	for _, r := range All() {
		switch {
		case !snake.MatchString(r.ID):
			t.Errorf("%d: bad id %q", r.Number, r.ID)
		case ids[r.ID], numbers[r.Number], names[r.Name]:
			t.Errorf("%d %s: id, number or name twice", r.Number, r.ID)
		case r.Name == "" || !strings.HasSuffix(r.Meaning, ".") || !strings.HasSuffix(r.Action, "."):
			t.Errorf("%s: want a name, and sentences for what it means and what to do", r.ID)
		case strings.Contains(r.Name+r.Meaning+r.Action, "|"):
			t.Errorf("%s: a bar ends a cell of the table", r.ID)
		case Group(r.Number/100) != r.Group || r.Severity > Critical:
			t.Errorf("%s: number %d in group %s with severity %s", r.ID, r.Number, r.Group, r.Severity)
		case strings.Count(r.Action, ". ") > 2:
			t.Errorf("%s: more than three sentences of what to do", r.ID)
		}
		ids[r.ID], numbers[r.Number], names[r.Name] = true, true, true
		if got, ok := ByID(r.ID); !ok || got != r {
			t.Errorf("ByID(%q): got %v, %t", r.ID, got, ok)
		}
	}
	if _, ok := ByID("nonsense"); ok {
		t.Error("ByID of nonsense: got a reason")
	}
}

// TestNumbersAreStable holds numbers that others may have stored.
func TestNumbersAreStable(t *testing.T) {
	for id, want := range map[string]uint16{
		"unknown": 1, "unmapped": 2, "l2_other": 101, "mac_control": 126, "l3_other": 201, "ttl_expired": 202,
		"no_route": 208, "truncated": 236,
		"acl_deny": 301, "attack_mitigation": 311, "queue_full": 401, "accept_queue_full": 410, "encap_failed": 501,
		"recursion":      509,
		"meter_exceeded": 601, "egress_link_down": 701, "can_frame_invalid": 708, "no_socket": 801,
		"refused_by_receiver": 815,
		"session_missing":     901, "recirculation_denied": 906,
	} {
		if r, _ := ByID(id); r == nil || r.Number != want {
			t.Errorf("%s: got %v, want %d", id, r, want)
		}
	}
}

func TestSources(t *testing.T) {
	used := map[string]bool{"unmapped": true}
	for i, s := range sources {
		names, numbers := map[string]bool{}, map[int]bool{}
		for _, a := range s.aliases {
			if _, ok := byID[a.id]; !ok {
				t.Errorf("%s %s: no reason %q", s.name, a.name, a.id)
			}
			if names[a.name] || a.number != noNumber && numbers[a.number] {
				t.Errorf("%s: %s or %d twice", s.name, a.name, a.number)
			}
			if a.number < noNumber || a.number > 255 || i < numTables && a.number == noNumber {
				t.Errorf("%s %s: number %d", s.name, a.name, a.number)
			}
			if a.name != strings.ToLower(a.name) {
				t.Errorf("%s: %s is not in lower case", s.name, a.name)
			}
			names[a.name], numbers[a.number], used[a.id] = true, true, true
		}
	}
	for _, r := range All() {
		if !used[r.ID] {
			t.Errorf("no source means %s", r.ID)
		}
	}
	if got := Sources(); len(got) != len(sources) || got[0] != "fabric-tna" {
		t.Errorf("Sources: got %q", got)
	}
}

// TestTables compares the sources with the tables that decode reports: the same numbers, with the same names.
func TestTables(t *testing.T) {
	names := report.DropReasonTables()
	if len(names) != numTables {
		t.Fatalf("wire/report has the tables %q, want %d", names, numTables)
	}
	for i, name := range names {
		if sources[i].name != name {
			t.Fatalf("source %d is %s, want %s", i, sources[i].name, name)
		}
		table, _ := report.DropReasons(name)
		if len(table) != len(sources[i].aliases) {
			t.Errorf("%s: got %d aliases, want %d", name, len(sources[i].aliases), len(table))
		}
		for _, a := range sources[i].aliases {
			if want := table[uint8(a.number)].Name; a.name != want {
				t.Errorf("%s %d: got %q, want %q", name, a.number, a.name, want)
			}
			number := telemetry.ReasonTable(i + 1)
			if got := number.Name(uint8(a.number)); got != a.name {
				t.Errorf("%s is not table %d of telemetry, which calls %d %q", name, number, a.number, got)
			}
			if got := Of(number, uint8(a.number)); got.ID != a.id || got != OfName(name, a.name) {
				t.Errorf("%s %d: Of says %s, OfName %s, want %s", name, a.number, got.ID, OfName(name, a.name).ID, a.id)
			}
		}
	}
}

func TestOfUnmapped(t *testing.T) {
	for table := range telemetry.ReasonTable(10) {
		for n := range 256 {
			if Of(table, uint8(n)) == nil {
				t.Fatalf("table %d, %d: got nil", table, n)
			}
		}
	}
	if got := Of(0, 29); got != Unmapped {
		t.Errorf("no table: got %s", got.ID)
	}
	if got := Of(255, 29); got != Unmapped {
		t.Errorf("a table that is not there: got %s", got.ID)
	}
}

func TestOfName(t *testing.T) {
	for _, tc := range []struct{ source, name, want string }{
		{"sai", "SAI_IN_DROP_REASON_LPM4_MISS", "no_route"},
		{"sai", "SAI_OUT_DROP_REASON_L3_EGRESS_LINK_DOWN", "egress_link_down"},
		{"sai", "ACL_ANY", "acl_deny"},
		{"linux", "SKB_DROP_REASON_NETFILTER_DROP", "netfilter"},
		{"linux", "qdisc_drop", "queue_full"},
		{"linux", "SKB_CONSUMED", "unmapped"},
		{"fabric-tna", "routing_miss", "no_route"},
		{"p4lang-switch", "outer_ip_miss", "ip_not_recognised"},
		{"p4lang-switch", "routing_miss", "unmapped"},
		{"waybill-fabric", "gray_link", "lost_on_link"},
		{"nobody", "ttl", "unmapped"},
		{"sai", "", "unmapped"},
	} {
		if got := OfName(tc.source, tc.name); got.ID != tc.want {
			t.Errorf("%s %s: got %s, want %s", tc.source, tc.name, got.ID, tc.want)
		}
	}
}

func TestOfNoAllocs(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { Of(1, 29) }); n != 0 {
		t.Errorf("got %v allocations", n)
	}
}

func TestNamesOfGroupsAndSeverities(t *testing.T) {
	var seen []string
	for g := range numGroups + 1 {
		seen = append(seen, g.String())
	}
	if want := []string{
		"general", "l2", "l3", "acl", "buffer", "tunnel", "policy", "hardware", "host", "user_plane",
		"unknown",
	}; !slices.Equal(seen, want) {
		t.Errorf("got %q, want %q", seen, want)
	}
	if Info.String() != "info" || Critical.String() != "critical" {
		t.Error("severities have other names")
	}
}

func BenchmarkOf(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Of(2, 29)
	}
}
