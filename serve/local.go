package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/store/duckdb"
)

// A LocalStore reads the directory of data of a server that does not run.
type LocalStore struct{}

// Tables implements cli.Local.
func (LocalStore) Tables() []string { return duckdb.TableNames() }

// WriteParquet implements cli.Local.
func (LocalStore) WriteParquet(ctx context.Context, rows, file string, names, types []string) error {
	columns := make([]duckdb.ExportColumn, len(names))
	for i, name := range names {
		columns[i] = duckdb.ExportColumn{Name: name, Type: types[i]}
	}
	return duckdb.WriteParquet(ctx, rows, file, columns)
}

// SQL implements cli.Local.
func (LocalStore) SQL(ctx context.Context, dir, statement string, limit int) (*types.Table, error) {
	if _, err := os.Stat(storeDir(dir)); err != nil {
		return nil, fmt.Errorf("--data: there is no store in %s: %w", dir, errors.Unwrap(err))
	}
	s, err := duckdb.Open(duckdb.DefaultConfig(storeDir(dir)))
	if err != nil {
		return nil, fmt.Errorf("--data: %w; a server that runs is asked with --server", err)
	}
	defer s.Close()
	note, err := noteOf(dir)
	if err != nil {
		return nil, err
	}
	if err := recoverJournal(ctx, dir, note, s, slog.New(slog.NewTextHandler(os.Stderr, nil))); err != nil {
		return nil, err
	}
	a, err := s.Select(ctx, statement, limit)
	if err != nil {
		return nil, command.Usage(fmt.Errorf("sql: %w", err))
	}
	return &types.Table{Columns: a.Columns, Rows: a.Rows, More: a.More}, nil
}
