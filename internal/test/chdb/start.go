package chdb

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// An engine that runs, and how many tests use it. It has a process of its own, which is this program once more: in one
// process with DuckDB that does not come back from some queries.
var engine struct {
	sync.Mutex
	users   int
	process *exec.Cmd
	end     io.Closer // its standard input
	address string
}

// childVariable is set in the process of the engine.
const childVariable = "WAYBILL_TEST_CHDB_PROCESS"

func init() {
	if os.Getenv(childVariable) == "" {
		return
	}
	if err := serve(); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// serve runs the engine until standard input ends. It prints its address.
func serve() error {
	if err := load(); err != nil {
		return err
	}
	f, err := newFront()
	if err != nil {
		return err
	}
	server := httptest.NewServer(f)
	fmt.Println(server.URL)
	_, _ = io.Copy(io.Discard, os.Stdin)
	server.Close()
	return f.close()
}

// start starts the engine, unless it runs. The last test that uses it ends it.
func start(t testing.TB) (address string, err error) {
	engine.Lock()
	defer engine.Unlock()
	if engine.users == 0 {
		if err := startProcess(); err != nil {
			return "", err
		}
	}
	engine.users++
	t.Cleanup(func() {
		engine.Lock()
		defer engine.Unlock()
		if engine.users--; engine.users == 0 {
			_ = engine.end.Close()
			if err := engine.process.Wait(); err != nil {
				t.Errorf("chDB: %v", err)
			}
		}
	})
	return engine.address, nil
}

func startProcess() error {
	if _, err := library(); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	c := exec.Command(self)
	c.Env, c.Stderr = append(os.Environ(), childVariable+"=1"), os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		return err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if address, ok := strings.CutPrefix(line, "http://"); err == nil && ok {
		engine.process, engine.end, engine.address = c, in, "http://"+strings.TrimSpace(address)
		return nil
	}
	_ = in.Close()
	return errors.Join(fmt.Errorf("chDB does not start: %s", line), c.Wait())
}

var databases atomic.Int64

// Start returns the address of a new and empty database, for clickhouse-go. It is dropped when t ends. The test fails
// if there is no engine.
func Start(t testing.TB) string {
	t.Helper()
	return StartServers(t)[0]
}

// StartServers is Start, with the address of the same database on each server. WAYBILL_TEST_CLICKHOUSE has one or more
// addresses; with more the database is of the engine Replicated, and the macros of the servers say what each has of it.
func StartServers(t testing.TB) (addresses []string) {
	t.Helper()
	given := strings.Fields(os.Getenv("WAYBILL_TEST_CLICKHOUSE"))
	if len(given) == 0 {
		address, err := start(t)
		if err != nil {
			t.Fatal(err)
		}
		given = []string{address}
	}
	name := fmt.Sprintf("waybill_test_%d_%d", os.Getpid(), databases.Add(1))
	create := "CREATE DATABASE " + name
	if len(given) > 1 {
		create += " ENGINE = Replicated('/clickhouse/databases/" + name + "', '{shard}', '{replica}')"
	}
	for _, address := range given {
		addresses = append(addresses, makeDatabase(t, address, name, create))
	}
	return addresses
}

// makeDatabase makes a database on a server and returns its address.
func makeDatabase(t testing.TB, address, name, create string) string {
	t.Helper()
	to, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
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
	if err := conn.Exec(ctx, create); err != nil {
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
