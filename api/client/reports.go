package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"

	"github.com/waybill-int/waybill/api/types"
)

// Reports returns datagrams as they came, the newest first. The server may look for a few seconds only: as long as
// there are fewer than q.Limit, it is asked to go on. Scanned is of all that was looked at.
func (c *Client) Reports(ctx context.Context, q Query) (*types.ReportList, error) {
	limit := q.Limit
	if limit == 0 {
		limit = types.DefaultLimit
	}
	whole, err := Get[types.ReportList](ctx, c, "reports", q)
	if err != nil {
		return nil, err
	}
	for len(whole.Reports) < limit && whole.Next != "" {
		q.Limit, q.Cursor = limit-len(whole.Reports), whole.Next
		more, err := Get[types.ReportList](ctx, c, "reports", q)
		if err != nil {
			return nil, err
		}
		whole.Reports = append(whole.Reports, more.Reports...)
		whole.Scanned, whole.Next = whole.Scanned+more.Scanned, more.Next
	}
	whole.Total = len(whole.Reports)
	return whole, nil
}

// Capture writes datagrams to w as a capture file, the oldest first: all that q selects, or the newest q.Limit of them.
func (c *Client) Capture(ctx context.Context, q Query, w io.Writer) error {
	response, err := c.open(ctx, "reports.pcap", q.encode(), types.MediaCapture)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = io.Copy(w, response.Body)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the capture of %s is incomplete", c.URL())
	}
	return err
}

// mediaOf are the formats of lists.
var mediaOf = map[string]string{
	"json": types.MediaJSON, "ndjson": "application/x-ndjson", "csv": "text/csv",
	"parquet": "application/vnd.apache.parquet",
	"arrow":   "application/vnd.apache.arrow.stream",
}

// Encoded returns a list as the server writes it in a format, json, ndjson, csv, parquet or arrow, and whether there
// are more items.
func (c *Client) Encoded(ctx context.Context, list, format string, q Query) (body []byte, more bool, err error) {
	query := q.encode()
	if format != "json" { // what there is of all that is answered
		query = "format=" + format + "&" + query
	}
	response, err := c.open(ctx, list, query, mediaOf[format])
	if err != nil {
		return nil, false, err
	}
	defer response.Body.Close()
	body, err = io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err == nil && len(body) == maxAnswer || errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("the answer of %s is incomplete", c.URL())
	}
	return body, response.Header.Get("Link") != "", err
}

// open asks for a resource of a media type.
func (c *Client) open(ctx context.Context, resource, query, media string) (*http.Response, error) {
	target := c.base.JoinPath("api/v1", resource)
	target.RawQuery = query
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return nil, err
	}
	response, err := c.do(request)
	if err != nil {
		return nil, err
	}
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	switch {
	case response.StatusCode != http.StatusOK:
		err = problemOf(response, kind, io.LimitReader(response.Body, maxAnswer))
	case kind != media:
		err = fmt.Errorf("%s is not a Waybill server: it answered with %q instead of %s", c.URL(), kind, media)
	}
	if err != nil {
		response.Body.Close()
		return nil, err
	}
	return response, nil
}

// Decode returns what b is, which starts with what start names: "report", "ethernet", or another name that the server
// lists if it does not know it. An empty dialect is that of the specifications.
func (c *Client) Decode(ctx context.Context, b []byte, start, dialect string) (*types.DecodeAnswer, error) {
	target := c.base.JoinPath("api/v1/decode")
	query := url.Values{"start": {start}}
	if dialect != "" {
		query.Set("dialect", dialect)
	}
	target.RawQuery = query.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target.String(), bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/octet-stream")
	response, err := c.do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	body := io.LimitReader(response.Body, maxAnswer)
	if response.StatusCode != http.StatusOK {
		return nil, problemOf(response, kind, body)
	}
	var answer types.DecodeAnswer
	if err := json.NewDecoder(body).Decode(&answer); err != nil {
		return nil, fmt.Errorf("the answer of %s cannot be read: %w", c.URL(), err)
	}
	return &answer, nil
}
