package api

import (
	"cmp"
	"context"
	"net/netip"
	"net/url"
	"reflect"
	"slices"
	"time"

	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/telemetry"
)

// A Between function says when links or hosts were there; see store.Backend.
type Between func(ctx context.Context, t store.Table, from, to time.Time, limit int) (*store.Answer, error)

const (
	// momentCounts is how long before a moment packets are counted of it.
	momentCounts = time.Minute
	// lookAround is how far around the range is looked for when links and hosts came and went.
	lookAround = time.Hour
	// stillThere is how long something that is not seen is taken to be there: the last intervals are not written yet.
	stillThere = 3 * time.Duration(telemetry.FlowIntervalNs)
	// maxAttached is how many links and hosts there are in a topology of the past.
	maxAttached = 20_000
)

// asksPast reports whether a query is about the past.
func asksPast(p *params) bool { return namesPast(p.values) }

// namesPast reports whether the parameters of a query name a moment or a time range.
func namesPast(query url.Values) bool {
	return query.Has("at") || query.Has("since") || query.Has("until")
}

// moment returns what is asked for: what was there in a range, and the range in which its packets are counted. The
// parameter at names a moment, since and until a range.
func (p *params) moment(now time.Time) (there, counted span) {
	at := p.time("at", now)
	if at == 0 {
		there = p.span(now)
		return there, there
	}
	if p.values.Has("since") || p.values.Has("until") {
		p.reject("at", "a moment, or a range by since and until", "at and a range are given")
	}
	t := time.Unix(0, at)
	if t.After(now.Add(lookAround)) { // clocks differ, but not by that much
		p.reject("at", "a moment of the past", "at is in the future")
	}
	return span{t, t}, span{t.Add(-momentCounts), t}
}

// pastTopology returns what was attached to what, with the packets that were counted.
func (h *handler) pastTopology(ctx context.Context, there, counted span) (*telemetry.Topology, *types.Problem) {
	if h.cfg.History == nil || h.cfg.Between == nil {
		if there == counted {
			return nil, needStore(false, "since")
		}
		return nil, needStore(false, "at")
	}
	b := pastBuilder{
		Builder: topology.NewBuilder(h.cfg.Collector.Names(), h.cfg.Collector.UtilizationUnits()),
		links:   map[linkPlace]*telemetry.Link{}, hosts: map[hostName]*telemetry.Host{}, counted: counted,
	}
	for _, step := range []func() *types.Problem{
		func() *types.Problem {
			return h.between(ctx, store.Links, there, reflect.TypeFor[linkTime](),
				func(row any) { b.link(row.(*linkTime)) })
		},
		func() *types.Problem {
			return h.between(ctx, store.Hosts, there, reflect.TypeFor[hostTime](),
				func(row any) { b.host(row.(*hostTime)) })
		},
		func() *types.Problem {
			return h.rows(ctx, &store.Query{
				Table: store.Links, Group: []string{"from_node", "from_port", "to_node", "to_port"}, Values: []string{
					"packets", "delay", "delay_uncertainty", "delay_clamped", "utilization_samples", "utilization_sum",
					"utilization_max", "sample_low", "sample_high", "sample_known", "sample_seen", "sample_all",
					"incomplete",
				},
			}, counted, reflect.TypeFor[linkCount](), func(row any) { b.countLink(row.(*linkCount)) })
		},
		func() *types.Problem {
			return h.rows(ctx, &store.Query{
				Table: store.Hosts, Group: []string{"address_hi", "address_lo", "tunnel", "tunnel_id", "node", "port"},
				Values: []string{"packets"},
			}, counted, reflect.TypeFor[hostTime](), func(row any) { b.countHost(row.(*hostTime)) })
		},
		func() *types.Problem {
			return h.rows(ctx, &store.Query{
				Table: store.Hops, Group: []string{"node", "ingress_port", "egress_port", "dropped"},
				Values: []string{"packets"},
			}, counted, reflect.TypeFor[hopCount](), func(row any) { b.countHop(row.(*hopCount)) })
		},
	} {
		if problem := step(); problem != nil {
			return nil, problem
		}
	}
	return b.topology(), nil
}

// between calls yield for each time of links or hosts that touches a range; kind is the type of the rows.
func (h *handler) between(ctx context.Context, t store.Table, r span, kind reflect.Type,
	yield func(row any),
) *types.Problem {
	ctx, cancel := context.WithTimeout(ctx, queryTime)
	defer cancel()
	found, err := h.cfg.Between(ctx, t, r.since.Add(-lookAround), r.until.Add(lookAround), maxAttached)
	if err != nil {
		return storeProblem(ctx, err)
	}
	first, last := slices.Index(found.Columns, "first"), slices.Index(found.Columns, "last")
	for _, row := range found.Rows {
		from, _ := row[first].(time.Time)
		to, _ := row[last].(time.Time)
		if from.After(r.until) || to.Add(stillThere).Before(r.since) {
			continue
		}
		if problem := h.yield(found, row, kind, yield); problem != nil {
			return problem
		}
	}
	return nil
}

// rows calls yield for each row of a question about a range.
func (h *handler) rows(ctx context.Context, q *store.Query, r span, kind reflect.Type,
	yield func(row any),
) *types.Problem {
	q.From, q.To, q.Limit = r.since, r.until, maxAttached
	found, problem := h.ask(ctx, q)
	if problem != nil {
		return problem
	}
	for _, row := range found.Rows {
		if problem := h.yield(found, row, kind, yield); problem != nil {
			return problem
		}
	}
	return nil
}

// yield calls yield for a row, as a pointer to a value of kind.
func (h *handler) yield(found *store.Answer, row []any, kind reflect.Type, yield func(row any)) *types.Problem {
	record := reflect.New(kind)
	if err := fillRecord(record.Elem(), found.Columns, row, h.cfg.Collector.Names()); err != nil {
		return unreadable(err)
	}
	yield(record.Interface())
	return nil
}

// Rows of the store. What is not known is nil.
type (
	linkTime struct {
		From     *uint32    `store:"from_node"`
		FromPort *uint32    `store:"from_port"`
		To       *uint32    `store:"to_node"`
		ToPort   *uint32    `store:"to_port"`
		First    *time.Time `store:"first"`
		Last     *time.Time `store:"last"`
	}
	linkCount struct {
		From        *uint32              `store:"from_node"`
		FromPort    *uint32              `store:"from_port"`
		To          *uint32              `store:"to_node"`
		ToPort      *uint32              `store:"to_port"`
		Packets     *uint64              `store:"packets"`
		Delay       *telemetry.Histogram `store:"delay"`
		Uncertainty *int64               `store:"delay_uncertainty"`
		Clamped     *uint64              `store:"delay_clamped"`
		UseSamples  *uint64              `store:"utilization_samples"`
		UseSum      *uint64              `store:"utilization_sum"`
		UseMax      *uint32              `store:"utilization_max"`
		SampleLow   *uint32              `store:"sample_low"`
		SampleHigh  *uint32              `store:"sample_high"`
		SampleKnown *uint64              `store:"sample_known"`
		SampleSeen  *uint64              `store:"sample_seen"`
		SampleAll   *float64             `store:"sample_all"`
		Incomplete  *uint64              `store:"incomplete"`
	}
	hostTime struct {
		Address  *netip.Addr `store:"address_hi,address_lo"`
		Tunnel   *uint8      `store:"tunnel"`
		TunnelID *uint32     `store:"tunnel_id"`
		Node     *uint32     `store:"node"`
		Port     *uint32     `store:"port"`
		First    *time.Time  `store:"first"`
		Last     *time.Time  `store:"last"`
		Packets  *uint64     `store:"packets"`
	}
	hopCount struct {
		Node    *uint32 `store:"node"`
		Ingress *uint32 `store:"ingress_port"`
		Egress  *uint32 `store:"egress_port"`
		Dropped *bool   `store:"dropped"`
		Packets *uint64 `store:"packets"`
	}
)

// numberOr returns a number that may not be known, for keys.
func numberOr(n *uint32) int64 {
	if n == nil {
		return -1
	}
	return int64(*n)
}

type linkPlace struct{ from, fromPort, to, toPort int64 }

type hostName struct {
	address  netip.Addr
	tunnel   uint8
	tunnelID int64
}

// A pastBuilder puts rows together. Links and hosts come first: they say what there is.
type pastBuilder struct {
	*topology.Builder
	counted span
	links   map[linkPlace]*telemetry.Link
	hosts   map[hostName]*telemetry.Host
}

// link adds a time in which a link was there. The same link may be there several times.
func (b *pastBuilder) link(r *linkTime) {
	if r.From == nil || r.To == nil {
		return
	}
	first, last := r.First.UTC(), r.Last.UTC()
	key := linkPlace{numberOr(r.From), numberOr(r.FromPort), numberOr(r.To), numberOr(r.ToPort)}
	l := b.links[key]
	if l == nil {
		l = &telemetry.Link{
			From: *r.From, FromName: b.Names[*r.From], FromPort: r.FromPort, To: *r.To, ToName: b.Names[*r.To],
			ToPort: r.ToPort, First: first, Last: last,
		}
		b.links[key] = l
	}
	topology.Widen(&l.First, &l.Last, first, last)
	b.Node(*r.From, first, last)
	b.Node(*r.To, first, last)
}

func (b *pastBuilder) countLink(r *linkCount) {
	l := b.links[linkPlace{numberOr(r.From), numberOr(r.FromPort), numberOr(r.To), numberOr(r.ToPort)}]
	if l == nil {
		return // it was gone at the moment
	}
	l.Packets = *r.Packets
	if r.Incomplete != nil {
		l.Incomplete = *r.Incomplete
	}
	sample := r.sample()
	l.Sample = sample.Sample(l.Packets, int64(l.Incomplete))
	if use := r.use(); use.Samples > 0 {
		l.Utilization = use.Answer(b.Units[l.From])
		if r.FromPort != nil {
			b.Node(l.From, l.First, l.Last).Port(*r.FromPort, l.First, l.Last).Told(&use)
		}
	}
	if r.Delay == nil {
		return
	}
	l.Delay = &telemetry.Delay{NS: r.Delay.Distribution()}
	if r.Uncertainty != nil {
		uncertainty := uint64(*r.Uncertainty)
		l.Delay.UncertaintyNs = &uncertainty
	}
	if r.Clamped != nil {
		l.Delay.Clamped = *r.Clamped
	}
}

// sample is of which packets the link tells, of which older records know nothing.
func (r *linkCount) sample() (s telemetry.SampleSum) {
	if r.SampleKnown == nil {
		return s
	}
	s = telemetry.SampleSum{Known: *r.SampleKnown, Seen: *r.SampleSeen, All: *r.SampleAll}
	if r.SampleHigh != nil {
		s.Low, s.High = telemetry.SampleRate(*r.SampleLow), telemetry.SampleRate(*r.SampleHigh)
	}
	return s
}

// use is what was told of the egress port, of which older records know nothing.
func (r *linkCount) use() (u telemetry.UtilizationSum) {
	if r.UseMax != nil {
		u = telemetry.UtilizationSum{Samples: *r.UseSamples, Sum: *r.UseSum, Max: *r.UseMax}
	}
	return u
}

func hostNameOf(r *hostTime) hostName {
	name := hostName{address: *r.Address, tunnelID: numberOr(r.TunnelID)}
	if r.Tunnel != nil {
		name.tunnel = *r.Tunnel
	}
	return name
}

// host adds a time in which a host was at a place.
func (b *pastBuilder) host(r *hostTime) {
	if r.Address == nil || r.Node == nil {
		return
	}
	first, last := r.First.UTC(), r.Last.UTC()
	name := hostNameOf(r)
	host := b.hosts[name]
	if host == nil {
		host = &telemetry.Host{Address: *r.Address, Tunnel: telemetry.Tunnel(name.tunnel).String()}
		if name.tunnel != 0 {
			host.TunnelID = r.TunnelID
		}
		b.hosts[name] = host
	}
	if p := placeOf(host, r); p != nil {
		topology.Widen(&p.First, &p.Last, first, last)
	} else {
		host.Places = append(host.Places,
			telemetry.HostPlace{Node: *r.Node, Name: b.Names[*r.Node], Port: r.Port, First: first, Last: last})
	}
	b.Node(*r.Node, first, last)
}

// placeOf returns the place of a host that a row is about.
func placeOf(host *telemetry.Host, r *hostTime) *telemetry.HostPlace {
	for i := range host.Places {
		if p := &host.Places[i]; p.Node == *r.Node && numberOr(p.Port) == numberOr(r.Port) {
			return p
		}
	}
	return nil
}

func (b *pastBuilder) countHost(r *hostTime) {
	if r.Address == nil || r.Node == nil {
		return
	}
	if host := b.hosts[hostNameOf(r)]; host != nil {
		if p := placeOf(host, r); p != nil {
			p.Packets = *r.Packets
		}
	}
}

// countHop adds what a node carried between two of its ports. Packets that it dropped did not leave it.
func (b *pastBuilder) countHop(r *hopCount) {
	if r.Node == nil {
		return
	}
	since, until := b.counted.since.UTC(), b.counted.until.UTC()
	n := b.Nodes[*r.Node]
	if n == nil {
		n = b.Node(*r.Node, since, until)
	}
	n.Packets += *r.Packets
	if r.Ingress != nil {
		n.Port(*r.Ingress, since, until).Received += *r.Packets
	}
	if r.Egress != nil && (r.Dropped == nil || !*r.Dropped) {
		n.Port(*r.Egress, since, until).Sent += *r.Packets
	}
}

// topology puts all together, in the order that the topology of now has.
func (b *pastBuilder) topology() *telemetry.Topology {
	t := &telemetry.Topology{Links: []telemetry.Link{}, Hosts: []telemetry.Host{}}
	for _, l := range b.links {
		t.Links = append(t.Links, *l)
	}
	topology.RateLinks(t.Links)
	port := func(n *uint32) uint32 {
		if n == nil {
			return 0
		}
		return *n
	}
	slices.SortFunc(t.Links, func(a, b telemetry.Link) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(port(a.FromPort), port(b.FromPort)),
			cmp.Compare(a.To, b.To), cmp.Compare(port(a.ToPort), port(b.ToPort)))
	})
	for _, host := range b.hosts {
		slices.SortFunc(host.Places, func(a, b telemetry.HostPlace) int {
			return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(a.Node, b.Node), cmp.Compare(port(a.Port), port(b.Port)))
		})
		topology.RatePlaces(host.Places)
		t.Hosts = append(t.Hosts, *host)
	}
	slices.SortFunc(t.Hosts, func(a, b telemetry.Host) int {
		return cmp.Or(a.Address.Compare(b.Address), cmp.Compare(a.Tunnel, b.Tunnel),
			cmp.Compare(port(a.TunnelID), port(b.TunnelID)))
	})
	b.Finish(t)
	return t
}
