package duckdb

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/waybill-int/waybill/store"
)

// TestBoundSpill: a question that fills the disk beyond what has to stay free ends, what it took is given back, and
// others are answered.
func TestBoundSpill(t *testing.T) {
	s := open(t, func(c *Config) { c.Memory = 64 << 20 })
	write(t, s, flowRecords(rand.New(rand.NewPCG(1, 1)), epoch, 3, 10))
	spilling := "SELECT a FROM range(16000000) t(a) ORDER BY hash(a) LIMIT 1 OFFSET 14000000"
	s.config.MinFree = 1 << 60
	if _, err := s.Select(t.Context(), spilling, 1); !errors.Is(err, store.ErrTooLarge) ||
		!errors.Is(err, store.ErrFull) {
		t.Errorf("without room: %v", err)
	}
	if rows := sqlOf(t, s, "SELECT sum(size)::BIGINT FROM duckdb_temporary_files()"); rows[0][0] != nil {
		t.Errorf("%v bytes stay in use", rows[0][0])
	}
	if _, err := s.Query(t.Context(),
		&store.Query{Table: store.Flows, From: epoch, To: epoch.Add(1e12), Values: []string{"packets"}}); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
