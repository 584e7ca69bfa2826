package cli

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/internal/command"
)

// explain says in one line why there is no answer. A value that the server refuses is an error in the command line.
func (c *queryCommand[L, T]) explain(err error) error { return explain(c.client, err) }

// explain is that for any question to a server.
func explain(c *client.Client, err error) error {
	if p, ok := errors.AsType[*client.Problem](err); ok {
		if p.Status == http.StatusBadRequest {
			return command.Usage(p)
		}
		if p.Status == http.StatusUnauthorized {
			if !strings.Contains(p.Detail, "token") {
				return fmt.Errorf("%w; give one with --cert and --key", p)
			}
			return fmt.Errorf("%w; give one in $WAYBILL_TOKEN or --token-file", p)
		}
		return p
	}
	cause, ok := errors.AsType[*url.Error](err)
	if !ok {
		return err
	}
	reason := cause.Err.Error()
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		reason = errno.Error() // package net would repeat the address
	} else if dns, ok := errors.AsType[*net.DNSError](err); ok {
		reason = dns.Err
	} else if failed, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return fmt.Errorf(
			"%s has a certificate that nobody trusted here has signed: %w; --ca names a file with who did", c.URL(),
			failed.Err)
	} else if cause.Timeout() {
		reason = fmt.Sprintf("no answer within %v", queryTimeout)
	}
	return fmt.Errorf("cannot reach %s: %s; is `waybill serve` running?", c.URL(), reason)
}

// empty says what to do when there is nothing to list.
func (c *queryCommand[L, T]) empty(ctx context.Context) string {
	items := cmp.Or(c.items, c.name)
	if q := c.query; q != (client.Query{Limit: q.Limit, Order: q.Order}) {
		return fmt.Sprintf("no %s match", items)
	}
	var received, malformed uint64
	var ports []string
	host := "127.0.0.1"
	if u, err := url.Parse(c.client.URL()); err == nil {
		host = u.Hostname()
	}
	listeners, err := client.Get[client.ListenerList](ctx, c.client, "listeners", client.Query{})
	if err != nil {
		return fmt.Sprintf("no %s yet", items)
	}
	for _, l := range listeners.Listeners {
		received += l.Received
		malformed += l.Malformed
		if _, port, err := net.SplitHostPort(l.Address); err == nil && !slices.Contains(ports, port) {
			ports = append(ports, port)
		}
	}
	switch {
	case len(ports) == 0:
		return fmt.Sprintf("no %s yet, and the server listens on no port", items)
	case received == 0:
		return fmt.Sprintf(
			"no %s yet: point telemetry reports at udp port %s of %s, or run `waybill replay FILE --to %s`",
			items, strings.Join(ports, " or "), host, net.JoinHostPort(host, ports[0]))
	case received == malformed:
		return fmt.Sprintf("no %s yet: %d datagrams arrived, but none could be read; `waybill exporters` says why",
			items, received)
	}
	return c.none
}
