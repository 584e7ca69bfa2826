package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/internal/datadir"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/store/clickhouse"
	"github.com/waybill-int/waybill/store/duckdb"
)

// A CopiedTable says how many records of a table two stores have, of those that the second one keeps.
type CopiedTable struct {
	Name     string
	From, To uint64
}

// errCopyDiffers says that a copy does not have what it was made of.
var errCopyDiffers = errors.New(
	"the counts differ: somebody wrote to one of the stores meanwhile; make the database anew, and copy again")

// CopyStore copies the records of a server that does not run, which keeps them in files below dir, to the ClickHouse of
// c, and compares how many there are. One that was cut off goes on. progress hears how many of all records were copied.
func CopyStore(ctx context.Context, dir string, c *Config, log io.Writer, progress func(done, all int64),
) ([]CopiedTable, error) {
	if c.Store.ClickHouse == nil {
		return nil, errors.New("the configuration has no store.clickhouse, which says where to")
	}
	if _, err := os.Stat(storeDir(dir)); err != nil {
		return nil, fmt.Errorf("there is no store in %s: %w", dir, errors.Unwrap(err))
	}
	held, err := datadir.Open(dir)
	if errors.Is(err, datadir.ErrInUse) {
		return nil, fmt.Errorf("%w; stop the server first", err)
	}
	if err != nil {
		return nil, err
	}
	defer held.Close()
	files, err := c.Store.compile(dir)
	if err != nil {
		return nil, err
	}
	files.Names = c.NodeNames()
	from, err := duckdb.Open(files)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	to, err := c.Store.ClickHouse.open(&files)
	if err != nil {
		return nil, err
	}
	defer to.Close()
	source, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	copied, err := to.BeginCopy(ctx, source, from.Rolled())
	if err != nil {
		return nil, err
	}
	note, err := noteOf(dir)
	if err != nil {
		return nil, err
	}
	if err := recoverJournal(ctx, dir, note, from, command.NewLogger(log, slog.LevelInfo)); err != nil {
		return nil, err
	}
	pieces, err := from.Pieces(ctx)
	if err != nil {
		return nil, err
	}
	var done, all int64
	for i := range pieces {
		all += pieces[i].Rows
	}
	now := time.Now()
	for i := range pieces {
		p := &pieces[i]
		if !copied[p.Name] {
			since := to.Kept(p.Placed, now)
			if err := to.CopyPiece(ctx, source, p.Name, p.Placed, func(row func([]any) error) error {
				return from.EachRow(ctx, p, since, row)
			}); err != nil {
				return nil, err
			}
		}
		done += p.Rows
		progress(done, all)
	}
	return compareStores(ctx, from, to)
}

// compareStores counts what two stores have of each table.
func compareStores(ctx context.Context, from store.Backend, to *clickhouse.Store) (list []CopiedTable, err error) {
	differ := false
	// What is about to be too old while it is counted is left out.
	now := time.Now().Add(time.Hour)
	for _, t := range clickhouse.Tables() {
		c := CopiedTable{Name: t.Name(t.Step)}
		statement := fmt.Sprintf("SELECT count(*) FROM %s WHERE start >= '%s'", c.Name,
			to.Kept(t, now).UTC().Format("2006-01-02 15:04:05.000000000"))
		if c.From, err = countOf(ctx, from, statement); err != nil {
			return nil, err
		}
		if c.To, err = countOf(ctx, to, statement); err != nil {
			return nil, err
		}
		differ = differ || c.From != c.To
		list = append(list, c)
	}
	if differ {
		return list, errCopyDiffers
	}
	return list, nil
}

// countOf asks a store for a number.
func countOf(ctx context.Context, s store.Backend, statement string) (n uint64, err error) {
	a, err := s.Select(ctx, statement, 1)
	if err == nil {
		_, err = fmt.Sscan(fmt.Sprint(a.Rows[0][0]), &n) // it has a sign in one of them
	}
	return n, err
}
