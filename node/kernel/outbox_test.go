//go:build linux

package kernel

import (
	"bytes"
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"
)

// TestOutbox sends datagrams of equal and different lengths to two collectors, with one between that the kernel cannot
// send: each collector gets its own as they were, in their order, and the one is counted alone.
func TestOutbox(t *testing.T) {
	for _, row := range []struct{ network, host string }{{"udp4", "127.0.0.1"}, {"udp6", "::1"}} {
		t.Run(row.network, func(t *testing.T) {
			listen := func() *net.UDPConn {
				c, err := net.ListenUDP(row.network, &net.UDPAddr{IP: net.ParseIP(row.host)})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = c.Close() })
				return c
			}
			collectors := [2]*net.UDPConn{listen(), listen()}
			o := outbox{conn: ipv4.NewPacketConn(listen())}
			var want [2][][]byte
			add := func(collector, size int) {
				b := bytes.Repeat([]byte{byte(len(want[collector]))}, size)
				want[collector] = append(want[collector], b)
				if o.add(b, local(collectors[collector])) {
					t.Error("the outbox is full")
				}
				clear(b[1:]) // the outbox has a copy
				copy(b[1:], bytes.Repeat(b[:1], size-1))
			}
			for range 20 {
				add(0, 100)
			}
			add(1, 100)
			add(0, 100)
			add(0, 101)
			add(0, 60)
			o.add(make([]byte, 65536), local(collectors[0])) // longer than UDP can say
			for range 10 {
				add(1, 60)
			}
			sent, failed, err := o.flush()
			if sent != 34 || failed != 1 || !errors.Is(err, unix.EMSGSIZE) {
				t.Errorf("%d sent, %d failed: %v", sent, failed, err)
			}
			for i, c := range collectors {
				for _, b := range want[i] {
					expectDatagram(t, c, b)
				}
			}
			if sent, failed, err := o.flush(); sent+failed > 0 || err != nil {
				t.Errorf("again: %d sent, %d failed: %v", sent, failed, err)
			}
		})
	}
}

func local(c *net.UDPConn) netip.AddrPort { return c.LocalAddr().(*net.UDPAddr).AddrPort() }

func expectDatagram(t *testing.T, c *net.UDPConn, want []byte) {
	t.Helper()
	b := make([]byte, 4096)
	_ = c.SetReadDeadline(time.Now().Add(time.Minute)) // for what never comes
	n, err := c.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b[:n], want) {
		t.Errorf("%d bytes of %d, want %d of %d", n, b[0], len(want), want[0])
	}
}
