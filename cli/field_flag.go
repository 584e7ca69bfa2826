package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/filter"
)

// A fieldFlag is a flag that stands for a condition of a filter.
type fieldFlag struct {
	name, usage string
	term        string // %s is the value; one without is of a flag without a value
	text        string // the term for a value that is no number, where that is another
}

// Flags that many lists have.
var (
	nodeFlag     = fieldFlag{"node", "only what concerns the node with this `ID` or name", "node = %s", ""}
	severityFlag = fieldFlag{
		"severity", "only events of at least this `SEVERITY`: info, warning, critical",
		"severity >= %s", "",
	}
)

// values may be given several times, and with commas between them.
func (f *fieldFlag) isList() bool { return strings.HasSuffix(f.term, "(%s)") }

// schemaOf returns the schema of the filters of a list.
func schemaOf(list string) *filter.Schema {
	if list == "alerts" {
		list = "events"
	}
	schemas := filter.Schemas()
	i := slices.IndexFunc(schemas, func(s *filter.Schema) bool { return s.Name() == list })
	if i < 0 {
		return nil
	}
	return schemas[i]
}

// addFieldFlags adds the flags that stand for conditions.
func (c *queryCommand[L, T]) addFieldFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	for i := range c.flags {
		f := &c.flags[i]
		switch {
		case !strings.Contains(f.term, "%s"):
			flags.Bool(f.name, false, f.usage)
			continue
		case f.isList():
			flags.StringSlice(f.name, nil, f.usage)
		default:
			flags.String(f.name, "", f.usage)
		}
		if names := c.choices(f); len(names) > 0 {
			complete := cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp)
			if f.isList() {
				complete = completeList(names)
			}
			_ = cmd.RegisterFlagCompletionFunc(f.name, complete)
		}
	}
}

// compile makes one filter of the flags and that of --filter.
func (c *queryCommand[L, T]) compile(cmd *cobra.Command) error {
	var terms []string
	for i := range c.flags {
		f := &c.flags[i]
		given := cmd.Flags().Lookup(f.name)
		if !given.Changed {
			continue
		}
		term := f.term
		switch {
		case given.Value.Type() == "bool" && given.Value.String() == "false":
			term = "not (" + term + ")"
		case given.Value.Type() == "bool":
		case f.isList():
			list, _ := cmd.Flags().GetStringSlice(f.name)
			for _, value := range list {
				if err := c.checkChoice(f, value); err != nil {
					return err
				}
			}
			term = fmt.Sprintf(term, strings.Join(list, ", "))
		default:
			value := given.Value.String()
			if err := c.checkChoice(f, value); err != nil {
				return err
			}
			if _, err := strconv.ParseUint(value, 0, 64); err != nil {
				term = cmp.Or(f.text, term)
			}
			field, _, _ := strings.Cut(term, " ")
			term = fmt.Sprintf(term, literal(schemaOf(c.name), field, value))
		}
		terms = append(terms, term)
	}
	if len(terms) == 0 {
		return nil
	}
	if strings.TrimSpace(c.query.Filter) != "" {
		terms = append([]string{"(" + c.query.Filter + ")"}, terms...)
	}
	c.query.Filter = strings.Join(terms, " and ")
	return nil
}

// checkChoice says which values there are where somebody gives another, and these are few.
func (c *queryCommand[L, T]) checkChoice(f *fieldFlag, value string) error {
	names := c.choices(f)
	if len(names) == 0 || len(names) > 32 || slices.Contains(names, value) {
		return nil
	}
	return fmt.Errorf("--%s is %q; allowed: %s", f.name, value, strings.Join(names, ", "))
}

// choices are the names of the values of the field of a flag, if these are known.
func (c *queryCommand[L, T]) choices(f *fieldFlag) (names []string) {
	field, _, _ := strings.Cut(f.term, " ")
	if known, ok := schemaOf(c.name).Find(field); ok {
		for _, choice := range known.Choices {
			names = append(names, choice.Name)
		}
	}
	return names
}

// literal is a value in a filter.
func literal(s *filter.Schema, field, value string) string {
	known, ok := s.Find(field)
	_, err := strconv.ParseUint(value, 0, 64)
	isText := ok && (known.Kind == filter.Text || known.Kind == filter.Node && err != nil)
	if isText || value == "" || strings.ContainsAny(value, " ,()<>=!~\"'\t\n") {
		return `"` + strings.ReplaceAll(value, `"`, `""`) + `"`
	}
	return value
}

// nodeTerm is the condition for a node.
func nodeTerm(node string) string { return "node = " + literal(schemaOf("nodes"), "node", node) }
