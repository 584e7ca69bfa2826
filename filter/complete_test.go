package filter

import (
	"strings"
	"testing"
)

func TestComplete(t *testing.T) {
	const operators = "= != < <= > >= in | not in | is null | is not null"
	for _, tc := range []struct{ text, want string }{ // the cursor is at ^, candidates are separated by |
		{"la^", "latency|latencies|delay"},
		{"n = 1 and LAT^ > 5us", "latency|latencies"},
		{"up and la^", "latency|latencies|delay"},
		{"m^", "mixed|mac|n.other|name|names"},
		{"oth^", "n.other"},
		{"n = 1 and ex^", "exists"},
		{"not (u^", "up"},
		{"exists ma^", "mac"},
		{"exists (ma^", "mac"},
		{"latency ^", operators},
		{"latency i^", "in|is null|is not null"},
		{"name not ^", "in|like"},
		{"n not ^", "in"},
		{"n is ^", "null|not null"},
		{"n is not ^", "null"},
		{"n = 1 ^", "and|or"},
		{"(n = 1 ^", "and|or|)"},
		{"(n = 1 a^", "and"},
		{"up ^", "= != is null | is not null | and|or"},
		{"up = ^", "true|false"},
		{"proto = t^", `tcp|"two words"`},
		{`proto = "tw^`, `"two words"`},
		{`n "i^`, ""},
		{"proto in (tcp, u^", "udp"},
		{"proto in ^", "("},
		{"proto in (tcp ^", ",|)"},
		{"level > ^", "low|high"},
		{"node = lea^", "leaf-2|leaf1"},
		{"node = s^", `"spine 1"`},
		{"latency > 50^", "50ns|50us|50ms|50s|50m|50h|50d"},
		{"latency > 50m^", "50ms|50m"},
		{"latency > .5^", ""},
		{"latency > 0.25^", "0.25us|0.25ms|0.25s|0.25m|0.25h|0.25d"},
		{"latency > ^", "delay"},
		{"latency in (^", ""},
		{"size > 1k^", "1kB|1KiB"},
		{"rate > 10g^", "10Gbit/s"},
		{"ratio < 5^", "5%"},
		{"start > n^", "now|now-5m|now-1h|now-1d"},
		{"src = d^", "dst"},
		{"src = 10^", ""},
		{"name like ^", ""},
		{"nod = 3 and n^", ""},
		{"n = 3 $ and n^", ""},
		{"n = 3 n^", ""},
	} {
		cursor := strings.Index(tc.text, "^")
		text := strings.Replace(tc.text, "^", "", 1)
		var got []string
		for _, c := range Complete(everything, text, cursor) {
			if c.Text != "n" && c.Text != "n.other" || tc.text == "oth^" || tc.text == "m^" { // others begin with n
				got = append(got, c.Text)
			}
		}
		want := strings.NewReplacer(" | ", "|", operators, "=|!=|<|<=|>|>=|in|not in|is null|is not null", "= != is",
			"=|!=|is").Replace(tc.want)
		if strings.Join(got, "|") != want {
			t.Errorf("%s: got %s, want %s", tc.text, strings.Join(got, "|"), want)
		}
	}
}

func TestCompleteCandidate(t *testing.T) {
	got := Complete(everything, "n = 1 and proto = Tc and up", 20)
	want := Candidate{Text: "tcp", Class: "value", Kind: "choice", Doc: "reliable", Start: 18, End: 20}
	if len(got) != 1 || got[0] != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	got = Complete(everything, "latency", 99)
	want = Candidate{Text: "latency", Class: "field", Kind: "duration", Unit: "ns", Start: 0, End: 7}
	if len(got) != 1 || got[0] != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := Complete(everything, "", -1); len(got) != len(everything.fields)+3 {
		t.Errorf("%d candidates for an empty filter", len(got))
	}
}
