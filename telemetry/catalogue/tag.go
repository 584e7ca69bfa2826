package catalogue

import (
	"fmt"
	"strings"
)

// options are what a tag says: a name, options that are set, and options with names.
type options struct {
	name string
	set  map[string]bool
	list map[string][]string
}

// What may stand in a tag behind the name; true takes names.
var (
	filterOptions = map[string]bool{
		"alias": true, "nameof": true, "any": true, "only": true, "is": true, "many": false, "main": false,
		"inline": false,
	}
	tableOptions = map[string]bool{
		"wide": false, "end": false, "last": false, "right": false, "bad": false,
		"named": true, "of": true, "widely": true,
	}
)

func parse(tag string, known map[string]bool) (options, error) {
	name, rest, more := strings.Cut(tag, ",")
	o := options{name: name, set: map[string]bool{}, list: map[string][]string{}}
	for more {
		var option string
		option, rest, more = strings.Cut(rest, ",")
		key, names, listed := strings.Cut(option, "=")
		takes, ok := known[key]
		if !ok || takes != (listed && names != "") {
			return o, fmt.Errorf("option %q does not exist", option)
		}
		o.set[key] = true
		if takes {
			o.list[key] = strings.Split(names, "+")
		}
	}
	return o, nil
}
