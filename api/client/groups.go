package client

import (
	"context"

	"github.com/waybill-int/waybill/api/types"
)

// The methods below count items by what they have in common, which Query.GroupBy names: those of now, and with
// Query.Since those of a time range.

// EventGroups counts events.
func (c *Client) EventGroups(ctx context.Context, q Query) (*types.EventGroups, error) {
	return get[types.EventGroups](ctx, c, "events", q)
}

// BurstGroups counts bursts.
func (c *Client) BurstGroups(ctx context.Context, q Query) (*types.BurstGroups, error) {
	return get[types.BurstGroups](ctx, c, "bursts", q)
}

// LossGroups adds up what became of the datagrams of exporters.
func (c *Client) LossGroups(ctx context.Context, q Query) (*types.LossGroups, error) {
	return get[types.LossGroups](ctx, c, "loss", q)
}
