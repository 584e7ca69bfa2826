package clickhouse

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/internal/test/chdb"
	"github.com/waybill-int/waybill/telemetry"
)

// TestCopy: a copy answers questions as the store in files that it was made of, and goes on with its minutes and hours,
// although it was cut off at some pieces, before and behind what the server took.
func TestCopy(t *testing.T) {
	g := maker{rand.New(rand.NewPCG(2, 0))}
	first := openFiles(t)
	for round := range 2 {
		if err := first.Write([]*telemetry.Intervals{g.intervals(300, round)}); err != nil {
			t.Fatal(err)
		}
	}
	now := epoch.Add(85 * time.Minute)
	if err := first.Maintain(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	second := open(t, chdb.Start(t))
	pieces, err := first.Pieces(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const source = "/it's here"
	errCut := errors.New("cut off")
	cuts := 0
	for i := range pieces {
		p := &pieces[i]
		attempts := []bool{false}
		if i%4 == 0 {
			done, err := second.BeginCopy(t.Context(), source, first.Rolled())
			if err != nil {
				t.Fatal(err)
			}
			if (i > 0) != done[""] || done[p.Name] || i > 0 && !done[pieces[i-1].Name] {
				t.Fatalf("piece %d of %d: done are %v", i, len(pieces), done)
			}
			attempts = []bool{true, false, false} // the last one as if it was not noted
		}
		for _, stop := range attempts {
			rows := int64(0)
			err := second.CopyPiece(t.Context(), source, p.Name, p.Placed, func(row func([]any) error) error {
				return first.EachRow(t.Context(), p, time.Time{}, func(values []any) error {
					if rows++; stop && rows == 2 {
						return errCut
					}
					return row(values)
				})
			})
			if stop && p.Rows > 1 && errors.Is(err, errCut) {
				cuts++
			} else if err != nil || rows != p.Rows {
				t.Fatalf("%s: %d rows of %d, %v", p.Name, rows, p.Rows, err)
			}
		}
	}
	if cuts < 5 {
		t.Errorf("%d pieces were cut off: this tests little", cuts)
	}
	askBoth(t, g, first, second, 20, now)
	now = now.Add(3 * time.Hour)
	if err := errors.Join(first.Maintain(t.Context(), now), second.Maintain(t.Context(), now)); err != nil {
		t.Fatal(err)
	}
	askBoth(t, g, first, second, 20, now)
	for _, table := range Tables() {
		statement := fmt.Sprintf("SELECT count(*) FROM %s", table.Name(table.Step))
		want, err := first.Select(t.Context(), statement, 1)
		got, err2 := second.Select(t.Context(), statement, 1)
		if err := errors.Join(err, err2); err != nil || fmt.Sprint(got.Rows) != fmt.Sprint(want.Rows) {
			t.Errorf("%s: got %v, want %v, %v", table.Name(table.Step), got, want, err)
		}
	}

	if _, err := second.BeginCopy(t.Context(), "/elsewhere", nil); err == nil ||
		!strings.Contains(err.Error(), "a copy of "+source) {
		t.Errorf("a copy of another source: got %v", err)
	}
	third := open(t, chdb.Start(t))
	if err := third.Write([]*telemetry.Intervals{g.intervals(1, 0)}); err != nil {
		t.Fatal(err)
	}
	if _, err := third.BeginCopy(t.Context(), source, nil); err == nil ||
		!strings.Contains(err.Error(), "has records already") {
		t.Errorf("a copy into a database with records: got %v", err)
	}
}
