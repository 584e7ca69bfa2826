// Package chdb is a ClickHouse for tests: the engine as a library, chDB, behind as much of the HTTP interface of a
// server as clickhouse-go needs. Tests of a program share one
// engine, each with a database of its own.
//
// What it cannot show is what is not in the library: the native protocol, users, and Keeper, so of replicated tables
// their definitions only.
// With WAYBILL_TEST_CLICKHOUSE=clickhouse://USER:PASSWORD@HOST:9000 the same tests run against a server, and with the
// addresses of all servers of a cluster, between spaces, against databases of the engine Replicated, with those of
// replication.
package chdb

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Version is that of the npm package @chdb/lib-linux-x64-gnu, which scripts/setup installs.
const Version = "26.5.3"

// library returns the path of the library.
func library() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(cache, "waybill", "chdb-"+Version, "libchdb.so")
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("tests of the ClickHouse store need %s: run scripts/setup test, which gets it from npm "+
			"(170 MB), or set WAYBILL_TEST_CLICKHOUSE=clickhouse://USER:PASSWORD@HOST:9000 to use a server", path)
	}
	return path, nil
}

// Functions of the library. Pointers to what is not ours are uintptr.
var (
	connect func(argc int32, argv unsafe.Pointer) uintptr // of a connection
	query   func(conn uintptr, text string, textLen uintptr, format string, formatLen uintptr, names, nameLens,
		values, valueLens unsafe.Pointer, n uintptr) uintptr
	closeConn     func(conn uintptr)
	resultError   func(result uintptr) string
	resultBuffer  func(result uintptr) unsafe.Pointer
	resultLength  func(result uintptr) uintptr
	destroyResult func(result uintptr)
)

// load loads the library, once.
var load = sync.OnceValue(func() error {
	path, err := library()
	if err != nil {
		return err
	}
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return fmt.Errorf("load %s: %w", path, err)
	}
	for name, to := range map[string]any{
		"chdb_connect": &connect, "chdb_close_conn": &closeConn, "chdb_query_with_params_n": &query,
		"chdb_result_error": &resultError, "chdb_result_buffer": &resultBuffer, "chdb_result_length": &resultLength,
		"chdb_destroy_query_result": &destroyResult,
	} {
		purego.RegisterLibFunc(to, handle, name)
	}
	return nil
})

// A session is a connection to the engine. It is used by one goroutine at a time.
type session struct{ conn uintptr }

// Cluster is the name of a cluster that the engine has, of one shard: itself.
const Cluster = "one"

// settings let the engine take definitions of replicated tables, which nothing can be written to, and have tables in
// Cluster. No one listens at the port: by it the engine knows that the shard is itself.
const settings = `<clickhouse>
	<zookeeper><implementation>testkeeper</implementation></zookeeper>
	<tcp_port>9</tcp_port>
	<remote_servers><` + Cluster + `><shard><replica><host>127.0.0.1</host><port>9</port></replica></shard></` +
	Cluster + `></remote_servers>
</clickhouse>`

// open opens a session of the engine with its files in dir; all of a process have the same.
func open(dir string) (*session, error) {
	config := filepath.Join(dir, "config.xml")
	if err := os.WriteFile(config, []byte(settings), 0o600); err != nil {
		return nil, err
	}
	var args [5]*byte
	var pin runtime.Pinner
	defer pin.Unpin()
	// Tests may write backups anywhere.
	for i, text := range []string{
		"clickhouse", "--config-file=" + config, "--path=" + dir, "--", "--backups.allowed_path=/",
	} {
		b := append([]byte(text), 0)
		pin.Pin(&b[0])
		args[i] = &b[0]
	}
	pin.Pin(&args[0])
	s := &session{connect(int32(len(args)), unsafe.Pointer(&args[0]))}
	if s.conn == 0 {
		return nil, errors.New("chDB does not open its directory")
	}
	return s, nil
}

func (s *session) close() { closeConn(s.conn) }

// run executes a statement with parameters and returns what it gives, in a format.
func (s *session) run(text, format string, parameters map[string]string) ([]byte, error) {
	var pin runtime.Pinner
	defer pin.Unpin()
	n := len(parameters)
	pointers, lengths := make([]*byte, 2*n+1), make([]uintptr, 2*n+1) // names, and then values
	i := 0
	for name, value := range parameters {
		for at, text := range map[int]string{i: name, n + i: value} {
			b := append([]byte(text), 0)
			pin.Pin(&b[0])
			pointers[at], lengths[at] = &b[0], uintptr(len(text))
		}
		i++
	}
	pin.Pin(&pointers[0])
	pin.Pin(&lengths[0])
	conn := *(*uintptr)(*(*unsafe.Pointer)(unsafe.Pointer(&s.conn)))
	result := query(conn, text, uintptr(len(text)), format, uintptr(len(format)), unsafe.Pointer(&pointers[0]),
		unsafe.Pointer(&lengths[0]), unsafe.Pointer(&pointers[n]), unsafe.Pointer(&lengths[n]), uintptr(n))
	if result == 0 {
		return nil, errors.New("chDB gives no result")
	}
	defer destroyResult(result)
	if message := resultError(result); message != "" {
		return nil, errors.New(strings.TrimSpace(message))
	}
	length := resultLength(result)
	if length == 0 {
		return nil, nil
	}
	return append([]byte(nil), unsafe.Slice((*byte)(resultBuffer(result)), length)...), nil
}
