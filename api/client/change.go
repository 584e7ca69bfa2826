package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
)

// Change sends a request that changes something, with a body unless that is nil, and returns the answer. T is its type:
// struct{} where there is none.
func Change[T any](ctx context.Context, c *Client, method, resource string, body any) (*T, error) {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base.JoinPath("api/v1", resource).String(),
		bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := c.do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer := io.LimitReader(response.Body, maxAnswer)
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if response.StatusCode/100 != 2 {
		return nil, problemOf(response, kind, answer)
	}
	var v T
	if response.StatusCode == http.StatusNoContent {
		return &v, nil
	}
	if err := json.NewDecoder(answer).Decode(&v); err != nil {
		return nil, fmt.Errorf("the answer of %s cannot be read: %w", c.URL(), err)
	}
	return &v, nil
}
