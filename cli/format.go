package cli

import (
	"cmp"
	"fmt"
	"net/netip"
	"strconv"
	"time"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/internal/command"
)

// unknown is what a table shows where nothing is known.
const unknown = "-"

// duration returns ns, nanoseconds, with three digits: 12.3µs.
func (v *view) duration(ns float64) string {
	return command.Scaled(ns, []string{"ns", v.pick("µs", "us"), "ms", "s"})
}

// size returns bytes with three digits: 1.25kB.
func size(bytes uint64) string {
	return command.Scaled(float64(bytes), []string{"B", "kB", "MB", "GB", "TB", "PB", "EB"})
}

// age returns how long before now t was, or the time of day in a table that grows: there an age is soon wrong.
func (v *view) age(t time.Time) Cell {
	if v.grows {
		return PlainCell(t.Local().Format(time.TimeOnly))
	}
	d := v.now.Sub(t).Round(time.Second)
	switch {
	case d < time.Second:
		return PlainCell("just now")
	case d < time.Minute:
		return PlainCell(fmt.Sprintf("%ds ago", d/time.Second))
	case d < time.Hour:
		return PlainCell(fmt.Sprintf("%dm ago", d/time.Minute))
	case d < 24*time.Hour:
		return PlainCell(fmt.Sprintf("%dh ago", d/time.Hour))
	}
	return PlainCell(fmt.Sprintf("%dd ago", d/(24*time.Hour)))
}

// hasQuantiles reports whether d has estimates: where only sums are kept, as for the end-to-end times of a flow, the
// error of P50 and P99 is given as 0.
func hasQuantiles(d *client.Distribution) bool { return d != nil && d.RelativeError > 0 }

// mostError is how far a percentile may be off without being marked as about.
const mostError = 0.2

func (v *view) p50(d *client.Distribution) string {
	if !hasQuantiles(d) {
		return unknown
	}
	return aboutMark(d) + v.duration(float64(d.P50))
}

func (v *view) p99(d *client.Distribution) string {
	if !hasQuantiles(d) {
		return unknown
	}
	return aboutMark(d) + v.duration(float64(d.P99))
}

// aboutMark stands before percentiles of d that can be far off.
func aboutMark(d *client.Distribution) string {
	if hasQuantiles(d) && d.RelativeError > mostError {
		return "~"
	}
	return ""
}

func (v *view) mean(d *client.Distribution) string {
	if d == nil {
		return unknown
	}
	return v.duration(d.Mean)
}

func (v *view) highest(d *client.Distribution) string {
	if d == nil {
		return unknown
	}
	return v.duration(float64(d.Max))
}

func countCell(n uint64) Cell { return PlainCell(strconv.FormatUint(n, 10)) }

// badCell is a count that should be 0.
func badCell(n uint64) Cell {
	c := countCell(n)
	if n > 0 {
		c.color = red
	}
	return c
}

// nodeText returns the name of a node, or its id.
func nodeText(id *uint32, name string) string {
	switch {
	case name != "":
		return name
	case id != nil:
		return strconv.FormatUint(uint64(*id), 10)
	}
	return "?"
}

// portText returns the name of a port, or "port 6".
func portText(port *uint32, name string) string {
	return cmp.Or(name, "port "+numberText(port, unknown))
}

// uintText returns a number.
func uintText[T uint8 | uint16 | uint32 | uint64](n T) string {
	return strconv.FormatUint(uint64(n), 10)
}

// numberText returns a number that may not be known.
func numberText[T uint8 | uint32 | uint64](n *T, otherwise string) string {
	if n == nil {
		return otherwise
	}
	return strconv.FormatUint(uint64(*n), 10)
}

// endText returns one end of a flow: 10.0.1.1:5001, [2001:db8::1]:443, or the address only if there is no port.
func endText(addr netip.Addr, port uint16) string {
	if port == 0 {
		return addr.String()
	}
	return netip.AddrPortFrom(addr, port).String()
}

// endpointsText returns "10.0.1.1:5001 > 10.0.2.2:6001 udp".
func endpointsText(e *client.Endpoints) string {
	return endText(e.Src, e.SrcPort) + " > " + endText(e.Dst, e.DstPort) + " " + e.Protocol
}

// tunnelText returns "vxlan 42", or nothing.
func tunnelText(e *client.Endpoints) string {
	if e.TunnelID == nil {
		return e.Tunnel
	}
	return e.Tunnel + " " + strconv.FormatUint(uint64(*e.TunnelID), 10)
}
