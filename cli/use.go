package cli

import (
	"strconv"
	"strings"

	"github.com/waybill-int/waybill/api/client"
)

// countedText is what a device counts of one direction of a port: its rate, with the share of the speed, and discards
// and errors if there are any. It is empty if the device tells nothing.
func countedText(bps *uint64, use *float64, discards, errors *uint64) string {
	var parts []string
	if bps != nil {
		text := bitRate(*bps)
		if use != nil && *use > 0 {
			text += " (" + percentText(*use) + ")"
		}
		parts = append(parts, text)
	}
	for _, bad := range []struct {
		n    *uint64
		what string
	}{{discards, "discard"}, {errors, "error"}} {
		if bad.n != nil && *bad.n > 0 {
			parts = append(parts, counted(*bad.n, bad.what))
		}
	}
	return strings.Join(parts, ", ")
}

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
