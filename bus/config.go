package bus

import (
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A Config says where the bus is, and who asks.
type Config struct {
	// URLs are those of NATS servers: nats://HOST:PORT.
	URLs []string
	// Name is what the servers list the connection as.
	Name string
	// Credentials is a file with a JWT and its key, NKey one with a seed; "": none.
	Credentials, NKey string
	// TLS is nil for connections in the clear.
	TLS *tls.Config
	// Stream describes the stream, which the analyzer makes.
	Stream StreamConfig
	// Options are added to those of the connection; tests use it.
	Options []nats.Option
}

// A StreamConfig bounds the stream.
type StreamConfig struct {
	Replicas int   // servers that each keep all of it
	MaxBytes int64 // then collectors keep what does not fit
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
)

// connect opens a connection, which comes back by itself for as long as it takes, and does not wait for the first.
func (c *Config) connect(options ...nats.Option) (*nats.Conn, error) {
	options = append(options,
		nats.Name(c.Name), nats.MaxReconnects(-1), nats.RetryOnFailedConnect(true),
		nats.ReconnectWait(200*time.Millisecond),
		nats.IgnoreAuthErrorAbort(), // who is refused may be let in later
		nats.Timeout(5*time.Second), nats.PingInterval(5*time.Second), nats.MaxPingsOutstanding(2),
		nats.ReconnectBufSize(-1)) // what is published while there is no connection fails, and the spool has it
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
	options = append(options, c.Options...)
	url := ""
	for i, u := range c.URLs {
		if i > 0 {
			url += ","
		}
		url += u
	}
	conn, err := nats.Connect(url, options...)
	if err != nil {
		return nil, fmt.Errorf("bus: %w", err)
	}
	return conn, nil
}

// openStream returns the stream, which it makes, or makes as configured.
func (c *Config) openStream(config StreamConfig) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: streamName, Description: "Datagrams with telemetry reports, from collectors to the analyzer of Waybill",
		Subjects: []string{subjectPrefix + ">"}, Storage: jetstream.FileStorage, Retention: jetstream.LimitsPolicy,
		Discard: jetstream.DiscardNew, MaxBytes: config.MaxBytes, Replicas: max(config.Replicas, 1),
		Duplicates: duplicatesFor, MaxMsgSize: MaxMessageBytes,
	}
}

// errNoName says that a collector has no name, or one that cannot be part of a subject.
var errNoName = errors.New("want 1 to 64 letters, digits, - and _")

// CheckName refuses names of collectors that cannot be part of a subject of NATS.
func CheckName(name string) error {
	if name == "" || len(name) > maxName {
		return errNoName
	}
	for _, c := range []byte(name) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_':
		default:
			return errNoName
		}
	}
	return nil
}
