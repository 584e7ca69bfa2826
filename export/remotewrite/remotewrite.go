// Package remotewrite sends the metrics of the network to Prometheus and whoever speaks its remote-write protocol 1.0,
// for those who cannot scrape. The messages are simple enough to be written field by field with the library of
// Protobuf; the packages of Prometheus that have them bring hundreds of others.
package remotewrite

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/snappy"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/waybill-int/waybill/export"
)

// A Config says where samples are written.
type Config struct {
	export.HTTP `yaml:",inline"`
	Labels      map[string]string `yaml:"labels,omitempty" doc:"labels of all series, such as job and site"`
}

// Takes implements export.Opener.
func (*Config) Takes() ([]export.Kind, int) { return []export.Kind{export.Metrics}, 1 }

// Check implements export.Opener.
func (c *Config) Check() error {
	for name := range c.Labels {
		if name == "" || strings.ContainsFunc(name, func(r rune) bool {
			return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
		}) {
			return errors.New("labels: want names of letters, digits and _, got " + strconv.Quote(name))
		}
	}
	return c.HTTP.Check()
}

// Open implements export.Opener.
func (c *Config) Open(deps export.Deps) (export.Output, error) {
	client, err := c.Client()
	return &output{client, c.Labels, deps.Version}, err
}

type output struct {
	client  *export.Client
	labels  map[string]string
	version string
}

// Send implements export.Output.
func (o *output) Send(ctx context.Context, records []export.Record) (refused []int, err error) {
	header := map[string]string{
		"Content-Type": "application/x-protobuf", "Content-Encoding": "snappy",
		"X-Prometheus-Remote-Write-Version": "0.1.0", "User-Agent": "waybill/" + o.version,
	}
	for i, r := range records {
		scrape, ok := r.Of.(*export.Scrape)
		if !ok {
			refused = append(refused, i)
			continue
		}
		err := o.client.Post(ctx, "", header, snappy.Encode(nil, o.request(scrape)))
		if errors.Is(err, export.ErrRefused) {
			refused = append(refused, i)
		} else if err != nil {
			return nil, err
		}
	}
	return refused, nil
}

// Close implements export.Output.
func (o *output) Close() { o.client.Close() }

// request is a prometheus.WriteRequest: its timeseries have the number 1.
func (o *output) request(s *export.Scrape) (b []byte) {
	for _, f := range s.Families {
		for _, m := range f.Metric {
			series := o.appendLabels(nil, f.GetName(), m)
			at := s.At.UnixMilli()
			switch {
			case m.Counter != nil:
				series = appendSample(series, m.Counter.GetValue(), at)
			case m.Gauge != nil:
				series = appendSample(series, m.Gauge.GetValue(), at)
			case m.Histogram != nil:
				series = appendHistogram(series, m.Histogram, at)
			default:
				continue // the metrics of the network are of these types
			}
			b = appendMessage(b, 1, series)
		}
	}
	return b
}

// appendLabels appends the labels of a series, by name: TimeSeries.labels, 1, with name 1 and value 2.
func (o *output) appendLabels(b []byte, name string, m *dto.Metric) []byte {
	type label struct{ name, value string }
	list := []label{{"__name__", name}}
	for _, l := range m.Label {
		list = append(list, label{l.GetName(), l.GetValue()})
	}
	for name, value := range o.labels {
		if !slices.ContainsFunc(list, func(l label) bool { return l.name == name }) {
			list = append(list, label{name, value})
		}
	}
	slices.SortFunc(list, func(a, b label) int { return strings.Compare(a.name, b.name) })
	for _, l := range list {
		if l.value == "" {
			continue // which is the same as no label
		}
		of := appendMessage(nil, 1, []byte(l.name))
		b = appendMessage(b, 1, appendMessage(of, 2, []byte(l.value)))
	}
	return b
}

// appendSample appends TimeSeries.samples, 2: value 1, timestamp 2.
func appendSample(b []byte, value float64, atMs int64) []byte {
	return appendMessage(b, 2, appendInt(appendFloat(nil, 1, value), 2, atMs))
}

// appendHistogram appends TimeSeries.histograms, 4, as types.proto of Prometheus has them.
func appendHistogram(b []byte, h *dto.Histogram, atMs int64) []byte {
	of := appendInt(nil, 1, int64(h.GetSampleCount()))
	of = appendFloat(of, 3, h.GetSampleSum())
	of = appendSigned(of, 4, int64(h.GetSchema()))
	of = appendFloat(of, 5, h.GetZeroThreshold())
	of = appendInt(of, 6, int64(h.GetZeroCount()))
	for _, span := range h.PositiveSpan {
		of = appendMessage(of, 11, appendInt(appendSigned(nil, 1, int64(span.GetOffset())), 2, int64(span.GetLength())))
	}
	var deltas []byte
	for _, d := range h.PositiveDelta {
		deltas = protowire.AppendVarint(deltas, protowire.EncodeZigZag(d))
	}
	if len(deltas) > 0 {
		of = appendMessage(of, 12, deltas)
	}
	return appendMessage(b, 4, appendInt(of, 15, atMs))
}

func appendMessage(b []byte, n protowire.Number, of []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), of)
}

func appendInt(b []byte, n protowire.Number, v int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), uint64(v))
}

func appendSigned(b []byte, n protowire.Number, v int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), protowire.EncodeZigZag(v))
}

func appendFloat(b []byte, n protowire.Number, v float64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, n, protowire.Fixed64Type), math.Float64bits(v))
}
