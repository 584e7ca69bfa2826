// Package otlp sends metrics, and flows and packets as traces, to whoever speaks OTLP over HTTP: a collector of
// OpenTelemetry, Jaeger, Tempo. The messages are those of the protocol's own library; the SDK would add nothing, as
// metrics are counted and traces are made elsewhere.
package otlp

import (
	"context"
	"errors"
	"fmt"

	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/slim/otlp/metrics/v1"
	resource "go.opentelemetry.io/proto/slim/otlp/resource/v1"
	trace "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/waybill-int/waybill/export"
	"github.com/waybill-int/waybill/telemetry"
)

// A Config says where OTLP goes.
type Config struct {
	export.HTTP `yaml:",inline"`
}

// Takes implements export.Opener.
func (*Config) Takes() ([]export.Kind, int) {
	return []export.Kind{export.Metrics, export.Traces, export.Reports}, 1
}

// Open implements export.Opener.
func (c *Config) Open(deps export.Deps) (export.Output, error) {
	client, err := c.Client()
	if err != nil {
		return nil, err
	}
	return &output{client: client, deps: deps, of: &resource.Resource{Attributes: []*common.KeyValue{
		text("service.name", "waybill"), text("service.version", deps.Version),
	}}, scope: &common.InstrumentationScope{Name: "waybill", Version: deps.Version}}, nil
}

type output struct {
	client *export.Client
	deps   export.Deps
	of     *resource.Resource
	scope  *common.InstrumentationScope

	packets packetReader
}

// Send implements export.Output.
func (o *output) Send(ctx context.Context, records []export.Record) (refused []int, err error) {
	var spans []*trace.Span
	var traces []int
	links, traced := linkDelays(o.deps.Links()), o.deps.Traced()
	for i, r := range records {
		switch of := r.Of.(type) {
		case *export.Scrape:
			list := &metrics.ScopeMetrics{Scope: o.scope, Metrics: metricsOf(of)}
			err := o.post(ctx, "/v1/metrics", &metrics.MetricsData{ResourceMetrics: []*metrics.ResourceMetrics{
				{Resource: o.of, ScopeMetrics: []*metrics.ScopeMetrics{list}},
			}})
			if errors.Is(err, export.ErrRefused) {
				refused = append(refused, i)
			} else if err != nil {
				return nil, err
			}
		case *telemetry.Flow:
			traces = append(traces, i)
			spans = append(spans, spansOf(of, uint64(of.Last.UnixNano()), 0, links)...)
		case *export.Datagram:
			traces = append(traces, i)
			list := o.packets.read(of, o.deps.Names())
			for j := range list {
				if p := &list[j]; traced == nil || traced(&p.Flow) {
					spans = append(spans, spansOf(&p.Flow, p.id, p.report, links)...)
				}
			}
		default:
			refused = append(refused, i)
		}
	}
	if len(spans) == 0 {
		return refused, nil
	}
	err = o.post(ctx, "/v1/traces", &trace.TracesData{ResourceSpans: []*trace.ResourceSpans{
		{Resource: o.of, ScopeSpans: []*trace.ScopeSpans{{Scope: o.scope, Spans: spans}}},
	}})
	if errors.Is(err, export.ErrRefused) {
		return append(refused, traces...), nil
	}
	return refused, err
}

// post sends what has the form of a request of the protocol.
func (o *output) post(ctx context.Context, path string, m proto.Message) error {
	body, err := proto.Marshal(m)
	if err != nil {
		return fmt.Errorf("%w: %w", export.ErrRefused, err)
	}
	return o.client.Post(ctx, path, map[string]string{"Content-Type": "application/x-protobuf"}, body)
}

// Close implements export.Output.
func (o *output) Close() { o.client.Close() }

func text(key, value string) *common.KeyValue {
	return &common.KeyValue{Key: key, Value: &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: value}}}
}

func number[N int | uint8 | uint16 | uint32 | uint64 | int64](key string, value N) *common.KeyValue {
	return &common.KeyValue{Key: key, Value: &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: int64(value)}}}
}

func real(key string, value float64) *common.KeyValue {
	return &common.KeyValue{Key: key, Value: &common.AnyValue{Value: &common.AnyValue_DoubleValue{DoubleValue: value}}}
}
