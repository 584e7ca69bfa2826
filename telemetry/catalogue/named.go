package catalogue

import (
	"slices"
	"strings"
)

// Alike returns what the ways to write a name have in common: residence_ns.p50 as the API has it, residence.p50 as
// filters do, residence_p50 as columns of a store, residence_p50_ns as records of a time range, and flow.src as decode
// does for src.
func Alike(name string) string {
	parts := strings.Split(strings.TrimPrefix(strings.ToLower(name), "flow."), ".")
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "ns" })
	for i := range parts {
		parts[i] = strings.TrimSuffix(parts[i], "_ns")
	}
	return strings.Join(parts, "_")
}

// Named returns the field that a name means, in whichever way it is written; nil if there is none. A name in the API
// comes first, then one in filters, then a column of a store.
func Named(fields []Field, name string) *Field {
	for _, match := range []func(*Field) bool{
		func(f *Field) bool { return f.Name == name },
		func(f *Field) bool { return f.Filter.Name == name },
		func(f *Field) bool { return slices.Contains(f.Filter.Aliases, name) || f.Column == name },
		func(f *Field) bool {
			return Alike(f.Name) == Alike(name) || Alike(f.Filter.Name) == Alike(name) && f.Filter.Name != ""
		},
	} {
		if i := slices.IndexFunc(fields, func(f Field) bool { return f.Name != "" && match(&f) }); i >= 0 {
			return &fields[i]
		}
	}
	return nil
}
