package clickhouse

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/store/schema"
)

// silence is how long something may not be seen that was there all the time.
const silence = 5 * time.Minute

// Between implements store.Backend. It looks at hours where minutes are no longer kept, and at ten seconds where there
// are no minutes yet.
func (s *Store) Between(ctx context.Context, id store.Table, from, to time.Time, limit int) (*store.Answer, error) {
	if id != store.Links && id != store.Hosts {
		return nil, fmt.Errorf("store: the table %s does not say when something was there", id)
	}
	t := tables.Tables[id]
	var names []string
	for _, c := range t.At(time.Hour) {
		if c.Role == schema.Key && c.Name != schema.Start.Name {
			names = append(names, c.Name)
		}
	}
	keys := strings.Join(names, ", ")
	ns := func(name string) string { return "toUnixTimestamp64Nano(" + name + ")" }
	minutes := func(f, none string) string {
		return "(SELECT coalesce(" + f + "OrNull(" + ns(
			"start",
		) + "), " + none + ") FROM " + t.Name(
			time.Minute,
		) + ")"
	}
	piece := func(step time.Duration, where string) string {
		return fmt.Sprintf(
			"SELECT %s, packets, %s AS b, b + %d AS e FROM %s WHERE %s > %d AND %s <= %d%s",
			keys,
			ns("start"),
			step.Nanoseconds(),
			t.Name(step),
			ns("start"),
			from.Add(-step-silence).UnixNano(),
			ns("start"),
			to.Add(silence).UnixNano(),
			where,
		)
	}
	text := fmt.Sprintf(
		"SELECT %s, fromUnixTimestamp64Nano(min(b), 'UTC') AS first, fromUnixTimestamp64Nano(max(e), 'UTC') AS last, "+
			"sum(packets) AS packets FROM (SELECT *, countIf(fresh) OVER (PARTITION BY %s ORDER BY b ROWS UNBOUNDED PRECEDING) AS run FROM ("+
			"SELECT *, b > max(e) OVER (PARTITION BY %s ORDER BY b ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) + %d AS fresh "+
			"FROM (%s UNION ALL %s UNION ALL %s))) AS t GROUP BY %s, run HAVING max(e) > %d AND min(b) <= %d ORDER BY first LIMIT %d",
		keys,
		keys,
		keys,
		silence.Nanoseconds(),
		piece(
			t.Finest,
			fmt.Sprintf(" AND %s >= %s + %d", ns("start"), minutes("max", "-60000000000"), time.Minute.Nanoseconds()),
		),
		piece(time.Minute, ""),
		piece(
			time.Hour,
			fmt.Sprintf(
				" AND %s + %d <= %s",
				ns("start"),
				time.Hour.Nanoseconds(),
				minutes("min", "9223372036854775807"),
			),
		),
		keys,
		from.UnixNano(),
		to.UnixNano(),
		limit+1,
	)
	answer, err := s.answer(s.with(ctx, queryTime, nil), text, nil, limit)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	return answer, nil
}
