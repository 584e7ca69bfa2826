package api

import (
	"cmp"
	"reflect"

	"github.com/waybill-int/waybill/analyze/burst"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/telemetry/catalogue"
)

// burstColumns are the columns of the store by what bursts of a time range can be ordered by: the fields that it keeps,
// and the orders that bursts of now have names for.
var burstColumns = func() map[string]string {
	columns := map[string]string{"start": "start"}
	byField := map[string]string{}
	for _, c := range burstFields {
		byField[c.Name] = c.Column
	}
	for _, f := range catalogue.Of(reflect.TypeFor[telemetry.Burst]()) {
		if f.Column != "" {
			columns[f.Name] = sqlName(f.Column)
		}
	}
	for by, field := range map[burst.Order]string{
		burst.ByLast: "", burst.ByPeak: "PeakBytes", burst.ByDuration: "DurationNs", burst.ByDrops: "Drops",
	} {
		columns[string(by)] = cmp.Or(byField[field], "start")
	}
	return columns
}()

// sqlName is a column as SQL has it: some are named like its words.
func sqlName(column string) string {
	if column == "end" {
		return `"end"`
	}
	return column
}
