package api

import (
	"context"
	"net/url"
)

// The methods below ask about a time range, which Query.Since begins. The server needs a store.

// FlowHistory returns what was counted of flows.
func (c *Client) FlowHistory(ctx context.Context, q Query) (*FlowHistory, error) {
	return get[FlowHistory](ctx, c, "flows", q)
}

// Flow returns one flow.
func (c *Client) Flow(ctx context.Context, id string) (*FlowAnswer, error) {
	return get[FlowAnswer](ctx, c, "flows/"+url.PathEscape(id), Query{})
}

// FlowPaths returns the paths that a flow took, the first first. A server without a store answers what it remembers.
func (c *Client) FlowPaths(ctx context.Context, id string, q Query) (*FlowPathList, error) {
	return get[FlowPathList](ctx, c, "flows/"+url.PathEscape(id)+"/paths", q)
}

// PathHistory returns what was counted of paths.
func (c *Client) PathHistory(ctx context.Context, q Query) (*PathHistory, error) {
	return get[PathHistory](ctx, c, "paths", q)
}

// HopHistory returns what was counted at nodes.
func (c *Client) HopHistory(ctx context.Context, q Query) (*HopHistory, error) {
	return get[HopHistory](ctx, c, "hops", q)
}

// QueueHistory returns how long queues were.
func (c *Client) QueueHistory(ctx context.Context, q Query) (*QueueHistory, error) {
	return get[QueueHistory](ctx, c, "queues", q)
}

// LinkHistory returns what links carried.
func (c *Client) LinkHistory(ctx context.Context, q Query) (*LinkHistory, error) {
	return get[LinkHistory](ctx, c, "links", q)
}

// DropHistory returns drops by place and reason.
func (c *Client) DropHistory(ctx context.Context, q Query) (*DropHistory, error) {
	return get[DropHistory](ctx, c, "drops", q)
}

// ExporterHistory returns what became of reports.
func (c *Client) ExporterHistory(ctx context.Context, q Query) (*ExporterHistory, error) {
	return get[ExporterHistory](ctx, c, "exporters", q)
}

// EventHistory returns events that began in the range.
func (c *Client) EventHistory(ctx context.Context, q Query) (*EventHistory, error) {
	return get[EventHistory](ctx, c, "events", q)
}

// Heatmap returns how many packets took how long, over time: of "hops", "links" or "paths".
func (c *Client) Heatmap(ctx context.Context, of string, q Query) (*Heatmap, error) {
	return fetch[Heatmap](ctx, c, "heatmap", "of="+of+"&"+q.encode())
}
