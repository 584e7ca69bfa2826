package bus

import (
	"crypto/tls"
	"errors"
)

// A Config says where the bus is, and who asks.
type Config struct {
	// URLs are those of NATS servers, nats://HOST:PORT, or of brokers of Kafka, kafka://HOST:PORT.
	URLs []string
	// Name is what the servers list the connection as.
	Name string
	// Credentials is a file with a JWT and its key, NKey one with a seed; "": none.
	Credentials, NKey string
	// TLS is nil for connections in the clear.
	TLS *tls.Config
	// Stream describes the stream, which the analyzer makes.
	Stream StreamConfig
}

// A StreamConfig bounds the stream.
type StreamConfig struct {
	Replicas int   // servers that each keep all of it
	MaxBytes int64 // then collectors keep what does not fit
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
