package api

import "strings"

// GroupFields returns what the records of a list of a time range can be added up by (Query.GroupBy), in their order; nil if a list
// has no records.
func GroupFields(list string) []string {
	groups, _ := recordFields(list)
	return groups
}

// OrderFields returns the numbers by which the records of a list of a time range can be ordered (Query.Order); nil if a list has
// no records.
func OrderFields(list string) []string {
	_, numbers := recordFields(list)
	return numbers
}

func recordFields(list string) (groups, numbers []string) {
	record := histories()[list].record
	if record == nil {
		return nil, nil
	}
	for i := range record.NumField() {
		f := record.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		columns := f.Tag.Get("store")
		switch {
		case columns == "" || columns == "start":
		case f.Tag.Get("group") != "":
			groups = append(groups, name)
		default:
			numbers = append(numbers, name)
		}
	}
	return groups, numbers
}
