package api

import "context"

// The methods below count items by what they have in common, which Query.GroupBy names: those of now, and with Query.Since those of
// a time range.

// EventGroups counts events.
func (c *Client) EventGroups(ctx context.Context, q Query) (*EventGroups, error) {
	return get[EventGroups](ctx, c, "events", q)
}

// BurstGroups counts bursts.
func (c *Client) BurstGroups(ctx context.Context, q Query) (*BurstGroups, error) {
	return get[BurstGroups](ctx, c, "bursts", q)
}

// LossGroups adds up what became of the datagrams of exporters.
func (c *Client) LossGroups(ctx context.Context, q Query) (*LossGroups, error) {
	return get[LossGroups](ctx, c, "loss", q)
}
