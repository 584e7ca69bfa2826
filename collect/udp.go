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
	receiveBuffer int
	drops         dropCounter
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
	if cfg.ReceiveBuffer == 0 {
		cfg.ReceiveBuffer = DefaultReceiveBuffer
	}

	first, err := open(network, hostPort, cfg.ReceiveBuffer, false)
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
		if s, err = open(network, first.conn.LocalAddr().String(), cfg.ReceiveBuffer, true); err == nil {
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
func open(network, hostPort string, receiveBuffer int, share bool) (*Socket, error) {
	var granted int
	config := net.ListenConfig{
		Control: func(_, _ string, raw syscall.RawConn) error {
			var err error
			controlErr := raw.Control(func(fd uintptr) { granted, err = setOptions(int(fd), receiveBuffer, share) })
			return errors.Join(controlErr, err)
		},
	}
	packetConn, err := config.ListenPacket(context.Background(), network, hostPort)
	if err != nil {
		return nil, err
	}
	conn := packetConn.(*net.UDPConn) // what ListenPacket returns for the udp networks
	raw, err := conn.SyscallConn()
	if err != nil {
		conn.Close()
		return nil, err
	}
	return &Socket{conn: conn, raw: raw, receiveBuffer: granted}, nil
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
	return s.conn.LocalAddr().(*net.UDPAddr).AddrPort()
}

// ReceiveBuffer returns the receive buffer that the kernel granted, in bytes, comparable with Config.ReceiveBuffer: less
// means that the system's limit is lower. It is 0 where the system does not tell.
func (s *Socket) ReceiveBuffer() int { return s.receiveBuffer }

// SetReadDeadline sets the time at which ReadBatch stops waiting and returns os.ErrDeadlineExceeded; the zero time means
// never. On Linux ReadBatch still returns, without waiting, what is in the receive buffer then, so that a reader can be
// stopped without losing datagrams: set the deadline to now, read until the error, ask for Drops, close.
func (s *Socket) SetReadDeadline(t time.Time) error { return s.conn.SetReadDeadline(t) }

// Drops returns the number of datagrams that the kernel dropped at this socket since it was opened, because the receive
// buffer was full or a checksum was wrong. It is exact at any time, without a datagram having to arrive. After Close it
// returns the count at closing. Where the system has no such count it returns errors.ErrUnsupported.
func (s *Socket) Drops() (uint64, error) { return s.drops.update(s.kernelDrops) }

// Close closes the socket. A ReadBatch that waits returns net.ErrClosed. Datagrams in the receive buffer are lost.
func (s *Socket) Close() error {
	s.drops.close(s.kernelDrops)
	return s.conn.Close()
}
