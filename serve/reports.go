package serve

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waybill-int/waybill/collect"
	"github.com/waybill-int/waybill/store/ring"
)

// rawReports keeps datagrams as they came. A nil one keeps nothing.
type rawReports struct{ ring *ring.Ring }

// rawConfig returns where raw reports are kept; false: they are not.
func (c *Config) rawConfig() (ring.Config, bool, error) {
	if c.RawReports == "" {
		return ring.Config{}, false, nil
	}
	size, err := parseSize(c.RawReports)
	if err != nil {
		return ring.Config{}, false, fmt.Errorf("raw_reports: %w", err)
	}
	if size == 0 {
		return ring.Config{}, false, nil
	}
	if c.Data == "" {
		return ring.Config{}, false, errors.New("raw_reports: there is no directory to keep them in; data names one")
	}
	kept, err := c.Store.compile(c.Data)
	if err != nil {
		return ring.Config{}, false, err
	}
	config := ring.Config{Dir: filepath.Join(c.Data, "reports"), MaxBytes: int64(size), MinFree: kept.MinFree}
	if err := config.Check(); err != nil {
		return ring.Config{}, false, fmt.Errorf("raw_reports: %w", err)
	}
	return config, true, nil
}

// openRawReports opens what is kept, and lets receivers add to it and to what is looked at for dialects.
func (s *Server) openRawReports() error {
	config, keep, err := s.Config.rawConfig()
	if !keep {
		for i, r := range s.Receivers[:len(s.sockets)] {
			if s.formatOf(i) != nil {
				continue
			}
			r.Keep(s.recorder(i, nil))
		}
		return err
	}
	kept, err := ring.Open(config, s.troubles)
	if err != nil {
		return fmt.Errorf("raw_reports: %w", err)
	}
	for i, r := range s.Receivers {
		if s.formatOf(i) != nil {
			continue
		}
		r.Keep(s.recorder(i, kept.Appender(s.sockets[i].Addr())))
	}
	s.raw = &rawReports{ring: kept}
	return nil
}

// recorder returns what gets the datagrams of a socket, before kept, which may be nil.
func (s *Server) recorder(socket int, kept collect.Recorder) collect.Recorder {
	port := s.sockets[socket].Addr().Port()
	return s.dialects.recorder(port, &reportRecorder{exports: &s.exports, points: s.points, port: port, next: kept})
}

// kept returns what is kept, for the API.
func (r *rawReports) kept() *ring.Ring {
	if r == nil {
		return nil
	}
	return r.ring
}

var (
	rawReportsDesc = rawDesc("total",
		"Datagrams by what became of them: kept (they are on disk), dropped (the disk was full or too slow).",
		"outcome")
	rawStoppedDesc = rawDesc("stopped", "1 while no raw reports can be written; the log says why.")
	rawBytesDesc   = rawDesc("bytes", "Size of the files with raw reports, in bytes.")
	rawRemovedDesc = rawDesc("files_removed_total", "Files with raw reports that were removed for newer ones.")
)

func rawDesc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("waybill_raw_reports_"+name, help, labels, nil)
}

// metrics returns those of raw reports.
func (r *rawReports) metrics() prometheus.Gatherer {
	registry := prometheus.NewRegistry()
	if r != nil {
		registry.MustRegister(r)
	}
	return registry
}

// Describe implements prometheus.Collector.
func (r *rawReports) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(r, ch) }

// Collect implements prometheus.Collector.
func (r *rawReports) Collect(ch chan<- prometheus.Metric) {
	metric := func(d *prometheus.Desc, kind prometheus.ValueType, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, kind, v, labels...)
	}
	s := r.ring.Stats()
	metric(rawReportsDesc, prometheus.CounterValue, float64(s.Kept), "kept")
	metric(rawReportsDesc, prometheus.CounterValue, float64(s.Dropped), "dropped")
	stopped := 0.0
	if s.Stopped != "" {
		stopped = 1
	}
	metric(rawStoppedDesc, prometheus.GaugeValue, stopped)
	metric(rawBytesDesc, prometheus.GaugeValue, float64(s.Bytes))
	metric(rawRemovedDesc, prometheus.CounterValue, float64(s.Removed))
}
