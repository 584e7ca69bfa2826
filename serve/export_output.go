package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/collect"
	"github.com/waybill-int/waybill/export"
	"github.com/waybill-int/waybill/export/ipfix"
	"github.com/waybill-int/waybill/export/kafka"
	"github.com/waybill-int/waybill/export/nats"
	"github.com/waybill-int/waybill/export/otlp"
	"github.com/waybill-int/waybill/export/remotewrite"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// outputSettings say what is sent to one place. Below records and queue there is a line for each kind of outputs.
type outputSettings struct {
	Records []export.Kind `yaml:"records,omitempty" doc:"what is sent: flows, events, incidents, paths, routes, reports, metrics, traces, as far as it takes them; without it the usual ones"`
	Queue   int           `yaml:"queue,omitempty" doc:"how many records wait at most, then further ones are dropped; without it 131072, or 16384 with reports"`

	Kafka *kafka.Config `yaml:"kafka,omitempty" doc:"topics of Kafka"`
	NATS  *nats.Config  `yaml:"nats,omitempty" doc:"subjects of NATS JetStream"`
	IPFIX *ipfix.Config `yaml:"ipfix,omitempty" doc:"flows and paths as records of IPFIX (RFC 7011)"`
	OTLP  *otlp.Config  `yaml:"otlp,omitempty" doc:"metrics, and traces of flows or packets, by OTLP over HTTP"`

	RemoteWrite *remotewrite.Config `yaml:"remote_write,omitempty" doc:"metrics, written to Prometheus"`
}

// opener returns the one output that is configured, and its key.
func (o *outputSettings) opener() (kind string, opener export.Opener, err error) {
	v := reflect.ValueOf(o).Elem()
	var known []string
	for i := range v.NumField() {
		key, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
		if v.Field(i).Kind() != reflect.Pointer {
			continue
		}
		if known = append(known, key); v.Field(i).IsNil() {
			continue
		}
		if opener != nil {
			return "", nil, fmt.Errorf("want one of %s and %s", kind, key)
		}
		kind, opener = key, v.Field(i).Interface().(export.Opener)
	}
	if opener == nil {
		err = fmt.Errorf("want one of %s", strings.Join(known, ", "))
	}
	return kind, opener, err
}

// compile returns the output and what is sent to it.
func (o *outputSettings) compile() (kind string, opener export.Opener, wanted []export.Kind, err error) {
	kind, opener, err = o.opener()
	if err != nil {
		return "", nil, nil, err
	}
	all, usual := opener.Takes()
	for _, k := range o.Records {
		if !slices.Contains(all, k) {
			return "", nil, nil, fmt.Errorf("records: got %v, which %s does not take, want some of %v", k, kind, all)
		}
	}
	if o.Queue < 0 || o.Queue > 1<<24 {
		return "", nil, nil, fmt.Errorf("queue: got %d, want 1 to %d", o.Queue, 1<<24)
	}
	if wanted = o.Records; len(wanted) == 0 {
		wanted = all[:usual]
	}
	if err := opener.Check(); err != nil {
		return "", nil, nil, fmt.Errorf("%s: %w", kind, err)
	}
	return kind, opener, wanted, nil
}

// checkOutputs refuses outputs that cannot work.
func (c *Config) checkOutputs() error {
	if _, err := c.Export.Traces.choice(c.Names); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(c.Export.Outputs)) {
		o := c.Export.Outputs[name]
		_, _, wanted, err := o.compile()
		if err == nil && slices.Contains(wanted, export.Metrics) && !c.Export.Network.Enabled {
			err = errors.New("records: metrics are those of network, which is not enabled")
		}
		if err != nil {
			return fmt.Errorf("export: outputs: %s: %w", name, err)
		}
		if c.Data == "" {
			return errors.New("export: outputs: records are made where they are kept; data names a directory")
		}
		if slices.Contains(wanted, export.Reports) && c.Role == roleAnalyze {
			return fmt.Errorf("export: outputs: %s: records: reports are not received here, with role: analyze", name)
		}
	}
	return nil
}

// A runningOutput is an output with its queue, and what it was made of.
type runningOutput struct {
	*export.Queue
	name     string
	settings outputSettings
	output   export.Output
	stop     func() // and wait until what waits was sent; nil: it does not run
}

// openOutputs makes the outputs of c; those that are as before stay. Nothing changes until finish is called: with true
// the outputs are used, else those that were made are closed.
func (s *Server) openOutputs(c *Config) (finish func(use bool), err error) {
	if s.keeper == nil {
		return func(bool) {}, nil // records are made where they are kept
	}
	traced, err := c.Export.Traces.choice(c.Names)
	if err != nil {
		return nil, err
	}
	e, settings := &s.exports, c.Export.Outputs
	var all, made []*runningOutput
	closeMade := func() {
		for _, r := range made {
			r.output.Close()
		}
	}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		o := settings[name]
		at := slices.IndexFunc(e.now(), func(r *runningOutput) bool {
			return r.name == name && reflect.DeepEqual(r.settings, o)
		})
		if at >= 0 {
			all = append(all, e.now()[at])
			continue
		}
		r, err := s.openOutput(name, &o)
		if err != nil {
			closeMade()
			return nil, fmt.Errorf("export: outputs: %s: %w", name, err)
		}
		all, made = append(all, r), append(made, r)
	}
	return func(use bool) {
		if use {
			e.use(all, traced)
		} else {
			closeMade()
		}
	}, nil
}

func (s *Server) openOutput(name string, o *outputSettings) (*runningOutput, error) {
	kind, opener, wanted, err := o.compile()
	if err != nil {
		return nil, err
	}
	output, err := opener.Open(export.Deps{
		Version: s.Config.Version, Names: s.Collector.Names, Links: s.Collector.Links,
		Traced: func() func(*telemetry.Flow) bool { return s.exports.chosen().match },
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kind, err)
	}
	size := o.Queue
	switch {
	case size == 0 && slices.Contains(wanted, export.Reports):
		size = export.DefaultReports
	case size == 0:
		size = export.DefaultQueue
	}
	return &runningOutput{
		Queue: export.NewQueue(name, kind, output, wanted, size, s.log), name: name, settings: *o, output: output,
	}, nil
}

// now returns the outputs that there are.
func (e *exports) now() []*runningOutput {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.outputs
}

// chosen returns what chooses flows that have traces.
func (e *exports) chosen() traceChoice {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.traced
}

// use replaces the outputs. Those that are gone send what waits for them, for some seconds.
func (e *exports) use(list []*runningOutput, traced traceChoice) {
	e.mu.Lock()
	defer e.mu.Unlock()
	before := e.outputs
	e.outputs, e.traced = list, traced
	e.reports.Store(slices.ContainsFunc(list, func(o *runningOutput) bool { return o.Wants(export.Reports) }))
	if !e.running {
		return
	}
	for _, o := range list {
		if o.stop == nil {
			o.start()
		}
	}
	for _, o := range before {
		if !slices.Contains(list, o) {
			e.ending.Go(o.stop)
		}
	}
}

func (o *runningOutput) start() {
	t := background(o.Run)
	t.Start()
	o.stop = func() { _ = t.Stop() }
}

// close closes outputs that never ran.
func (e *exports) close() {
	for _, o := range e.now() {
		o.output.Close()
	}
}

// Start implements component.
func (e *exports) Start() {
	e.mu.Lock()
	e.running = true
	for _, o := range e.outputs {
		o.start()
	}
	e.mu.Unlock()
	e.tasks = background(e.watchIncidents, e.look)
	e.tasks.Start()
}

// Stop implements component: what offers records ends first.
func (e *exports) Stop() error {
	err := e.tasks.Stop()
	for _, o := range e.now() {
		e.ending.Go(o.stop)
	}
	e.ending.Wait()
	return err
}

// incidentsEvery is how often incidents are compared with those that were sent.
const incidentsEvery = time.Second

// wanted reports whether an output wants records of a kind.
func (e *exports) wanted(k export.Kind) bool {
	return slices.ContainsFunc(e.now(), func(o *runningOutput) bool { return o.Wants(k) })
}

func (e *exports) offer(r export.Record) {
	for _, o := range e.now() {
		o.Offer(r)
	}
}

// A reportRecorder offers the datagrams of one socket to outputs, and passes them on to next, which may be nil.
type reportRecorder struct {
	exports *exports
	points  func() *codepoint.Config
	port    uint16
	next    collect.Recorder
}

// Record implements collect.Recorder.
func (r *reportRecorder) Record(nowNs int64, source netip.AddrPort, payload []byte, truncated bool) {
	if r.next != nil {
		r.next.Record(nowNs, source, payload, truncated)
	}
	if !r.exports.reports.Load() {
		return
	}
	r.exports.offer(export.Record{Kind: export.Reports, Of: &export.Datagram{
		TimeNs: nowNs, Source: source, Port: r.port, Payload: bytes.Clone(payload), Truncated: truncated,
		Points: r.points(),
	}})
}

// maxTraces is how many flows have a trace of an interval.
const maxTraces = 1000

// look offers metrics, and traces of the flows about which reports came, until ctx is done, and then once more.
func (e *exports) look(ctx context.Context) {
	ticker := time.NewTicker(e.interval)
	defer ticker.Stop()
	begin := time.Now()
	since := begin
	for last := false; !last; {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			last = true
		}
		now := time.Now()
		if e.wanted(export.Metrics) && e.network != nil {
			// An error is of single series, and told where they are scraped; the others are sent all the same.
			families, _ := e.network.Gatherer(false).Gather()
			scrape := &export.Scrape{At: now, Since: begin, Families: families}
			e.offer(export.Record{Kind: export.Metrics, Of: scrape})
		}
		if e.wanted(export.Traces) {
			flows, total := e.flows(analyze.FlowFilter{
				After: since.UnixNano(), Limit: maxTraces, Which: e.chosen().which,
			})
			for i := range flows {
				e.offer(export.Record{Kind: export.Traces, Of: &flows[i]})
			}
			e.untraced.Add(uint64(total - len(flows)))
		}
		since = now
	}
}

// watchIncidents offers incidents that are new or have changed, until ctx is done, and then once more.
func (e *exports) watchIncidents(ctx context.Context) {
	ticker := time.NewTicker(incidentsEvery)
	defer ticker.Stop()
	sent := sentIncidents{seed: maphash.MakeSeed()}
	for last := false; !last; {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			last = true
		}
		if !e.wanted(export.Incidents) {
			continue
		}
		for _, incident := range sent.changed(e.incidents()) {
			e.offer(export.Record{Kind: export.Incidents, Of: incident})
		}
	}
}

// sentIncidents remembers which incidents were sent, as long as they are listed.
type sentIncidents struct {
	seed   maphash.Seed
	hashes map[string]uint64 // by id
}

// changed returns those of a list that are not as they were sent.
func (s *sentIncidents) changed(list []telemetry.Incident) (changed []*telemetry.Incident) {
	hashes := make(map[string]uint64, len(list))
	for i := range list {
		text, err := json.Marshal(&list[i])
		if err != nil {
			continue // no field of it can fail
		}
		hash := maphash.Bytes(s.seed, text)
		if before, ok := s.hashes[list[i].ID]; !ok || before != hash {
			changed = append(changed, &list[i])
		}
		hashes[list[i].ID] = hash
	}
	s.hashes = hashes
	return changed
}

// list returns what became of records, for the API.
func (e *exports) list() (list []types.Export) {
	for _, o := range e.now() {
		s := o.Stats()
		x := types.Export{Name: s.Name, Kind: s.Kind, State: "sending", Waiting: s.Waiting, Retried: s.Retried}
		if s.Failures > 0 {
			x.State, x.Error = "failing", s.LastError
		}
		for k := range export.NumKinds {
			if n := &s.Counts[k]; s.Wanted[k] {
				x.Records = append(x.Records, types.ExportCount{
					Records: k.String(), Offered: n.Offered, Sent: n.Sent, QueueFull: n.QueueFull, Refused: n.Refused,
					Stopped: n.Stopped,
				})
			}
		}
		list = append(list, x)
	}
	return list
}

// metrics returns those of the outputs.
func (e *exports) metrics() prometheus.Gatherer {
	r := prometheus.NewRegistry()
	r.MustRegister((*exportMetrics)(e))
	return r
}

// exportMetrics reads the counters of queues when Prometheus asks for them.
type exportMetrics exports

func exportDesc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("waybill_export_"+name, help, append([]string{"output"}, labels...), nil)
}

var (
	exportOfferedDesc = exportDesc("offered_records_total", "Records for an output, by kind.", "records")
	exportRecordsDesc = exportDesc("records_total",
		"Records by kind and by what became of them: sent (the other side has confirmed them), queue_full, refused "+
			"(the other side will never take them), stopped (they waited when the server stopped).",
		"records", "outcome")
	exportQueuedDesc  = exportDesc("queued_records", "Records that wait for an output.")
	exportFailingDesc = exportDesc("failing", "1 while an output does not take records; the log says why.")
	untracedDesc      = prometheus.NewDesc("waybill_export_untraced_flows_total",
		"Flows that had reports in an interval and no trace, as there were too many.", nil, nil)
	exportRetriedDesc = exportDesc("retries_total", "Attempts to send that failed and were made again.")
)

// Describe implements prometheus.Collector.
func (m *exportMetrics) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		exportOfferedDesc, exportRecordsDesc, exportQueuedDesc, exportFailingDesc, exportRetriedDesc, untracedDesc,
	} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (m *exportMetrics) Collect(ch chan<- prometheus.Metric) {
	if (*exports)(m).wanted(export.Traces) {
		ch <- prometheus.MustNewConstMetric(untracedDesc, prometheus.CounterValue, float64(m.untraced.Load()))
	}
	for _, o := range (*exports)(m).now() {
		s := o.Stats()
		counter := func(d *prometheus.Desc, v uint64, labels ...string) {
			labels = append([]string{s.Name}, labels...)
			ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
		}
		for k := range export.NumKinds {
			if !s.Wanted[k] {
				continue
			}
			n := &s.Counts[k]
			counter(exportOfferedDesc, n.Offered, k.String())
			counter(exportRecordsDesc, n.Sent, k.String(), "sent")
			counter(exportRecordsDesc, n.QueueFull, k.String(), "queue_full")
			counter(exportRecordsDesc, n.Refused, k.String(), "refused")
			counter(exportRecordsDesc, n.Stopped, k.String(), "stopped")
		}
		failing := 0.0
		if s.Failures > 0 {
			failing = 1
		}
		ch <- prometheus.MustNewConstMetric(exportQueuedDesc, prometheus.GaugeValue, float64(s.Waiting), s.Name)
		ch <- prometheus.MustNewConstMetric(exportFailingDesc, prometheus.GaugeValue, failing, s.Name)
		counter(exportRetriedDesc, s.Retried)
	}
}
