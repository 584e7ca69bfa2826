package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/waybill-int/waybill/internal/conf/secure"
	"github.com/waybill-int/waybill/store/clickhouse"
	"github.com/waybill-int/waybill/store/duckdb"
)

// A clickhouseConfig says which ClickHouse keeps the records.
type clickhouseConfig struct {
	URL          string `yaml:"url" doc:"where it is: clickhouse://HOST:9000 (its native protocol), http://HOST:8123 or https://HOST:8443"`
	Database     string `yaml:"database" doc:"of records alone; it has to be there, the tables are made"`
	User         string `yaml:"user" doc:"who may make tables there, write and read; default without it"`
	PasswordFile string `yaml:"password_file" doc:"file with the password; without it that of the variable WAYBILL_CLICKHOUSE_PASSWORD"`
	QueryUser    string `yaml:"query_user" doc:"who asks the statements of waybill query and of the API; it needs to read the tables alone. Without it that is user"`
	QueryFile    string `yaml:"query_password_file" doc:"file with the password of query_user"`
	TLS          bool   `yaml:"tls" doc:"TLS for clickhouse://; https:// has it anyway"`
	CA           string `yaml:"ca" doc:"file of certificates to trust instead of those of the system, PEM"`
}

// passwordVariable has the password where no file has it.
const passwordVariable = "WAYBILL_CLICKHOUSE_PASSWORD"

// checkClickHouse refuses what cannot work with ClickHouse.
func (c *storeConfig) checkClickHouse() error {
	usual := defaultStoreConfig()
	switch {
	case c.MaxSize != usual.MaxSize:
		return errors.New("store: max_size: ClickHouse drops records by their age only; leave out max_size or clickhouse")
	case len(c.Tables) > 0:
		return errors.New("store: tables: in ClickHouse all tables are kept as long; leave out tables or clickhouse")
	}
	to, err := c.ClickHouse.compile()
	if err == nil {
		err = to.Check()
	}
	if err != nil {
		return fmt.Errorf("store: clickhouse: %w", err)
	}
	return nil
}

// compile returns the configuration as the store has it.
func (c *clickhouseConfig) compile() (clickhouse.Config, error) {
	to := clickhouse.DefaultConfig("")
	u, err := url.Parse(c.URL)
	if err != nil || u.Host == "" {
		return to, fmt.Errorf("url: got %q, want clickhouse://HOST:9000, http://HOST:8123 or https://HOST:8443", c.URL)
	}
	encrypted := c.TLS
	switch u.Scheme {
	case "clickhouse":
	case "http":
		if c.TLS {
			return to, errors.New("tls: got true with http://, want https:// in url")
		}
	case "https":
		encrypted = true
	default:
		return to, fmt.Errorf("url: got %q, want clickhouse://, http:// or https://", c.URL)
	}
	switch {
	case u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "":
		return to, fmt.Errorf("url: want no more than %s://HOST:PORT; database, user and password_file are keys beside it", u.Scheme)
	case u.Port() == "" || strings.Contains(u.Host, ","):
		return to, fmt.Errorf("url: got %q, want one host with its port", c.URL)
	case c.Database == "":
		return to, errors.New("database: want the name of one that is there and empty, or has the tables of waybill")
	case c.CA != "" && !encrypted:
		return to, errors.New("ca: certificates are of TLS; want tls: true or https://")
	}
	password := os.Getenv(passwordVariable)
	if c.PasswordFile != "" {
		if password, err = readPassword(c.PasswordFile); err != nil {
			return to, fmt.Errorf("password_file: %w", err)
		}
	}
	switch {
	case c.QueryUser != "" && c.QueryFile != "":
		asks, err := readPassword(c.QueryFile)
		if err != nil {
			return to, fmt.Errorf("query_password_file: %w", err)
		}
		to.Asker = url.UserPassword(c.QueryUser, asks)
	case c.QueryUser != "":
		to.Asker = url.User(c.QueryUser)
	case c.QueryFile != "":
		return to, errors.New("query_password_file: want query_user with it")
	}
	if c.CA != "" {
		if to.CA, err = secure.ReadCAs(c.CA); err != nil {
			return to, fmt.Errorf("ca: %w", err)
		}
	}
	address := url.URL{
		Scheme: u.Scheme, User: url.UserPassword(cmp.Or(c.User, "default"), password), Host: u.Host,
		Path: "/" + c.Database,
	}
	if encrypted {
		address.RawQuery = "secure=true"
	}
	to.Address = address.String()
	return to, nil
}

func readPassword(file string) (string, error) {
	text, err := os.ReadFile(file)
	return strings.TrimSpace(string(text)), err
}

// open connects to the server, with what the store in files would have.
func (c *clickhouseConfig) open(files *duckdb.Config) (*clickhouse.Store, error) {
	config, err := c.compile()
	if err != nil {
		return nil, fmt.Errorf("store: clickhouse: %w", err)
	}
	config.Keep, config.Names, config.Memory = files.Keep, files.Names, files.Memory
	return clickhouse.Open(context.Background(), config)
}
