package api

import (
	"reflect"
	"time"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/telemetry"
)

// Filters of lists that the API only has.
var (
	portTable     = filter.TableOf[types.Port]("ports")
	listenerTable = filter.TableOf[types.Listener]("listeners")
	ruleTable     = filter.TableOf[telemetry.RuleStatus]("rules")
	outputTable   = filter.TableOf[telemetry.OutputStatus]("outputs")
	silenceTable  = filter.TableOf[types.Silence]("silences")
)

// timeOf returns the time that a field has, if it is one.
func timeOf(v reflect.Value) (time.Time, bool) {
	t, ok := v.Interface().(time.Time)
	return t, ok
}
