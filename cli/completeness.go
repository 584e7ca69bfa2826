package cli

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/waybill-int/waybill/api/client"
)

// maxNamed is how many exporters a line names.
const maxNamed = 3

// incomplete returns a line that says that an answer rests on fewer reports than were sent, or that nobody knows;
// nothing if all arrived.
func incomplete(c *client.Completeness) string {
	if c == nil || c.Lost == 0 && c.Unknown == 0 {
		return ""
	}
	var b strings.Builder
	switch {
	case c.Ratio == nil:
		b.WriteString("how many of the reports arrived is unknown")
	case c.Lost == 0:
		b.WriteString("all reports arrived")
	default:
		fmt.Fprintf(&b, "%s of the reports arrived since %s", shareText(*c.Ratio),
			c.Since.Local().Format(time.DateTime))
	}
	for i, x := range c.Below {
		if i == maxNamed {
			fmt.Fprintf(&b, " and of %d more exporters not all", c.Lossy-maxNamed)
			break
		}
		who := nodeText(x.Node, x.Name)
		if x.Node == nil {
			who = x.Source.String()
		}
		separator := ", "
		if i == 0 {
			separator = ": "
		}
		fmt.Fprintf(&b, "%s%s of %s's", separator, shareText(x.Ratio), who)
	}
	if c.Unknown > 0 {
		exporters := "exporters"
		if c.Unknown == 1 {
			exporters = "exporter"
		}
		fmt.Fprintf(&b, "; the loss of %d %s is unknown", c.Unknown, exporters)
	}
	return printable(b.String())
}

// shareText returns a share as 87 %; what is not all never as 100 %.
func shareText(share float64) string {
	percent := math.Floor(1e4*share) / 100
	if percent >= 90 {
		return fmt.Sprintf("%.2f %%", percent)
	}
	return fmt.Sprintf("%.0f %%", percent)
}
