package duckdb

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/store"
)

// TestTrouble: who asks is told whether the question is wrong, or the store cannot answer it.
func TestTrouble(t *testing.T) {
	s := open(t, func(c *Config) { c.Memory, c.MaxBytes = 64<<20, 64<<20 })
	write(t, s, flowRecords(rand.New(rand.NewPCG(1, 1)), epoch, 3, 10))
	reasons := []error{store.ErrTooLong, store.ErrTooLarge, store.ErrUnavailable}
	check := func(what string, err, want error) {
		t.Helper()
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v", what, err)
		}
		for _, reason := range reasons {
			if errors.Is(err, reason) != (reason == want) {
				t.Errorf("%s: got %v, want %v", what, err, want)
			}
		}
	}
	ask := func(ctx context.Context, text string) error {
		_, err := s.SQL(ctx, text, 10)
		return err
	}
	ctx := t.Context()
	for _, text := range []string{
		"SELEC 1", "SELECT nothing FROM flows_10s", "SELECT * FROM nothing", "SELECT CAST('x' AS INTEGER)",
		"SELECT 1::UTINYINT - 2::UTINYINT",
		"INSERT INTO flows_10s SELECT * FROM flows_10s", "SELECT error('text')", "SELECT * FROM '/etc/passwd'",
	} {
		check(text, ask(ctx, text), nil)
	}
	check("memory", ask(ctx, "SELECT list(a) FROM range(100000000) t(a)"), store.ErrTooLarge)
	check("disk", ask(ctx, "SELECT a FROM range(100000000) t(a) ORDER BY hash(a) LIMIT 1 OFFSET 50000000"),
		store.ErrTooLarge)
	if err := ask(ctx, "SELECT sum(packets) FROM flows_10s"); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	write(t, s, flowRecords(rand.New(rand.NewPCG(1, 1)), epoch, 3, 10))

	gone, cancel := context.WithCancel(ctx)
	time.AfterFunc(50*time.Millisecond, cancel)
	check("who asked is gone", ask(gone, endless), store.ErrTooLong)
	gone, cancel = context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	check("too long", ask(gone, endless), store.ErrTooLong)

	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	check("closed", ask(ctx, "SELECT 1"), store.ErrUnavailable)
	_, err := s.Query(ctx,
		&store.Query{Table: store.Flows, From: epoch, To: epoch.Add(time.Hour), Values: []string{"packets"}})
	check("closed", err, store.ErrUnavailable)
}

// endless is a statement that DuckDB would need years for, and next to no memory.
const endless = "SELECT sum(range % 7) FROM range(9000000000000000000)"
