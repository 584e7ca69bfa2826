package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/telemetry"
)

const (
	// retryFirst is how long a client waits before it opens a broken stream again, unless the server says; retryMost is
	// how long it waits after many failures.
	retryFirst, retryMost = 3 * time.Second, 30 * time.Second
	// streamSilence is how long a server may say nothing: three heartbeats.
	streamSilence = 3 * types.HeartbeatEvery
	// maxMessage is the size of a message that a client takes, in bytes.
	maxMessage = 1 << 20
)

// A Stream says what is done with what comes. Its functions are called one after the other; while one runs nothing is
// read, and a server cuts off who is slow for long. All but Item may be nil.
type Stream[T any] struct {
	Item func(*T) error  // an error ends the stream
	Lost func(n uint64)  // so many items were not sent, because the client was away or slow
	Open func()          // the server has taken the question; also after Away
	Away func(err error) // the stream broke, or cannot be opened; it is opened again
}

// StreamEvents asks for events as they begin, change and end: first those that go on. It opens a broken stream again
// where it was, until ctx is done, Item returns an error, or the server says that the question is wrong.
func (c *Client) StreamEvents(ctx context.Context, q Query, s Stream[telemetry.Event]) error {
	return follow(ctx, c, "events/stream", "event", q, s)
}

// StreamAttacks asks for attacks as they begin, go on and end: first those that go on. Else it is as StreamEvents.
func (c *Client) StreamAttacks(ctx context.Context, q Query, s Stream[telemetry.Attack]) error {
	return follow(ctx, c, "attacks/stream", "attack", q, s)
}

// StreamIncidents asks for incidents as they begin, grow and end: first those that go on. Else it is as StreamEvents.
func (c *Client) StreamIncidents(ctx context.Context, q Query, s Stream[telemetry.Incident]) error {
	return follow(ctx, c, "incidents/stream", "incident", q, s)
}

// StreamFlows asks for the flows about which reports come, once a second; else it is as StreamEvents.
func (c *Client) StreamFlows(ctx context.Context, q Query, s Stream[telemetry.Flow]) error {
	return follow(ctx, c, "flows/stream", "flow", q, s)
}

// errRefused wraps what ends a stream for good.
type errRefused struct{ error }

func (e errRefused) Unwrap() error { return e.error }

// follow reads a stream of messages of a kind, and opens it again when it breaks.
func follow[T any](ctx context.Context, c *Client, resource, kind string, q Query, s Stream[T]) error {
	last, wait := "", retryFirst
	for failures := 0; ; failures++ {
		r := reader[T]{kind: kind, stream: &s, last: last, retry: wait}
		err := r.open(ctx, c, resource, q)
		last, wait = r.last, r.retry
		if r.items > 0 {
			failures = 0
		}
		var refused errRefused
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &refused):
			return refused.error
		}
		if s.Away != nil {
			s.Away(err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(min(wait<<min(failures, 4), retryMost)):
		}
	}
}

// A reader reads one connection of a stream.
type reader[T any] struct {
	kind   string
	stream *Stream[T]
	last   string        // id of the latest message
	retry  time.Duration // what the server said
	items  int
}

// open asks, and reads until something breaks.
func (r *reader[T]) open(ctx context.Context, c *Client, resource string, q Query) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	silence := time.AfterFunc(streamSilence, cancel) // a connection may be dead without a word
	defer silence.Stop()
	target := c.base.JoinPath("api/v1", resource)
	target.RawQuery = q.encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return errRefused{err}
	}
	request.Header.Set("Accept", types.MediaStream)
	if r.last != "" {
		request.Header.Set("Last-Event-ID", r.last)
	}
	response, err := c.do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	media, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	switch {
	case response.StatusCode != http.StatusOK:
		p := problemOf(response, media, io.LimitReader(response.Body, maxMessage))
		if p.Status < 500 && p.Status != http.StatusTooManyRequests {
			return errRefused{p}
		}
		return p
	case media != types.MediaStream:
		return errRefused{fmt.Errorf("%s is not a Waybill server: it answered with %q instead of a stream", c.URL(),
			media)}
	}
	if r.stream.Open != nil {
		r.stream.Open()
	}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, maxMessage)
	kind, data, id := "", "", r.last
	for lines.Scan() {
		silence.Reset(streamSilence)
		name, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "event":
			kind = value
		case "data":
			data = value
		case "id":
			id = value
		case "retry":
			if ms, err := strconv.ParseUint(value, 10, 16); err == nil {
				r.retry = time.Duration(ms) * time.Millisecond
			}
		case "": // the end of a message, or a comment
			if data != "" {
				if err := r.message(kind, data); err != nil {
					return err
				}
				r.last = id // not before: of a message that is cut off nothing was seen
			}
			kind, data = "", ""
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return io.ErrUnexpectedEOF
}

// message hands a message over. Kinds that this client does not know are of a later server.
func (r *reader[T]) message(kind, data string) error {
	switch kind {
	case r.kind:
		var item T
		if err := json.Unmarshal([]byte(data), &item); err != nil {
			return fmt.Errorf("a message of the stream cannot be read: %w", err)
		}
		r.items++
		if err := r.stream.Item(&item); err != nil {
			return errRefused{err}
		}
	case "lost":
		var lost map[string]uint64
		if err := json.Unmarshal([]byte(data), &lost); err != nil {
			return fmt.Errorf("a message of the stream cannot be read: %w", err)
		}
		if r.stream.Lost != nil {
			for _, n := range lost {
				r.stream.Lost(n)
			}
		}
	}
	return nil
}
