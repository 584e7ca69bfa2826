//go:build linux

package lab

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/waybill-int/waybill/internal/conf/unit"
	"github.com/waybill-int/waybill/node"
	"github.com/waybill-int/waybill/node/kernel"
)

// A runningNode is the INT node of a router. Its reports leave from the namespace of this process.
type runningNode struct {
	*kernel.Node
	cancel  context.CancelFunc
	done    chan error
	handler *http.ServeMux // its API
}

// nodeConfig returns what the node of a router does: section int of the scenario.
func (l *Lab) nodeConfig(r *router) (*kernel.Config, error) {
	domain, err := node.Load(l.scenario.INT.Text)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "name: %q\nid: %d\nports:\n", r.Name, r.Node)
	for _, p := range r.ports {
		// Hosts compute their checksums themselves, so that INT can be in their packets, as in those of the fabric.
		fmt.Fprintf(&b, "  - {interface: %s, queue: %s, edge: %v, clone: %v}\n", p.veth(), p.device(),
			p.peer.host != nil, domain.Clone)
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
	running := &runningNode{Node: n, cancel: cancel, done: make(chan error, 1)}
	socket, err := kernel.ListenLocal(filepath.Join(lockDir, r.ns.name+".sock"))
	if err != nil {
		cancel()
		return errors.Join(fmt.Errorf("node %s: %w", r.Name, err), n.Close())
	}
	running.handler = http.NewServeMux()
	running.handler.Handle("/", n.Handler())
	filters := node.FilterHandler(&notedFilters{n, l, r})
	running.handler.Handle("/filter", filters)
	running.handler.Handle("/filter/", filters)
	server := &http.Server{Handler: running.handler, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(socket) }()
	go func() {
		err := n.Run(ctx)
		running.done <- errors.Join(err, server.Close())
	}()
	l.mu.Lock()
	defer l.mu.Unlock()
	r.node = running
	return nil
}

// stopNode ends the node of a router, if it has one, and adds up what it did.
func (l *Lab) stopNode(r *router) error {
	l.mu.Lock()
	n := r.node
	r.node = nil
	l.mu.Unlock()
	if n == nil {
		return nil
	}
	n.cancel()
	err := <-n.done
	err = errors.Join(err, n.Each(func(name string, count uint64) { l.counters[name] += count }))
	if last := n.LastError(); last != nil {
		l.options.Log.Warn("reports could not be sent", "node", r.Name, "last", last)
	}
	return errors.Join(err, n.Close())
}

// Handler returns the API of all nodes: /nodes/ID, and behind that what a node answers at its socket.
func (l *Lab) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/nodes/{id}/", func(w http.ResponseWriter, r *http.Request) {
		var n *runningNode
		id, err := strconv.ParseUint(r.PathValue("id"), 10, 32)
		if err == nil && id > 0 && id <= uint64(len(l.routers)) {
			l.mu.Lock()
			n = l.routers[id-1].node
			l.mu.Unlock()
		}
		if n == nil {
			http.Error(w, fmt.Sprintf("no node %.20q runs", r.PathValue("id")), http.StatusNotFound)
			return
		}
		http.StripPrefix("/nodes/"+r.PathValue("id"), n.handler).ServeHTTP(w, r)
	})
	return mux
}

// An askedFilter is a filter that somebody gave to the node of a router, for the truth: what it drops, captures behind
// it do not see.
type askedFilter struct {
	node.Filter
	router         *router
	fromNs, tillNs int64
}

// notedFilters are those of a node, whose times are noted: from before they can hold until they hold no more.
type notedFilters struct {
	*kernel.Node
	lab    *Lab
	router *router
}

// AddFilter implements node.Filters.
func (n *notedFilters) AddFilter(ctx context.Context, f node.Filter) error {
	from := n.lab.now()
	err := n.Node.AddFilter(ctx, f)
	if err == nil {
		// the node looks once a second whether its time is over
		till := f.Until.UnixNano() - n.lab.epochNs + 2*int64(time.Second)
		n.lab.mu.Lock()
		defer n.lab.mu.Unlock()
		n.lab.filters = append(n.lab.filters, &askedFilter{f, n.router, from, till})
	}
	return err
}

// RemoveFilter implements node.Filters.
func (n *notedFilters) RemoveFilter(ctx context.Context, id string) error {
	err := n.Node.RemoveFilter(ctx, id)
	n.lab.mu.Lock()
	defer n.lab.mu.Unlock()
	for _, f := range n.lab.filters {
		if f.ID == id && f.router == n.router {
			f.tillNs = min(f.tillNs, n.lab.now())
		}
	}
	return err
}

// filtered says whether a filter of a router dropped a packet that came to it at a moment, from a host with that MAC
// address if it is not "". A forged source address nobody here knows.
func (l *Lab) filtered(r *router, f *flow, mac string, ns int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	holds := func(text string, a netip.Addr) bool {
		p, err := unit.ParsePrefix(text)
		return text == "" || err == nil && p.Contains(a)
	}
	return slices.ContainsFunc(l.filters, func(a *askedFilter) bool {
		return a.router == r && ns >= a.fromNs && ns <= a.tillNs &&
			(a.Device == "" || strings.EqualFold(a.Device, mac)) &&
			holds(a.Source, f.src.Addr()) && holds(a.Target, f.dst.Addr()) && (a.Port == 0 || a.Port == f.dst.Port()) &&
			(a.Protocol == "" || (a.Protocol == "udp") == f.udp)
	})
}
