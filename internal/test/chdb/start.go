package chdb

import (
	"context"
	"fmt"
	"net/http/httptest"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// An engine that runs, and how many tests use it.
var engine struct {
	sync.Mutex
	users  int
	front  *front
	server *httptest.Server
}

// start starts the engine, unless it runs. The last test that uses it ends it.
func start(t testing.TB) (*url.URL, error) {
	engine.Lock()
	defer engine.Unlock()
	if engine.users == 0 {
		if err := load(); err != nil {
			return nil, err
		}
		f, err := newFront()
		if err != nil {
			return nil, err
		}
		engine.front, engine.server = f, httptest.NewServer(f)
	}
	engine.users++
	t.Cleanup(func() {
		engine.Lock()
		defer engine.Unlock()
		if engine.users--; engine.users == 0 {
			engine.server.Close()
			if err := engine.front.close(); err != nil {
				t.Error(err)
			}
		}
	})
	return url.Parse(engine.server.URL)
}

var databases atomic.Int64

// Start returns the address of a new and empty database, for clickhouse-go. It is dropped when t ends. The test fails
// if there is no engine.
func Start(t testing.TB) string {
	t.Helper()
	var to *url.URL
	var err error
	if given := os.Getenv("WAYBILL_TEST_CLICKHOUSE"); given != "" {
		to, err = url.Parse(given)
	} else {
		to, err = start(t)
	}
	if err != nil {
		t.Fatal(err)
	}
	to = to.JoinPath() // a copy
	name := fmt.Sprintf("waybill_test_%d_%d", os.Getpid(), databases.Add(1))
	to.Path = "/default"
	options, err := clickhouse.ParseDSN(to.String())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := clickhouse.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := conn.Exec(ctx, "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		defer conn.Close()
		if err := conn.Exec(context.Background(), "DROP DATABASE "+name); err != nil {
			t.Error(err)
		}
	})
	to.Path = "/" + name
	return to.String()
}
