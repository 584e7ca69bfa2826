// Package nats sends records to subjects of NATS JetStream.
package nats

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/waybill-int/waybill/export"
	"github.com/waybill-int/waybill/export/message"
	"github.com/waybill-int/waybill/internal/conf/unit"
)

// Defaults of a Config.
const (
	DefaultStream  = "WAYBILL_RECORDS"
	DefaultSubject = "waybill.records"
	DefaultMaxSize = 1 << 30
)

// A Config says where NATS is.
type Config struct {
	URLs        []string       `yaml:"urls" doc:"servers, nats://HOST:PORT or tls://HOST:PORT"`
	Stream      string         `yaml:"stream" doc:"stream that keeps the records, which is made if it is not there; without it WAYBILL_RECORDS"`
	Subject     string         `yaml:"subject" doc:"beginning of the subjects, followed by the kind of the records; without it waybill.records"`
	MaxSize     string         `yaml:"max_size" doc:"what the stream keeps at most if it is made, then the oldest go; without it 1GiB"`
	Format      message.Format `yaml:"format" doc:"json or protobuf; without it json"`
	TLS         export.TLS     `yaml:"tls" doc:"how the connection is secured"`
	Credentials string         `yaml:"credentials" doc:"file with a JWT and its key, to log in"`
	NKey        string         `yaml:"nkey" doc:"file with a seed, to log in"`
}

// Takes implements export.Opener.
func (c *Config) Takes() ([]export.Kind, int) { return c.Format.Takes() }

// Check implements export.Opener.
func (c *Config) Check() error {
	if len(c.URLs) == 0 {
		return errors.New("urls: want at least one, nats://HOST:PORT")
	}
	for _, word := range []struct{ key, text string }{{"stream", c.Stream}, {"subject", c.Subject}} {
		if strings.ContainsAny(word.text, " \t\r\n*>") ||
			word.key == "stream" && strings.ContainsAny(word.text, "./\\") {
			return fmt.Errorf("%s: %q has characters that NATS does not allow there", word.key, word.text)
		}
	}
	if _, err := c.maxSize(); err != nil {
		return err
	}
	if err := c.Format.Check(); err != nil {
		return err
	}
	_, err := c.options()
	return err
}

func (c *Config) maxSize() (int64, error) {
	if c.MaxSize == "" {
		return DefaultMaxSize, nil
	}
	n, err := unit.ParseBytes(c.MaxSize)
	if err != nil || n < 1<<20 {
		return 0, fmt.Errorf("max_size: got %q, want a size of at least 1MiB, such as 10GiB", c.MaxSize)
	}
	return int64(n), nil
}

func (c *Config) options() ([]nats.Option, error) {
	options := []nats.Option{
		nats.Name("waybill export"), nats.MaxReconnects(-1), nats.RetryOnFailedConnect(true),
		nats.ReconnectWait(200 * time.Millisecond), nats.Timeout(5 * time.Second),
		nats.ReconnectBufSize(-1), // what is published while there is no connection fails, and is sent again
	}
	secure, err := c.TLS.Config()
	if err != nil {
		return nil, err
	}
	if secure != nil {
		options = append(options, nats.Secure(secure))
	}
	if c.Credentials != "" {
		options = append(options, nats.UserCredentials(c.Credentials))
	}
	if c.NKey != "" {
		option, err := nats.NkeyOptionFromSeed(c.NKey)
		if err != nil {
			return nil, fmt.Errorf("nkey: %w", err)
		}
		options = append(options, option)
	}
	return options, nil
}

// Open implements export.Opener.
func (c *Config) Open(deps export.Deps) (export.Output, error) {
	options, err := c.options()
	if err != nil {
		return nil, err
	}
	size, err := c.maxSize()
	if err != nil {
		return nil, err
	}
	conn, err := nats.Connect(strings.Join(c.URLs, ","), options...)
	if err != nil {
		return nil, err
	}
	js, err := jetstream.New(conn)
	if err != nil {
		conn.Close()
		return nil, err
	}
	o := &output{conn: conn, js: js, format: c.Format, names: deps.Names, subject: or(c.Subject, DefaultSubject)}
	o.stream = jetstream.StreamConfig{ // what there is too much of goes, the oldest first
		Name: or(c.Stream, DefaultStream), Description: "Records of Waybill", Subjects: []string{o.subject + ".>"},
		Storage: jetstream.FileStorage, Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardOld,
		MaxBytes: size,
	}
	return o, nil
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

type output struct {
	conn    *nats.Conn
	js      jetstream.JetStream
	format  message.Format
	names   func() map[uint32]string
	subject string
	stream  jetstream.StreamConfig
	there   bool // the stream is
}

// Send implements export.Output: it waits until the stream has the records.
func (o *output) Send(ctx context.Context, records []export.Record) (refused []int, err error) {
	if !o.conn.IsConnected() {
		if err := o.conn.LastError(); err != nil {
			return nil, fmt.Errorf("no connection: %w", err)
		}
		return nil, errors.New("no connection")
	}
	if !o.there {
		if err := o.makeStream(ctx); err != nil {
			return nil, err
		}
	}
	names := o.names()
	acks := make([]jetstream.PubAckFuture, len(records))
	for i, r := range records {
		m, err := o.format.Encode(r, names)
		if err != nil || int64(len(m.Value)) > o.conn.MaxPayload() {
			refused = append(refused, i)
			continue
		}
		acks[i], err = o.js.PublishMsgAsync(&nats.Msg{
			Subject: o.subject + "." + r.Kind.String(), Data: m.Value,
			Header: nats.Header{
				"Key": {m.Key}, "Message": {"waybill.v1." + m.Type}, "Content-Type": {o.format.ContentType()},
			},
		})
		if err != nil {
			return nil, err
		}
	}
	for _, ack := range acks {
		if ack == nil {
			continue
		}
		select {
		case <-ack.Ok():
		case err := <-ack.Err():
			o.there = false // perhaps somebody has removed it
			return nil, err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return refused, nil
}

// makeStream makes the stream, unless there is one with that name, which stays as it is.
func (o *output) makeStream(ctx context.Context) error {
	_, err := o.js.Stream(ctx, o.stream.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		_, err = o.js.CreateStream(ctx, o.stream)
	}
	if err != nil {
		return fmt.Errorf("stream %s: %w", o.stream.Name, err)
	}
	o.there = true
	return nil
}

// Close implements export.Output.
func (o *output) Close() { o.conn.Close() }
