package loss

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// pathsFrom reads a path in each line: nodes and ports of hosts, what arrived, what was lost, and by how many flows.
//
//	h1 1 5 2 h3: 1000 20 4
func pathsFrom(t *testing.T, text string) (paths []*streamPath) {
	t.Helper()
	for line := range strings.Lines(text) {
		route, counts, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			continue
		}
		p := &streamPath{streamKey: streamKey{hash: uint64(len(paths))}}
		c := &p.scans[0]
		if _, err := fmt.Sscan(counts, &c.Arrived, &c.Lost, &c.Flows); err != nil {
			t.Fatal(line)
		}
		c.Tag = uint32(len(paths)) // other flows on each path
		var hops []topology.HopKey
		words := strings.Fields(route)
		number := func(word string) (n uint32) {
			if _, err := fmt.Sscan(strings.TrimPrefix(word, "h"), &n); err != nil {
				t.Fatal(line)
			}
			return n
		}
		for i, word := range words[1 : len(words)-1] {
			// A port has the number of what is behind it, hosts from 100 on.
			port := func(word string) uint32 {
				if word[0] == 'h' {
					return 100 + number(word)
				}
				return number(word)
			}
			hops = append(hops,
				topology.HopKey{
					Node: number(word), In: port(words[i]), Out: port(words[i+2]),
					Has: telemetry.HasNode | telemetry.HasIngressPort | telemetry.HasEgressPort,
				})
		}
		if p.candidates, ok = candidatesOf(hops, false); !ok {
			t.Fatal(line)
		}
		paths = append(paths, p)
	}
	return paths
}

// What can only be one link is that link; what could be another, or a host, is nobody.
func TestLocalize(t *testing.T) {
	for _, c := range []struct{ name, paths, want string }{
		{"nothing is lost", "h1 1 5 2 h2: 1000 0 0", ""},
		{"one link", `
			h1 1 5 2 h2: 1000 20 4
			h1 1 6 2 h2: 1000 0 0
			h1 1 5 3 h3: 1000 19 4
			h3 3 5 2 h2: 1000 0 0
			h2 2 5 1 h1: 1000 0 0`, "1>5"},
		{"both ways", `
			h1 1 5 2 h2: 1000 10 4
			h2 2 5 1 h1: 1000 12 4
			h1 1 5 3 h3: 1000 9 3
			h3 3 5 1 h1: 1000 11 3
			h1 1 6 2 h2: 1000 0 0
			h2 2 6 1 h1: 1000 0 0
			h2 2 5 3 h3: 1000 0 0
			h3 3 5 2 h2: 1000 0 0`, "1>5 5>1"},
		{"the link to the host", `
			h1 1 5 2 h2: 1000 20 4
			h1 1 6 2 h2: 1000 20 4
			h3 3 5 2 h2: 1000 20 4
			h3 3 5 2 h4: 1000 0 0
			h1 1 5 2 h4: 1000 0 0`, "nobody"},
		{"the only flows of the link are the only ones of the host", `
			h1 1 5 2 h2: 1000 20 4
			h3 3 5 2 h2: 1000 0 0`, "nobody"},
		{"two links in a row, and hosts that have others", `
			h1 1 5 2 h2: 1000 20 4
			h1 1 6 2 h2: 1000 0 0`, "nobody"},
		{"of two links in a row the one that loses by all its paths", `
			h1 1 5 2 h2: 1000 20 4
			h1 1 6 2 h2: 1000 0 0
			h3 3 5 2 h2: 1000 22 4
			h3 3 6 2 h2: 1000 0 0
			h1 1 5 3 h3: 1000 0 0`, "5>2"},
		{"two links", `
			h1 1 5 2 h2: 1000 40 8
			h1 1 5 3 h3: 1000 40 8
			h1 1 6 2 h2: 1000 0 0
			h3 3 6 4 h4: 1000 20 4
			h2 2 6 4 h4: 1000 20 4
			h3 3 5 4 h4: 1000 0 0
			h3 3 6 2 h2: 1000 0 0`, "1>5; 6>4"},
		{"two flows only", `
			h1 1 5 2 h2: 1000 20 1
			h1 1 5 3 h3: 1000 20 1
			h1 1 6 2 h2: 1000 0 0`, ""},
		{"everywhere the same", `
			h1 1 5 2 h2: 1000 20 4
			h1 1 6 2 h2: 1000 21 4
			h3 3 5 2 h2: 1000 19 4
			h3 3 6 1 h1: 1000 20 4`, ""},
	} {
		var got []string
		for paths := pathsFrom(t, c.paths); ; {
			found, rest, ok := localize(paths)
			if !ok {
				break
			}
			var links []string
			for _, k := range found {
				links = append(links, fmt.Sprintf("%d>%d", k.From, k.To))
			}
			slices.Sort(links)
			if len(links) == 0 {
				links = []string{"nobody"}
			}
			got = append(got, strings.Join(links, " "))
			paths = rest
		}
		if got := strings.Join(got, "; "); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}
