package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"

	"github.com/waybill-int/waybill/api/types"
)

// Alerts returns alerts, the latest first.
func (c *Client) Alerts(ctx context.Context, q Query) (*types.AlertList, error) {
	return get[types.AlertList](ctx, c, "alerts", q)
}

// Silences returns silences, the one that ends first first.
func (c *Client) Silences(ctx context.Context, q Query) (*types.SilenceList, error) {
	return get[types.SilenceList](ctx, c, "silences", q)
}

// AddSilence begins a silence and returns it with its id.
func (c *Client) AddSilence(ctx context.Context, s types.NewSilence) (*types.Silence, error) {
	var made types.Silence
	return &made, c.change(ctx, http.MethodPost, "silences", s, &made)
}

// RemoveSilence ends a silence.
func (c *Client) RemoveSilence(ctx context.Context, id string) error {
	return c.change(ctx, http.MethodDelete, "silences/"+url.PathEscape(id), nil, nil)
}

// TestAlert sends a test, and returns what became of it.
func (c *Client) TestAlert(ctx context.Context, test types.AlertTest) (*types.AlertTestResults, error) {
	var results types.AlertTestResults
	return &results, c.change(ctx, http.MethodPost, "alerts/test", test, &results)
}

// change sends a request with a body, unless it is nil, and reads the answer into v, unless that is nil.
func (c *Client) change(ctx context.Context, method, path string, body, v any) error {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base.JoinPath("api/v1", path).String(),
		bytes.NewReader(text))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := c.do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer := io.LimitReader(response.Body, maxAnswer)
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if response.StatusCode/100 != 2 {
		return problemOf(response, kind, answer)
	}
	if v == nil {
		return nil
	}
	if err := json.NewDecoder(answer).Decode(v); err != nil {
		return fmt.Errorf("the answer of %s cannot be read: %w", c.URL(), err)
	}
	return nil
}
