package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
)

// A lossRow is the ledger of an exporter, or of one of its intervals.
type lossRow struct {
	client.Loss
	interval *client.LossInterval
}

// A lossLine is a lossRow in JSON.
type lossLine struct {
	client.Loss
	Interval *client.LossInterval `json:"interval,omitempty"`
}

func newLossCommand() *cobra.Command {
	return newQueryCommand(question[client.LossList, lossRow]{
		name:  "loss",
		short: "account for every report, from the exporter to the store",
		long: `Loss accounts for every datagram of every exporter: what was sent, as far as the sequence numbers tell, what of it was lost and
arrived, what came twice, what could not be read, and, with -o wide, what became of the reports that this left, in the tables
and in the store. Of IPFIX, whose numbers count records, it says how many records were lost. The lines below the table tell what
the kernel dropped, which is among the lost, and what the tables did. Without --since it is about all time; the last hour is
kept in intervals of 10 seconds. What is not known is unknown, and not zero.`,
		example: `  waybill loss
  waybill loss --since 10m --node leaf1
  waybill loss --since 5m --intervals -o csv
  waybill loss --follow
  waybill loss -o json`,
		filters: func(cmd *cobra.Command, q *client.Query) {
			f := cmd.Flags()
			f.Var((*timeFlag)(&q.Since), "since",
				"only intervals after this `TIME`, or so long ago: 2026-11-21T09:00:00Z, 10m")
			f.Var((*timeFlag)(&q.Until), "until", "only intervals before this `TIME`, or so long ago")
			f.BoolVar(&q.Intervals, "intervals", false, "list each interval of each exporter")
		},
		flags: []fieldFlag{nodeFlag},
		open: func(l *client.LossList) (client.Head, []lossRow) {
			var rows []lossRow
			for _, x := range l.Loss {
				if len(x.Intervals) == 0 {
					rows = append(rows, lossRow{Loss: x})
				}
				for i := range x.Intervals {
					row := lossRow{x, &x.Intervals[i]}
					row.LossCount, row.KernelDrops = x.Intervals[i].LossCount, nil
					rows = append(rows, row)
				}
			}
			return l.Head, rows
		},
		object: func(r *lossRow) any {
			line := lossLine{r.Loss, r.interval}
			line.Intervals = nil
			return &line
		},
		grouped: pastOf(func(l *client.LossGroups) (client.Head, client.Frame, []client.LossGroup) {
			return l.Head, client.Frame{}, l.Loss
		}),
		state: (*lossRow).state,
		first: (*lossRow).first,
		foot:  lossFoot,
		items: "exporters",
		none:  "no exporters yet",
		cells: map[string]func(*view, *lossRow) Cell{
			"lost":       func(_ *view, r *lossRow) Cell { return r.lostCell() },
			"intervals":  func(_ *view, r *lossRow) Cell { return PlainCell(r.intervalText()) },
			"loss_known": func(_ *view, r *lossRow) Cell { return PlainCell(r.note()) },
		},
		lead: []string{"source", "node", "hw_id", "version", "intervals", "sent", "lost", "kernel_drops"},
	})
}

// state tells an account in which something else was lost, late or unreadable from what was printed of it; of intervals
// it tells those that are over.
func (r *lossRow) state() string {
	who := fmt.Sprint(r.Socket, " ", r.Source, " ", numberText(r.Node, unknown), " ", numberText(r.HWID, unknown), " ",
		r.Version)
	var records int64
	if r.RecordsLost != nil {
		records = *r.RecordsLost
	}
	switch i := r.interval; {
	case i == nil:
		return fmt.Sprint(who, " ", numberText(r.Lost, unknown), " ", records, " ", numberText(r.Late, unknown), " ",
			r.Restarted, " ", sumOf(r.Malformed), " ", sumOf(r.Damaged))
	case i.Open:
		return who + " open"
	default:
		return fmt.Sprint(who, " ", i.Start.UnixNano())
	}
}

// first returns when the interval of the row began. Accounts of all time have none.
func (r *lossRow) first() (start time.Time) {
	if r.interval != nil {
		start = r.interval.Start
	}
	return start
}

// intervalText returns "09:00:10 10s", or what the row is about otherwise.
func (r *lossRow) intervalText() string {
	switch i := r.interval; {
	case i == nil:
		return "all"
	case i.Open:
		return i.Start.Local().Format(time.TimeOnly) + " open"
	default:
		return i.Start.Local().Format(time.TimeOnly) + " " + i.End.Sub(i.Start).Round(time.Second).String()
	}
}

// lostCell returns how many were lost, with their share of what was sent.
func (r *lossRow) lostCell() Cell {
	switch {
	case r.RecordsLost != nil:
		return recordsCell(*r.RecordsLost)
	case r.Lost == nil:
		return Cell{"unknown", yellow}
	case *r.Lost == 0:
		return PlainCell("0")
	}
	return Cell{fmt.Sprintf("%d (%s)", *r.Lost, percentText(float64(*r.Lost)/float64(*r.Sent))), red}
}

func (r *lossRow) note() string {
	var notes []string
	if r.Lost == nil && r.RecordsLost == nil {
		notes = append(notes, "loss unknown: "+strings.TrimPrefix(r.LossKnown, "no: "))
	}
	if r.Restarted > 0 {
		notes = append(notes, fmt.Sprintf("restarted %d times", r.Restarted))
	}
	if v := r.Revised; v != nil {
		notes = append(notes,
			fmt.Sprintf("revised: sent %+d, arrived %+d, restarted %+d", v.Sent, v.Arrived, v.Restarted))
	}
	if len(r.Damaged) > 0 {
		notes = append(notes, "damaged: "+reasonsText(r.Damaged))
	}
	if len(r.Malformed) > 0 {
		notes = append(notes, "malformed: "+reasonsText(r.Malformed))
	}
	if f := r.Fate; f != nil {
		var dropped uint64
		if f.StoreDropped != nil {
			dropped = *f.StoreDropped
		}
		for _, gone := range []struct {
			n    uint64
			text string
		}{
			{f.KeptOut, "reports: flow rejected, table full"},
			{f.Evicted, "reports: flow evicted"},
			{dropped, "reports not stored: disk full or too slow"},
		} {
			if gone.n > 0 {
				notes = append(notes, fmt.Sprintf("%d %s", gone.n, gone.text))
			}
		}
	}
	return strings.Join(notes, "; ")
}

// lossFoot says what is not of one exporter.
func lossFoot(v *view, l *client.LossList) (lines []string) {
	for i, s := range l.Sockets {
		line := fmt.Sprintf("socket %d, %s: %d received", i, s.Address, s.Received)
		switch {
		case s.KernelDrops == nil:
			line += ", kernel drops unknown"
		case *s.KernelDrops == 0:
			line += ", 0 dropped by the kernel"
		case s.Exporters == 1 && s.Unplaced == 0:
			line += fmt.Sprintf(", %d dropped by the kernel, of the lost of its exporter", *s.KernelDrops)
		default:
			line += fmt.Sprintf(", %d dropped by the kernel, of the lost of one of its %d exporters or several",
				*s.KernelDrops, s.Exporters)
		}
		if s.Unplaced > 0 {
			line += fmt.Sprintf(", %d of exporters without an account", s.Unplaced)
		}
		lines = append(lines, line)
	}
	t := &l.Tables
	lines = append(lines,
		fmt.Sprintf(
			"tables: %d reports, %d stored, %d came again, %d waiting; %d without a flow key; table full: %d drops; "+
				"evicted: %d flows, %d paths; %d joins cut",
			t.Reports,
			t.Stored,
			t.Repeated,
			t.Waiting,
			t.Flowless,
			t.DropsUnplaced,
			t.FlowsEvicted,
			t.PathsEvicted,
			t.JoinsCut,
		))
	for _, g := range l.Gaps {
		lines = append(lines,
			fmt.Sprintf("not running from %s to %s", g.From.Local().Format(time.DateTime),
				g.To.Local().Format(time.DateTime)))
	}
	if l.Since != nil && l.Since.Before(l.Until) {
		lines = append(lines, fmt.Sprintf("counted from %s to %s; intervals are kept since %s",
			l.Since.Local().Format(time.DateTime), l.Until.Local().Format(time.DateTime),
			l.IntervalsSince.Local().Format(time.DateTime)))
	}
	if l.IntervalsEarly > 0 {
		lines = append(lines,
			fmt.Sprintf("%d intervals evicted; they are complete since %s", l.IntervalsEarly,
				l.IntervalsSince.Local().Format(time.DateTime)))
	}
	return lines
}
