package collect

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// A Socket receives UDP datagrams. Its methods may be called from several goroutines; each reader needs its own Batch.
type Socket struct {
	conn          *net.UDPConn
	raw           syscall.RawConn
	wanted        int // receive buffer, bytes
	receiveBuffer int // that the kernel granted
	drops         dropCounter
	runs          runs
	stamped       bool // it tells when datagrams came

	frames   *frames // of xdp:// and packet://; nil: it is a UDP socket alone
	fallback error
}

// Listen opens the sockets that cfg describes. The port must be free: two programs never share it by accident. Errors
// are one line and say what to do.
func Listen(cfg Config) ([]*Socket, error) {
	network, hostPort, err := splitAddress(cfg.Address)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	if cfg.Sockets < 0 || cfg.ReceiveBuffer < 0 {
		return nil, fmt.Errorf("listen on %s: negative number of sockets or bytes", cfg.Address)
	}
	if network == networkXDP || network == networkPacket {
		return listenOnInterface(network, hostPort, cfg)
	}

	first, err := open(network, hostPort, cfg, false)
	if err != nil {
		return nil, listenError(cfg.Address, err)
	}
	sockets := []*Socket{first}
	if cfg.Sockets <= 1 || !canShare {
		return sockets, nil
	}
	// The first socket was bound alone, so that a port in use is an error; only now may others join it.
	err = first.allowSharing()
	for err == nil && len(sockets) < cfg.Sockets {
		var s *Socket
		if s, err = open(network, first.conn.LocalAddr().String(), cfg, true); err == nil {
			sockets = append(sockets, s)
		}
	}
	if err == nil {
		err = first.spreadBySource(len(sockets))
	}
	if err != nil {
		for _, s := range sockets {
			s.Close()
		}
		return nil, listenError(cfg.Address, err)
	}
	return sockets, nil
}

// open opens one socket. share lets it bind an address that sockets which allow sharing have already.
func open(network, hostPort string, cfg Config, share bool) (*Socket, error) {
	s := &Socket{stamped: cfg.Stamp}
	config := net.ListenConfig{
		Control: func(_, _ string, raw syscall.RawConn) error {
			var err error
			controlErr := raw.Control(func(fd uintptr) {
				if cfg.Coalesce {
					s.runs.enable(int(fd)) // before it is bound: no datagram is missed
				}
				s.wanted = cfg.ReceiveBuffer
				switch {
				case s.wanted > 0:
				case s.Coalesced():
					s.wanted = runsBuffer(cfg.Sockets)
				default:
					s.wanted = DefaultReceiveBuffer
				}
				s.wanted = min(s.wanted, maxReceiveBuffer)
				s.receiveBuffer, err = setOptions(int(fd), s.wanted, share, cfg.Stamp)
			})
			return errors.Join(controlErr, err)
		},
	}
	packetConn, err := config.ListenPacket(context.Background(), network, hostPort)
	if err != nil {
		s.runs.close()
		return nil, err
	}
	s.conn = packetConn.(*net.UDPConn) // what ListenPacket returns for the udp networks
	if s.raw, err = s.conn.SyscallConn(); err != nil {
		s.conn.Close()
		s.runs.close()
		return nil, err
	}
	return s, nil
}

// listenError adds to err what the user can do about it.
func listenError(address string, err error) error {
	advice := ""
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		advice = ": stop the program that has the port (ss -lunp names it) or choose another port"
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		advice = ": a port below 1024 needs root or CAP_NET_BIND_SERVICE; choose a higher one"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		advice = ": no interface of this machine has that address"
	}
	// The system's own words are enough; package net would repeat the address and name the system call.
	if errno, found := errors.AsType[syscall.Errno](err); found {
		err = errno
	}
	return fmt.Errorf("listen on %s: %w%s", address, err, advice)
}

// Addr returns the address that the socket is bound to, with the port that the kernel chose for port 0.
func (s *Socket) Addr() netip.AddrPort {
	if s.frames != nil {
		return s.frames.addr()
	}
	return s.conn.LocalAddr().(*net.UDPAddr).AddrPort()
}

// ReceiveBuffer returns the receive buffer that was asked for and the one that the kernel granted, in bytes: less means
// that the system's limit is lower. The second is 0 where the system does not tell.
func (s *Socket) ReceiveBuffer() (wanted, granted int) { return s.wanted, s.receiveBuffer }

// SetReadDeadline sets the time at which ReadBatch stops waiting and returns os.ErrDeadlineExceeded; the zero time
// means never. On Linux ReadBatch still returns, without waiting, what is in the receive buffer then, so that a reader
// can be stopped without losing datagrams: set the deadline to now, read until the error, ask for Drops, close.
func (s *Socket) SetReadDeadline(t time.Time) error {
	if s.frames != nil {
		return s.frames.file.SetReadDeadline(t)
	}
	return s.conn.SetReadDeadline(t)
}

// Drops returns the number of datagrams that the kernel dropped at this socket since it was opened, because the receive
// buffer was full or a checksum was wrong. It never falls and is never too high. No datagram has to arrive for it.
//
// It is exact if Coalesced is false, once everything in the receive buffer was read, and from then on until the next
// drop. In between, a dropped run of datagrams counts as one, until a Drops that is called after the receive buffer, as
// it was at the call before, was read: during an overload that lasts, each call says what the one before did not know.
// Such a call takes some 10 ms.
//
// Of frames of an interface (xdp, packet) it is always exact. Datagrams whose lengths contradict each other are in it.
//
// After Close it returns the count at closing. Where the system has no such count it returns errors.ErrUnsupported.
func (s *Socket) Drops() (uint64, error) {
	if s.frames != nil {
		return s.frames.drops()
	}
	return s.drops.update(s.kernelDrops)
}

// Close closes the socket. A ReadBatch that waits returns net.ErrClosed. Datagrams in the receive buffer are lost. That
// of frames of an interface must not be closed while somebody reads: datagrams are views of its memory.
func (s *Socket) Close() error {
	if s.frames != nil {
		s.frames.end()
	}
	if s.conn == nil {
		return nil
	}
	s.drops.close(s.kernelDrops)
	s.runs.close()
	return s.conn.Close()
}
