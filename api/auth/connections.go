package auth

import (
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
)

// Connections is a listener that shares a number of connections fairly among clients, so that some, slow or hostile, do
// not take all that a server has. A client is as for a Limit; it has a limit of its own, but on loopback addresses,
// where proxies are. If all are taken, the client that has the most loses its oldest for one that has fewer.
type Connections struct {
	net.Listener
	all, most int // connections of all clients together, and of one

	mu      sync.Mutex
	total   int
	open    map[netip.Addr][]*counted // by client, the oldest first
	refused atomic.Uint64
}

// LimitConnections returns l with at most so many connections, all together and for each client.
func LimitConnections(l net.Listener, all, most int) *Connections {
	return &Connections{Listener: l, all: all, most: most, open: map[netip.Addr][]*counted{}}
}

// Refused returns how many connections were closed because their client had too many.
func (c *Connections) Refused() uint64 { return c.refused.Load() }

// Accept implements net.Listener.
func (c *Connections) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		remote, _ := netip.ParseAddrPort(conn.RemoteAddr().String())
		x := &counted{Conn: conn, of: c, client: clientOf(remote.Addr())}
		loser := c.enter(x)
		if loser != nil {
			c.refused.Add(1)
			loser.Close()
		}
		if loser != x {
			return x, nil
		}
	}
}

// enter counts x. It returns what must be closed for it, nil if nothing: x itself if its client has too many.
func (c *Connections) enter(x *counted) (loser *counted) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.open[x.client])
	if n >= c.most && !x.client.IsLoopback() {
		x.left = true
		return x
	}
	if c.total >= c.all {
		for _, list := range c.open {
			if len(list) > n+1 {
				n, loser = len(list)-1, list[0]
			}
		}
		if loser == nil {
			x.left = true
			return x
		}
		c.remove(loser)
	}
	c.total++
	c.open[x.client] = append(c.open[x.client], x)
	return loser
}

// remove takes x off the count. c.mu is held.
func (c *Connections) remove(x *counted) {
	if x.left {
		return
	}
	x.left = true
	c.total--
	list := c.open[x.client]
	if list = slices.DeleteFunc(list, func(y *counted) bool { return y == x }); len(list) == 0 {
		delete(c.open, x.client)
		return
	}
	c.open[x.client] = list
}

// counted is a connection that is taken off the count when it is closed.
type counted struct {
	net.Conn
	of     *Connections
	client netip.Addr
	left   bool // under of.mu
}

func (x *counted) Close() error {
	x.of.mu.Lock()
	x.of.remove(x)
	x.of.mu.Unlock()
	return x.Conn.Close()
}
