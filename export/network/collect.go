package network

import (
	"log/slog"
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/waybill-int/waybill/telemetry"
)

// Handler serves the metrics, with classic buckets for who asks for ?buckets=classic.
func (m *Metrics) Handler(log *slog.Logger) http.Handler {
	of := func(classic bool) http.Handler {
		return promhttp.HandlerFor(m.Gatherer(classic), promhttp.HandlerOpts{
			ErrorLog:            slog.NewLogLogger(log.Handler(), slog.LevelWarn),
			ErrorHandling:       promhttp.ContinueOnError,
			MaxRequestsInFlight: 2,
			EnableOpenMetrics:   true,
		})
	}
	native, classic := of(false), of(true)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("buckets") == "classic" {
			classic.ServeHTTP(w, r)
			return
		}
		native.ServeHTTP(w, r)
	})
}

// Gatherer returns what gathers the metrics, with classic buckets or without.
func (m *Metrics) Gatherer(classic bool) prometheus.Gatherer {
	r := prometheus.NewRegistry()
	r.MustRegister(&scrape{m, classic})
	return r
}

// A scrape is a prometheus.Collector of Metrics.
type scrape struct {
	m       *Metrics
	classic bool
}

// Describe implements prometheus.Collector.
func (s *scrape) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range descs {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (s *scrape) Collect(ch chan<- prometheus.Metric) {
	m := s.m
	called := newCalled(m.from.Names(), m.from.Inventory())
	s.collectNow(ch, called)

	m.mu.Lock()
	defer m.mu.Unlock()
	for id, c := range m.nodes {
		count(ch, nodePackets, c.packets, called.node(id))
		s.histogram(ch, nodeLatency, &c.took, called.node(id))
	}
	for k, c := range m.ports {
		node, port, name := called.node(k.node), strconv.FormatUint(uint64(k.port), 10), called.port(k.node, k.port)
		if k.in {
			count(ch, portPackets, c.packets, node, port, name, "in")
			continue
		}
		count(ch, portPackets, c.packets, node, port, name, "out")
		s.histogram(ch, portLatency, &c.took, node, port, name)
	}
	for k, c := range m.links {
		labels := []string{called.node(k.from), portText(k.fromPort), called.node(k.to), portText(k.toPort)}
		count(ch, linkPackets, c.packets, labels...)
		s.histogram(ch, linkDelay, &c.took, labels...)
	}
	for k, n := range m.drops {
		node, name := "", ""
		if k.hasNode {
			node = called.node(k.node)
			if k.port >= 0 {
				name = called.port(k.node, uint32(k.port))
			}
		}
		count(ch, drops, *n, node, portText(k.port), name, k.reason, k.cause)
	}
	for of, n := range m.unlisted {
		count(ch, unlisted, n, of)
	}
	gauge(ch, lookedAt, float64(m.lookedNs)/1e9)
}

// collectNow collects what is of now.
func (s *scrape) collectNow(ch chan<- prometheus.Metric, called *called) {
	from := &s.m.from
	units := from.Units()
	for i, q := range from.Queues() {
		if i == s.m.limit {
			break // tables of queues are bounded by themselves, and say what they left out
		}
		d := distributionOf(q.Buckets, q.Sum)
		port, name := "", ""
		if q.Port != nil {
			port, name = portText(int64(*q.Port)), called.port(q.Node, *q.Port)
		}
		s.histogram(ch, queueDepth, &d, called.node(q.Node), port, name, strconv.Itoa(int(q.Queue)), q.Unit)
	}
	for i, l := range from.Links() {
		if i == s.m.limit {
			break
		}
		labels := []string{called.node(l.From), portOf(l.FromPort), called.node(l.To), portOf(l.ToPort)}
		if u := l.Utilization; u != nil && u.Last != nil {
			if share, ok := units[l.From].Share(float64(*u.Last)); ok {
				gauge(ch, linkUtilization, share, labels...)
			}
		}
		if l.Loss != nil && l.Loss.Share != nil {
			gauge(ch, linkLoss, *l.Loss.Share, labels...)
			if l.Loss.Lower != nil {
				gauge(ch, linkLossLower, *l.Loss.Lower, labels...)
			}
		}
	}
	// What there is none of now is 0, so that a graph shows that it ended.
	active := map[[2]string]int{}
	for kind := range telemetry.EventKind(telemetry.NumEventKinds) {
		if kind.String() != "" {
			for severity := telemetry.Info; severity <= telemetry.Critical; severity++ {
				active[[2]string{kind.String(), severity.String()}] = 0
			}
		}
	}
	for _, i := range from.Incidents() {
		if i.End == nil {
			active[[2]string{i.Kind.String(), i.Severity.String()}]++
		}
	}
	for of, n := range active {
		gauge(ch, incidents, float64(n), of[0], of[1])
	}
	byState := map[[2]string]int{}
	for kind := telemetry.AttackUDP; kind < telemetry.AttackSurge; kind++ {
		for state := telemetry.AttackSuspected; state < telemetry.AttackEnded; state++ {
			byState[[2]string{kind.String(), state.String()}] = 0
		}
	}
	for _, a := range from.Attacks() {
		if a.State != telemetry.AttackEnded && a.Kind != telemetry.AttackSurge {
			byState[[2]string{a.Kind.String(), a.State.String()}]++
		}
	}
	for of, n := range byState {
		gauge(ch, attacks, float64(n), of[0], of[1])
	}
}

func (s *scrape) histogram(ch chan<- prometheus.Metric, d *prometheus.Desc, of *distribution, labels ...string) {
	if of.count == 0 {
		return // nothing tells of it
	}
	m, err := of.metric(d, s.classic, labels...)
	if err != nil {
		m = prometheus.NewInvalidMetric(d, err)
	}
	ch <- m
}

func count(ch chan<- prometheus.Metric, d *prometheus.Desc, n uint64, labels ...string) {
	ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
}

func gauge(ch chan<- prometheus.Metric, d *prometheus.Desc, v float64, labels ...string) {
	ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

// called knows the names of nodes and ports.
type called struct {
	names     map[uint32]string
	ambiguous map[string]bool
	inventory *telemetry.Inventory
}

func newCalled(names map[uint32]string, inventory *telemetry.Inventory) *called {
	c := &called{names, map[string]bool{}, inventory}
	seen := map[string]bool{}
	for _, name := range names {
		c.ambiguous[name] = seen[name]
		seen[name] = true
	}
	return c
}

// node returns the name of a node, or its id. No two nodes have the same one: a name of several has the id behind it.
func (c *called) node(id uint32) string {
	number, name := strconv.FormatUint(uint64(id), 10), c.names[id]
	if name == "" {
		return number
	}
	if _, err := strconv.ParseUint(name, 10, 32); err == nil || c.ambiguous[name] {
		return name + "#" + number
	}
	return name
}

// port returns the name of a port in the inventory, if it has one.
func (c *called) port(node, port uint32) string { return c.inventory.Port(&node, &port).Name }

// portText is the number of a port, nothing of one that is below 0: it is not known.
func portText(port int64) string {
	if port < 0 {
		return ""
	}
	return strconv.FormatInt(port, 10)
}

func portOf(port *uint32) string {
	if port == nil {
		return ""
	}
	return portText(int64(*port))
}
