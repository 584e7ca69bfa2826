package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/tables"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// What cannot work, or what others could reach, is refused with what to do.
func TestTablesSettings(t *testing.T) {
	for text, want := range map[string]string{
		"role: tables\ntables: {listen: 127.0.0.1:0}":                      "",
		"role: tables\ntables: {listen: \"0.0.0.0:7100\", insecure: true}": "",
		"role: tables": "want an address and a port",
		"role: tables\ntables: {listen: \":7100\"}":                                       "want an address and a port",
		"role: tables\ntables: {listen: \"0.0.0.0:7100\"}":                                "others can reach this address",
		"role: tables\ntables: {listen: \"127.0.0.1:0\", tls: {cert: /x}}":                "cert and key are needed together",
		"role: tables\ntables: {listen: \"127.0.0.1:0\"}\ndata: /x":                       "keeps nothing",
		"role: tables\ntables: {listen: \"127.0.0.1:0\"}\ntokens: /x":                     "metrics only",
		"role: tables\ntables: {listen: \"127.0.0.1:0\"}\nbus: {urls: [nats://x:1]}":      "",
		"role: tables\ntables: {listen: \"127.0.0.1:0\"}\nbus: {urls: [kafka://x:1]}":     "servers of NATS",
		"role: tables\ntables: {listen: \"127.0.0.1:0\"}\nbus: {embedded: \"x:1\"}":       "servers of NATS",
		"tables: {servers: [\"127.0.0.1:7100\"]}":                                         "want analyze",
		"tables: {listen: \"127.0.0.1:7100\"}":                                            "want role tables",
		"role: analyze\nbus: {urls: [nats://x:1]}\ntables: {servers: [x]}":                "want HOST:PORT",
		"role: analyze\nbus: {urls: [nats://x:1]}\ntables: {servers: [\"x:1\", \"x:1\"]}": "each once",
		"role: analyze\nbus: {urls: [nats://x:1]}\ntables: {servers: [\"x:1\"]}":          "",
	} {
		c, err := read(t, []byte(text))
		if err == nil {
			err = c.Check()
		}
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

// Who has no certificate of the authority gets no tables, and who has one does.
func TestTablesAskForCertificates(t *testing.T) {
	authority, others := test.NewAuthority(t), test.NewAuthority(t)
	dir := t.TempDir()
	issue := func(by *test.Authority, name string) (cert, key string) {
		cert, key = filepath.Join(dir, name+".pem"), filepath.Join(dir, name+".key")
		by.Issue(name, 2, cert, key)
		return cert, key
	}
	c := DefaultConfig()
	c.Role, c.HTTP, c.Workers, c.Memory, c.Version = roleTables, "127.0.0.1:0", 1, "64MiB", "v"
	c.Tables.Listen = "127.0.0.1:0"
	c.Tables.TLS.CA = authority.File
	c.Tables.TLS.Cert, c.Tables.TLS.Key = issue(authority, "tables")
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	server, err := NewTables(&c, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- server.Run(ctx) }()
	points := codepoint.New()
	points.Compile()
	open := func(secure *tls.Config, within time.Duration) error {
		ctx, stop := context.WithTimeoutCause(t.Context(), within, errors.New("no tables"))
		defer stop()
		a, err := tables.Open(ctx, tables.Config{
			Addresses: []string{server.Address()}, TLS: secure, Version: "v", Points: points,
			Delivered: func(nowNs int64) int64 { return nowNs }, Log: slog.New(slog.DiscardHandler),
		})
		if err == nil {
			a.Close()
		}
		return err
	}
	with := func(by *test.Authority, name string) *tls.Config {
		files := busTLS{CA: authority.File}
		if by != nil {
			files.Cert, files.Key = issue(by, name)
		}
		secure, err := files.config()
		if err != nil {
			t.Fatal(err)
		}
		return secure
	}
	if err := open(with(authority, "analyzer"), time.Minute); err != nil {
		t.Errorf("with a certificate: %v", err)
	}
	for what, secure := range map[string]*tls.Config{
		"in the clear": nil, "without a certificate": with(nil, ""), "with another authority's": with(others, "stranger"),
	} {
		if err := open(secure, time.Second); err == nil {
			t.Errorf("%s: there are tables", what)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// An analyzer whose configuration is read again gives its tables to the servers that it names then: it ends, and says
// that it should begin anew. Where one of them does not answer, nothing changes.
func TestOtherTables(t *testing.T) {
	startTables := func() string {
		c := DefaultConfig()
		c.Role, c.HTTP, c.Workers, c.Memory, c.Version = roleTables, "127.0.0.1:0", 1, "64MiB", "v"
		c.Tables.Listen = "127.0.0.1:0"
		server, err := NewTables(&c, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- server.Run(ctx) }()
		t.Cleanup(func() {
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
		return server.Address()
	}
	first, second, nobody := startTables(), startTables(), test.FreePort(t, "tcp")
	c := DefaultConfig()
	c.Role, c.HTTP, c.Version, c.Data = roleAnalyze, "127.0.0.1:0", "v", t.TempDir()
	c.Bus.Embedded = test.FreePort(t, "tcp")
	c.Tables.Servers = []string{first}
	next := c
	c.Again = func() (*Config, error) { return new(next), nil }
	c.Points.Compile()
	s, err := New(t.Context(), &c, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- s.Run(t.Context()) }()

	next.Tables.Servers = []string{first, nobody}
	if _, err := s.Reload(t.Context(), "a test"); err == nil || !strings.Contains(err.Error(), nobody) {
		t.Errorf("got %v of a server that is not there, want its address", err)
	}
	next = c
	if answer, err := s.Reload(t.Context(), "a test"); err != nil || len(answer.Changed)+len(answer.NeedsRestart) > 0 {
		t.Errorf("got %+v %v though nothing changed", answer, err)
	}
	select {
	case err := <-ended:
		t.Fatal(err)
	case <-time.After(100 * time.Millisecond):
	}
	next.Tables.Servers = []string{first, second}
	answer, err := s.Reload(t.Context(), "a test")
	if err != nil || !reflect.DeepEqual(answer.Changed, []string{"tables.servers: 2, were 1"}) ||
		len(answer.NeedsRestart) > 0 {
		t.Errorf("got %+v %v", answer, err)
	}
	if err := <-ended; !errors.Is(err, ErrBeginAnew) {
		t.Errorf("got %v, want %v", err, ErrBeginAnew)
	}
}
