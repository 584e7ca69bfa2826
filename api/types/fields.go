package types

import (
	"reflect"
	"strings"
)

// Records are the types of the records of a time range, or else of groups, by the name of their list.
var Records = map[string]reflect.Type{
	"flows": reflect.TypeFor[FlowRecord](), "paths": reflect.TypeFor[PathRecord](),
	"hops":   reflect.TypeFor[HopRecord](),
	"queues": reflect.TypeFor[QueueRecord](), "links": reflect.TypeFor[LinkRecord](),
	"drops":     reflect.TypeFor[DropRecord](),
	"exporters": reflect.TypeFor[ExporterRecord](), "events": reflect.TypeFor[EventGroup](),
	"bursts": reflect.TypeFor[BurstGroup](),
	"loss":   reflect.TypeFor[LossGroup](),
}

// GroupFields returns what the records of a list of a time range can be added up by (Query.GroupBy), in their order;
// nil if a list has no records.
func GroupFields(list string) []string {
	groups, _ := recordFields(list)
	return groups
}

// OrderFields returns what the records of a list of a time range can be ordered by (Query.Order): their numbers, and
// what they are added up by unless Query.GroupBy says otherwise; nil if a list has no records.
func OrderFields(list string) []string {
	_, orders := recordFields(list)
	return orders
}

func recordFields(list string) (groups, orders []string) {
	record := Records[list]
	if record == nil {
		return nil, nil
	}
	var usual []string
	for i := range record.NumField() {
		f := record.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "" || f.Tag.Get("node")+f.Tag.Get("port") != "" || f.Tag.Get("store") == "start":
		case f.Tag.Get("group") == "default":
			groups, usual = append(groups, name), append(usual, name)
		case f.Tag.Get("group") != "":
			groups = append(groups, name)
		default:
			orders = append(orders, name)
		}
	}
	return groups, append(orders, usual...)
}
