//go:build linux

package lab

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"path/filepath"
	"strings"
	"time"

	"github.com/waybill-int/waybill/node/kernel"
)

// A runningNode is the INT node of a router. Its reports leave from the namespace of this process.
type runningNode struct {
	*kernel.Node
	cancel context.CancelFunc
	done   chan error
}

// nodeConfig returns what the node of a router does: section int of the scenario.
func (l *Lab) nodeConfig(r *router) (*kernel.Config, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "name: %q\nid: %d\nports:\n", r.Name, r.Node)
	for _, p := range r.ports {
		fmt.Fprintf(&b, "  - {interface: %s, queue: %s, edge: %v}\n", p.veth(), p.device(), p.peer.host != nil)
	}
	if len(strings.TrimSpace(string(l.scenario.INT.Text))) > 0 {
		b.WriteString("int:\n")
		for line := range strings.Lines(string(l.scenario.INT.Text)) {
			b.WriteString("  " + line)
		}
	}
	c, err := kernel.Parse([]byte(b.String()))
	if err != nil {
		return nil, err
	}
	if l.options.Reports.IsValid() {
		c.Collectors = []netip.AddrPort{l.options.Reports}
	}
	if l.options.Reports.Addr().IsLoopback() && l.options.Reports.Addr().Is4() { // as the fabric does
		a := netip.MustParseAddr(r.Address).As4()
		a[0] = 127
		c.Address = netip.AddrFrom4(a)
	}
	return c, nil
}

// startNode starts the node of a router.
func (l *Lab) startNode(r *router) error {
	n, err := kernel.New(r.config)
	if err != nil {
		return fmt.Errorf("node %s: %w", r.Name, err)
	}
	if err := r.ns.do(n.Attach); err != nil {
		return errors.Join(fmt.Errorf("node %s: %w", r.Name, err), n.Close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	running := &runningNode{n, cancel, make(chan error, 1)}
	socket, err := kernel.ListenLocal(filepath.Join(lockDir, r.ns.name+".sock"))
	if err != nil {
		cancel()
		return errors.Join(fmt.Errorf("node %s: %w", r.Name, err), n.Close())
	}
	server := &http.Server{Handler: n.Handler(), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(socket) }()
	go func() {
		err := n.Run(ctx)
		running.done <- errors.Join(err, server.Close())
	}()
	r.node = running
	return nil
}

// stopNode ends the node of a router, if it has one, and adds up what it did.
func (l *Lab) stopNode(r *router) error {
	n := r.node
	if n == nil {
		return nil
	}
	r.node = nil
	n.cancel()
	err := <-n.done
	err = errors.Join(err, n.Each(func(name string, count uint64) { l.counters[name] += count }))
	if last := n.LastError(); last != nil {
		l.options.Log.Warn("reports could not be sent", "node", r.Name, "last", last)
	}
	return errors.Join(err, n.Close())
}
