package client

import (
	"context"
	"net/url"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/telemetry"
)

// CompleteFilter returns what may stand at the end of text, a filter of the list that schema names, for example
// "events".
func (c *Client) CompleteFilter(ctx context.Context, schema, text string) ([]telemetry.FilterCandidate, error) {
	answer, err := fetch[types.Completions](ctx, c, "filter/complete",
		url.Values{"schema": {schema}, "text": {text}}.Encode())
	if err != nil {
		return nil, err
	}
	return answer.Candidates, nil
}
