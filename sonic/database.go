package sonic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"
)

// CONFIG_DB is this database of the switch's Redis; its keys are TABLE|NAME, their values hashes.
const configDB = 4

// timeout is for each exchange with the switch.
const timeout = 10 * time.Second

// maxKeys is how many keys are read; a switch with 512 ports and 8 queues each has 4096 of queues.
const maxKeys = 20_000

// tables are those that a file describes, in the order in which they are written: what others name comes first.
var tables = []string{"DTEL_REPORT_SESSION", "DTEL_INT_SESSION", "DTEL", "DTEL_QUEUE_REPORT", "DTEL_EVENT"}

type fields map[string]string

// A Switch is a connection to a switch's CONFIG_DB. The caller closes it.
type Switch struct {
	Name string // as the switch says; with its hardware
	conn redis.Conn
}

// Dial connects to a Redis at an address: HOST:PORT, or the path of a socket, which begins with a slash.
func Dial(ctx context.Context, address string) (*Switch, error) {
	network := "tcp"
	if strings.HasPrefix(address, "/") {
		network = "unix"
	}
	conn, err := redis.DialContext(ctx, network, address, redis.DialDatabase(configDB),
		redis.DialConnectTimeout(timeout), redis.DialReadTimeout(timeout), redis.DialWriteTimeout(timeout))
	if err != nil {
		return nil, fmt.Errorf("connect to CONFIG_DB: %w", err)
	}
	s := &Switch{conn: conn}
	meta, err := s.read(ctx, "DEVICE_METADATA|localhost")
	switch {
	case err != nil:
	case len(meta) == 0:
		err = fmt.Errorf("database %d at %s is not the CONFIG_DB of a switch: it has no DEVICE_METADATA|localhost",
			configDB, address)
	default:
		s.Name = strings.TrimSpace(cmp.Or(meta["hostname"], "localhost") + " " + meta["hwsku"])
		return s, nil
	}
	return nil, errors.Join(err, conn.Close())
}

// Close ends the connection.
func (s *Switch) Close() error { return s.conn.Close() }

func (s *Switch) read(ctx context.Context, key string) (fields, error) {
	f, err := redis.StringMap(redis.DoContext(s.conn, ctx, "HGETALL", key))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", key, err)
	}
	return f, nil
}

// keys returns those of the tables that a pattern fits, in order.
func (s *Switch) keys(ctx context.Context, pattern string) ([]string, error) {
	seen := map[string]bool{} // SCAN may tell of one twice
	for cursor := "0"; ; {
		reply, err := redis.Values(redis.DoContext(s.conn, ctx, "SCAN", cursor, "MATCH", pattern, "COUNT", 1000))
		var some []string
		if err == nil {
			_, err = redis.Scan(reply, &cursor, &some)
		}
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", pattern, err)
		}
		for _, key := range some {
			seen[key] = true
		}
		if len(seen) > maxKeys {
			return nil, fmt.Errorf("more than %d keys are %s", maxKeys, pattern)
		}
		if cursor == "0" {
			return slices.Sorted(maps.Keys(seen)), nil
		}
	}
}

// A Change is one of a hash of CONFIG_DB.
type Change struct {
	Key      string
	Old, New map[string]string // all fields before and after; nil: there is no such key
}

// Diff returns what has to change for a switch to be as c says, in the order in which it is written, and watches what
// it read: Apply fails if somebody changes any of it meanwhile. What does not fit the switch is an error.
func (s *Switch) Diff(ctx context.Context, c *Config) ([]Change, error) {
	want := c.entries()
	have := map[string]fields{}
	for _, table := range tables {
		keys, err := s.keys(ctx, table+"|*")
		if err != nil {
			return nil, err
		}
		for _, key := range keys {
			have[key] = nil
		}
	}
	watched := redis.Args{}
	for key := range want {
		have[key] = nil
	}
	for key := range have {
		watched = watched.Add(key)
	}
	if _, err := redis.DoContext(s.conn, ctx, "WATCH", watched...); err != nil {
		return nil, fmt.Errorf("watch: %w", err)
	}
	var changes []Change
	for key := range have {
		old, err := s.read(ctx, key)
		if err != nil {
			return nil, err
		}
		if len(old) == 0 {
			old = nil
		}
		if !maps.Equal(old, want[key]) {
			changes = append(changes, Change{key, old, want[key]})
		}
	}
	slices.SortFunc(changes, func(a, b Change) int { return cmp.Or(a.order()-b.order(), cmp.Compare(a.Key, b.Key)) })
	return changes, s.fits(ctx, c)
}

// order puts what goes away first, beginning with what names other things, then what comes.
func (c *Change) order() int {
	table, _, _ := strings.Cut(c.Key, "|")
	i := slices.Index(tables, table)
	if c.New == nil {
		return -i - 1
	}
	return i
}

// fits returns what c says and the rest of the switch's configuration does not allow.
func (s *Switch) fits(ctx context.Context, c *Config) (wrong error) {
	ports := c.ports()
	for _, port := range slices.Sorted(maps.Keys(ports)) {
		f, err := s.read(ctx, "PORT|"+port)
		if err != nil {
			return err
		}
		if len(f) == 0 {
			wrong = errors.Join(wrong, fmt.Errorf("%s: the switch has no port %s", ports[port], port))
		}
	}
	rules, err := s.keys(ctx, "ACL_RULE|*")
	if err != nil {
		return err
	}
	for _, rule := range rules {
		f, err := s.read(ctx, rule)
		if err != nil {
			return err
		}
		session := f["INT_SESSION"]
		if _, ok := c.IntSessions[session]; !ok && session != "" {
			wrong = errors.Join(wrong, fmt.Errorf("int_sessions: %s uses %s, which is not there", rule, session))
		}
	}
	return wrong
}

// ErrChanged says that CONFIG_DB is not as it was when the difference was made.
var ErrChanged = errors.New("CONFIG_DB was changed by somebody else meanwhile; nothing was written")

// Apply writes changes that Diff has returned, all or none.
func (s *Switch) Apply(ctx context.Context, changes []Change) error {
	if len(changes) == 0 {
		return nil
	}
	// A key that stays is not deleted in between: the switch would take away what it is about, and that may be in use.
	commands := [][]any{{"MULTI"}}
	for _, c := range changes {
		if c.New == nil {
			commands = append(commands, redis.Args{"DEL", c.Key})
			continue
		}
		commands = append(commands, redis.Args{"HSET", c.Key}.AddFlat(c.New))
		for field := range c.Old {
			if _, stays := c.New[field]; !stays {
				commands = append(commands, redis.Args{"HDEL", c.Key, field})
			}
		}
	}
	for _, c := range commands {
		if err := s.conn.Send(c[0].(string), c[1:]...); err != nil {
			return fmt.Errorf("write: %w", err)
		}
	}
	switch reply, err := redis.DoContext(s.conn, ctx, "EXEC"); {
	case err != nil:
		return fmt.Errorf("write: %w", err)
	case reply == nil:
		return ErrChanged
	default:
		return anyError(reply)
	}
}

// anyError returns the first error of commands that were executed together.
func anyError(reply any) error {
	all, err := redis.Values(reply, nil)
	if err != nil {
		return err
	}
	for _, one := range all {
		if err, bad := one.(redis.Error); bad {
			return fmt.Errorf("write: %w", err)
		}
	}
	return nil
}

// Lines returns a change as text: a line for each field that goes (-) and for each that comes (+).
func (c *Change) Lines() (lines []string) {
	names := map[string]bool{}
	for _, f := range []fields{c.Old, c.New} {
		for name := range f {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		old, had := c.Old[name]
		now, has := c.New[name]
		if had && (!has || old != now) {
			lines = append(lines, fmt.Sprintf("- %s %s %s", c.Key, name, old))
		}
		if has && (!had || old != now) {
			lines = append(lines, fmt.Sprintf("+ %s %s %s", c.Key, name, now))
		}
	}
	return lines
}
