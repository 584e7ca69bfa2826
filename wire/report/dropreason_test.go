package report

import (
	"regexp"
	"slices"
	"testing"
)

func TestDropReasons(t *testing.T) {
	for _, tc := range []struct {
		table  string
		number uint8
		want   string
	}{
		{"p4lang-switch", 60, "acl_deny"},
		{"p4lang-switch", 30, "ip_version_invalid"},
		{"fabric-tna", 80, "acl_deny"},
		{"fabric-tna", 29, "routing_miss"},
		{"fabric-tna", 130, "egress_next_miss"},
		{"fabric-tna", 60, ""},
		{"int-host-reporter", 30, "ip_ihl_invalid"},
		{"int-host-reporter", 184, "unauth_source"},
		{"switch-p4-16", 71, "traffic_manager"},
		{"switch-p4-16", 80, "acl_deny"},
		{"switch-p4-16", 92, "egress_acl_deny"},
		{"switch-p4-16", 60, ""},
		{"transparent-security", 15, "attack_mitigation"},
	} {
		reasons, ok := DropReasons(tc.table)
		if got := reasons[tc.number].Name; !ok || got != tc.want {
			t.Errorf("%s %d: got %q, table %t; want %q", tc.table, tc.number, got, ok, tc.want)
		}
	}
	if reasons, ok := DropReasons("none"); ok || reasons[0] != (DropReason{}) {
		t.Errorf("unknown table: got %v, %t", reasons, ok)
	}
}

func TestDropReasonNames(t *testing.T) {
	snake := regexp.MustCompile(`^[a-z0-9]+(_[a-z0-9]+)*$`)
	tables := DropReasonTables()
	// The first five have the numbers of journals that were written before there were others.
	if first := []string{
		"fabric-tna", "int-host-reporter", "p4lang-switch", "transparent-security", "waybill-fabric",
	}; !slices.Equal(tables[:5], first) || len(tables) != len(reasonTables) {
		t.Errorf("tables: got %q, want %q first, and %d in all", tables, first, len(reasonTables))
	}
	for _, table := range tables {
		reasons, _ := DropReasons(table)
		seen := map[string]uint8{}
		for number, reason := range reasons {
			if !snake.MatchString(reason.Name) || reason.Text == "" {
				t.Errorf("%s %d: bad name %q or no text", table, number, reason.Name)
			}
			if other, ok := seen[reason.Name]; ok {
				t.Errorf("%s: %d and %d have the name %q", table, number, other, reason.Name)
			}
			seen[reason.Name] = number
		}
	}
}
