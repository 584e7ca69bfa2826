package tables

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"

	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// A kind is what a frame from an analyzer is.
type kind byte

const (
	kindHello     kind = iota + 1 // a hello
	kindPoints                    // points
	kindDatagrams                 // a head of datagrams, and what collect.Relayed takes
	kindQuestion                  // its name and its arguments
	kindLetGo                     // the number of a message that was kept
)

// Frames begin with their length, which is that of what follows it, and a kind; the answers to them with an outcome.
// An answer to each comes in their order.
const (
	done   = 0
	failed = 1 // and the reason
)

const (
	// maxFrame bounds a frame, maxAnswer an answer.
	maxFrame, maxAnswer = 256 << 20, 1 << 30
	// chunk is what is read at once of what may be as long as somebody says.
	chunk = 1 << 20
)

var errTooLong = errors.New("what the other side sends is too long")

// writeFrame writes a frame, or an answer, of the parts.
func writeFrame(w *bufio.Writer, first byte, parts ...[]byte) error {
	length := 1
	for _, p := range parts {
		length += len(p)
	}
	var head [5]byte
	binary.BigEndian.PutUint32(head[:], uint32(length))
	head[4] = first
	_, err := w.Write(head[:])
	for _, p := range parts {
		if err == nil {
			_, err = w.Write(p)
		}
	}
	return err
}

// readFrame reads a frame, or an answer, into buf. The content is valid until buf is used again.
func readFrame(r *bufio.Reader, buf *bytes.Buffer, limit int) (first byte, content []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	length := int(binary.BigEndian.Uint32(head[:])) - 1
	if length < 0 || length > limit {
		return 0, nil, errTooLong
	}
	buf.Reset()
	for buf.Len() < length { // what is not sent takes no memory
		if _, err := io.CopyN(buf, r, int64(min(length-buf.Len(), chunk))); err != nil {
			return 0, nil, err
		}
	}
	return head[4], buf.Bytes(), nil
}

// A hello says what a connection is for.
type hello struct {
	Magic   string
	Types   uint64 // of questions, see ask.Questions.Types
	Version string
	Session uint64 // of the analyzer's process; 0: it wants to know how many shards there are
	Slot    int    // which of the server's shards it is about
	// InOrder says that datagrams come by it, and that the shard begins with it: Index is its number among so many, to
	// which so many partitions belong in turn, see collect.Receiver.RelayTo.
	InOrder               bool
	Index, Of, Partitions int
	// Stream says that what the shard takes from the bus is to be told by it: heads, as answers that nobody asked for.
	// The shard begins with the message From, and has told of the messages that it numbered up to Told.
	Stream     string
	From, Told uint64
}

// A welcome is the answer.
type welcome struct {
	Shards int
	Bus    bool // the server can take messages from the bus
}

const magic = "waybill tables 2"

// headOf is what stands before the head of a message: by which number it is kept, its place in the stream, and how
// many of the shard's messages are behind it.
const headOf = 3 * 8

// points are a codepoint.Config for another process.
type points struct {
	Points      codepoint.Points
	Rules       []rule
	SourceNodes map[netip.Addr]uint32
}

type rule struct {
	Prefix  netip.Prefix
	Port    uint16
	Dialect string
}

func pointsOf(c *codepoint.Config) *points {
	p := &points{Points: c.Points, SourceNodes: c.SourceNodes}
	for _, r := range c.Rules {
		p.Rules = append(p.Rules, rule{r.Prefix, r.Port, r.Dialect.Name})
	}
	return p
}

// config returns the compiled configuration.
func (p *points) config() (*codepoint.Config, error) {
	c := &codepoint.Config{Points: p.Points, SourceNodes: p.SourceNodes}
	for id, d := range p.Points.Domains {
		if d == nil {
			return nil, fmt.Errorf("domain %d has no content", id)
		}
	}
	for _, r := range p.Rules {
		d, err := codepoint.FindDialect(r.Dialect)
		if err != nil {
			return nil, err
		}
		c.Rules = append(c.Rules, codepoint.Rule{Prefix: r.Prefix, Port: r.Port, Dialect: d})
	}
	c.Compile()
	return c, nil
}

// headBytes is what stands before datagrams: when they arrived, and their origin.
const headBytes = 8 + 4 + 4 + 4

func appendHead(b []byte, origin *telemetry.Origin, nowNs int64) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(nowNs))
	for _, n := range []uint32{origin.Socket, origin.Turn, origin.Accounts} {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	return b
}

func readHead(b []byte) (origin telemetry.Origin, nowNs int64, datagrams []byte, err error) {
	if len(b) < headBytes {
		return origin, 0, nil, io.ErrUnexpectedEOF
	}
	nowNs = int64(binary.BigEndian.Uint64(b))
	origin.Socket, origin.Turn = binary.BigEndian.Uint32(b[8:]), binary.BigEndian.Uint32(b[12:])
	origin.Accounts = binary.BigEndian.Uint32(b[16:])
	if origin.Socket > maxSocket || origin.Accounts > maxAccounts {
		return origin, 0, nil, fmt.Errorf("%d accounts of socket %d: %w", origin.Accounts, origin.Socket, errTooLong)
	}
	return origin, nowNs, b[headBytes:], nil
}

// What is counted by socket and account takes memory for each.
const maxSocket, maxAccounts = 1 << 10, 1 << 16
