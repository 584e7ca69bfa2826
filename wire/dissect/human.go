package dissect

import (
	"strconv"
	"strings"
	"time"

	"github.com/waybill-int/waybill/wire"
)

// AppendValue appends the value of a field as people read it: a number with its unit, or "not available" instead of a
// number that says so. Groups and lists of records append nothing.
func AppendValue(dst []byte, f *Field) []byte {
	if f.Meaning == NotAvailable {
		return append(dst, NotAvailable...)
	}
	switch v := f.Value.(type) {
	case uint64:
		if f.Width >= wideWidth && f.Unit == "" {
			return AppendWide(dst, v, f.Width)
		}
		dst = strconv.AppendUint(dst, v, 10)
		unit := strings.TrimPrefix(f.Unit, "unix ")
		if unit != "" {
			dst = append(dst, ' ')
			dst = append(dst, unit...)
		}
	case bool:
		return strconv.AppendBool(dst, v)
	case string:
		return append(dst, v...)
	case []string:
		if len(v) == 0 {
			return append(dst, "none"...)
		}
		return append(dst, strings.Join(v, ", ")...)
	case wire.Error:
		return append(dst, v.Error()...)
	}
	return dst
}

// humanTime writes a time in the unit that suits it, or as a date if it counts from 1970; nothing for other fields and
// for times that are short enough as they are.
func humanTime(f *Field) string {
	v, ok := f.Value.(uint64)
	if !ok || f.Meaning == NotAvailable {
		return ""
	}
	switch f.Unit {
	case "unix s":
		return date(int64(v), 0)
	case "ns":
		// Only clocks that count from 1970 are that late; others count from the start of the device.
		if f.Width == 64 && v > 1e18 && v < 1<<63 {
			return date(int64(v/1e9), int64(v%1e9))
		}
		return duration(v, 1)
	case "us":
		return duration(v, 1e3)
	case "ms":
		return duration(v, 1e6)
	}
	return ""
}

func date(seconds, ns int64) string {
	return time.Unix(seconds, ns).UTC().Format("2006-01-02 15:04:05.999999999") + " UTC"
}

// duration writes v units of ns nanoseconds in a larger unit; nothing if there is none that suits.
func duration(v, ns uint64) string {
	const limit = 1 << 62
	if v < 1000 || v > limit/ns {
		return ""
	}
	return time.Duration(v * ns).String()
}
