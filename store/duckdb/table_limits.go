package duckdb

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/store/schema"
)

// applyTableLimits removes the records of tables that have limits of their own from one file that is over and has
// some beyond these: the file is written anew without them, which gives their space back.
func (s *Store) applyTableLimits(ctx context.Context, now time.Time) error {
	if len(s.config.Limits) == 0 {
		return nil
	}
	beyond, err := s.beyondLimits(ctx, now)
	if err != nil {
		return err
	}
	for _, p := range s.list() {
		if len(beyond[p]) > 0 {
			return s.rewrite(ctx, p, beyond[p])
		}
	}
	return nil
}

// beyondLimits are the tables that files have of which they are to be rid.
func (s *Store) beyondLimits(ctx context.Context, now time.Time) (map[*partition]map[store.Table]bool, error) {
	beyond := map[*partition]map[store.Table]bool{}
	lists := [len(schema.Tiers)][]*partition{} // the newest first, without it: it is written to
	for tier := range schema.Tiers {
		for _, p := range slices.Backward(s.list()) {
			if p.tier == tier {
				lists[tier] = append(lists[tier], p)
			}
		}
	}
	for id, l := range s.config.Limits {
		left := cmp.Or(l.MaxBytes, int64(1)<<62)
		for tier := len(schema.Tiers) - 1; tier >= 0; tier-- { // the finest resolution is the first to go
			for i, p := range lists[tier] {
				t := tableOf(tier, id)
				if t == nil || p.emptied[id] {
					continue
				}
				size := int64(0)
				if l.MaxBytes > 0 {
					var err error
					if size, err = s.sizeOf(ctx, p, *t); err != nil {
						return nil, err
					}
				}
				left -= size
				over := i > 0 && (tier != schema.Seconds || p.compacted) // late records have come, and are rolled up
				old := l.Keep[tier] > 0 && i > 0 && now.Sub(lists[tier][i-1].start) >= l.Keep[tier]
				if over && (old || left < 0) {
					if left += size; beyond[p] == nil {
						beyond[p] = map[store.Table]bool{}
					}
					beyond[p][id] = true
				}
			}
		}
	}
	return beyond, nil
}

// tableOf is a table as a tier keeps it, nil if it does not.
func tableOf(tier int, id store.Table) *schema.Placed {
	list := tables.In(tier)
	if i := slices.IndexFunc(list, func(t schema.Placed) bool { return t.ID == id }); i >= 0 {
		return &list[i]
	}
	return nil
}

// sizeOf is about how many bytes a table of a partition takes on disk: the blocks that it is in, of which it may share
// the last with others.
func (s *Store) sizeOf(ctx context.Context, p *partition, t schema.Placed) (n int64, err error) {
	const block = 256 << 10
	row := s.upkeep.QueryRowContext(ctx,
		fmt.Sprintf("SELECT count(DISTINCT block_id) FROM pragma_storage_info('%s.main.%s') WHERE block_id >= 0",
			p.catalog, t.Name(t.Step)))
	err = row.Scan(&n)
	return n * block, err
}

// loadEmptied reads which tables a file was rid of.
func (s *Store) loadEmptied(p *partition) error {
	var known int
	row := s.write.QueryRowContext(s.ctx,
		"SELECT count(*) FROM duckdb_tables() WHERE database_name = ? AND table_name = 'waybill_emptied'", p.catalog)
	if err := row.Scan(&known); err != nil || known == 0 {
		return err // a file of before
	}
	rows, err := s.write.QueryContext(s.ctx, "SELECT name FROM "+p.catalog+".waybill_emptied")
	if err != nil {
		return err
	}
	defer rows.Close()
	p.emptied = map[store.Table]bool{}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return err
		}
		if id, ok := store.TableOf(name); ok {
			p.emptied[id] = true
		}
	}
	return rows.Err()
}
