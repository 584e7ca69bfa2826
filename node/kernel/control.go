//go:build linux

package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/waybill-int/waybill/internal/conf"
	"github.com/waybill-int/waybill/node"
	"github.com/waybill-int/waybill/node/watch"
)

// Status is what a running node says of itself.
type Status struct {
	Name     string            `json:"name"`
	ID       uint32            `json:"id"`
	Started  time.Time         `json:"started"`
	Ports    []string          `json:"ports"` // interfaces; the first one is port 1
	Watch    int               `json:"watch"` // entries of the flow watchlist
	Counters map[string]uint64 `json:"counters"`
	Error    string            `json:"error,omitempty"` // why a report could last not be sent
}

// status is for Run.
func (n *Node) status() (s Status, err error) {
	s = Status{
		Name: n.first.Name, ID: n.first.ID, Started: n.started, Watch: len(n.config.node.Watch),
		Counters: map[string]uint64{},
	}
	for _, p := range n.first.Ports {
		s.Ports = append(s.Ports, p.Interface)
	}
	if n.last != nil {
		s.Error = n.last.Error()
	}
	return s, n.Each(func(name string, count uint64) { s.Counters[name] = count })
}

// Status returns what the node did until now. It is for use while Run is running.
func (n *Node) Status(ctx context.Context) (s Status, err error) {
	if stopped := n.between(ctx, func() { s, err = n.status() }); stopped != nil {
		return s, stopped
	}
	return s, err
}

// Entries returns the flow watchlist. It is for use while Run is running.
func (n *Node) Entries(ctx context.Context) (entries []watch.Entry, err error) {
	err = n.between(ctx, func() { entries = slices.Clone(n.config.node.Watch) })
	return entries, err
}

// AddEntry adds an entry of the flow watchlist, YAML as in a file, until the file is read again. It needs a name that
// none has.
func (n *Node) AddEntry(ctx context.Context, text string) error {
	c, err := node.Load([]byte("watch:\n  - " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    ") + "\n"))
	if err != nil {
		return err
	}
	if len(c.Watch) != 1 || c.Watch[0].Name == "" {
		return errors.New("want one entry with a name, as {name: web, protocol: tcp, dst_port: 443}")
	}
	e := c.Watch[0]
	return n.change(ctx, func(old []watch.Entry) ([]watch.Entry, error) {
		if i := indexOf(old, e.Name); i >= 0 {
			return nil, fmt.Errorf("there is an entry %s already; remove it first", e.Name)
		}
		return append(slices.Clone(old), e), nil
	})
}

// RemoveEntry removes the entry of the flow watchlist with that name, until the file is read again.
func (n *Node) RemoveEntry(ctx context.Context, name string) error {
	return n.change(ctx, func(old []watch.Entry) ([]watch.Entry, error) {
		i := indexOf(old, name)
		if i < 0 {
			return nil, fmt.Errorf("there is no entry %s", name)
		}
		return slices.Delete(slices.Clone(old), i, i+1), nil
	})
}

func indexOf(entries []watch.Entry, name string) int {
	return slices.IndexFunc(entries, func(e watch.Entry) bool { return e.Name == name })
}

// change replaces the flow watchlist by what f makes of it.
func (n *Node) change(ctx context.Context, f func([]watch.Entry) ([]watch.Entry, error)) (err error) {
	stopped := n.between(ctx, func() {
		changed := *n.config
		if changed.node.Watch, err = f(n.config.node.Watch); err == nil {
			err = n.watch(&changed)
		}
	})
	return errors.Join(stopped, err)
}

// Handler returns the API of the node: GET /status, GET /watch, POST /watch with an entry, DELETE /watch/NAME, the same
// with /filter, as JSON and by id, and GET /metrics. It is for use while Run is running.
func (n *Node) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, r *http.Request) {
		s, err := n.Status(r.Context())
		answer(w, s, err)
	})
	mux.HandleFunc("GET /watch", func(w http.ResponseWriter, r *http.Request) {
		entries, err := n.Entries(r.Context())
		var text []byte
		if err == nil && len(entries) > 0 {
			text, err = conf.Format(entries)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_, _ = w.Write(text)
	})
	mux.HandleFunc("POST /watch", func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<16))
		if err == nil {
			err = n.AddEntry(r.Context(), string(text))
		}
		answer(w, struct{}{}, err)
	})
	mux.HandleFunc("DELETE /watch/{name}", func(w http.ResponseWriter, r *http.Request) {
		answer(w, struct{}{}, n.RemoveEntry(r.Context(), r.PathValue("name")))
	})
	filters := node.FilterHandler(n)
	mux.Handle("/filter", filters)
	mux.Handle("/filter/", filters)
	mux.HandleFunc("GET /metrics", n.metrics)
	return mux
}

func answer(w http.ResponseWriter, value any, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value)
}

// metrics writes the counters for Prometheus.
func (n *Node) metrics(w http.ResponseWriter, r *http.Request) {
	s, err := n.Status(r.Context())
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	fmt.Fprintf(w, "# HELP waybill_node_outcomes_total What the node in the kernel did, see docs/reference/node.md.\n"+
		"# TYPE waybill_node_outcomes_total counter\n")
	names := make([]string, 0, len(s.Counters))
	for name := range s.Counters {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(w, "waybill_node_outcomes_total{node=\"%d\",outcome=%q} %d\n", s.ID, name, s.Counters[name])
	}
}

// ListenLocal listens on a socket of this machine that only its owner can use. A file there that nobody listens at is
// of a node that was killed, and replaced.
func ListenLocal(path string) (net.Listener, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	if c, err := net.Dial("unix", path); err == nil {
		_ = c.Close()
		return nil, fmt.Errorf("%s: a node is running there", path)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	return l, errors.Join(os.Chmod(path, 0o600))
}
