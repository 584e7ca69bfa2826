package serve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill-int/waybill/filter"
)

// checkVariables refuses a variable whose name is nearly that of a key: it would change nothing, in silence.
func checkVariables(environment []string) error {
	for _, name := range OtherVariables(environment) {
		if meant := filter.Nearest(strings.ToLower(strings.TrimPrefix(name, "WAYBILL_")), serveKeys); meant != "" {
			return fmt.Errorf("there is no variable %s; did you mean WAYBILL_%s?", name, strings.ToUpper(meant))
		}
	}
	return nil
}

// OtherVariables are those that look like ours and are no keys, in order. They may be those of others: Kubernetes sets
// WAYBILL_SERVICE_HOST and WAYBILL_PORT where a service is named waybill.
func OtherVariables(environment []string) []string {
	others := []string{"server", "token", "clickhouse_password"}
	var names []string
	for _, variable := range environment {
		name, value, _ := strings.Cut(variable, "=")
		key, ours := strings.CutPrefix(name, "WAYBILL_")
		if key = strings.ToLower(key); ours && value != "" && !slices.Contains(serveKeys, key) &&
			!slices.Contains(others, key) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
