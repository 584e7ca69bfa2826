//go:build !linux

package collect

import (
	"errors"
	"net"
	"net/netip"
	"os"
)

// canShare says that several sockets can share an address and split its senders among them.
const canShare = false

// setOptions leaves the socket as the system made it.
func setOptions(fd, receiveBuffer int, share, stamp bool) (granted int, err error) { return 0, nil }

// SocketOf returns which of the n sockets of an address gets the datagrams of a source. Here there is one.
func SocketOf(netip.Addr, int) int { return 0 }

// memory is not asked for: it matters for runs only.
func memory() int { return 0 }

func (s *Socket) spreadBySource(int) error { return errors.ErrUnsupported }

func (s *Socket) allowSharing() error { return errors.ErrUnsupported }

// ReadBatch waits for one datagram and puts it into b. The error is net.ErrClosed after Close, os.ErrDeadlineExceeded
// after the time of SetReadDeadline, or the system's.
func (s *Socket) ReadBatch(b *Batch) (int, error) {
	n, source, err := s.conn.ReadFromUDPAddrPort(b.payload)
	switch {
	case errors.Is(err, net.ErrClosed):
		return 0, net.ErrClosed
	case errors.Is(err, os.ErrDeadlineExceeded):
		return 0, os.ErrDeadlineExceeded
	case err != nil:
		return 0, err
	}
	b.datagrams[0] = Datagram{
		Source: netip.AddrPortFrom(source.Addr().Unmap().WithZone(""), source.Port()), Payload: b.payload[:n:n],
	}
	return 1, nil
}

// waits is false: nobody says.
func (s *Socket) waits() bool { return false }

func (s *Socket) kernelDrops() (uint32, uint64, error) { return 0, 0, errors.ErrUnsupported }

// Coalesced says that the kernel hands over runs of datagrams as one. Here it never does.
func (s *Socket) Coalesced() bool { return false }

// runs has nothing to count where each datagram comes alone.
type runs struct{}

func (*runs) enable(fd int) {}

func (*runs) close() {}
