// Package clickhouse is the store on a ClickHouse server: the tables of package schema in one database, each resolution
// in a table of its own.
package clickhouse

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/waybill-int/waybill/store/schema"
	"github.com/waybill-int/waybill/telemetry"
)

// A Config says where a Store is. Use DefaultConfig and change what is needed.
type Config struct {
	// Address is as clickhouse-go has it: clickhouse://USER:PASSWORD@HOST:9000/DATABASE, or http:// and https:// with
	// the port for that. The database has to be there; the tables are made.
	Address string
	// CA are the authorities that sign the certificate of the server; nil: those of the system.
	CA *x509.CertPool
	// Keep is how long records are kept: those of 1 and 10 seconds, of minutes, of hours. Events are kept as long as
	// hours.
	Keep [len(schema.Tiers)]time.Duration
	// Names are those of nodes, for statements.
	Names map[uint32]string
	// Memory is what a query may take on the server, in bytes.
	Memory int64
	// Asker is who asks what somebody wrote as a statement; nil: who does all else. It needs to read the tables alone.
	Asker *url.Userinfo
	// ReadOnly says that the tables are those of another process, which writes them: they are read alone.
	ReadOnly bool

	cluster string // of a test: shards of a database that is not replicated
}

// DefaultConfig returns the configuration of a store at an address.
func DefaultConfig(address string) Config {
	return Config{
		Address: address, Keep: [...]time.Duration{48 * time.Hour, 14 * 24 * time.Hour, 400 * 24 * time.Hour},
		Memory: 2 << 30,
	}
}

// Limits of what is asked of the server.
const (
	dialTime  = 5 * time.Second
	writeTime = time.Minute // of a batch, and of what Maintain does at once
	queryTime = time.Minute
	// statementTime and statementBytes are of statements that somebody wrote.
	statementTime  = 20 * time.Second
	statementBytes = 64 << 20
)

// A Store is a store.Backend.
type Store struct {
	config Config
	conn   driver.Conn
	asker  driver.Conn     // of Config.Asker; or else conn
	ctx    context.Context // ends with the Store
	stop   context.CancelFunc

	layout

	token  string               // of the batches that Write could not write; "": there are none
	failed *telemetry.Intervals // the first of them

	mu     sync.Mutex
	rolled map[string]time.Time // how far tables are rolled up
}

// options are those of an address. What it does not say is for a server that is near.
func options(config *Config) (*clickhouse.Options, error) {
	o, err := clickhouse.ParseDSN(config.Address)
	if err != nil {
		return nil, fmt.Errorf("want clickhouse://USER:PASSWORD@HOST:9000/DATABASE: %w", err)
	}
	if o.Auth.Database == "" {
		return nil, errors.New("the address has no database: clickhouse://USER:PASSWORD@HOST:9000/DATABASE")
	}
	if o.Compression == nil && o.Protocol == clickhouse.Native {
		o.Compression = &clickhouse.Compression{Method: clickhouse.CompressionLZ4}
	}
	if o.TLS != nil {
		o.TLS.RootCAs = config.CA
	}
	o.DialTimeout = dialTime
	o.ReadTimeout = writeTime
	return o, nil
}

// Check says in one line what cannot be.
func (c *Config) Check() error {
	_, err := options(c)
	return err
}

// Open connects to the server, and makes the tables or brings them up to date, unless they are only read. It fails if
// the server does not answer, and if a newer version of waybill made the tables.
func Open(ctx context.Context, config Config) (*Store, error) {
	o, err := options(&config)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	s := &Store{config: config, layout: layout{database: o.Auth.Database}, rolled: map[string]time.Time{}}
	s.ctx, s.stop = context.WithCancel(context.Background())
	if s.conn, err = clickhouse.Open(o); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	s.asker = s.conn
	if err = s.prepare(ctx); err == nil && config.Asker != nil {
		err = s.connectAsker(ctx, o)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("store: ClickHouse at %s: %w", o.Addr[0], err), s.Close())
	}
	return s, nil
}

// connectAsker connects as who asks statements, and fails if the server does not let it in.
func (s *Store) connectAsker(ctx context.Context, o *clickhouse.Options) error {
	as := *o
	as.Auth.Username = s.config.Asker.Username()
	as.Auth.Password, _ = s.config.Asker.Password()
	conn, err := clickhouse.Open(&as)
	if err != nil {
		return err
	}
	s.asker = conn
	if err := conn.Ping(ctx); err != nil {
		return fmt.Errorf("as %s, who asks statements: %w", as.Auth.Username, err)
	}
	return nil
}

func (s *Store) prepare(ctx context.Context) error {
	if err := s.findLayout(ctx); err != nil {
		return err
	}
	if s.config.ReadOnly {
		return s.checkVersion(ctx)
	}
	if err := errors.Join(s.awaitBefore(ctx), s.migrate(ctx)); err != nil {
		return err
	}
	if err := s.exec(ctx, nodeNames(s.config.Names)); err != nil {
		return err
	}
	return s.loadRolled(ctx)
}

// exec executes a statement of the store itself.
func (s *Store) exec(ctx context.Context, statement string) error {
	return s.conn.Exec(s.with(ctx, writeTime, nil), statement)
}

// execAll executes statements, and says which of them fails.
func (s *Store) execAll(ctx context.Context, statements []string) error {
	for _, text := range statements {
		if err := s.exec(ctx, text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}

// with is a context for a statement with settings, which may take so long.
func (s *Store) with(ctx context.Context, most time.Duration, settings clickhouse.Settings) context.Context {
	all := clickhouse.Settings{
		"max_execution_time":          int(most.Seconds()),
		"join_use_nulls":              1,
		"prefer_column_name_to_alias": 1,
	}
	if s.replicated { // what is written outlives a server, and who makes tables waits for none that is away
		all["insert_quorum"], all["insert_quorum_timeout"] = "auto", most.Milliseconds()
		all["distributed_ddl_output_mode"] = "none_only_active"
	}
	if s.cluster != "" { // what is written is on its shards when that is said, and joins are of all rows
		all["distributed_foreground_insert"] = 1
		all["distributed_product_mode"] = "global"
	}
	for name, value := range settings {
		all[name] = value
	}
	return clickhouse.Context(ctx, clickhouse.WithSettings(all))
}

// SetNames replaces the names of nodes, for statements that come. Where tables are only read it does nothing.
func (s *Store) SetNames(names map[uint32]string) {
	if !s.config.ReadOnly {
		_ = s.exec(s.ctx, nodeNames(names))
	}
}

// Close closes the connections. What was written is on the disks of the server.
func (s *Store) Close() error {
	s.stop()
	err := s.conn.Close()
	if s.asker != s.conn {
		err = errors.Join(err, s.asker.Close())
	}
	return err
}
