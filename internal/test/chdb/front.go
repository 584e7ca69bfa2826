package chdb

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/ClickHouse/ch-go/proto"
	"golang.org/x/sys/unix"
)

// A front answers what clickhouse-go sends over HTTP.
type front struct {
	dir      string
	sessions chan *session // that are free
}

// sessions is how many statements run at a time.
const sessions = 4

// newFront starts the engine in a directory of its own.
func newFront() (*front, error) {
	dir, err := os.MkdirTemp("", "chdb-")
	if err != nil {
		return nil, err
	}
	f := &front{dir: dir, sessions: make(chan *session, sessions)}
	for range sessions {
		s, err := open(dir)
		if err != nil {
			return nil, errors.Join(err, f.close())
		}
		f.sessions <- s
	}
	return f, nil
}

// close ends the engine and removes its directory. Nobody asks any more.
func (f *front) close() error {
	close(f.sessions)
	for s := range f.sessions {
		s.close()
	}
	return os.RemoveAll(f.dir)
}

// hello is the first question of clickhouse-go.
const hello = "SELECT displayName(), version(), revision(), timezone()"

// helloRevision is what clickhouse-go believes hello to be written in.
const helloRevision = 54460

// notSettings are the keys of a request that are no settings; nor are those with the prefix param_.
var notSettings = map[string]bool{
	"database": true, "query": true, "query_id": true, "default_format": true, "client_protocol_version": true,
	"wait_end_of_query": true,
}

// ServeHTTP implements http.Handler.
func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if string(body) == hello {
		_, _ = w.Write(helloAnswer())
		return
	}
	answer, err := f.answer(r.URL.Query(), body)
	if err != nil {
		code := regexp.MustCompile(`^Code: (\d+)`).FindStringSubmatch(err.Error())
		if code != nil {
			w.Header().Set("X-ClickHouse-Exception-Code", code[1])
		}
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_, _ = w.Write(answer)
}

// answer executes the statement of a request.
func (f *front) answer(q url.Values, body []byte) (answer []byte, err error) {
	text := string(body)
	if insert := q.Get("query"); insert != "" {
		file, err := fileOf(body)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		// Data behind the statement itself would end at the first empty line in it.
		text = strings.TrimSuffix(strings.TrimSpace(insert), "FORMAT Native") +
			fmt.Sprintf(" FROM INFILE '/proc/self/fd/%d' COMPRESSION 'none' FORMAT Native", file.Fd())
	}
	parameters, settings := map[string]string{}, map[string]string{}
	for key := range q {
		if name, ok := strings.CutPrefix(key, "param_"); ok {
			parameters[name] = q.Get(key)
		} else if !notSettings[key] {
			settings[key] = q.Get(key)
		}
	}
	var s *session
	if _, ok := settings["readonly"]; ok { // nothing takes that back
		if s, err = open(f.dir); err != nil {
			return nil, err
		}
		defer s.close()
	} else {
		s = <-f.sessions
		defer func() {
			for key := range settings {
				if _, failed := s.run("SET "+key+" = DEFAULT", "Null", nil); failed != nil && err == nil {
					err = failed
				}
			}
			f.sessions <- s
		}()
	}
	before := []string{"USE `" + strings.ReplaceAll(q.Get("database"), "`", "") + "`"}
	for key, value := range settings {
		if key != "readonly" {
			before = append(before, fmt.Sprintf("SET %s = %s", key, literal(value)))
		}
	}
	if value, ok := settings["readonly"]; ok {
		before = append(before, "SET readonly = "+literal(value))
	}
	for _, set := range before {
		if _, err := s.run(set, "Null", nil); err != nil {
			return nil, err
		}
	}
	return s.run(text, "Native", parameters)
}

// literal is a value of a setting.
func literal(value string) string {
	if _, err := strconv.ParseFloat(value, 64); err == nil {
		return value
	}
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(value) + "'"
}

// fileOf is a file in memory with that content.
func fileOf(content []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("insert", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), "insert")
	if _, err := file.Write(content); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// helloAnswer says that blocks of this server are written as for revision 0, as the library writes them.
func helloAnswer() []byte {
	var b proto.Buffer
	columns := []struct {
		name string
		data proto.ColInput
		kind proto.ColumnType
	}{
		{"displayName()", &proto.ColStr{}, proto.ColumnTypeString},
		{"version()", &proto.ColStr{}, proto.ColumnTypeString},
		{"revision()", &proto.ColUInt32{0}, proto.ColumnTypeUInt32},
		{"timezone()", &proto.ColStr{}, proto.ColumnTypeString},
	}
	for i, text := range map[int]string{0: "chdb", 1: Version + ".1", 3: "UTC"} {
		columns[i].data.(*proto.ColStr).Append(text)
	}
	block := proto.Block{Columns: len(columns), Rows: 1, Info: proto.BlockInfo{BucketNum: -1}}
	block.EncodeAware(&b, helloRevision)
	for _, c := range columns {
		b.PutString(c.name)
		b.PutString(string(c.kind))
		b.PutBool(false) // no custom serialization
		c.data.EncodeColumn(&b)
	}
	return b.Buf
}
