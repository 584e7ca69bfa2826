package api

import (
	"reflect"
	"time"

	"github.com/waybill-int/waybill/alert"
	"github.com/waybill-int/waybill/filter"
)

// Filters of lists that the API only has.
var (
	portTable     = filter.TableOf[Port]("ports")
	listenerTable = filter.TableOf[Listener]("listeners")
	ruleTable     = filter.TableOf[alert.RuleStatus]("rules")
	outputTable   = filter.TableOf[alert.OutputStatus]("outputs")
	silenceTable  = filter.TableOf[alert.Silence]("silences")
)

// timeOf returns the time that a field has, if it is one.
func timeOf(v reflect.Value) (time.Time, bool) {
	t, ok := v.Interface().(time.Time)
	return t, ok
}
