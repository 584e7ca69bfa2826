package cli

import (
	"strings"
	"testing"
)

// Names of fields and values are completed as the server knows them, and without one where it is not needed. The shell
// gives each word as it is.
func TestCompleteFields(t *testing.T) {
	t.Setenv("WAYBILL_SERVER", emptyServer(t).URL)
	for _, c := range []struct {
		words []string
		want  string // the candidates that begin with the last word, and the directive
	}{
		{[]string{"flows", "--group-by", ""}, "id src dst src_port dst_port protocol tunnel_id dscp device path :6"},
		{[]string{"flows", "--group-by", "src,dst,p"}, "src,dst,protocol src,dst,path :6"},
		{[]string{"flows", "--group-by", "path,p"}, "path,protocol :6"},
		{
			[]string{"queues", "--since", "1h", "--sort", ""},
			"samples occupancy_mean occupancy_max sample_kind sample_rate sample_complete node egress_port queue unit :4",
		},
		{[]string{"nodes", "--sort", "queue"}, "queue_max queue_unit :4"},
		{[]string{"hops", "--filter", "laten"}, "latency.min latency.mean latency.max latency.p50 latency.p99 :6"},
		{[]string{"hops", "--since", "1h", "--filter", "laten"}, "latency.min latency.mean latency.p50 latency.p99 latency.max :6"},
		{
			[]string{"events", "--filter", "severity >= warning and kind = dr"},
			"severity >= warning and kind = drop_storm :6",
		},
		{[]string{"events", "--kind", "loop,dr"}, "loop,drop_storm :6"},
		{[]string{"bursts", "--filter", "peak_"}, "peak_bytes peak_delay peak_depth :6"},
		{[]string{"bursts", "--filter", "nam"}, "name :6"},
		{[]string{"bursts", "--since", "1h", "--filter", "nam"}, "name :6"},
		{[]string{"clocks", "--filter", "last_jump.s"}, "last_jump.step :6"},
		{[]string{"loss", "--filter", "kern"}, "kernel_drops :6"},
		{[]string{"hosts", "--filter", "conf"}, "confidence :6"},
		{[]string{"alerts", "--filter", "severity = c"}, "severity = critical :6"},
		{[]string{"silence", "add", "--filter", "sev"}, "severity :6"},
		{[]string{"top", "queues", "--filter", "occ"}, "occupancy.last occupancy.max :6"},
		{[]string{"flows", "--filter", "no field at all = "}, ":6"},
	} {
		stdout, _, code := runQuery(t, append([]string{"__complete"}, c.words...)...)
		var got []string
		last := c.words[len(c.words)-1]
		for line := range strings.Lines(stdout) {
			text, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
			if strings.HasPrefix(text, last) || strings.HasPrefix(text, ":") {
				got = append(got, text)
			}
		}
		if text := strings.Join(got, " "); code != 0 || text != c.want {
			t.Errorf("%q: code %d, got %q, want %q", c.words, code, text, c.want)
		}
	}
}
