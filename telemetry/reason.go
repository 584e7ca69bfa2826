package telemetry

import (
	"fmt"

	"github.com/waybill-int/waybill/wire/report"
)

// A ReasonTable is a list of drop reasons: the numbers mean different things at different devices, so each dialect has
// its own. 0 is the table in which no number has a name.
type ReasonTable uint8

var reasonTables = report.DropReasonTables()

// reasonTable returns the table of that name, as codepoint.Dialect has it.
func reasonTable(name string) ReasonTable {
	for i, table := range reasonTables {
		if table == name {
			return ReasonTable(i + 1)
		}
	}
	return 0
}

// Name returns the snake_case name of a drop reason, or "reason_N" if the table does not know it.
func (t ReasonTable) Name(reason uint8) string {
	if t > 0 && int(t) <= len(reasonTables) {
		if table, ok := report.DropReasons(reasonTables[t-1]); ok {
			if r, ok := table[reason]; ok {
				return r.Name
			}
		}
	}
	return fmt.Sprintf("reason_%d", reason)
}
