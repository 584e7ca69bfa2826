package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// A Reader takes messages of some partitions for a Consumer elsewhere, see Holders. It makes nothing on the bus: the
// stream is the Consumer's.
type Reader struct{ link *natsLink }

// ErrOtherStream says that the stream is not the one that the Consumer knows.
var ErrOtherStream = errors.New("the stream on the bus is another one")

// readAhead is how many messages may be on their way to a Reader, of which each is less than 256 KiB.
const readAhead = 32

// OpenReader opens the connection, which need not succeed at once. It is an error if the bus is Kafka.
func OpenReader(c Config, log *slog.Logger) (*Reader, error) {
	if c.isKafka() {
		return nil, fmt.Errorf("partitions of Kafka: %w", errors.ErrUnsupported)
	}
	l, err := c.openNATS(logChanges(log, "what the bus has is not read"))
	if err != nil {
		return nil, err
	}
	return &Reader{l.(*natsLink)}, nil
}

// Read takes the messages of partitions from one on, in the order of the stream, until ctx is done or something is in
// the way. The content is take's to keep. behind are the messages of these partitions that the stream has behind it.
// The first time there is no content.
func (r *Reader) Read(
	ctx context.Context, stream string, from uint64, partitions []uint16,
	take func(sequence, behind uint64, content []byte),
) error {
	asking, cancel := context.WithTimeout(ctx, ackTimeout)
	defer cancel()
	s, err := r.link.js.Stream(asking, streamName)
	if err != nil {
		return fmt.Errorf("bus: %w", err)
	}
	if streamID(s.CachedInfo()) != stream {
		return ErrOtherStream
	}
	var subjects []string
	for _, p := range partitions {
		subjects = append(subjects, subjectOf(p, "*"))
	}
	begun := func(behind uint64) { take(from-1, behind, nil) }
	return r.link.read(ctx, from, subjects, readAhead, begun, take, func(broken <-chan error) error {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for away := 0; away < mostAway; {
			select {
			case <-ctx.Done():
				return nil
			case err := <-broken:
				return err
			case <-ticker.C:
			}
			if away++; r.link.connected() {
				away = 0
			}
		}
		return errNoBus
	})
}

// mostAway is for how many seconds the bus may be away until a Reader says so: others wait for what it reads.
const mostAway = 4

var errNoBus = errors.New("no connection to the bus")

// Connected reports whether there is a connection to the bus.
func (r *Reader) Connected() bool { return r.link.connected() }

// Close ends the connection.
func (r *Reader) Close() { r.link.close() }
