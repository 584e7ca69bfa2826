package client

import (
	"context"
	"net/url"

	"github.com/waybill-int/waybill/api/types"
)

// The methods below ask about a time range, which Query.Since begins. The server needs a store.

// FlowHistory returns what was counted of flows.
func (c *Client) FlowHistory(ctx context.Context, q Query) (*types.FlowHistory, error) {
	return get[types.FlowHistory](ctx, c, "flows", q)
}

// Flow returns one flow.
func (c *Client) Flow(ctx context.Context, id string) (*types.FlowAnswer, error) {
	return get[types.FlowAnswer](ctx, c, "flows/"+url.PathEscape(id), Query{})
}

// FlowPaths returns the paths that a flow took, the first first. A server without a store answers what it remembers.
func (c *Client) FlowPaths(ctx context.Context, id string, q Query) (*types.FlowPathList, error) {
	return get[types.FlowPathList](ctx, c, "flows/"+url.PathEscape(id)+"/paths", q)
}

// PathHistory returns what was counted of paths.
func (c *Client) PathHistory(ctx context.Context, q Query) (*types.PathHistory, error) {
	return get[types.PathHistory](ctx, c, "paths", q)
}

// HopHistory returns what was counted at nodes.
func (c *Client) HopHistory(ctx context.Context, q Query) (*types.HopHistory, error) {
	return get[types.HopHistory](ctx, c, "hops", q)
}

// QueueHistory returns how long queues were.
func (c *Client) QueueHistory(ctx context.Context, q Query) (*types.QueueHistory, error) {
	return get[types.QueueHistory](ctx, c, "queues", q)
}

// LinkHistory returns what links carried.
func (c *Client) LinkHistory(ctx context.Context, q Query) (*types.LinkHistory, error) {
	return get[types.LinkHistory](ctx, c, "links", q)
}

// DropHistory returns drops by place and reason.
func (c *Client) DropHistory(ctx context.Context, q Query) (*types.DropHistory, error) {
	return get[types.DropHistory](ctx, c, "drops", q)
}

// ExporterHistory returns what became of reports.
func (c *Client) ExporterHistory(ctx context.Context, q Query) (*types.ExporterHistory, error) {
	return get[types.ExporterHistory](ctx, c, "exporters", q)
}

// EventHistory returns events that began in the range.
func (c *Client) EventHistory(ctx context.Context, q Query) (*types.EventHistory, error) {
	return get[types.EventHistory](ctx, c, "events", q)
}

// Heatmap returns how many packets took how long, over time: of "hops", "links" or "paths".
func (c *Client) Heatmap(ctx context.Context, of string, q Query) (*types.Heatmap, error) {
	return fetch[types.Heatmap](ctx, c, "heatmap", "of="+of+"&"+q.encode())
}
