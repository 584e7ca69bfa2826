package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/pflag"

	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/dissect"
)

// listFlags are the flags that print what is known instead of decoding.
type listFlags struct{ dialects, fields, points bool }

func (l *listFlags) register(f *pflag.FlagSet) {
	f.BoolVar(&l.dialects, "list-dialects", false, "print the dialects that sources can be given")
	f.BoolVar(&l.fields, "list-fields", false, "print the fields that -e takes")
	f.BoolVar(&l.points, "list-code-points", false, "print the keys that --set and --code-points take")
}

// run prints the list that is asked for, if any.
func (l *listFlags) run(w io.Writer) (bool, error) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	switch {
	case l.dialects:
		for _, d := range codepoint.Dialects {
			fmt.Fprintf(table, "%s\t%s\n", strings.Join(append([]string{d.Name}, d.Aliases...), ", "), d.Summary)
		}
	case l.fields:
		for _, s := range shortFields {
			fmt.Fprintf(table, "%s\t%s\n", s.name, s.help)
		}
		for _, name := range dissect.FieldNames() {
			fmt.Fprintf(table, "%s\t\n", name)
		}
	case l.points:
		help := codepoint.Keys()
		for _, key := range slices.Sorted(maps.Keys(help)) {
			fmt.Fprintf(table, "%s\t%s\n", key, help[key])
		}
	default:
		return false, nil
	}
	return true, table.Flush()
}
