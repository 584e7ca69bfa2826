package dropreason

import (
	"slices"
	"strings"
)

// All returns the reasons in the order of their numbers.
func All() []*Reason {
	var all []*Reason
	for g := range catalogue {
		for i := range catalogue[g] {
			all = append(all, &catalogue[g][i])
		}
	}
	return slices.Clip(all)
}

// OfName returns the reason that a source means by a name, in upper or lower case, with or without the prefix that all
// of its names have. Sources are the tables of telemetry (see Sources), "sai" and "linux". It returns Unmapped for
// names that the source does not have, and for other sources.
func OfName(source, name string) *Reason {
	name = strings.ToLower(name)
	for i := range sources {
		if sources[i].name == source {
			for _, prefix := range sources[i].prefixes {
				name = strings.TrimPrefix(name, prefix)
			}
		}
	}
	if r, ok := byName[source][name]; ok {
		return r
	}
	return Unmapped
}

// Sources returns the names of all sources.
func Sources() []string {
	names := make([]string, len(sources))
	for i := range sources {
		names[i] = sources[i].name
	}
	return names
}

// String returns the name for filters and JSON.
func (g Group) String() string {
	if g < numGroups {
		return groupNames[g].name
	}
	return "unknown"
}

// byName has the reasons by source and name.
var byName = func() map[string]map[string]*Reason {
	m := map[string]map[string]*Reason{}
	for _, s := range sources {
		names := map[string]*Reason{}
		for _, a := range s.aliases {
			names[a.name] = byID[a.id]
		}
		m[s.name] = names
	}
	return m
}()
