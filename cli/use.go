package cli

import (
	"strconv"

	"github.com/waybill-int/waybill/api/client"
)

// useText is the utilization of a port: the latest, or of the past the mean. It is empty if no node told of it.
func useText(u *client.Utilization) string {
	switch {
	case u == nil:
		return ""
	case u.Last != nil:
		return uintText(*u.Last)
	}
	return strconv.FormatFloat(u.Mean, 'f', 1, 64)
}
