package cli

import (
	"strconv"
	"strings"

	"github.com/waybill-int/waybill/api/client"
)

// useText is the utilization of a port: the latest, or of the past the mean. It is empty if no node told of it.
func useText(u *client.Utilization) string {
	if u == nil {
		return ""
	}
	value := u.Mean
	if u.Last != nil {
		value = float64(*u.Last)
	}
	if full, known := strings.CutPrefix(u.Unit, "share:"); known {
		if n, err := strconv.ParseFloat(full, 64); err == nil && n > 0 {
			return strconv.FormatFloat(100*value/n, 'f', 1, 64) + " %"
		}
	}
	return strconv.FormatFloat(value, 'f', -1, 64) + " of ?"
}
