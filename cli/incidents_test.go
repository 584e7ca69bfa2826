package cli

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/waybill-int/waybill/api/client"
)

// What an incident hit says which counts are lower bounds, and which nobody knows.
func TestHitText(t *testing.T) {
	for _, c := range []struct {
		n    client.Incident
		want string
	}{
		{
			client.Incident{FlowsHit: 17, HostsHit: 9, PacketsHit: 117, BytesHit: 1},
			"hit: 17 flows of 9 hosts; 117 packets, 1 byte",
		},
		{
			client.Incident{FlowsHit: 300, HostsHit: 9, PacketsHit: 7, AtLeast: []string{"bytes_hit", "flows_hit"}},
			"hit: at least 300 flows of 9 hosts; 7 packets, an unknown number of bytes",
		},
		{client.Incident{AtLeast: []string{"flows_hit"}}, "whom it hit is not known"},
		{client.Incident{}, "no flow was hit, as far as reports tell"},
	} {
		if got := hitText(&c.n); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// Who follows incidents sees each when it begins and when more is known of it, with marks at lower bounds.
func TestFollowIncidents(t *testing.T) {
	incident := func(end string, lost int) string {
		return fmt.Sprintf(`{"id":"a","severity":"critical","kind":"link_lost","start":"2026-11-21T09:00:01Z","end":%s,
			"text":"link s1-s2 down: at least %d packets lost","packets_lost":%d,"flows_moved":2,"flows_hit":3,
			"at_least":["packets_lost"],"action":"","events":[]}`, end, lost, lost)
	}
	begun, over := incident("null", 7), incident(`"2026-11-21T09:00:05Z"`, 9)
	ctx, cancel := context.WithCancel(t.Context())
	var lists, streams atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != "/api/v1/incidents/stream":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"generated_at":"2026-11-21T09:01:00Z","total":1,"incidents":[%s]}`,
				[]string{begun, over}[min(lists.Add(1), 2)-1])
		case streams.Add(1) > 1:
			cancel()
		default:
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "retry: 1\n\n"+message("incident", strings.ReplaceAll(over, "\n", "")))
		}
	}))
	t.Cleanup(s.Close)
	stdout, stderr, code := runQueryIn(t, ctx, "C.UTF-8", "incidents", "--server", s.URL, "--follow")
	var got []string
	for line := range strings.Lines(stdout) {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	want := []string{
		"STARTED LASTED SEVERITY CAUSE WHAT LOST MOVED FLOWS",
		"09:00:01 ongoing critical link_lost link s1-s2 down: at least 7 packets lost ≥7 2 3",
		"09:00:01 4.00s critical link_lost link s1-s2 down: at least 9 packets lost ≥9 2 3",
	}
	if code != 0 || strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("code %d, said %q, got %q, want %q", code, stderr, got, want)
	}
}

// Silence of a node is no fault by itself: one that reports on events only may have had none.
func TestUnseenText(t *testing.T) {
	source := netip.MustParseAddr("192.0.2.2")
	for _, c := range []struct {
		u    client.Unseen
		want string
	}{
		{
			client.Unseen{Source: source, Name: "leaf1", Lost: 3, Sent: 200},
			"3 of 200 datagrams of leaf1 were lost on the way here",
		},
		{
			client.Unseen{Source: source, Silent: true},
			"no reports from 192.0.2.2 in this time: it had nothing to report, as nodes that report on events only, or it was silent",
		},
	} {
		if got := unseenText(&c.u); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
