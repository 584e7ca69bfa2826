package auth

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"testing"
)

// from is a connection that comes from an address.
type from struct {
	net.Conn
	addr string
}

func (f from) RemoteAddr() net.Addr {
	addr, err := net.ResolveTCPAddr("tcp", f.addr)
	if err != nil {
		panic(err)
	}
	return addr
}

// queue is a listener whose connections wait already.
type queue chan net.Conn

func (q queue) Accept() (net.Conn, error) {
	conn, ok := <-q
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}
func (q queue) Close() error   { return nil }
func (q queue) Addr() net.Addr { return nil }

func TestLimitConnections(t *testing.T) {
	waiting := make(queue, 100)
	l := LimitConnections(waiting, 100, 2)
	connect := func(addr string) (client net.Conn) {
		client, server := net.Pipe()
		waiting <- from{server, addr}
		return client
	}
	accept := func() net.Conn {
		t.Helper()
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		return conn
	}
	connect("192.0.2.1:1")
	connect("192.0.2.1:2")
	first, second := accept(), accept()
	third := connect("192.0.2.1:3")
	mapped := connect("[::ffff:192.0.2.1]:4") // the same client
	connect("192.0.2.2:1")
	if got := accept().RemoteAddr().String(); got != "192.0.2.2:1" || l.Refused() != 2 {
		t.Errorf("accepted %s, refused %d", got, l.Refused())
	}
	for _, refused := range []net.Conn{third, mapped} {
		if _, err := refused.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("the connection is open: %v", err)
		}
	}
	first.Close()
	first.Close() // which net/http does
	connect("192.0.2.1:5")
	accept()
	connect("192.0.2.1:6")
	for range 10 {
		connect("127.0.0.1:1")
		if got := accept().RemoteAddr().String(); got != "127.0.0.1:1" {
			t.Errorf("accepted %s", got)
		}
	}
	if l.Refused() != 3 || len(l.open) != 3 {
		t.Errorf("refused %d, %d clients", l.Refused(), len(l.open))
	}
	second.Close()
	close(waiting)
	if _, err := l.Accept(); err == nil {
		t.Error("accepted from a closed listener")
	}
}

// However many addresses of an IPv6 network, and however many networks, take what they can get: somebody else is let
// in.
func TestGreedyClients(t *testing.T) {
	l := LimitConnections(nil, 1024, 128)
	open := func(addr string) *counted {
		conn, _ := net.Pipe()
		x := &counted{Conn: conn, of: l, client: clientOf(netip.MustParseAddrPort(addr).Addr())}
		l.enter(x)
		return x
	}
	for i := range 2000 {
		open(fmt.Sprintf("[2001:db8::%x]:1", i))
	}
	if n := len(l.open[netip.MustParseAddr("2001:db8::")]); n != 128 || l.total != n {
		t.Errorf("a /64 has %d connections of %d, want 128", n, l.total)
	}
	for network := range 50 {
		for i := range 200 {
			open(fmt.Sprintf("[2001:db8:0:%x::%x]:1", network, i))
		}
	}
	var others []*counted
	for i := range 8 {
		others = append(others, open(fmt.Sprintf("192.0.2.%d:1", i)))
	}
	open("[2001:db8:0:1::1]:1")
	for i, x := range others {
		if x.left {
			t.Errorf("of %d connections client %d has none", l.total, i)
		}
		x.Close()
	}
	if n := 0; l.total != 1024-len(others) {
		for _, list := range l.open {
			n += len(list)
		}
		t.Errorf("%d connections, %d in lists", l.total, n)
	}
}
