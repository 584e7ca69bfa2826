package mitigate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// Nodes are INT nodes that drop packets as they arrive, and report what they drop.
type Nodes struct{ nodes map[uint32]*nodeAPI }

// A NodeAccess says how the API of a node is reached.
type NodeAccess struct {
	Node   uint32
	URL    string // http:// or https://; "": the socket
	Socket string // on this machine
	Token  string // that the node asks for; "": none
	Client *http.Client
}

type nodeAPI struct {
	base   string
	token  string
	client *http.Client
}

// NewNodes returns what drops at nodes. It opens no connection.
func NewNodes(list []NodeAccess) *Nodes {
	n := &Nodes{nodes: map[uint32]*nodeAPI{}}
	for _, a := range list {
		one := &nodeAPI{base: strings.TrimSuffix(a.URL, "/"), token: a.Token, client: a.Client}
		if a.Socket != "" {
			one.base = "http://node"
			one.client = &http.Client{Transport: &http.Transport{
				DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
					return new(net.Dialer).DialContext(ctx, "unix", a.Socket)
				},
			}}
		}
		n.nodes[a.Node] = one
	}
	return n
}

// Abilities implements Actor.
func (n *Nodes) Abilities() Abilities {
	a := Abilities{Devices: true, Reports: true, Nodes: map[uint32]bool{}, MaxOfNode: maxFilters}
	for id := range n.nodes {
		a.Nodes[id] = true
	}
	return a
}

// maxFilters is how many filters a node takes.
const maxFilters = 64

// Problem implements Actor. A node that ends takes its filters with it, and says nothing.
func (n *Nodes) Problem() error { return nil }

// Close implements Actor.
func (n *Nodes) Close() error { return nil }

// Apply implements Actor.
func (n *Nodes) Apply(ctx context.Context, rules []telemetry.MitigationRule) error {
	for i := range rules {
		if err := n.add(ctx, &rules[i]); err != nil {
			return errors.Join(err, n.Withdraw(context.WithoutCancel(ctx), rules[:i+1]))
		}
	}
	return nil
}

// add gives a rule to its node. It lasts there no longer than here, if this server does not come back.
func (n *Nodes) add(ctx context.Context, r *telemetry.MitigationRule) error {
	body, err := json.Marshal(map[string]any{
		"id": r.ID, "device": r.Device, "source": r.Source, "target": r.Target, "protocol": r.Protocol, "port": r.Port,
		"until": r.Until,
	})
	if err != nil {
		return err
	}
	return n.ask(ctx, r, http.MethodPost, "/filter", body)
}

// Withdraw implements Actor. Rules of a node that does not answer are withdrawn by the node when their time is over.
func (n *Nodes) Withdraw(ctx context.Context, rules []telemetry.MitigationRule) error {
	var errs []error
	for i := range rules {
		err := n.ask(ctx, &rules[i], http.MethodDelete, "/filter/"+rules[i].ID, nil)
		if err != nil && !slices.ContainsFunc(errs, func(o error) bool { return o.Error() == err.Error() }) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

const nodeTimeout = 5 * time.Second

func (n *Nodes) ask(ctx context.Context, r *telemetry.MitigationRule, method, path string, body []byte) error {
	name := nodeName(r)
	node := n.nodes[r.Node]
	if node == nil {
		return fmt.Errorf("%s has no entry in mitigation.nodes", name)
	}
	ctx, cancel := context.WithTimeout(ctx, nodeTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, node.base+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%s: the URL cannot be used", name)
	}
	if node.token != "" {
		request.Header.Set("Authorization", "Bearer "+node.token)
	}
	answer, err := node.client.Do(request)
	if err != nil {
		if hidden, ok := errors.AsType[*url.Error](err); ok {
			err = hidden.Err
		}
		return fmt.Errorf("%s does not answer: %w", name, err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 4096))
	switch {
	case answer.StatusCode == http.StatusOK,
		method == http.MethodDelete && answer.StatusCode == http.StatusNotFound: // it ended, or began anew
		return nil
	}
	return fmt.Errorf("%s: %s", name, strings.TrimSpace(string(text)))
}
