package telemetry

import "fmt"

// SIText returns a number of a unit with three digits: 502 kB, 5.06 s, 81.3 µs.
func SIText(v float64, unit string) string {
	if v == 0 {
		return "0 " + unit
	}
	prefixes := [...]string{"n", "µ", "m", "", "k", "M", "G", "T", "P"}
	i := 3
	for ; v >= 999.5 && i+1 < len(prefixes); i++ {
		v /= 1000
	}
	for ; v < 0.9995 && i > 0; i-- {
		v *= 1000
	}
	return fmt.Sprintf("%.*f %s%s", max(2-len(fmt.Sprint(int(v)))+1, 0), v, prefixes[i], unit)
}

// CountText returns a number with commas between its thousands: 5,043.
func CountText(n uint64) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", CountText(n/1000), n%1000)
}
