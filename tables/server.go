package tables

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/bus"
	"github.com/waybill-int/waybill/collect"
	"github.com/waybill-int/waybill/internal/flat"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// A ServerConfig describes a Server.
type ServerConfig struct {
	Listen  string
	TLS     *tls.Config // nil: connections are in the clear
	Shards  int         // one for each processor
	Tables  analyze.Config
	Version string      // that the analyzer has to have
	Bus     *bus.Reader // nil: the analyzer relays all datagrams
	Held    int         // bytes of messages from the bus that each shard keeps, about
	Log     *slog.Logger
}

// A Server has shards for an analyzer: for the one that came last.
type Server struct {
	config   ServerConfig
	listener net.Listener

	mu      sync.Mutex
	session *session
	conns   map[net.Conn]struct{}
	serving sync.WaitGroup

	received  atomic.Uint64 // bytes of datagrams that were relayed
	taken     atomic.Uint64 // bytes of messages from the bus
	answered  atomic.Uint64
	refused   atomic.Uint64
	analyzers atomic.Uint64
}

// A session are the shards of an analyzer's process.
type session struct {
	id     uint64
	shards []*shard
	conns  []net.Conn
}

type shard struct {
	*analyze.Shard
	relayed *collect.Relayed
	held    *held
}

// Listen opens a Server. Run has to be called for anything to be answered.
func Listen(c ServerConfig) (*Server, error) {
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return nil, err
	}
	if c.TLS != nil {
		listener = tls.NewListener(listener, c.TLS)
	}
	return &Server{config: c, listener: listener, conns: map[net.Conn]struct{}{}}, nil
}

// Address is where it listens.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Close closes a Server that does not run.
func (s *Server) Close() { s.listener.Close() }

// Run answers until ctx is done.
func (s *Server) Run(ctx context.Context) {
	stop := context.AfterFunc(ctx, func() {
		s.listener.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		for conn := range s.conns {
			conn.Close()
		}
	})
	defer stop()
	for {
		conn, err := s.listener.Accept()
		switch {
		case ctx.Err() != nil:
			s.serving.Wait()
			return
		case err != nil:
			s.config.Log.Warn("cannot accept a connection", "error", err)
			time.Sleep(100 * time.Millisecond) // it may be for want of files
			continue
		}
		s.mu.Lock()
		full := len(s.conns) >= maxConns
		if !full {
			s.conns[conn] = struct{}{}
		}
		s.mu.Unlock()
		if full {
			s.refused.Add(1)
			conn.Close()
			continue
		}
		s.serving.Go(func() {
			s.serve(conn)
			conn.Close()
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.conns, conn)
		})
	}
}

// maxConns bounds the connections, greetingTakes the time until one says what it is for.
const maxConns, greetingTakes = 1024, 10 * time.Second

// serve answers a connection.
func (s *Server) serve(conn net.Conn) {
	r, w := bufio.NewReaderSize(conn, 1<<16), bufio.NewWriterSize(conn, 1<<16)
	var buf bytes.Buffer
	_ = conn.SetDeadline(time.Now().Add(greetingTakes))
	first, content, err := readFrame(r, &buf, 4096)
	var h hello
	if err == nil {
		_, err = flat.Read(content, &h)
	}
	if err != nil || kind(first) != kindHello || h.Magic != magic {
		s.refused.Add(1)
		s.config.Log.Warn("connection refused: not an analyzer", "from", conn.RemoteAddr().String())
		return
	}
	of, err := s.greet(conn, &h)
	if err != nil {
		s.refused.Add(1)
		s.config.Log.Warn("analyzer refused", "from", conn.RemoteAddr().String(), "error", err)
		_ = writeFrame(w, failed, []byte(err.Error()))
		_ = w.Flush()
		return
	}
	answer := flat.Append(nil, &welcome{s.config.Shards, s.config.Bus != nil})
	if writeFrame(w, done, answer) != nil || w.Flush() != nil || of == nil {
		return
	}
	_ = conn.SetDeadline(time.Time{})
	if h.Stream != "" {
		if err := s.tellHeads(conn, w, of, &h); err != nil {
			_ = writeFrame(w, failed, []byte(err.Error()))
			_ = w.Flush()
		}
		return
	}
	for {
		first, content, err := readFrame(r, &buf, maxFrame)
		if err != nil {
			return // it is gone, and says why
		}
		answer, err := s.take(of, kind(first), content)
		outcome := byte(done)
		if err != nil {
			outcome, answer = failed, []byte(err.Error())
		}
		if len(answer) > maxAnswer {
			outcome, answer = failed, []byte(errTooLong.Error())
		}
		if writeFrame(w, outcome, answer) != nil || r.Buffered() == 0 && w.Flush() != nil {
			return
		}
		if buf.Cap() > maxKept {
			buf = bytes.Buffer{}
		}
	}
}

// maxKept is the most memory that a connection keeps for the next frame.
const maxKept = 8 << 20

// greet returns the shard that a connection is about; nil: about none.
func (s *Server) greet(conn net.Conn, h *hello) (*shard, error) {
	if h.Version != s.config.Version || h.Types != analyze.Questions.Types() {
		return nil, fmt.Errorf("the analyzer is Waybill %s, these tables are of %s: both must be of one build",
			h.Version, s.config.Version)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case h.Session == 0:
		return nil, nil
	case h.Slot < 0 || h.Slot >= s.config.Shards || h.Index < 0 || h.Index >= h.Of || h.Of > maxShards ||
		h.Partitions < 1 || h.Partitions > bus.MaxPartitions:
		return nil, fmt.Errorf("there is no shard %d, as number %d of %d", h.Slot, h.Index, h.Of)
	case !h.InOrder:
		if s.session == nil || s.session.id != h.Session || s.session.shards[h.Slot] == nil {
			return nil, errors.New("another analyzer took over these tables")
		}
	default:
		s.begin(h)
		s.session.shards[h.Slot] = s.newShard(h)
	}
	s.session.conns = append(s.session.conns, conn)
	return s.session.shards[h.Slot], nil
}

// maxShards bounds the shards of an analyzer.
const maxShards = 4096

// begin makes the session of an analyzer that of now. What was there before it is of no use to anybody: an analyzer
// that begins has no shards, and takes again what they would have counted. The server is locked.
func (s *Server) begin(h *hello) {
	if s.session != nil && s.session.id == h.Session {
		return
	}
	if s.session != nil {
		for _, conn := range s.session.conns {
			conn.Close()
		}
	}
	s.session = &session{id: h.Session, shards: make([]*shard, s.config.Shards)}
	s.analyzers.Add(1)
	s.config.Log.Info("analyzer connected; its tables start empty", "shards", s.config.Shards)
}

func (s *Server) newShard(h *hello) *shard {
	tables := s.config.Tables
	tables.HashSeed = rand.Uint64()
	of := &shard{Shard: analyze.NewShard(tables)}
	of.Delivered = func(nowNs int64) int64 { return nowNs } // each tick says what it is
	config := codepoint.New()
	config.Compile()
	of.held = newHeld(h, s.config.Held)
	of.relayed = collect.NewRelayed(collect.RelayedConfig{
		Shard: of.Shard, Owner: h.Index, Of: h.Of, Partitions: h.Partitions, Points: config, Kept: of.held.find,
	})
	return of
}

// take takes a frame, and returns the answer. What it cannot take ends the connection, and nothing else: the analyzer
// begins anew with other shards.
func (s *Server) take(of *shard, k kind, content []byte) (answer []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the tables failed: %v", p)
			s.config.Log.Error("the tables failed, and an analyzer has to begin anew", "reason", fmt.Sprint(p),
				"stack", string(debug.Stack()))
		}
	}()
	switch k {
	case kindDatagrams:
		s.received.Add(uint64(len(content)))
		origin, nowNs, datagrams, err := readHead(content)
		if err != nil {
			return nil, err
		}
		return nil, of.relayed.Take(datagrams, origin, nowNs)
	case kindPoints:
		var p points
		if _, err := flat.Read(content, &p); err != nil {
			return nil, err
		}
		config, err := p.config()
		if err == nil {
			of.relayed.Points = config
			of.held.use(config)
		}
		return nil, err
	case kindLetGo:
		if len(content) != 8 {
			return nil, io.ErrUnexpectedEOF
		}
		of.held.letGo(binary.BigEndian.Uint64(content))
		return nil, nil
	case kindQuestion:
		s.answered.Add(1)
		var name string
		args, err := flat.Read(content, &name)
		if err != nil {
			return nil, err
		}
		return analyze.Questions.Answer(of.Shard, name, args)
	}
	return nil, fmt.Errorf("frames of kind %d: %w", k, errors.ErrUnsupported)
}

// ServerStats are those of a Server.
type ServerStats struct {
	Analyzers uint64 // that took the tables, one after the other
	Connected bool   // one has them now
	Received  uint64 // bytes of datagrams that were relayed
	Taken     uint64 // bytes of messages from the bus
	Held      int    // bytes of those that wait to be counted
	Answered  uint64 // questions
	Refused   uint64 // connections
	analyze.Counters
}

// Stats returns how much there is now.
func (s *Server) Stats() ServerStats {
	n := ServerStats{
		Analyzers: s.analyzers.Load(), Received: s.received.Load(), Taken: s.taken.Load(),
		Answered: s.answered.Load(), Refused: s.refused.Load(),
	}
	s.mu.Lock()
	var c analyze.Collector
	if s.session != nil {
		for _, of := range s.session.shards {
			if of != nil {
				c.Owners = append(c.Owners, of.Shard)
				n.Held += of.held.size()
			}
		}
		for _, conn := range s.session.conns {
			_, open := s.conns[conn]
			n.Connected = n.Connected || open
		}
	}
	s.mu.Unlock()
	n.Counters = c.Counters()
	return n
}
