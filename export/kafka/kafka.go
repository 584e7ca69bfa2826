// Package kafka sends records to topics of Kafka.
package kafka

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/waybill-int/waybill/export"
	"github.com/waybill-int/waybill/export/message"
)

// DefaultTopic is where records go if the configuration does not say it. {records} is replaced by their kind.
const DefaultTopic = "waybill.{records}"

// maxMessageBytes is how large a batch of messages is at most: what brokers take by default.
const maxMessageBytes = 1 << 20

// deliveryTimeout is how long a record is tried before that is a failure, after which it is tried again.
const deliveryTimeout = 10 * time.Second

// A Config says where Kafka is.
type Config struct {
	Brokers      []string       `yaml:"brokers" doc:"some of its brokers, HOST:PORT; the others are learned from them"`
	Topic        string         `yaml:"topic" doc:"topic, with {records} for the kind of the records; without it waybill.{records}"`
	Format       message.Format `yaml:"format" doc:"json or protobuf; without it json"`
	TLS          export.TLS     `yaml:"tls" doc:"how the connection is secured"`
	Mechanism    string         `yaml:"mechanism" doc:"how to log in: plain, scram-sha-256 or scram-sha-512"`
	User         string         `yaml:"user" doc:"who logs in"`
	PasswordFile string         `yaml:"password_file" doc:"file with the password"`
}

// Takes implements export.Opener.
func (c *Config) Takes() ([]export.Kind, int) { return c.Format.Takes() }

// Check implements export.Opener.
func (c *Config) Check() error {
	if len(c.Brokers) == 0 {
		return errors.New("brokers: want at least one, HOST:PORT")
	}
	if err := c.Format.Check(); err != nil {
		return err
	}
	if _, err := c.TLS.Config(); err != nil {
		return err
	}
	_, err := c.login()
	return err
}

// login returns how to log in; nil: there is no need to.
func (c *Config) login() (sasl.Mechanism, error) {
	if c.Mechanism == "" {
		if c.User != "" || c.PasswordFile != "" {
			return nil, errors.New("mechanism: want plain, scram-sha-256 or scram-sha-512 with user and password_file")
		}
		return nil, nil
	}
	password, err := export.Secret("password_file", c.PasswordFile)
	if err != nil {
		return nil, err
	}
	if c.User == "" || password == "" {
		return nil, errors.New("mechanism: want user and password_file with it")
	}
	switch auth := (scram.Auth{User: c.User, Pass: password}); c.Mechanism {
	case "plain":
		if !c.TLS.On {
			return nil, errors.New(
				"mechanism: plain sends the password as it is; want tls with it, or a scram mechanism")
		}
		return plain.Auth{User: c.User, Pass: password}.AsMechanism(), nil
	case "scram-sha-256":
		return auth.AsSha256Mechanism(), nil
	case "scram-sha-512":
		return auth.AsSha512Mechanism(), nil
	}
	return nil, fmt.Errorf("mechanism: got %q, want plain, scram-sha-256 or scram-sha-512", c.Mechanism)
}

// Open implements export.Opener.
func (c *Config) Open(deps export.Deps) (export.Output, error) {
	options := []kgo.Opt{
		kgo.SeedBrokers(c.Brokers...), kgo.ClientID("waybill"),
		kgo.SoftwareNameAndVersion("waybill", version(deps.Version)),
		kgo.RequiredAcks(kgo.AllISRAcks()), kgo.ProducerBatchMaxBytes(maxMessageBytes),
		kgo.AllowAutoTopicCreation(), kgo.UnknownTopicRetries(2),
		// Brokers that do not answer are given up, and told of, before the queue gives up.
		kgo.RecordDeliveryTimeout(deliveryTimeout), kgo.AllowIdempotentProduceCancellation(),
		kgo.RetryBackoffFn(func(tries int) time.Duration {
			return min(100*time.Millisecond<<min(tries, 8), time.Second)
		}),
	}
	secure, err := c.TLS.Config()
	if err != nil {
		return nil, err
	}
	if secure != nil {
		options = append(options, kgo.DialTLSConfig(secure))
	}
	if login, err := c.login(); err != nil {
		return nil, err
	} else if login != nil {
		options = append(options, kgo.SASL(login))
	}
	o := &output{format: c.Format, names: deps.Names}
	if o.client, err = kgo.NewClient(append(options, kgo.WithHooks(&o.dial))...); err != nil {
		return nil, err
	}
	topic := c.Topic
	if topic == "" {
		topic = DefaultTopic
	}
	for k := range export.NumKinds {
		o.topics[k] = strings.ReplaceAll(topic, "{records}", k.String())
	}
	return o, nil
}

// version is what the protocol allows of a version.
func version(v string) string {
	v = strings.Trim(strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '.' || r == '-' {
			return r
		}
		return '-'
	}, v), ".-")
	if v == "" {
		return "unknown"
	}
	return v
}

type output struct {
	client *kgo.Client
	format message.Format
	names  func() map[uint32]string
	topics [export.NumKinds]string
	dial   dial
}

// Send implements export.Output: it waits until all replicas in sync have the records.
func (o *output) Send(ctx context.Context, records []export.Record) (refused []int, err error) {
	names := o.names()
	results := make(chan result, len(records))
	sent := 0
	for i, r := range records {
		m, err := o.format.Encode(r, names)
		if err != nil {
			refused = append(refused, i)
			continue
		}
		sent++
		o.client.Produce(ctx, &kgo.Record{
			Topic: o.topics[r.Kind], Key: []byte(m.Key), Value: m.Value,
			Headers: []kgo.RecordHeader{
				{Key: "message", Value: []byte("waybill.v1." + m.Type)},
				{Key: "content-type", Value: []byte(o.format.ContentType())},
			},
		}, func(of *kgo.Record, err error) { results <- result{i, of.Topic, err} })
	}
	for range sent {
		select {
		case r := <-results:
			switch {
			case r.err == nil:
			case errors.Is(r.err, kerr.MessageTooLarge), errors.Is(r.err, kerr.InvalidRecord):
				refused = append(refused, r.place)
			case err == nil:
				err = fmt.Errorf("topic %s: %w", r.topic, r.err)
			}
		case <-ctx.Done(): // what the library still tries arrives twice, or not at all
			err = ctx.Err()
			if why := o.dial.err.Load(); why != nil {
				err = *why
			}
			return nil, fmt.Errorf("no confirmation in time: %w", err)
		}
	}
	if err != nil {
		return nil, err
	}
	return refused, nil
}

// A result is what became of a record.
type result struct {
	place int
	topic string
	err   error
}

// dial remembers why the latest attempt to reach a broker failed; nil: it did not.
type dial struct{ err atomic.Pointer[error] }

// OnBrokerConnect implements kgo.HookBrokerConnect.
func (d *dial) OnBrokerConnect(_ kgo.BrokerMetadata, _ time.Duration, _ net.Conn, err error) {
	if err == nil {
		d.err.Store(nil)
		return
	}
	d.err.Store(&err)
}

// Close implements export.Output.
func (o *output) Close() { o.client.Close() }
