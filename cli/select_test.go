package cli

import (
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/internal/test"
)

// A server says which parameters it does not take: nothing is left out in silence.
func TestQuerySelectionRefused(t *testing.T) {
	s := emptyServer(t)
	for _, name := range queryCommands {
		_, stderr, code := runQuery(t, name, "--server", s.URL, "--filter", "no filter")
		if code != command.ExitUsage || !strings.Contains(stderr, "filter") {
			t.Errorf("%s: code %d, %s", name, code, stderr)
		}
	}
}

// The shell is offered what the server knows, and nothing, soon, where there is none.
func TestCompletion(t *testing.T) {
	s := test.CannedServer(t, map[string]string{
		"nodes":           `{"nodes":[{"id":1,"name":"leaf1"},{"id":2,"name":"leaf2"},{"id":3,"name":"spine1"},{"id":40}]}`,
		"drops":           `{"drops":[{"reason_name":"acl_deny","meaning":"forbidden"},{"reason_name":"acl_deny"},{"reason_name":"no_route"}]}`,
		"flows":           `{"flows":[{"id":"ab12","src":"10.0.0.1","dst":"10.0.0.2","src_port":1,"dst_port":2,"protocol":"udp"}]}`,
		"filter/complete": `{"candidates":[{"text":"severity","class":"field","doc":"how bad","start":10,"end":13}]}`,
	})
	for _, c := range []struct{ line, want string }{
		{"flows --node le", "leaf1\tnode 1,leaf2\tnode 2,:4"},
		{"hops --node 4", "40\tnode 40,:4"},
		{"drops --reason a", "acl_deny\tforbidden,:4"},
		{"events --filter kind=loop|sev", "kind=loop|severity\thow bad,:6"},
		{"silence list --output c", "table,wide,json,yaml,ndjson,csv,parquet,arrow,:4"},
		{
			"drops --sort ",
			"node,name,ingress_port,egress_port,reason,reason_name,cause,severity,meaning,action,packets,first,last,last_flow.src,last_flow.dst,last_flow.src_port,last_flow.dst_port,last_flow.protocol,last_flow.tunnel,last_flow.tunnel_id,drop_key,:4",
		},
	} {
		t.Setenv("WAYBILL_SERVER", s.URL)
		args := append([]string{"__complete"}, strings.Split(c.line, " ")...)
		stdout, _, code := runQuery(t, args...)
		if got := strings.ReplaceAll(strings.TrimSpace(stdout), "\n", ","); code != 0 || got != c.want {
			t.Errorf("%s: code %d, got %q, want %q", c.line, code, got, c.want)
		}
		t.Setenv("WAYBILL_SERVER", "http://127.0.0.1:1")
		if stdout, _, code := runQuery(t, args...); code != 0 ||
			!strings.HasSuffix(stdout, c.want[strings.LastIndex(c.want, ":"):]+"\n") || strings.Contains(stdout, "\t") {
			t.Errorf("%s without a server: code %d, got %q", c.line, code, stdout)
		}
	}
}
