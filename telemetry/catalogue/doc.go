// Package catalogue reads what the lists of Waybill hold from the struct tags of their items. The fields of an item are
// declared once, at its type, such as telemetry.Flow; filter, API, encodings, store, command line and reference derive
// from that.
//
// # To add a field to a list
//
//  1. Add it to the type of the item, with its name in the tag json and one sentence in the tag doc.
//  2. Add the tags that its values need: kind if the Go type does not say it, unit, known.
//  3. If it is not to be in filters, add filter:"-". If the command line shows it, add table:"TITLE".
//  4. If a store keeps it, add it with a tag store to the type of the interval, such as telemetry.FlowInterval, and to
//     the record that is read back.
//  5. Write the reference: go test ./filter -run Page -update.
//
// # Tags
//
// Options of a tag stand behind commas, several names in an option are joined by +. A tag that breaks these rules
// panics when the program begins.
//
//	json    its name in the API. Members of objects are named with a dot: residence_ns.mean.
//	doc     one sentence without a full stop. $ stands for the doc of the object that holds the field.
//	kind    number, size, rate, ratio, duration, node or mac of a number, address of a text, where the Go type does not say it.
//	        A number whose name, or that of an object that holds it, ends in _ns is a duration.
//	choice  the field is a choice, of the list that filter knows under this name.
//	unit    of a number, for people: "of the device".
//	known   the field beside it, or a member of one (Key.Tunnel), without which (0, false, "") the value is not known. A nil pointer, an empty text and the
//	        zero time and address are not known in any case.
//	filter  its name in filters, by default that in the API, of durations without _ns; - if it is in no filter.
//	        alias=a+b    other names
//	        nameof=node  it is the name of the node in that field
//	        many         each element of the list is a value of the field
//	        any=a+b      of a field _ struct{}: it stands for each of these others
//	        main         the object that holds it means this member: its name and aliases are other names of the member
//	        inline       of an object: its name is no part of the names of its members
//	        only=a+b     of an object: the members that are in filters
//	        is=a         of an object: this member is in filters, by the name of the object
//	live    a store does not keep it: what to ask instead, where it stands in a filter of a time range
//	table   its title in tables of the command line, where columns have the order of the fields. Members of an object have one if
//	        that has the tag too.
//	        wide        only with -o wide
//	        end, last   behind all others, behind these too
//	        right       aligned as numbers are
//	        bad         a number that should be 0
//	        named=name  of a node: the field beside it with its name, which is shown instead
//	        of=a+b:TITLE  of an object: these members only, under titles that stand here or in their tags, or that of the object
//	                      and their names
//	        widely=a      and these, with -o wide only
//	store   of an interval: its column in the store, whose type follows from that of the field (see store/schema, rows.go);
//	        with _ at its end it stands before the columns of the fields of a struct. a+b=c are columns of a telemetry.Place.
//	        sum, low, high  what becomes of it when rows are put together; without one, they are grouped by it
//	        finest, minute  it is kept in intervals of the finest resolution only, or in those of a minute too
//	        text            the store has a text for it
//	        quantiles       of telemetry.LatencySummary: with these
//	        Of a record: the column that it is read from.
//	group   of a record: it can be grouped by; "default" if it is unless something else is asked for.
//	kept    of a record: how long the intervals are at most that have it.
//	node    of a record: the field with the node whose name it is.
package catalogue
