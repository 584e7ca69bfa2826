package bus

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A natsLink is a connection to servers of NATS with JetStream.
type natsLink struct {
	config *Config
	conn   *nats.Conn
	js     jetstream.JetStream
	is     atomic.Bool // connected
}

const (
	streamName = "WAYBILL"
	// subjectPrefix is followed by the partition and the collector.
	subjectPrefix = "waybill.datagrams."
	// positionsSubject is where collectors ask what is confirmed and what is missing.
	positionsSubject = "waybill.positions"
	// duplicatesFor is for how long JetStream drops what is published twice. Only the traffic depends on it: the
	// analyzer takes each number once.
	duplicatesFor = 2 * time.Minute
	// ackTimeout is how long an acknowledgement may take.
	ackTimeout = 10 * time.Second
)

func (c *Config) openNATS(changed func(is bool, url string, err error)) (link, error) {
	n := &natsLink{config: c}
	change := func(conn *nats.Conn, is bool, err error) {
		if n.is.Swap(is) != is {
			changed(is, conn.ConnectedUrlRedacted(), err)
		}
	}
	options := []nats.Option{
		nats.Name(c.Name), nats.MaxReconnects(-1), nats.RetryOnFailedConnect(true),
		nats.ReconnectWait(200 * time.Millisecond),
		nats.IgnoreAuthErrorAbort(), // who is refused may be let in later
		nats.Timeout(5 * time.Second), nats.PingInterval(5 * time.Second), nats.MaxPingsOutstanding(2),
		nats.ReconnectBufSize(-1), // what is published while there is no connection fails, and the spool has it
		nats.ConnectHandler(func(conn *nats.Conn) { change(conn, true, nil) }),
		nats.ReconnectHandler(func(conn *nats.Conn) { change(conn, true, nil) }),
		nats.DisconnectErrHandler(func(conn *nats.Conn, err error) { change(conn, false, err) }),
	}
	if c.Credentials != "" {
		options = append(options, nats.UserCredentials(c.Credentials))
	}
	if c.NKey != "" {
		option, err := nats.NkeyOptionFromSeed(c.NKey)
		if err != nil {
			return nil, fmt.Errorf("bus: nkey: %w", err)
		}
		options = append(options, option)
	}
	if c.TLS != nil {
		options = append(options, nats.Secure(c.TLS))
	}
	var err error
	if n.conn, err = nats.Connect(strings.Join(c.URLs, ","), options...); err != nil {
		return nil, fmt.Errorf("bus: %w", err)
	}
	n.js, err = jetstream.New(n.conn, jetstream.WithPublishAsyncMaxPending(2*sendAtOnce),
		jetstream.WithPublishAsyncTimeout(ackTimeout))
	return n, err
}

func (n *natsLink) publish(key Key, number uint64, message []byte, again string) (func(context.Context) error, error) {
	id := fmt.Sprintf("%s.%x.%d.%d%s", key.Collector, key.Run, key.Partition, number, again)
	m := &nats.Msg{Subject: subjectOf(key.Partition, key.Collector), Data: message}
	ack, err := n.js.PublishMsgAsync(m, jetstream.WithMsgID(id), jetstream.WithStallWait(2*time.Second))
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		select {
		case <-ack.Ok():
			return nil
		case err := <-ack.Err():
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}, nil
}

func (n *natsLink) ask(collector string) ([]byte, error) {
	reply, err := n.conn.Request(positionsSubject, []byte(collector), 2*time.Second)
	if err != nil {
		return nil, err
	}
	return reply.Data, nil
}

func (n *natsLink) answer(f func(collector string) []byte) (func(), error) {
	answering, err := n.conn.Subscribe(positionsSubject, func(m *nats.Msg) {
		_ = m.Respond(f(string(m.Data))) // it asks again
	})
	if err != nil {
		return nil, err
	}
	return func() { _ = answering.Unsubscribe() }, nil
}

// stream describes the stream, which the analyzer makes, or makes as configured.
func (c *Config) stream() jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: streamName, Description: "Datagrams with telemetry reports, from collectors to the analyzer of Waybill",
		Subjects: []string{subjectPrefix + ">"}, Storage: jetstream.FileStorage, Retention: jetstream.LimitsPolicy,
		Discard: jetstream.DiscardNew, MaxBytes: c.Stream.MaxBytes, Replicas: max(c.Stream.Replicas, 1),
		Duplicates: duplicatesFor, MaxMsgSize: MaxMessageBytes,
	}
}

func (n *natsLink) consume(ctx context.Context, c *consumption) error {
	asking, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	stream, err := n.js.CreateOrUpdateStream(asking, n.config.stream())
	if err != nil {
		return err
	}
	info, err := stream.Info(asking)
	if err != nil {
		return err
	}
	created := streamID(info)
	from := c.begin(created, info.State.LastSeq)
	purged := map[uint16]uint64{}
	purge := func(p purgeable) { // what fails here the next one does
		if p.upTo > 0 {
			_ = stream.Purge(ctx, jetstream.WithPurgeSequence(p.upTo+1))
		}
		for partition, upTo := range p.partitions {
			if purged[partition] != upTo && stream.Purge(ctx, jetstream.WithPurgeSequence(upTo+1),
				jetstream.WithPurgeSubject(subjectOf(partition, "*"))) == nil {
				purged[partition] = upTo
			}
		}
	}
	if c.elsewhere == nil {
		const ahead = 256
		return n.read(ctx, from, nil, ahead, nil, c.take, func(broken <-chan error) error {
			return c.tend(ctx, broken, purge)
		})
	}
	reading, stop := context.WithCancel(ctx)
	broken := make(chan error, 1)
	var all sync.WaitGroup
	all.Go(func() { broken <- c.elsewhere(reading, created) })
	defer all.Wait()
	defer stop()
	return c.tend(ctx, broken, purge)
}

// streamID tells a stream from others of its name.
func streamID(info *jetstream.StreamInfo) string { return info.Created.Format(time.RFC3339Nano) }

// subjectOf returns the subject of what collectors send of a partition.
func subjectOf(partition uint16, collector string) string {
	return fmt.Sprintf("%s%d.%s", subjectPrefix, partition, collector)
}

// read takes messages of the stream from one on, of some subjects, or all, until f returns, which is told what is in
// the way. It has so many sent ahead. begun is told how many there are at first; nil: nobody wants to know.
func (n *natsLink) read(
	ctx context.Context, from uint64, subjects []string, ahead int, begun func(behind uint64),
	take func(sequence, behind uint64, content []byte), f func(broken <-chan error) error,
) error {
	asking, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	consumer, err := n.js.OrderedConsumer(asking, streamName, jetstream.OrderedConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: from, FilterSubjects: subjects,
		// The library would ask for the same consumer again and again. If that is on a server that is gone, nobody
		// answers until the server is back; one with another name is made elsewhere.
		MaxResetAttempts: 1,
	})
	if err != nil {
		return err
	}
	if begun != nil {
		begun(consumer.CachedInfo().NumPending)
	}
	var mu sync.Mutex
	broken, over := make(chan error, 1), false // over: under mu
	taking, err := consumer.Consume(func(m jetstream.Msg) {
		meta, err := m.Metadata()
		if err != nil {
			return // it is none of a stream
		}
		mu.Lock()
		defer mu.Unlock()
		if !over {
			take(meta.Sequence.Stream, meta.NumPending, m.Data())
		}
	}, jetstream.PullMaxMessages(ahead),
		jetstream.ConsumeErrHandler(func(_ jetstream.ConsumeContext, err error) {
			if !errors.Is(err, jetstream.ErrNoHeartbeat) { // it asks again by itself
				select {
				case broken <- err:
				default:
				}
			}
		}))
	if err != nil {
		return err
	}
	// Nothing is taken behind this. That the library has stopped, too, is not waited for: it may be asking a server
	// that is gone.
	defer func() {
		mu.Lock()
		over = true
		mu.Unlock()
		go taking.Stop()
	}()
	return f(broken)
}

func (n *natsLink) connected() bool { return n.is.Load() && n.conn.IsConnected() }

func (n *natsLink) close() {
	n.is.Store(false) // which is no change to tell of
	n.conn.Close()
}
