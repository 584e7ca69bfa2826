package duckdb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/waybill-int/waybill/internal/child"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/store/schema"
)

const (
	// maxStatements is how many statements run at a time. As many processes wait for the next ones, once there was
	// one.
	maxStatements = 2
	// statementTime is how long a statement may take.
	statementTime = 20 * time.Second
	// childStart is how long a process may take to be ready.
	childStart = statementTime
)

// statements are the processes that answer what users ask in SQL. Each answers one statement and is killed: nothing
// ends DuckDB while it plans, and not all the memory that it takes is bounded by its settings.
type statements struct {
	places chan struct{}
	ready  chan *child.Process
	setup  childSetup

	mu      sync.Mutex
	running map[*child.Process]bool // true: it was killed because files had to be closed
	closed  bool
	starts  sync.WaitGroup
}

func newStatements(c *Config) *statements {
	return &statements{
		places: make(chan struct{}, maxStatements), ready: make(chan *child.Process, maxStatements),
		setup: childSetup{c.Dir, c.Memory, c.Threads}, running: map[*child.Process]bool{},
	}
}

// errFilesClosed ends a statement whose files have to be closed. It is asked again.
var errFilesClosed = errors.New("files of the store are closed")

// SQL implements store.Backend. The statement runs in a process of its own, which sees what exportTail and seal made.
func (s *Store) SQL(ctx context.Context, statement string, limit int) (*store.Answer, error) {
	if len(statement) > maxStatement {
		return nil, fmt.Errorf("the statement has %d bytes, limit %d", len(statement), maxStatement)
	}
	ctx, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	select {
	case s.statements.places <- struct{}{}:
		defer func() { <-s.statements.places }()
	case <-ctx.Done():
		return nil, s.ended(ctx)
	}
	for {
		answer, err := s.runStatement(ctx, statement, limit)
		if !errors.Is(err, errFilesClosed) {
			return answer, err
		}
	}
}

// ended is why ctx, that of a statement, is done.
func (s *Store) ended(ctx context.Context) error {
	if s.ctx.Err() != nil {
		return fmt.Errorf("%w: it is closed", store.ErrUnavailable)
	}
	return fmt.Errorf("%w: %w", store.ErrTooLong, ctx.Err())
}

// runStatement runs a statement once.
func (s *Store) runStatement(ctx context.Context, statement string, limit int) (*store.Answer, error) {
	if err := s.sealBefore(ctx); err != nil {
		return nil, err
	}
	s.reading.RLock() // files that are open in a process stay
	defer s.reading.RUnlock()
	if ctx.Err() != nil {
		return nil, s.ended(ctx)
	}
	attach, err := s.attachFor(ctx, statement)
	if err != nil {
		return nil, trouble(ctx, err)
	}
	p, err := s.statements.take()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = p.Kill() })
	answer, err := exchange(p, &childRequest{attach, statement, limit})
	stop()
	how := p.Kill()
	if s.statements.release(p) {
		return nil, errFilesClosed
	}
	told, ok := errors.AsType[*outcome](err)
	switch {
	case err == nil:
		return answer, nil
	case ctx.Err() != nil:
		return nil, s.ended(ctx)
	case ok && told.reason == nil:
		return nil, told
	case ok || errors.Is(err, store.ErrTooLarge):
		return nil, err
	}
	return nil, fmt.Errorf("%w: its process ended: %w", store.ErrTooLarge, how)
}

// exchange gives a process a request and reads its answer.
func exchange(p *child.Process, r *childRequest) (*store.Answer, error) {
	if err := json.NewEncoder(p.In).Encode(r); err != nil {
		return nil, err
	}
	return readAnswer(p.Out, r.Limit)
}

// take returns a process that is ready. The caller kills and releases it.
func (q *statements) take() (*child.Process, error) {
	var p *child.Process
	select {
	case p = <-q.ready:
	default:
		var err error
		if p, err = q.start(); err != nil {
			return nil, err
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		_ = p.Kill() // what it says is that it was killed
		return nil, errors.New("the store is closed")
	}
	q.running[p] = false
	return p, nil
}

// release forgets a process, starts another one in its place, and reports whether it was killed by interrupt.
func (q *statements) release(p *child.Process) (interrupted bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	interrupted = q.running[p]
	delete(q.running, p)
	if !q.closed {
		q.starts.Go(q.restock)
	}
	return interrupted
}

// restock starts a process for the next statement. That one says so if it cannot be started.
func (q *statements) restock() {
	p, err := q.start()
	if err != nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		select {
		case q.ready <- p:
			return
		default:
		}
	}
	_ = p.Kill()
}

// start starts a process and waits until it is ready.
func (q *statements) start() (*child.Process, error) {
	p, err := child.Start(childName)
	if err != nil {
		return nil, err
	}
	late := time.AfterFunc(childStart, func() { _ = p.Kill() })
	defer late.Stop()
	if err = json.NewEncoder(p.In).Encode(&q.setup); err == nil {
		_, err = io.ReadFull(p.Out, make([]byte, 1))
	}
	if err != nil {
		return nil, fmt.Errorf("the process of a statement is not ready: %w (%w)", err, p.Kill())
	}
	return p, nil
}

// interrupt kills the processes that have files open. Their statements are asked again.
func (q *statements) interrupt() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for p := range q.running {
		q.running[p] = true
		_ = p.Kill()
	}
}

// close ends all processes.
func (q *statements) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.starts.Wait()
	for {
		select {
		case p := <-q.ready:
			_ = p.Kill()
		default:
			return
		}
	}
}

// attachFor are the statements by which a process sees the tables that a statement may ask for: files that are sealed,
// and the chunks of the others. Tables that it does not name stay empty.
func (s *Store) attachFor(ctx context.Context, statement string) ([]string, error) {
	wanted := tablesIn(statement)
	chunks, err := s.exportTail(ctx, wanted)
	if err != nil {
		return nil, err
	}
	var attach, views []string
	for _, p := range s.list() {
		if p.sealed && slices.ContainsFunc(wanted,
			func(t schema.Placed) bool { return schema.TierOf(t.Table, t.Step) == p.tier }) {
			attach = append(attach, p.attachment())
		}
	}
	for _, t := range wanted {
		var parts, files []string
		for _, p := range s.list() {
			switch {
			case p.tier != schema.TierOf(t.Table, t.Step):
			case p.sealed:
				parts = append(parts, "SELECT * FROM "+p.catalog+"."+t.Name(t.Step))
			default:
				files = append(files, chunks.files(p, t)...)
			}
		}
		if len(files) > 0 {
			parts = append(parts, "SELECT * FROM read_parquet(['"+strings.Join(files, "', '")+"'])")
		}
		views = append(views, view(&t, parts))
	}
	return append(append(attach, views...), nodeNames(*s.names.Load())), nil
}

// tablesIn are the tables that a statement names, or may name: a function such as query_table can put a name together.
func tablesIn(statement string) (list []schema.Placed) {
	statement = strings.ToLower(statement)
	for i := range schema.Tiers {
		for _, t := range tables.In(i) {
			between := strings.Contains(statement, t.ID.String()+"_between")
			if between || strings.Contains(statement, t.Name(t.Step)) || strings.Contains(statement, "query") {
				list = append(list, t)
			}
		}
	}
	return list
}
