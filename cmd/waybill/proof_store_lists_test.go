package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/telemetry"
)

// allSteps are the resolutions at which lists are asked for.
var allSteps = []time.Duration{10 * time.Second, time.Minute, time.Hour}

// A tally is what there is to say of something in one interval.
type tally struct {
	packets, bytes, drops, reports, changes, clockErrors uint64
	residence, endToEnd                                  telemetry.LatencySummary
	use                                                  telemetry.UtilizationSum
	depth                                                uint64
	most                                                 uint32
	lost                                                 int64
}

// A list is an answer of the API that is compared with the truth.
type list struct {
	name   string
	tables bool                     // it is asked for in SQL, of the table of the resolution
	finest bool                     // only that of 10 s has it
	groups map[time.Duration]string // group_by, where the usual one asks for more than tables of that resolution have
	// want calls add for each record of the truth, with its start and its name at a resolution.
	want func(v *telemetry.Intervals, step time.Duration, add func(startNs int64, name string) *tally)
	// text is what is compared of a tally.
	text func(n *tally) string
	// got asks, and calls say for each record, with its name and text.
	got func(ctx context.Context, c *client.Client, q client.Query, step time.Duration,
		say func(start *time.Time, name, text string)) (page, error)
}

// said is a value, or "-".
func said[T any](v *T) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprint(*v)
}

// meanOf is the mean of latencies as the API has it.
func meanOf(m *telemetry.LatencySummary) string {
	if m.Count == 0 {
		return "-"
	}
	return fmt.Sprint(m.Sum / m.Count)
}

func addLatency(to *telemetry.LatencySummary, count, sum uint64) {
	to.Count += count
	to.Sum += sum
}

// flowFact names a flow as far as tables of a resolution tell flows apart.
func flowFact(step time.Duration, src, dst, srcPort, dstPort, protocol, tunnel string) string {
	switch step {
	case time.Minute:
		srcPort = ""
	case time.Hour:
		srcPort, dstPort = "", ""
	}
	return src + " " + srcPort + " > " + dst + " " + dstPort + " " + protocol + " " + tunnel
}

var storeLists = []list{
	{
		name: "hosts", tables: true,
		want: func(v *telemetry.Intervals, _ time.Duration, add func(int64, string) *tally) {
			for i := range v.Hosts {
				h, tunnel := &v.Hosts[i], "-"
				if h.Tunnel != telemetry.TunnelNone {
					tunnel = fmt.Sprint(h.TunnelID)
				}
				place := fmt.Sprint(h.Addr.Hi, " ", h.Addr.Lo, " ", tunnel, " ", h.Node, " ", h.Port)
				add(h.StartNs, place).packets += h.Packets
			}
		},
		text: func(n *tally) string { return fmt.Sprint(n.packets) },
		got: askTable("hosts",
			"address_hi || ' ' || address_lo || ' ' || coalesce(tunnel_id || '', '-') || ' ' || node || ' ' || port"),
	},
	{
		name: "paths of flows", tables: true, finest: true,
		want: func(v *telemetry.Intervals, _ time.Duration, add func(int64, string) *tally) {
			routes := routeNames(v)
			for i := range v.Flows {
				if f := &v.Flows[i]; f.Path != 0 {
					k := &f.Key
					add(f.StartNs,
						fmt.Sprint(k.Src.Lo, " ", k.SrcPort, " ", k.Dst.Lo, " ", k.DstPort, " ",
							routes[f.Path])).packets += f.Packets
				}
			}
		},
		text: func(n *tally) string { return fmt.Sprint(n.packets) },
		got: askTable(
			"flows",
			"src_lo || ' ' || src_port || ' ' || dst_lo || ' ' || dst_port || ' ' || (SELECT stations FROM routes r WHERE r.path_id = f.path_id)",
		),
	},
	{
		name: "flows",
		groups: map[time.Duration]string{
			time.Minute: "src,dst,dst_port,protocol,tunnel_id",
			time.Hour:   "src,dst,protocol,tunnel_id",
		},
		want: func(v *telemetry.Intervals, step time.Duration, add func(int64, string) *tally) {
			for i := range v.Flows {
				f := &v.Flows[i]
				if f.Path != 0 { // told again by path
					continue
				}
				k, tunnel := &f.Key, "-"
				if k.Tunnel != telemetry.TunnelNone {
					tunnel = fmt.Sprint(k.TunnelID)
				}
				n := add(f.StartNs,
					flowFact(step, k.Src.String(), k.Dst.String(), fmt.Sprint(k.SrcPort), fmt.Sprint(k.DstPort),
						fmt.Sprint(k.Protocol), tunnel))
				n.packets += f.Packets
				n.bytes += f.Bytes
				n.drops += f.Drops
				n.reports += f.Reports
				n.changes += f.PathChanges
				addLatency(&n.residence, f.Residence.Count, f.Residence.Sum)
				addLatency(&n.endToEnd, f.EndToEnd.Count, f.EndToEnd.Sum)
			}
		},
		text: func(n *tally) string {
			return fmt.Sprint(n.packets, n.bytes, n.drops, n.reports, n.changes, meanOf(&n.residence),
				meanOf(&n.endToEnd))
		},
		got: func(ctx context.Context, c *client.Client, q client.Query, step time.Duration,
			say func(*time.Time, string, string),
		) (page, error) {
			h, err := client.Get[client.FlowHistory](ctx, c, "flows", q)
			if err != nil {
				return page{}, err
			}
			for i := range h.Flows {
				r := &h.Flows[i]
				say(r.Start,
					flowFact(step, said(r.Src), said(r.Dst), said(r.SrcPort), said(r.DstPort),
						fmt.Sprint(uint8(*r.Protocol)), said(r.TunnelID)),
					fmt.Sprint(*r.Packets, *r.Bytes, *r.Drops, *r.Reports, *r.PathChanges, said(r.Residence),
						said(r.EndToEnd)))
			}
			return page{h.Next, h.ResolutionNs}, nil
		},
	},
	{
		name: "paths",
		want: func(v *telemetry.Intervals, _ time.Duration, add func(int64, string) *tally) {
			routes := routeNames(v)
			for i := range v.Paths {
				p := &v.Paths[i]
				n := add(p.StartNs, routes[p.Path])
				n.packets += p.Packets
				n.clockErrors += p.ClockErrors
				addLatency(&n.residence, p.Residence.Count, p.Residence.Sum)
				addLatency(&n.endToEnd, p.EndToEnd.Count, p.EndToEnd.Sum)
			}
		},
		text: func(n *tally) string {
			return fmt.Sprint(n.packets, 0, n.clockErrors, meanOf(&n.residence), meanOf(&n.endToEnd))
		},
		got: func(ctx context.Context, c *client.Client, q client.Query, _ time.Duration,
			say func(*time.Time, string, string),
		) (page, error) {
			h, err := client.Get[client.PathHistory](ctx, c, "paths", q)
			if err != nil {
				return page{}, err
			}
			for i := range h.Paths {
				r := &h.Paths[i]
				say(r.Start, fmt.Sprintf("%016x", uint64(*r.ID)),
					fmt.Sprint(*r.Packets, *r.Incomplete, *r.ClockErrors, said(r.Residence), said(r.EndToEnd)))
			}
			return page{h.Next, h.ResolutionNs}, nil
		},
	},
	{
		name: "hops",
		want: func(v *telemetry.Intervals, _ time.Duration, add func(int64, string) *tally) {
			for i := range v.Hops {
				h := &v.Hops[i]
				n := add(h.StartNs,
					fmt.Sprint(h.Node, " ", h.IngressPort, " ", h.EgressPort, " ", h.Has&telemetry.HasDrop != 0))
				n.packets += h.Packets
				addLatency(&n.residence, h.Latency.Count, h.Latency.Sum)
			}
		},
		text: func(n *tally) string { return fmt.Sprint(n.packets, meanOf(&n.residence)) },
		got: func(ctx context.Context, c *client.Client, q client.Query, _ time.Duration,
			say func(*time.Time, string, string),
		) (page, error) {
			q.GroupBy = "node,ingress_port,egress_port,dropped"
			h, err := client.Get[client.HopHistory](ctx, c, "hops", q)
			if err != nil {
				return page{}, err
			}
			for i := range h.Hops {
				r := &h.Hops[i]
				say(r.Start, said(r.Node)+" "+said(r.IngressPort)+" "+said(r.EgressPort)+" "+said(r.Dropped),
					fmt.Sprint(*r.Packets, said(r.Latency)))
			}
			return page{h.Next, h.ResolutionNs}, nil
		},
	},
	{
		name: "queues",
		want: func(v *telemetry.Intervals, _ time.Duration, add func(int64, string) *tally) {
			for i := range v.Queues {
				q := &v.Queues[i]
				n := add(q.StartNs, fmt.Sprint(q.Node, " ", q.EgressPort, " ", q.Queue))
				n.packets += q.Samples
				n.depth += q.Sum
				n.most = max(n.most, q.Max)
			}
		},
		text: func(n *tally) string { return fmt.Sprint(n.packets, float64(n.depth)/float64(n.packets), n.most) },
		got: func(ctx context.Context, c *client.Client, q client.Query, _ time.Duration,
			say func(*time.Time, string, string),
		) (page, error) {
			h, err := client.Get[client.QueueHistory](ctx, c, "queues", q)
			if err != nil {
				return page{}, err
			}
			for i := range h.Queues {
				r := &h.Queues[i]
				say(r.Start, said(r.Node)+" "+said(r.EgressPort)+" "+said(r.Queue),
					fmt.Sprint(*r.Samples, *r.Mean, *r.Max))
			}
			return page{h.Next, h.ResolutionNs}, nil
		},
	},
	{
		name: "links",
		want: func(v *telemetry.Intervals, _ time.Duration, add func(int64, string) *tally) {
			for i := range v.Links {
				l := &v.Links[i]
				n := add(l.StartNs,
					fmt.Sprint(l.From.Node, " ", l.From.EgressPort, " ", l.To.Node, " ", l.To.IngressPort))
				n.packets += l.Packets
				n.use.Merge(&l.Utilization)
			}
		},
		text: func(n *tally) string {
			if u := n.use.Answer(0); u != nil {
				return fmt.Sprintf("%d %d %v %v", n.packets, u.Samples, u.Mean, u.Max)
			}
			return fmt.Sprint(n.packets) + " 0 - -"
		},
		got: func(ctx context.Context, c *client.Client, q client.Query, _ time.Duration,
			say func(*time.Time, string, string),
		) (page, error) {
			h, err := client.Get[client.LinkHistory](ctx, c, "links", q)
			if err != nil {
				return page{}, err
			}
			for i := range h.Links {
				if r := &h.Links[i]; *r.Packets > 0 { // else its delay became known later
					say(r.Start, said(r.From)+" "+said(r.FromPort)+" "+said(r.To)+" "+said(r.ToPort),
						fmt.Sprintf("%d %d %s %s", *r.Packets, *r.Told, said(r.Use), said(r.UseMax)))
				}
			}
			return page{h.Next, h.ResolutionNs}, nil
		},
	},
	{
		name: "drops",
		want: func(v *telemetry.Intervals, _ time.Duration, add func(int64, string) *tally) {
			for i := range v.Drops {
				d := &v.Drops[i]
				place := fmt.Sprint(d.Node, " ", d.IngressPort, " ", d.EgressPort, " ", d.Reason)
				add(d.StartNs, place).packets += d.Packets
			}
		},
		text: func(n *tally) string { return fmt.Sprint(n.packets) },
		got: func(ctx context.Context, c *client.Client, q client.Query, _ time.Duration,
			say func(*time.Time, string, string),
		) (page, error) {
			h, err := client.Get[client.DropHistory](ctx, c, "drops", q)
			if err != nil {
				return page{}, err
			}
			for i := range h.Drops {
				r := &h.Drops[i]
				say(r.Start, said(r.Node)+" "+said(r.IngressPort)+" "+said(r.EgressPort)+" "+said(r.Reason),
					fmt.Sprint(*r.Packets))
			}
			return page{h.Next, h.ResolutionNs}, nil
		},
	},
	{
		name: "exporters",
		want: func(v *telemetry.Intervals, _ time.Duration, add func(int64, string) *tally) {
			for i := range v.Exporters {
				x := &v.Exporters[i]
				n := add(x.StartNs, fmt.Sprint(x.Source, " ", x.Node))
				n.packets += x.Received
				n.reports += x.Reports
				n.lost += x.Lost
			}
		},
		text: func(n *tally) string { return fmt.Sprint(n.packets, n.reports, n.lost, 0, 0, 0, 0, 0) },
		got: func(ctx context.Context, c *client.Client, q client.Query, _ time.Duration,
			say func(*time.Time, string, string),
		) (page, error) {
			h, err := client.Get[client.ExporterHistory](ctx, c, "exporters", q)
			if err != nil {
				return page{}, err
			}
			for i := range h.Exporters {
				r := &h.Exporters[i]
				say(r.Start, said(r.Source)+" "+said(r.Node),
					fmt.Sprint(*r.Received, *r.Reports, *r.Lost, *r.Reordered, *r.Duplicate, *r.Restarted, *r.Malformed,
						*r.Damaged))
			}
			return page{h.Next, h.ResolutionNs}, nil
		},
	},
}

// routeNames are the elements of paths by their numbers.
func routeNames(v *telemetry.Intervals) map[uint64]string {
	routes := map[uint64]string{}
	for i := range v.Routes {
		text := ""
		for j := range v.Routes[i].Elements {
			if j > 0 {
				text += " > "
			}
			text += v.Routes[i].Elements[j].Place.String()
		}
		routes[v.Routes[i].Path] = text
	}
	return routes
}

// askTable asks for the packets of a table by a name.
func askTable(table, name string) func(context.Context, *client.Client, client.Query, time.Duration,
	func(*time.Time, string, string)) (page, error) {
	suffix := map[time.Duration]string{10 * time.Second: "_10s", time.Minute: "_1m", time.Hour: "_1h"}
	return func(ctx context.Context, c *client.Client, q client.Query, step time.Duration,
		say func(*time.Time, string, string),
	) (page, error) {
		since, _ := time.Parse(time.RFC3339Nano, q.Since)
		until, _ := time.Parse(time.RFC3339Nano, q.Until)
		for offset := 0; ; offset += 10000 { // an answer has 10,000 rows at most
			a, err := c.SQL(ctx, fmt.Sprintf(
				"SELECT epoch_ns(start) // %d * %[1]d || '', %s AS name, sum(packets) || '' FROM %s%s f WHERE packets > 0 AND start >= make_timestamp_ns(%d) AND start < make_timestamp_ns(%d) GROUP BY ALL ORDER BY ALL LIMIT 10000 OFFSET %d",
				step,
				name,
				table,
				suffix[step],
				since.UnixNano(),
				until.UnixNano(),
				offset,
			), 10000)
			if err != nil {
				return page{}, err
			}
			for _, row := range a.Rows {
				var ns int64
				fmt.Sscan(row[0].(string), &ns)
				start := time.Unix(0, ns)
				say(&start, fmt.Sprint(row[1]), row[2].(string))
			}
			if len(a.Rows) < 10000 {
				return page{}, nil
			}
		}
	}
}

// An asked is what the API said at some time, by list and resolution.
type asked struct {
	when   string
	until  time.Time
	facts  map[string]map[time.Duration]map[string]string
	lowest map[string]map[time.Duration]time.Duration // the finest resolution that was looked at
	events map[string]string                          // nil: not asked for
	given  map[string]string
	told   []telemetry.Event // in full
}

// ask asks for everything from begin to end.
func (p *storeProof) ask(when string, begin, end time.Time, steps []time.Duration) *asked {
	p.t.Helper()
	wholly := when != beforeRollup && when != partlyRolledUp
	a := &asked{
		when: when, until: end, facts: map[string]map[time.Duration]map[string]string{},
		lowest: map[string]map[time.Duration]time.Duration{},
	}
	routes := p.routes()
	for i := range storeLists {
		l := &storeLists[i]
		a.facts[l.name], a.lowest[l.name] = map[time.Duration]map[string]string{}, map[time.Duration]time.Duration{}
		for _, step := range steps {
			if l.finest && step > allSteps[0] || l.tables && step > allSteps[0] && !wholly {
				continue
			}
			facts := map[string]string{}
			length := time.Minute // so that answers are not too long
			if step > length {
				length = 2 * time.Hour
			}
			first := begin.Truncate(length)
			if l.tables { // in pages; each statement takes a process
				first = begin.Truncate(time.Hour)
				length = end.Sub(first) + time.Hour
			}
			last := time.Duration(0)
			for since := first; since.Before(end); since = since.Add(length) {
				until := since.Add(length)
				if until.After(end) && when == beforeRollup {
					until = end
				}
				resolution := p.askList(l, client.Query{
					Since: since.Format(time.RFC3339Nano), Until: until.Format(time.RFC3339Nano),
					Interval: step.String(), GroupBy: l.groups[step], Limit: 10000,
				}, step, func(start *time.Time, name, text string) {
					if l.name == "paths" {
						name = routes[name]
					}
					key := start.UTC().Format(time.DateTime) + " " + name
					for facts[key] != "" { // what is there twice must not hide
						key += " again"
					}
					facts[key] = text
				})
				if last == 0 || resolution > 0 && resolution < last {
					last = resolution
				}
			}
			a.facts[l.name][step], a.lowest[l.name][step] = facts, last
		}
	}
	if when != beforeRollup {
		a.events, a.given = map[string]string{}, p.given
		q := client.Query{
			Since: begin.Add(-time.Hour).Format(time.RFC3339Nano), Until: end.Format(time.RFC3339Nano),
			Limit: 10000,
		}
		for {
			h, err := client.Get[client.EventHistory](p.t.Context(), p.client, "events", q)
			if err != nil {
				p.t.Fatal(err)
			}
			for i := range h.Events {
				a.events[h.Events[i].ID] = eventFact(&h.Events[i])
			}
			a.told = append(a.told, h.Events...)
			if q.Cursor = h.Next; q.Cursor == "" {
				break
			}
		}
	}
	return a
}

// Times at which tables of minutes and hours lack something.
const (
	beforeRollup   = "before anything is rolled up"
	partlyRolledUp = "rolled up in part"
)

// A page is what an answer says of itself: what follows, and how fine it is.
type page struct {
	next         string
	resolutionNs int64
}

// askList asks for all pages of a list.
func (p *storeProof) askList(l *list, q client.Query, step time.Duration,
	say func(*time.Time, string, string),
) time.Duration {
	p.t.Helper()
	for {
		answer, err := l.got(p.t.Context(), p.client, q, step, say)
		if err != nil {
			p.t.Fatalf("%s %+v: %v", l.name, q, err)
		}
		if q.Cursor = answer.next; q.Cursor == "" {
			return time.Duration(answer.resolutionNs)
		}
	}
}

// routes are the elements of paths by their ids.
func (p *storeProof) routes() map[string]string {
	p.t.Helper()
	a, err := p.store.Select(p.t.Context(), "SELECT printf('%016x', path_id), stations FROM routes", 1_000_000)
	if err != nil {
		p.t.Fatal(err)
	}
	routes := map[string]string{}
	for _, row := range a.Rows {
		routes[row[0].(string)] = row[1].(string)
	}
	return routes
}

// rolledUp says that the tables of minutes and hours had to be looked at, and nothing else.
func (a *asked) rolledUp() *asked {
	a.when += ", from the coarsest tables"
	return a
}

// compare holds what was said against the truth.
func (a *asked) compare(t *testing.T, truth *telemetry.Intervals, until time.Time) {
	t.Helper()
	total := 0
	for i := range storeLists {
		l := &storeLists[i]
		for step, got := range a.facts[l.name] {
			tallies := map[string]*tally{}
			l.want(truth, step, func(startNs int64, name string) *tally {
				if startNs >= until.UnixNano() {
					return &tally{}
				}
				key := time.Unix(0, startNs).UTC().Truncate(step).Format(time.DateTime) + " " + name
				if tallies[key] == nil {
					tallies[key] = &tally{}
				}
				return tallies[key]
			})
			total += len(tallies)
			want := map[string]string{}
			for key, n := range tallies {
				want[key] = l.text(n)
			}
			differ(t, fmt.Sprintf("%s: %s by %v", a.when, l.name, step), want, got)
		}
	}
	if a.events != nil {
		differ(t, a.when+": events", a.given, a.events)
	}
	if total == 0 {
		t.Errorf("%s: nothing was compared", a.when)
	}
}

// differ reports where two sets of facts differ, the first few in full.
func differ(t *testing.T, what string, want, got map[string]string) {
	t.Helper()
	var list []string
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if got[key] != want[key] {
			list = append(list, fmt.Sprintf("%s: got %q, want %q", key, got[key], want[key]))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[key]; !ok {
			list = append(list, fmt.Sprintf("%s: got %q, want nothing", key, got[key]))
		}
	}
	for i, line := range list {
		if i == 4 {
			break
		}
		t.Errorf("%s: %s", what, line)
	}
	if len(list) > 4 {
		t.Errorf("%s: and %d more differences in %d facts", what, len(list)-4, len(want))
	}
}

// eventFact is what is compared of an event.
func eventFact(e *telemetry.Event) string {
	return fmt.Sprint(e.Kind, " ", e.Count, " ", e.End != nil, " ", e.Start.UnixNano())
}
