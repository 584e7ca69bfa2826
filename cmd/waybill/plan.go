package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/cli"
	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/internal/conf/unit"
	"github.com/waybill-int/waybill/telemetry"
)

// What was measured, on two processors of a shared machine; docs/explanation/performance.md has each figure, with the
// command that measures it again.
const (
	reportNs         = 260                   // of a processor: a report from its socket to the tables, all analyses on
	busReportNs      = 5000                  // of a processor: all that a report costs from a collector to the tables
	readNs           = 134 + 73              // of time: a report of the bus, for the one goroutine that reads them
	accountNs        = 120                   // of time: a report that tables take from the bus, for its account
	accountBytes     = 18 + 17               // to the analyzer and back, of such a report
	tableNs          = 230 + 700             // of a processor: a report from the bus to the tables of 100,000 flows
	busBytes         = 225.0 / datagramBytes // on the bus, for a byte of a datagram
	datagramBytes    = 266                   // a report of 5 hops as it is sent
	flowBytes        = 740                   // of memory: a flow with a path of 5 hops
	recordsPerSecond = 330_000               // that DuckDB writes
	clickHouseNs     = 2_400                 // of a processor: a record, for who sends it to ClickHouse
	clickHouseShard  = 115_000               // records in a second that ClickHouse takes beside it, on two processors
	recordBytes      = 58                    // on disk, before rollups
	recordSeconds    = 10                    // a flow that is seen in so many seconds has a record of them
	daySeconds       = 24 * 3600
)

// What a plan computes prices with.
const (
	duckDBNs = 2e9 / recordsPerSecond // of two processors: a record that DuckDB writes
	shardNs  = 2e9 / clickHouseShard  // the same, of ClickHouse
	// withMemory is how much memory a processor comes with, in bytes.
	withMemory = 4e9
	// keptDays is how many days of records there are at most as long as serve keeps them by default: two days as they
	// are written, two weeks of minutes and 400 days of hours of flows that are always there.
	keptDays = 2 + 14*recordSeconds/60.0 + 400*recordSeconds/3600.0
)

// prices are those of a month.
type prices struct {
	processor float64 // with withMemory
	memory    float64 // of 1 GB beyond that
	disk      float64 // of 1 GB
}

// A load is what a network sends.
type load struct {
	reports, flows, active unit.Count // reports in a second
	size, disk             unit.Bytes // of a datagram, and what a disk writes in a second
	memory                 unit.Bytes // of a machine with tables
	port                   unit.Count // bit/s
	replicas               uint32
	prices                 prices
}

// price is that of what a load needs besides its records.
func (l *load) price(processors, memory, records float64) need {
	store := duckDBNs
	if records > recordsPerSecond {
		store = clickHouseNs + shardNs
	}
	processors = math.Ceil(processors + records*store/1e9)
	memory = math.Max(0, memory-processors*withMemory)
	disk := records * recordBytes * daySeconds * keptDays
	return need{Part: "price of that, a month", Unit: "$", Needs: processors*l.prices.processor +
		memory/1e9*l.prices.memory + disk/1e9*l.prices.disk}
}

// A need is what a load needs of something, and what one machine or goroutine has of it. 0: as much as is bought.
type need struct {
	Part   string  `json:"part"`
	Needs  float64 `json:"needs"`
	OneHas float64 `json:"one_has,omitempty"`
	Unit   string  `json:"unit"`
	Takes  float64 `json:"takes,omitempty"` // so many of them
	Single bool    `json:"single"`          // there can be only one of it: more than 1 does not fit
}

// A plan is what a load needs in one process, with collectors, a bus and an analyzer, and with its tables on others.
type plan struct {
	OneProcess  []need `json:"one_process"`
	ByTheBus    []need `json:"by_the_bus"`
	TablesApart []need `json:"tables_apart"`
}

// planOf computes the plan of a load.
func planOf(l *load) plan {
	reports, active := float64(l.reports), float64(l.active)
	if l.active == 0 {
		active = math.Min(float64(l.flows), reports*recordSeconds)
	}
	in := reports * float64(l.size)
	single := func(part string, needs, has float64, unit string) need {
		return need{part, needs, has, unit, needs / has, true}
	}
	several := func(part string, needs, has float64, unit string) need {
		return need{part, needs, has, unit, math.Ceil(needs / has), false}
	}
	bought := func(part string, needs float64, unit string) need { return need{Part: part, Needs: needs, Unit: unit} }
	memory, records := float64(l.flows)*flowBytes, active/recordSeconds
	keep := func(processors float64) []need {
		return []need{
			single("records, written by DuckDB", records, recordsPerSecond, "/s"),
			single("or records, sent to ClickHouse", records, 1e9/clickHouseNs, "/s"),
			several("shards of ClickHouse", records, clickHouseShard, "/s"),
			bought("records on disk, a day", records*recordBytes*daySeconds, "B"),
			l.price(processors, memory, records),
		}
	}
	bus := []need{
		several("collectors: network in", in*8, float64(l.port), "bit/s"),
		several("servers of NATS: disk", in*busBytes*float64(l.replicas), float64(l.disk), "B/s"),
	}
	return plan{
		OneProcess: slices.Concat([]need{
			single("network in", in*8, float64(l.port), "bit/s"),
			bought("processors", reports*reportNs/1e9, ""),
			bought("memory of flows", memory, "B"),
		}, keep(reports*reportNs/1e9)),
		ByTheBus: slices.Concat(bus, []need{
			bought("processors of all", reports*busReportNs/1e9, ""),
			single("analyzer: reading", reports, 1e9/readNs, "/s"),
			bought("memory of flows", memory, "B"),
		}, keep(reports*busReportNs/1e9)),
		TablesApart: slices.Concat(bus, []need{
			bought("processors of all", reports*(busReportNs+tableNs)/1e9, ""),
			single("analyzer: accounts", reports, 1e9/accountNs, "/s"),
			single("analyzer: network", reports*accountBytes*8, float64(l.port), "bit/s"),
			bought("tables: processors", reports*tableNs/1e9, ""),
			several("tables: memory of flows", memory, float64(l.memory), "B"),
		}, keep(reports*(busReportNs+tableNs)/1e9)),
	}
}

// breaks returns what does not fit by most; nil: all fits.
func breaks(list []need) (first *need) {
	for i := range list {
		if n := &list[i]; n.Single && n.Takes > 1 && (first == nil || n.Takes > first.Takes) {
			first = n
		}
	}
	return first
}

func newPlanCommand() *cobra.Command {
	l := load{
		size: datagramBytes, port: 10e9, disk: 500e6, replicas: 3, memory: 64e9,
		prices: prices{processor: 37, memory: 3, disk: 0.08},
	}
	var listing cli.Listing
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "say what machines a network's reports take, and what would not fit",
		Long: `Plan says what so many reports and flows take: in one process, with collectors, a bus and an
analyzer, and with the tables of flows on other machines than that. It computes with what was
measured on two processors of a shared machine (docs/explanation/performance.md), so a large
machine of its own takes less. What there can be only one of and does not fit is marked.
The price is that of processors, each with 4 GB of memory, of memory beyond that, and of
records on disk as long as serve keeps them; what networks cost is not in it. Without prices of
your own it is by what a large cloud asks for machines and disks by the hour.`,
		Example: `  waybill plan --reports 500k --flows 2M

  # one packet in 20 reported, of flows of which a tenth is seen in ten seconds
  waybill plan --reports 500k --flows 50M --active 5M

  # on machines that are paid anyway, with disks of 20 a TB
  waybill plan --reports 500k --flows 2M --processor-price 0 --memory-price 0 --disk-price 0.02

  # as numbers
  waybill plan --reports 10M --flows 50M -o json`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if l.reports == 0 || l.flows == 0 || l.size == 0 || l.port == 0 || l.disk == 0 || l.replicas == 0 ||
				l.memory == 0 {
				return command.Usage(fmt.Errorf("want --reports and --flows, and no other flag 0"))
			}
			p := planOf(&l)
			var rows [][]cli.Cell
			for _, side := range []struct {
				name string
				list []need
			}{{"one process", p.OneProcess}, {"by the bus", p.ByTheBus}, {"tables apart", p.TablesApart}} {
				for _, n := range side.list {
					rows = append(rows, n.cells(side.name, breaks(side.list)))
				}
			}
			return listing.Print(cmd.OutOrStdout(), p, []string{"HOW", "PART", "NEEDS", "ONE HAS", "TAKES", ""}, rows)
		},
	}
	f := cmd.Flags()
	f.TextVar(&l.reports, "reports", l.reports, "`NUMBER` of reports a second, such as 500k or 10M")
	f.TextVar(&l.flows, "flows", l.flows, "`NUMBER` of flows that are remembered at a time")
	f.TextVar(&l.active, "active", l.active, "`NUMBER` of flows that are seen in ten seconds; 0: all, or one for each report")
	f.TextVar(&l.size, "size", l.size, "`SIZE` of a datagram with a report")
	f.TextVar(&l.port, "port", l.port, "`NUMBER` of bits a second of a machine's network port")
	f.TextVar(&l.disk, "disk", l.disk, "`SIZE` that a server of NATS writes in a second")
	f.TextVar(&l.memory, "memory", l.memory, "`SIZE` of the memory for tables of a machine that has them")
	f.Uint32Var(&l.replicas, "replicas", l.replicas, "`NUMBER` of servers that keep each message")
	f.Float64Var(&l.prices.processor, "processor-price", l.prices.processor,
		"`PRICE` of a processor with 4 GB of memory, for a month")
	f.Float64Var(&l.prices.memory, "memory-price", l.prices.memory, "`PRICE` of 1 GB of memory beyond that, for a month")
	f.Float64Var(&l.prices.disk, "disk-price", l.prices.disk, "`PRICE` of 1 GB on disk, for a month")
	listing.Register(cmd)
	return cmd
}

// cells are the row of n; first is what breaks first.
func (n *need) cells(how string, first *need) []cli.Cell {
	has, takes, remark := "", "", cli.PlainCell("")
	if n.OneHas > 0 {
		has = telemetry.SIText(n.OneHas, n.Unit)
		takes = fmt.Sprintf("%.0f", n.Takes)
		if n.Single {
			takes = fmt.Sprintf("%.2g of 1", n.Takes)
		}
	}
	switch {
	case first != nil && *n == *first:
		remark = cli.AlarmCell("breaks first")
	case n.Single && n.Takes > 1:
		remark = cli.AlarmCell("does not fit")
	}
	row := cli.PlainCells(how, n.Part, telemetry.SIText(n.Needs, n.Unit), has, takes, "")
	row[5] = remark
	return row
}
