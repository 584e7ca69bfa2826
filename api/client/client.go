package client

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/waybill-int/waybill/api/types"
)

// maxAnswer is the size of an answer that a Client reads, in bytes.
const maxAnswer = 256 << 20

// A Client asks a server. Its methods return a *Problem if a server answered with an error, and a *url.Error if none
// could be reached; they end when ctx does.
type Client struct {
	base  *url.URL
	http  http.Client
	token string
}

// New returns a client of the server at baseURL, for example "http://127.0.0.1:8080", "https://noc.example/waybill"
// or "127.0.0.1:8080".
func New(baseURL string) (*Client, error) {
	if !strings.Contains(baseURL, "://") {
		baseURL = "http://" + baseURL
	}
	base, err := url.Parse(baseURL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" || base.RawQuery != "" ||
		base.Fragment != "" {
		return nil, fmt.Errorf("%q is not the URL of a server; it looks like http://127.0.0.1:8080", baseURL)
	}
	return &Client{base: base}, nil
}

// Use makes the client give token, unless it is empty, and use config for https. It is an error if the token would
// cross a network in the clear. It must be called before the first request.
func (c *Client) Use(token string, config *tls.Config) error {
	if token != "" && c.base.Scheme == "http" && !isLoopback(c.base.Hostname()) {
		return fmt.Errorf(
			"the token would cross the network to %s in the clear; use https, or a tunnel to this machine", c.URL())
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = config
	c.token, c.http.Transport = token, transport
	if token != "" { // a redirect could lead from https to http, and the token with it
		c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	return nil
}

// UseTransport makes the client send its requests through t. It must be called before the first request.
func (c *Client) UseTransport(t http.RoundTripper) { c.http.Transport = t }

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.Unmap().IsLoopback()
}

// URL returns the URL of the server, without a password.
func (c *Client) URL() string { return c.base.Redacted() }

// A Query selects what a list has. Zero fields are not sent; the server refuses those that the list does not know, and
// says which values a field may have.
type Query struct {
	Limit     int    // items; the server's default is 100
	Order     string // of flows: last, packets, latency or drops; of bursts: last, peak, duration or drops
	Src, Dst  string // of flows: address or prefix
	Port      string // of flows, at either end
	Protocol  string // of flows: name or number
	OuterSrc  string // of flows: address or prefix at the source end of their tunnel
	OuterDst  string // of flows: and at the other end
	OuterPort string // of flows: of their tunnel, at either end
	Node      string // id or name
	Path      string // id of a path
	Reason    string // of drops: name or number
	Source    string // of exporters: address or prefix
	ID        string // of events
	Address   string // of hosts: address or prefix
	State     string // of alerts: pending, firing or resolved
	Kind      string // of events: names, with commas
	Severity  string // of events and alerts: at least info, warning or critical
	Open      bool   // of events: only those that go on
	Incast    bool   // of bursts: only those to which many senders came together
	Filter    string // of events and alerts: see package filter

	At           string // of nodes, ports, links and the topology: a time or how long ago, instead of now
	Since, Until string // a time or how long ago: of loss, and of lists of a time range (see Client.FlowHistory)
	GroupBy      string // of a time range: names of fields, with commas
	Together     bool   // of a time range: all in one record, whatever GroupBy is
	Interval     string // of a time range: length of its pieces
	Cursor       string // Head.Next of the answer before
	Intervals    bool   // of loss: list them too
	Exporter     string // of raw reports: address or prefix
	Flow         string // of raw reports: id of a flow
}

func (q *Query) encode() string {
	values := url.Values{}
	for name, value := range map[string]string{
		"order": q.Order, "src": q.Src, "dst": q.Dst, "port": q.Port, "protocol": q.Protocol,
		"outer_src": q.OuterSrc, "outer_dst": q.OuterDst, "outer_port": q.OuterPort,
		"node": q.Node, "path": q.Path, "reason": q.Reason, "source": q.Source, "address": q.Address,
		"id": q.ID, "state": q.State, "kind": q.Kind, "severity": q.Severity, "filter": q.Filter, "at": q.At,
		"since": q.Since, "until": q.Until,
		"group_by": q.GroupBy, "interval": q.Interval, "cursor": q.Cursor, "exporter": q.Exporter, "flow": q.Flow,
	} {
		if value != "" {
			values.Set(name, value)
		}
	}
	if q.Together {
		values.Set("group_by", "")
	}
	if q.Open {
		values.Set("open", "true")
	}
	if q.Incast {
		values.Set("incast", "true")
	}
	if q.Intervals {
		values.Set("intervals", "true")
	}
	if q.Limit != 0 {
		values.Set("limit", strconv.Itoa(q.Limit))
	}
	return values.Encode()
}

// Get asks for a resource below /api/v1: a list, such as "flows", or an item of one, such as "flows/ID". T is the type
// of its answer. Lists about a time range, which q.Since begins, have another type, and so have groups, which q.GroupBy
// names.
func Get[T any](ctx context.Context, c *Client, resource string, q Query) (*T, error) {
	return fetch[T](ctx, c, resource, q.encode())
}

// Item asks for an item of a list.
func Item[T any](ctx context.Context, c *Client, list, id string) (*T, error) {
	return fetch[T](ctx, c, list+"/"+url.PathEscape(id), "")
}

// SQL returns the rows of a SELECT statement over what the server keeps, at most limit of them. Numbers are
// json.Number.
func (c *Client) SQL(ctx context.Context, statement string, limit int) (*types.Table, error) {
	return fetch[types.Table](ctx, c, "query", url.Values{"sql": {statement}, "limit": {strconv.Itoa(limit)}}.Encode())
}

// Heatmap returns how many packets took how long, over time: of "hops", "links" or "paths".
func (c *Client) Heatmap(ctx context.Context, of string, q Query) (*types.Heatmap, error) {
	return fetch[types.Heatmap](ctx, c, "heatmap", "of="+of+"&"+q.encode())
}

// do sends a request, with the token.
func (c *Client) do(request *http.Request) (*http.Response, error) {
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	return c.http.Do(request)
}

// fetch asks for a resource.
func fetch[T any](ctx context.Context, c *Client, resource, query string) (*T, error) {
	response, err := c.open(ctx, resource, query, types.MediaJSON)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body := io.LimitReader(response.Body, maxAnswer)
	var list T
	decoder := json.NewDecoder(body)
	decoder.UseNumber() // 64 bit numbers stay exact where a value may be of any type
	if err := decoder.Decode(&list); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, fmt.Errorf("the answer of %s is incomplete", c.URL())
		}
		return nil, fmt.Errorf("the answer of %s cannot be read: %w", c.URL(), err)
	}
	return &list, nil
}

// problemOf returns the Problem in a response, or one that says what came instead.
func problemOf(response *http.Response, kind string, body io.Reader) *types.Problem {
	var p types.Problem
	if kind == types.MediaProblem && json.NewDecoder(body).Decode(&p) == nil && p.Status == response.StatusCode {
		return &p
	}
	return types.NewProblem(response.StatusCode, "%s answered %q", response.Request.URL.Redacted(), response.Status)
}
