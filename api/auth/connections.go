package auth

import (
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
)

// Connections is a listener that closes at once what a client opens beyond a number of connections, so that one client,
// slow or hostile, does not take all that a server has. Loopback addresses have no limit: proxies are there.
type Connections struct {
	net.Listener
	most int

	mu      sync.Mutex
	open    map[netip.Addr]int
	refused atomic.Uint64
}

// LimitConnections returns l with at most so many connections for each remote address.
func LimitConnections(l net.Listener, most int) *Connections {
	return &Connections{Listener: l, most: most, open: map[netip.Addr]int{}}
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
		client := remote.Addr().Unmap()
		if client.IsLoopback() {
			return conn, nil
		}
		if c.enter(client) {
			return &counted{Conn: conn, leave: sync.OnceFunc(func() { c.leave(client) })}, nil
		}
		c.refused.Add(1)
		conn.Close()
	}
}

func (c *Connections) enter(client netip.Addr) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[client] >= c.most {
		return false
	}
	c.open[client]++
	return true
}

func (c *Connections) leave(client netip.Addr) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[client]--; c.open[client] <= 0 {
		delete(c.open, client)
	}
}

// counted is a connection that is taken off the count when it is closed.
type counted struct {
	net.Conn
	leave func()
}

func (c *counted) Close() error {
	c.leave()
	return c.Conn.Close()
}
